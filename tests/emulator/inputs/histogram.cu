/* Counts of 64 values: private counts of a block in shared memory, then added to the result. */
#include "tileopt_emulator.h"
__global__ void __launch_bounds__(64) histogram_kernel(const int64_t N, const uint32_t* __restrict__ X, uint32_t* __restrict__ Y) {
  uint32_t* const counts = (uint32_t*)(void*)(TILEOPT_SHARED_BASE + 0);
  const int thread = TILEOPT_THREAD_X;
  counts[thread] = 0;
  tileopt_block_barrier(); /* counts are zero */
  const int64_t i = 64 * (int64_t)TILEOPT_BLOCK_X + thread;
  if (i < N) tileopt_atomic_add_u32(&counts[X[i] % 64], 1u);
  tileopt_block_barrier(); /* counts are complete */
  tileopt_atomic_add_u32(&Y[thread], counts[thread]);
}
extern "C" int64_t tileopt_workspace(const int64_t*) { return 0; }
extern "C" int32_t tileopt_call(const int64_t* sizes, void** arrays, void*) {
  const int64_t N = sizes[0];
  const uint32_t* X = (const uint32_t*)arrays[0];
  uint32_t* Y = (uint32_t*)arrays[1];
  return TILEOPT_LAUNCH(histogram_kernel, dim3((unsigned)((N + 63) / 64)), dim3(64), 256, nullptr, N, X, Y);
}
