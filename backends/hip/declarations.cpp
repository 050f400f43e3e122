#include "backends/hip/declarations.h"

namespace tileopt {

namespace {
const char* const runtime = R"(#pragma once
#include <stddef.h>
#include <stdint.h>
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
typedef unsigned uint2 __attribute__((ext_vector_type(2)));
typedef unsigned uint4 __attribute__((ext_vector_type(4)));
struct tileopt_index { unsigned x, y, z; };
#define threadIdx (tileopt_index{__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()})
#define blockIdx (tileopt_index{__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()})

static __device__ __forceinline__ void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
template <class T> static __device__ __forceinline__ T atomicAdd(T* p, T v) { return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
template <class T> static __device__ __forceinline__ T atomicAnd(T* p, T v) { return __hip_atomic_fetch_and(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
template <class T> static __device__ __forceinline__ T atomicOr(T* p, T v) { return __hip_atomic_fetch_or(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
template <class T> static __device__ __forceinline__ T atomicXor(T* p, T v) { return __hip_atomic_fetch_xor(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }

struct dim3 {
  unsigned x, y, z;
  constexpr __host__ __device__ dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
typedef struct ihipStream_t* hipStream_t;
typedef int hipError_t;
#define hipSuccess 0
extern "C" hipError_t hipPeekAtLastError();
extern "C" hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes, hipStream_t stream);
extern "C" hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = 0);
extern "C" hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream);
)";

/// Functions that the device has instructions for. The others (exp, log, tanh, erf of f64) are in ROCm's device libraries alone.
const char* const mathematics = R"(#pragma once
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define TILEOPT_WORD static inline __attribute__((host)) __attribute__((device)) __attribute__((always_inline))
TILEOPT_WORD float fabsf(float x) { return __builtin_fabsf(x); }
TILEOPT_WORD float sqrtf(float x) { return __builtin_sqrtf(x); }
TILEOPT_WORD float floorf(float x) { return __builtin_floorf(x); }
TILEOPT_WORD float ceilf(float x) { return __builtin_ceilf(x); }
TILEOPT_WORD float rintf(float x) { return __builtin_rintf(x); }
TILEOPT_WORD float truncf(float x) { return __builtin_truncf(x); }
TILEOPT_WORD float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
TILEOPT_WORD double fabs(double x) { return __builtin_fabs(x); }
TILEOPT_WORD double sqrt(double x) { return __builtin_sqrt(x); }
TILEOPT_WORD double floor(double x) { return __builtin_floor(x); }
TILEOPT_WORD double ceil(double x) { return __builtin_ceil(x); }
TILEOPT_WORD double rint(double x) { return __builtin_rint(x); }
TILEOPT_WORD double trunc(double x) { return __builtin_trunc(x); }
TILEOPT_WORD double copysign(double x, double y) { return __builtin_copysign(x, y); }
)";

const char* const strings = R"(#pragma once
#include <stddef.h>
#define memcpy __builtin_memcpy
#define memset __builtin_memset
)";
}  // namespace

std::vector<std::pair<std::string, std::string>> hip_declarations() {
  return {{"hip/hip_runtime.h", runtime}, {"math.h", mathematics}, {"string.h", strings}};
}

}  // namespace tileopt
