#include "backends/hip/hip_backend.h"

#include "backends/gpu_common/gpu_backend.h"
#include "backends/hip/prelude.h"

namespace tileopt {

std::unique_ptr<Backend> make_hip_backend() {
  Dialect hip;
  hip.backend = "hip";
  hip.extension = ".hip";
  hip.compiler = "hipcc -std=c++17";
  hip.runtime_header = "hip/hip_runtime_api.h";
  hip.stream = "hipStream_t";
  hip.last_error = "hipGetLastError";
  hip.grid_threads = 4294967295;
  hip.contraction = [](bool contract) { return std::string("-ffp-contract=") + (contract ? "fast" : "off"); };
  hip.prelude = hip_prelude;
  return make_gpu_backend(std::move(hip));
}

}  // namespace tileopt
