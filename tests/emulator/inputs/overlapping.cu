/* Y = X + 1 in tiles of 64 by vectors of 16 bytes; the last tile is shifted back, so that tiles overlap with equal values. */
#include "tileopt_emulator.h"
__global__ void __launch_bounds__(16) overlapping_kernel(const int64_t N, const float* __restrict__ X, float* __restrict__ Y) {
  const int64_t start = 64 * (int64_t)TILEOPT_BLOCK_X < N - 64 ? 64 * (int64_t)TILEOPT_BLOCK_X : N - 64;
  const int64_t place = start + 4 * TILEOPT_THREAD_X;
  union { tileopt_vector16 bits; float x[4]; } v;
  v.bits = tileopt_load16(X + place);
  for (int e = 0; e < 4; ++e) v.x[e] += 1.0f;
  tileopt_store16(Y + place, v.bits);
}
extern "C" int64_t tileopt_workspace(const int64_t*) { return 0; }
extern "C" int32_t tileopt_call(const int64_t* sizes, void** arrays, void*) {
  const int64_t N = sizes[0];
  const float* X = (const float*)arrays[0];
  float* Y = (float*)arrays[1];
  return TILEOPT_LAUNCH(overlapping_kernel, dim3((unsigned)((N + 63) / 64)), dim3(16), 0, nullptr, N, X, Y);
}
