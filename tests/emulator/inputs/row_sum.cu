/* One block of 128 threads a row: sums of threads, of warps by shuffles, of warps through shared memory. */
#include "tileopt_emulator.h"
__global__ void __launch_bounds__(128) row_sum_kernel(const int64_t N, const float* __restrict__ X, float* __restrict__ Y) {
  float* const partial = (float*)(void*)(TILEOPT_SHARED_BASE + 0);
  const int64_t row = TILEOPT_BLOCK_X;
  const int thread = TILEOPT_THREAD_X;
  const int warps = 128 / TILEOPT_WARP_SIZE;
  float sum = 0.0f;
  for (int64_t j = thread; j < N; j += 128) sum += X[row * N + j];
  for (int step = TILEOPT_WARP_SIZE / 2; step > 0; step /= 2) sum += tileopt_shuffle_xor(~0ull, sum, step);
  if (TILEOPT_LANE == 0) partial[thread / TILEOPT_WARP_SIZE] = sum;
  tileopt_block_barrier();
  if (thread == 0) {
    float total = 0.0f;
    for (int w = 0; w < warps; ++w) total += partial[w];
    Y[row] = total;
  }
}
extern "C" int64_t tileopt_workspace(const int64_t*) { return 0; }
extern "C" int32_t tileopt_call(const int64_t* sizes, void** arrays, void*) {
  const int64_t M = sizes[0], N = sizes[1];
  const float* X = (const float*)arrays[0];
  float* Y = (float*)arrays[1];
  return TILEOPT_LAUNCH(row_sum_kernel, dim3((unsigned)M), dim3(128), 16, nullptr, N, X, Y);
}
