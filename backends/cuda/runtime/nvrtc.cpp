#include "backends/cuda/runtime/nvrtc.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "backends/cuda/runtime/cubin_cache.h"
#include "support/error.h"
#include "support/text.h"

namespace tileopt::cuda {

namespace {
struct OpaqueProgram;
using Program = OpaqueProgram*;
using Result = int;

struct Nvrtc {
  Result (*version)(int* major, int* minor);
  Result (*create)(Program* program, const char* source, const char* name, int headers, const char* const* texts, const char* const* names);
  Result (*compile)(Program program, int count, const char* const* options);
  Result (*cubin_size)(Program program, std::size_t* bytes);
  Result (*cubin)(Program program, char* image);
  Result (*log_size)(Program program, std::size_t* bytes);
  Result (*log)(Program program, char* text);
  Result (*destroy)(Program* program);
  const char* (*error_string)(Result error);
};

/// Where NVRTC may be: as the system finds it, then CUDA's usual folders.
std::vector<std::string> candidates() {
  if (const char* chosen = std::getenv("TILEOPT_LIBNVRTC"); chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<std::string> names;
  std::vector<std::string> folders = {""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0')
      for (const char* sub : {"/lib64/", "/lib/"}) folders.push_back(home + std::string(sub));
  for (const char* sub : {"/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"}) folders.push_back(sub);
  for (const std::string& folder : folders)
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) names.push_back(folder + name);
  return names;
}

template <class F>
void find(void* library, F& function, const char* symbol) {
  function = reinterpret_cast<F>(dlsym(library, symbol));
  if (function == nullptr) throw ToolchainError(std::string("NVRTC is too old: it has no ") + symbol + "\n  hint: install CUDA 12 or newer");
}

Nvrtc open_nvrtc() {
  void* library = nullptr;
  for (const std::string& name : candidates()) {
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr)
    throw ToolchainError("no NVRTC (libnvrtc.so), which compiles the kernel for the GPU\n  hint: install NVIDIA's cuda-nvrtc, or set TILEOPT_LIBNVRTC to its path");
  Nvrtc api{};
  find(library, api.version, "nvrtcVersion");
  find(library, api.create, "nvrtcCreateProgram");
  find(library, api.compile, "nvrtcCompileProgram");
  find(library, api.cubin_size, "nvrtcGetCUBINSize");
  find(library, api.cubin, "nvrtcGetCUBIN");
  find(library, api.log_size, "nvrtcGetProgramLogSize");
  find(library, api.log, "nvrtcGetProgramLog");
  find(library, api.destroy, "nvrtcDestroyProgram");
  find(library, api.error_string, "nvrtcGetErrorString");
  return api;
}

const Nvrtc& nvrtc() {
  static const Nvrtc api = open_nvrtc();
  return api;
}

std::string log_of(const Nvrtc& api, Program program) {
  std::size_t bytes = 0;
  if (api.log_size(program, &bytes) != 0 || bytes <= 1) return "";
  std::string text(bytes, '\0');
  if (api.log(program, text.data()) != 0) return "";
  text.resize(bytes - 1);
  return text;
}

struct Destroyed {
  const Nvrtc& api;
  Program program = nullptr;
  ~Destroyed() {
    if (program != nullptr) api.destroy(&program);
  }
};
}  // namespace

Cubin compile_device_code(const std::string& text, const std::string& architecture, bool contract) {
  const Nvrtc& api = nvrtc();
  int major = 0, minor = 0;
  api.version(&major, &minor);
  const std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--std=c++17", contract ? "--fmad=true" : "--fmad=false", "--ptxas-options=-v",
                                            "-default-device"};
  const std::string key = text + "\n" + join(options, " ") + "\nnvrtc " + std::to_string(major) + "." + std::to_string(minor);
  Cubin result;
  const CubinCache cache;
  if (cache.find(key, result.image, result.log)) {
    result.cached = true;
    return result;
  }
  Destroyed made{api};
  if (const Result error = api.create(&made.program, text.c_str(), "kernel.cu", 0, nullptr, nullptr); error != 0)
    throw ToolchainError(std::string("NVRTC: ") + api.error_string(error));
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  const Result error = api.compile(made.program, static_cast<int>(pointers.size()), pointers.data());
  result.log = log_of(api, made.program);
  if (error != 0)
    throw ToolchainError("NVRTC " + std::to_string(major) + "." + std::to_string(minor) + " failed on generated code for " + architecture + ": " + api.error_string(error) + "\n" + result.log);
  std::size_t bytes = 0;
  if (api.cubin_size(made.program, &bytes) != 0 || bytes == 0) throw ToolchainError("NVRTC made no code for " + architecture);
  result.image.resize(bytes);
  if (api.cubin(made.program, result.image.data()) != 0) throw ToolchainError("NVRTC does not hand out the code for " + architecture);
  cache.store(key, result.image, result.log);
  return result;
}

}  // namespace tileopt::cuda
