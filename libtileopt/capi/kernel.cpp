/// Running modules on the host's arrays.
#include <cstdlib>
#include <new>

#include "backends/c_common/launcher.h"
#include "backends/runner/emulated_kernel.h"
#include "capi/guard.h"
#include "capi/host_memory.h"
#include "capi/module_report.h"
#include "interpreter/interpreter.h"

using namespace tileopt::capi;
using tileopt::ErrorCode;

namespace tileopt::capi {

struct KernelObject {
  std::shared_ptr<ModuleObject> module;
  std::shared_ptr<const IsolatedKernel> kernel;  ///< in a process of its own: GPUs, the emulator
  std::optional<CompiledKernel> native;          ///< in this one
};

namespace {

constexpr double timeout_seconds = 3600;

std::unique_ptr<KernelObject> make_kernel(const std::shared_ptr<ModuleObject>& module, const std::string& where) {
  auto kernel = std::make_unique<KernelObject>();
  kernel->module = module;
  const Program& program = *module->program;
  const bool host = module->machine.backend == "openmp";
  if (where == "emulator") {
    if (host) reject(ErrorCode::invalid_option, "modules for CPUs need no emulator", "give \"native\" or NULL");
    auto emulated = EmulatedKernel::compile(program, module->text);
    kernel->kernel = std::make_shared<EmulatedKernel>(emulated.with(check_settings(module->machine, 1).front()));
  } else if (where != "native") {
    reject(ErrorCode::invalid_option, "`" + where + "` is no place to run", "give \"native\", \"emulator\" or NULL");
  } else if (host) {
    kernel->native = CompiledKernel::compile(program, module->text, module->machine);
  } else {
    require_machine(module->machine);
    kernel->kernel = std::make_shared<ExecutableKernel>(ExecutableKernel::compile(program, module->text, module->machine));
  }
  return kernel;
}

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

void refuse_call(const ModuleObject& module, int code) {
  static const char* const reasons[] = {"", "the sizes violate the program's constraints", "an array with elements is NULL", "an array is not aligned to its element",
                                        "a written array overlaps another argument", "the workspace is missing"};
  const std::string reason = code > 0 && code < 6 ? reasons[code] : "code " + std::to_string(code);
  reject(ErrorCode::invalid_size, "`" + module.signature.function + "` refused its arguments: " + reason, "the module's header lists what it asks for");
}

void run_native(const KernelObject& kernel, const Sizes& sizes, void* const* arguments) {
  const std::int64_t bytes = kernel.native->workspace_bytes(sizes);
  if (bytes < 0) refuse_call(*kernel.module, 1);
  std::unique_ptr<void, Freed> workspace;
  if (bytes > 0) {
    workspace.reset(std::aligned_alloc(kWorkspaceAlignment, static_cast<std::size_t>(in_workspace(bytes))));
    if (workspace == nullptr) throw std::bad_alloc();
  }
  if (const int code = kernel.native->call(sizes, arguments, workspace.get()); code != 0) refuse_call(*kernel.module, code);
}

void run_isolated(const KernelObject& kernel, const Sizes& sizes, void* const* arguments, std::size_t count) {
  const Signature& signature = kernel.module->signature;
  Arrays arrays = read_arguments(signature, sizes, arguments, count);
  const IsolatedRun run = kernel.kernel->run_isolated(sizes, arrays, timeout_seconds);
  switch (run.end) {
    case IsolatedRun::End::done: return write_results(signature, sizes, arrays, arguments);
    case IsolatedRun::End::refused: return refuse_call(*kernel.module, run.code);
    case IsolatedRun::End::crashed:
    case IsolatedRun::End::hung:
    case IsolatedRun::End::overrun:
    case IsolatedRun::End::faulty: throw ToolchainError("the kernel failed: " + (run.detail.empty() ? "code " + std::to_string(run.code) : run.detail));
  }
}

}  // namespace
}  // namespace tileopt::capi

extern "C" {

tileopt_error* tileopt_kernel_create(const tileopt_module* module, const char* where, tileopt_kernel** out_kernel) {
  return guard([&] {
    const auto object = need(module, "module");
    need_pointer(out_kernel, "out_kernel");
    in_session(*object->session, [&] {
      *out_kernel = insert<tileopt_kernel>(owned(object->session, make_kernel(object, where == nullptr ? "native" : where)));
    });
  });
}

tileopt_error* tileopt_kernel_run(const tileopt_kernel* kernel, const int64_t* sizes, size_t size_count, void* const* arguments,
                                  size_t argument_count) {
  return guard([&] {
    const auto object = need(kernel, "kernel");
    const ModuleObject& module = *object->module;
    const tileopt::Sizes values = size_map(module.signature.sizes, sizes, size_count);
    if (object->native) {
      check_pointers(module.signature, values, arguments, argument_count);
      return run_native(*object, values, arguments);
    }
    in_session(*module.session, [&] {
      tileopt::check_sizes(*module.program, values);
      run_isolated(*object, values, arguments, argument_count);
    });
  });
}

const char* tileopt_kernel_peek_object(const tileopt_kernel* kernel) {
  return ask(kernel, "", [](const KernelObject& object) { return object.native ? object.native->object().c_str() : ""; });
}
void tileopt_kernel_free(tileopt_kernel* kernel) { erase(kernel); }

}  // extern "C"
