#include "backends/cuda/cuda_backend.h"

#include "backends/cuda/device_functions.h"
#include "backends/cuda/prelude.h"
#include "backends/gpu_common/gpu_backend.h"

namespace tileopt {

std::unique_ptr<Backend> make_cuda_backend() {
  Dialect cuda;
  cuda.backend = "cuda";
  cuda.extension = ".cu";
  cuda.compiler = "nvcc -std=c++17";
  cuda.device_only = "__CUDACC_RTC__";
  cuda.runtime_header = "cuda_runtime_api.h";
  cuda.stream = "cudaStream_t";
  cuda.last_error = "cudaGetLastError";
  cuda.contraction = [](bool contract) { return std::string("--fmad=") + (contract ? "true" : "false"); };
  cuda.own_functions = with_device_functions;
  cuda.prelude = cuda_prelude;
  return make_gpu_backend(std::move(cuda));
}

}  // namespace tileopt
