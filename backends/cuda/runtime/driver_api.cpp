#include "backends/cuda/runtime/driver_api.h"

#include <dlfcn.h>

#include <cstdlib>

#include "support/error.h"

namespace tileopt::cuda {

namespace {
class Library {
 public:
  explicit Library(const std::string& name) : name_(name), handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr)
      throw ToolchainError("no NVIDIA driver: " + std::string(dlerror()) +
                           "\n  hint: run this on a machine with an NVIDIA GPU and its driver; without one, `check --emulate` runs the kernel on the host");
  }
  template <class F>
  void find_if_there(F& function, const char* symbol) const { function = reinterpret_cast<F>(dlsym(handle_, symbol)); }
  template <class F>
  void find(F& function, const char* symbol) const {
    find_if_there(function, symbol);
    if (function == nullptr) throw ToolchainError("the NVIDIA driver (" + name_ + ") is too old: it has no " + symbol + "\n  hint: update the driver");
  }

 private:
  std::string name_;
  void* handle_;
};
}  // namespace

DriverApi DriverApi::open() {
  const char* chosen = std::getenv("TILEOPT_LIBCUDA");
  const Library library(chosen != nullptr && *chosen != '\0' ? chosen : "libcuda.so.1");
  DriverApi api{};
  library.find(api.init, "cuInit");
  library.find(api.driver_get_version, "cuDriverGetVersion");
  library.find(api.get_error_string, "cuGetErrorString");
  library.find(api.device_get_count, "cuDeviceGetCount");
  library.find(api.device_get, "cuDeviceGet");
  library.find(api.device_get_name, "cuDeviceGetName");
  library.find(api.device_get_attribute, "cuDeviceGetAttribute");
  library.find(api.device_primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  library.find(api.ctx_set_current, "cuCtxSetCurrent");
  library.find(api.ctx_synchronize, "cuCtxSynchronize");
  library.find(api.mem_get_info, "cuMemGetInfo_v2");
  library.find(api.mem_alloc, "cuMemAlloc_v2");
  library.find(api.mem_free, "cuMemFree_v2");
  library.find(api.memcpy_to_device, "cuMemcpyHtoD_v2");
  library.find(api.memcpy_to_host, "cuMemcpyDtoH_v2");
  library.find(api.memcpy_on_device, "cuMemcpyDtoD_v2");
  library.find(api.memset8, "cuMemsetD8_v2");
  library.find(api.memset8_async, "cuMemsetD8Async");
  library.find(api.module_load_data, "cuModuleLoadData");
  library.find(api.module_get_function, "cuModuleGetFunction");
  library.find(api.func_set_attribute, "cuFuncSetAttribute");
  library.find(api.launch_kernel, "cuLaunchKernel");
  library.find_if_there(api.tensor_map_encode_tiled, "cuTensorMapEncodeTiled");
  library.find(api.event_create, "cuEventCreate");
  library.find(api.event_record, "cuEventRecord");
  library.find(api.event_elapsed_time, "cuEventElapsedTime");
  library.find(api.event_destroy, "cuEventDestroy_v2");
  return api;
}

std::string DriverApi::error_text(Result error) const {
  const char* text = nullptr;
  if (get_error_string(error, &text) != 0 || text == nullptr) text = "unknown error";
  return std::string(text) + " (" + std::to_string(error) + ")";
}

}  // namespace tileopt::cuda
