#include "backends/cuda/prelude.h"

#include "backends/gpu_common/wrappers.h"

namespace tileopt {

namespace {
const char* const runtime = R"(#if defined(__CUDACC_RTC__)
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
#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define UINT32_MAX 4294967295u
#define UINT64_MAX 18446744073709551615ULL
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
)";
}  // namespace

std::string cuda_prelude(const std::set<std::string>& requested) {
  std::string text = std::string(wrappers_begin) + runtime + common_wrappers;
  for (const std::string& name : requested) text += device_wrapper(name);
  return text + wrappers_end;
}

}  // namespace tileopt
