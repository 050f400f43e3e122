#include "driver/executable_kernel.h"

#include <variant>

#include "backends/cuda/runtime/device_kernel.h"
#include "backends/openmp/runner.h"
#include "support/error.h"

namespace tileopt {

namespace {
constexpr double timeout_seconds = 300;
}

struct ExecutableKernel::State {
  std::variant<CompiledKernel, DeviceKernel> kernel;
};

ExecutableKernel ExecutableKernel::compile(const Program& program, const SourceText& text, const Machine& machine) {
  if (machine.backend == "cuda") return ExecutableKernel(std::make_shared<State>(State{DeviceKernel::compile(program, text, machine)}));
  if (machine.backend == "openmp") return ExecutableKernel(std::make_shared<State>(State{CompiledKernel::compile(program, text, machine)}));
  throw ToolchainError("kernels of backend " + machine.backend + " cannot be run yet\n  hint: `check --emulate` runs them on the host");
}

IsolatedRun ExecutableKernel::run_isolated(const Sizes& sizes, Arrays& arguments, double timeout) const {
  return std::visit([&](const auto& kernel) { return kernel.run_isolated(sizes, arguments, timeout); }, state_->kernel);
}

std::vector<double> ExecutableKernel::bench(const std::vector<const ExecutableKernel*>& kernels, const Sizes& sizes, const Arrays& arguments, double seconds) {
  std::vector<const CompiledKernel*> compiled;
  for (const ExecutableKernel* kernel : kernels)
    if (const auto* here = std::get_if<CompiledKernel>(&kernel->state_->kernel)) compiled.push_back(here);
  if (compiled.size() == kernels.size()) return CompiledKernel::bench_interleaved(compiled, sizes, arguments, seconds);
  std::vector<double> medians;
  for (const ExecutableKernel* kernel : kernels) {
    const auto* device = std::get_if<DeviceKernel>(&kernel->state_->kernel);
    TILEOPT_CHECK(device != nullptr, "kernels that are compared run at one place");
    DeviceKernel::Timing timing;
    timing.seconds = seconds / static_cast<double>(kernels.size());
    Arrays results = arguments;
    const IsolatedRun run = device->run_timed(sizes, results, timeout_seconds, timing);
    if (run.end != IsolatedRun::End::done) throw KernelFault("the kernel cannot be timed: " + (run.detail.empty() ? "code " + std::to_string(run.code) : run.detail));
    medians.push_back(median(timing.samples));
  }
  return medians;
}

}  // namespace tileopt
