#include "backends/hip/prelude.h"

#include "backends/gpu_common/wrappers.h"

namespace tileopt {

namespace {
const char* const runtime = R"(#include <hip/hip_runtime.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef hipStream_t tileopt_stream;
/* 0, or the error of the launch. */
#define TILEOPT_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  (kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__), hipPeekAtLastError() != hipSuccess)
)";
}  // namespace

std::string hip_prelude(const std::set<std::string>& requested) {
  std::string text = std::string(wrappers_begin) + runtime + common_wrappers;
  for (const std::string& name : requested) text += device_wrapper(name);
  return text + wrappers_end;
}

}  // namespace tileopt
