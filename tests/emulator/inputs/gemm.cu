/* C = A B with tiles of A and B in shared memory: 32 x 32 of C a block, 8 of K a step, 4 x 1 of C a thread. */
#include "tileopt_emulator.h"
__global__ void __launch_bounds__(256) gemm_kernel(const int64_t M, const int64_t N, const int64_t K, const float* __restrict__ A,
                                                   const float* __restrict__ B, float* __restrict__ C) {
  float* const A_shared = (float*)(void*)(TILEOPT_SHARED_BASE + 0);
  float* const B_shared = (float*)(void*)(TILEOPT_SHARED_BASE + 1024);
  const int64_t ib = TILEOPT_BLOCK_Y, jb = TILEOPT_BLOCK_X;
  const int64_t it = TILEOPT_THREAD_Y, jt = TILEOPT_THREAD_X;
  float C_reg[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int64_t kb = 0; kb <= (K - 1) / 8; kb += 1) {
    tileopt_block_barrier(); /* tiles are free */
    for (int e = (int)(32 * it + jt); e < 256; e += 256) {
      const int64_t i = 32 * ib + e / 8, k = 8 * kb + e % 8;
      A_shared[e] = i < M && k < K ? A[i * K + k] : 0.0f;
    }
    for (int e = (int)(32 * it + jt); e < 256; e += 256) {
      const int64_t k = 8 * kb + e / 32, j = 32 * jb + e % 32;
      B_shared[e] = k < K && j < N ? B[k * N + j] : 0.0f;
    }
    tileopt_block_barrier(); /* tiles are full */
    for (int kk = 0; kk < 8; ++kk)
      for (int ir = 0; ir < 4; ++ir) C_reg[ir] += A_shared[(4 * it + ir) * 8 + kk] * B_shared[kk * 32 + jt];
  }
  for (int ir = 0; ir < 4; ++ir)
    if (32 * ib + 4 * it + ir < M && 32 * jb + jt < N) C[(32 * ib + 4 * it + ir) * N + 32 * jb + jt] = C_reg[ir];
}
extern "C" int64_t tileopt_workspace(const int64_t*) { return 0; }
extern "C" int32_t tileopt_call(const int64_t* sizes, void** arrays, void*) {
  const int64_t M = sizes[0], N = sizes[1], K = sizes[2];
  const float* A = (const float*)arrays[0];
  const float* B = (const float*)arrays[1];
  float* C = (float*)arrays[2];
  return TILEOPT_LAUNCH(gemm_kernel, dim3((unsigned)((N + 31) / 32), (unsigned)((M + 31) / 32)), dim3(32, 8), 2048, nullptr, M, N, K, A, B, C);
}
