#include "backends/cuda/prelude.h"

#include "support/error.h"

namespace tileopt {

namespace {
const char* const emulated = "#if defined(TILEOPT_EMULATE)\n#include \"tileopt_emulator.h\"\n#else\n";

const char* const wrappers = R"(#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT64_C(x) x##LL
#define UINT64_C(x) x##ULL
#define INT64_MAX INT64_C(9223372036854775807)
#define INT64_MIN (-INT64_MAX - 1)
#define NAN __int_as_float(0x7fffffff)
#define INFINITY __int_as_float(0x7f800000)
#else
#include <cuda_runtime.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef cudaStream_t tileopt_stream;
/* 0, or the error of the launch. Dynamic shared memory beyond 48 KiB has to be asked for. */
#define TILEOPT_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                                                   \
  ((shared_bytes) > 49152 && cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(shared_bytes)) != cudaSuccess \
       ? 1                                                                                                                               \
       : (kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__), cudaPeekAtLastError() != cudaSuccess))
#endif
#define TILEOPT_DEVICE static __host__ __device__ __forceinline__
#define TILEOPT_BLOCK_X blockIdx.x
#define TILEOPT_THREAD_X threadIdx.x
)";

const char* const shared_base = R"(extern __shared__ __align__(1024) unsigned char tileopt_shared[];
#define TILEOPT_SHARED_BASE tileopt_shared
)";

const char* const block_barrier = R"(static __device__ __forceinline__ void tileopt_block_barrier(void) { __syncthreads(); }
)";

/// "tileopt_atomic_add_u64" as one call of atomicAdd.
std::string atomic_wrapper(const std::string& name) {
  const std::string head = "tileopt_atomic_";
  TILEOPT_CHECK(name.rfind(head, 0) == 0, "no wrapper " + name);
  const std::size_t split = name.find('_', head.size());
  const std::string op = name.substr(head.size(), split - head.size()), type = name.substr(split + 1);
  const std::string function = op == "add" ? "atomicAdd" : op == "and" ? "atomicAnd" : op == "or" ? "atomicOr" : "atomicXor";
  const std::string word = type == "f32" ? "float" : type == "f64" ? "double" : type == "u32" ? "unsigned int" : "unsigned long long";
  return "template <class T> static __device__ __forceinline__ void " + name + "(T* element, T value) { " + function + "((" + word + "*)element, (" + word + ")value); }\n";
}
}  // namespace

std::string cuda_prelude(const std::set<std::string>& requested) {
  std::string text = std::string(emulated) + wrappers;
  for (const std::string& name : requested)
    text += name == "TILEOPT_SHARED_BASE" ? shared_base : name == "tileopt_block_barrier" ? block_barrier : atomic_wrapper(name);
  return text + "#endif\n\n";
}

}  // namespace tileopt
