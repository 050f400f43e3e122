#include "driver/executable_kernel.h"

#include <chrono>

#include "backends/cuda/runtime/driver_api.h"
#include "backends/openmp/toolchain.h"
#include "support/error.h"

namespace tileopt {

namespace {
constexpr double timeout_seconds = 300;

[[noreturn]] void refuse_hip(const Machine& machine) {
  throw ToolchainError("kernels for " + machine.name + " are printed, proved and emulated, but not run: tileopt has no runtime for AMD's GPUs" +
                       "\n  hint: `check --emulate` runs them on the host; the printed text says how hipcc compiles it");
}
}  // namespace

void require_machine(const Machine& machine) {
  if (machine.backend == "cuda") cuda::DriverApi::open();
  else if (machine.backend == "hip") refuse_hip(machine);
  else require_features(machine);
}

ExecutableKernel ExecutableKernel::Pending::finish() {
  return std::visit([](auto& pending) { return ExecutableKernel(Kernel(pending.finish())); }, pending_);
}

void ExecutableKernel::Pending::wait() const {
  std::visit([](const auto& pending) { pending.wait(); }, pending_);
}

ExecutableKernel::Pending ExecutableKernel::start(const Program& program, const SourceText& text, const Machine& machine, const CompileOptions& options) {
  if (machine.backend == "cuda") return Pending(DeviceKernel::start(program, text, machine));
  if (machine.backend == "hip") refuse_hip(machine);
  return Pending(CompiledKernel::start(program, text, machine, options));
}

ExecutableKernel ExecutableKernel::compile(const Program& program, const SourceText& text, const Machine& machine) { return start(program, text, machine).finish(); }

IsolatedRun ExecutableKernel::run_isolated(const Sizes& sizes, Arrays& arguments, double timeout) const {
  return std::visit([&](const auto& kernel) { return kernel.run_isolated(sizes, arguments, timeout); }, kernel_);
}

IsolatedRun ExecutableKernel::run_timed(const Sizes& sizes, Arrays& arguments, double timeout, CompiledKernel::Timing& timing) const {
  if (const auto* here = std::get_if<CompiledKernel>(&kernel_)) return here->run_timed(sizes, arguments, timeout, timing);
  DeviceKernel::Timing device;
  device.seconds = timing.seconds;
  device.least = timing.least;
  const auto start = std::chrono::steady_clock::now();
  const IsolatedRun run = std::get<DeviceKernel>(kernel_).run_timed(sizes, arguments, timeout, device);
  timing.elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  timing.samples = std::move(device.samples);
  timing.last = std::move(device.last);
  timing.growth_bytes = 0;
  return run;
}

std::vector<double> ExecutableKernel::bench(const std::vector<const ExecutableKernel*>& kernels, const Sizes& sizes, const Arrays& arguments, double seconds) {
  std::vector<const CompiledKernel*> compiled;
  for (const ExecutableKernel* kernel : kernels)
    if (const auto* here = std::get_if<CompiledKernel>(&kernel->kernel_)) compiled.push_back(here);
  if (compiled.size() == kernels.size()) return CompiledKernel::bench_interleaved(compiled, sizes, arguments, seconds);
  std::vector<double> medians;
  for (const ExecutableKernel* kernel : kernels) {
    const auto* device = std::get_if<DeviceKernel>(&kernel->kernel_);
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
