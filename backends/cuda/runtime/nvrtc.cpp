#include "backends/cuda/runtime/nvrtc.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

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
/// What NVRTC makes of the text. @throws ToolchainError.
Cubin compile_by(const Nvrtc& api, const std::string& text, const std::string& architecture, const std::vector<std::string>& options) {
  Cubin result;
  Destroyed made{api};
  if (const Result error = api.create(&made.program, text.c_str(), "kernel.cu", 0, nullptr, nullptr); error != 0)
    throw ToolchainError(std::string("NVRTC: ") + api.error_string(error));
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  const Result error = api.compile(made.program, static_cast<int>(pointers.size()), pointers.data());
  result.log = log_of(api, made.program);
  if (error != 0)
    throw ToolchainError("NVRTC failed on generated code for " + architecture + ": " + api.error_string(error) + "\n" + result.log);
  std::size_t bytes = 0;
  if (api.cubin_size(made.program, &bytes) != 0 || bytes == 0) throw ToolchainError("NVRTC made no code for " + architecture);
  result.image.resize(bytes);
  if (api.cubin(made.program, result.image.data()) != 0) throw ToolchainError("NVRTC does not hand out the code for " + architecture);
  return result;
}

void write_all(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = write(file, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(1);
    at += static_cast<std::size_t>(count);
  }
}

std::string read_all(int file) {
  std::string text;
  char block[1 << 16];
  while (true) {
    const ssize_t count = read(file, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block, static_cast<std::size_t>(count));
  }
}

/// NVRTC starts the driver in the process that compiles (seen with CUDA 13.0 on an H200), and a driver that has started does not work in
/// processes forked later, where kernels run. So it compiles in a process of its own, which answers with one letter, the image's length in
/// twenty digits, the image and the log; or with the letter and an error's text.
Cubin compile_in_a_child(const std::function<Cubin()>& compile) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw ToolchainError(std::string("cannot open a pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    throw ToolchainError(std::string("cannot start a process: ") + std::strerror(errno));
  }
  if (child == 0) {
    close(ends[0]);
    try {
      const Cubin made = compile();
      char length[32];
      std::snprintf(length, sizeof length, "%020zu", made.image.size());
      write_all(ends[1], std::string("c") + length + made.image + made.log);
    } catch (const std::exception& error) {
      write_all(ends[1], std::string("e") + error.what());
    }
    _exit(0);
  }
  close(ends[1]);
  const std::string answer = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!answer.empty() && answer[0] == 'e') throw ToolchainError(answer.substr(1));
  constexpr std::size_t head = 21;
  const std::size_t bytes = answer.size() < head ? 0 : std::strtoull(answer.substr(1, head - 1).c_str(), nullptr, 10);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || bytes == 0 || answer.size() < head + bytes)
    throw ToolchainError("NVRTC's process ended before it had compiled the kernel");
  return {answer.substr(head, bytes), answer.substr(head + bytes)};
}
}  // namespace

std::string architecture_of(const Machine& machine) {
  for (const std::string& feature : machine.features)
    if (feature.rfind("sm_", 0) == 0) return feature;
  throw ToolchainError("machine " + machine.name + " names no architecture of NVIDIA's (a feature like sm_90)");
}

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
  result = compile_in_a_child([&] { return compile_by(api, text, architecture, options); });
  cache.store(key, result.image, result.log);
  return result;
}

}  // namespace tileopt::cuda
