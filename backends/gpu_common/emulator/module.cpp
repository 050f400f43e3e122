#include "backends/gpu_common/emulator/module.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "backends/gpu_common/emulator/device_text.h"
#include "backends/gpu_common/emulator/isolated_run.h"
#include "support/document.h"
#include "support/error.h"
#include "support/process.h"
#include "support/text.h"

namespace tileopt::emulator {

namespace {
constexpr double compile_seconds = 300;

/// What instrumented code calls instead of a sanitizer's library is in the stubs. Contraction is off: a host without FMA could not do it.
std::vector<std::string> device_flags(const std::string& compiler, bool instrumented) {
  std::vector<std::string> flags = {"-x", "c++", "-std=c++17", "-O1", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
                                    "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti", "-w", "-DTILEOPT_EMULATE"};
  if (!instrumented) return flags;
  const bool clang = compiler.find("clang") != std::string::npos;
  for (const char* flag : {"-g1", "-fsanitize=thread,alignment,bounds,signed-integer-overflow,integer-divide-by-zero", clang ? "-mllvm" : "--param",
                           clang ? "-tsan-instrument-func-entry-exit=0" : "tsan-instrument-func-entry-exit=0"})
    flags.emplace_back(flag);
  return flags;
}

void run_compiler(const std::vector<std::string>& command, const char* what) {
  const ProcessResult result = run_process(command, compile_seconds);
  if (result.end == ProcessResult::End::exited && result.code == 0) return;
  const std::string how = result.end == ProcessResult::End::timed_out ? "did not finish in 300 s" : "failed";
  throw ToolchainError(command.front() + " " + how + " on " + what + "\n  command: " + join(command, " ") + "\n" + result.output);
}

struct DeviceFolder {
  TemporaryDirectory folder;
  std::string compiler, stubs;
};

/// Headers and the compiled stubs: made on first use, for each compiler, kept for the life of this process.
const DeviceFolder& device_folder(const std::string& compiler) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<DeviceFolder>> folders;
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& folder : folders)
    if (folder->compiler == compiler) return *folder;
  auto made = std::make_unique<DeviceFolder>();
  made->compiler = compiler;
  made->stubs = made->folder.path() + "/stubs.o";
  write_file(made->folder.path() + "/tileopt_emulator.h", device_header_text());
  write_file(made->folder.path() + "/tileopt_emulator_abi.h", device_abi_text());
  write_file(made->folder.path() + "/stubs.c", device_stubs_text());
  run_compiler({compiler, "-x", "c", "-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-w", "-c", "-o", made->stubs, made->folder.path() + "/stubs.c"},
               "the emulator's stubs");
  folders.push_back(std::move(made));
  return *folders.back();
}
}  // namespace

std::string find_cxx_compiler() {
  if (const char* chosen = std::getenv("TILEOPT_CXX"); chosen != nullptr && *chosen != '\0') {
    const std::string path = find_program(chosen);
    if (path.empty()) throw ToolchainError(std::string("TILEOPT_CXX names `") + chosen + "`, which is no executable file");
    return path;
  }
  for (const char* name : {"g++", "c++", "clang++", "clang++-22", "clang++-19", "clang++-16", "clang++-15", "clang++-14"}) {
    const std::string path = find_program(name);
    if (!path.empty()) return path;
  }
  throw ToolchainError("no C++ compiler on PATH (looked for g++, c++, clang++): install g++, or set TILEOPT_CXX to a compiler");
}

struct Module::State {
  TemporaryDirectory folder;
  LoadedObject object;
  ~State() {
    if (object.handle != nullptr) dlclose(object.handle);
  }
};

Module Module::compile(const std::string& text, const std::string& calls, const std::string& compiler) { return build(text, calls, compiler, true); }

Module Module::compile_launcher(const std::string& text, const std::string& calls, const std::string& compiler) { return build(text, calls, compiler, false); }

const LoadedObject& Module::object() const { return state_->object; }

Module Module::build(const std::string& text, const std::string& calls, const std::string& compiler, bool instrumented) {
  const std::string chosen = compiler.empty() ? find_cxx_compiler() : compiler;
  const DeviceFolder& device = device_folder(chosen);
  auto state = std::make_shared<State>();
  const std::string folder = state->folder.path();
  LoadedObject& object = state->object;
  object.source = folder + "/kernel.cu";
  object.path = folder + "/kernel.so";
  // One file: of included ones, gcc 12 and binutils 2.40 mix up the names.
  write_file(object.source, text + "\n" + calls);
  std::vector<std::string> command = {chosen};
  const std::vector<std::string> flags = device_flags(chosen, instrumented);
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-I", device.folder.path(), "-c", "-o", folder + "/kernel.o", object.source});
  run_compiler(command, "generated code");
  run_compiler({chosen, "-shared", "-Wl,-Bsymbolic", "-o", object.path, folder + "/kernel.o", device.stubs, "-lm"}, "generated code");
  object.handle = dlopen(object.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object.handle == nullptr) throw ToolchainError(std::string("cannot load the compiled kernel: ") + dlerror());
  object.call = reinterpret_cast<LoadedObject::Call>(dlsym(object.handle, "tileopt_call"));
  object.workspace = reinterpret_cast<LoadedObject::Workspace>(dlsym(object.handle, "tileopt_workspace"));
  object.attach = reinterpret_cast<LoadedObject::Attach>(dlsym(object.handle, "tileopt_emulator_attach"));
  TILEOPT_CHECK(object.call != nullptr && object.workspace != nullptr && object.attach != nullptr, "the module exports its functions");
  return Module(std::move(state));
}

Outcome Module::run(const std::vector<std::int64_t>& sizes, std::vector<Array>& arguments, const Settings& settings) const {
  return run_isolated(state_->object, sizes, arguments, settings);
}

}  // namespace tileopt::emulator
