/// A module compiled for where its machine is: on this processor, or on this machine's GPU.
#pragma once

#include <variant>
#include <vector>

#include "backends/cuda/runtime/device_kernel.h"
#include "backends/openmp/runner.h"
#include "ir/machine.h"
#include "ir/module.h"

namespace tileopt {

/// @throws ToolchainError with the reason where kernels of `machine` cannot run here: features that the processor lacks, no driver.
void require_machine(const Machine& machine);

class ExecutableKernel : public IsolatedKernel {
  using Kernel = std::variant<CompiledKernel, DeviceKernel>;

 public:
  /// @throws ToolchainError: what the machine needs is not here (a compiler, features of the processor, a GPU and its driver).
  static ExecutableKernel compile(const Program& program, const SourceText& text, const Machine& machine);

  /// A compilation that has begun: compilers run beside the caller.
  class Pending {
   public:
    /// Waits. Once only. @throws ToolchainError: a compiler failed.
    ExecutableKernel finish();
    void wait() const;

   private:
    friend class ExecutableKernel;
    explicit Pending(CompiledKernel::Pending here) : pending_(std::move(here)) {}
    explicit Pending(DeviceKernel::Pending device) : pending_(std::move(device)) {}
    std::variant<CompiledKernel::Pending, DeviceKernel::Pending> pending_;
  };
  /// As compile, in two steps. `options` are the C compiler's. @throws ToolchainError: what the machine needs is not here.
  static Pending start(const Program& program, const SourceText& text, const Machine& machine, const CompileOptions& options = {});

  IsolatedRun run_isolated(const Sizes& sizes, Arrays& arguments, double timeout_seconds) const override;

  /// As CompiledKernel::run_timed; on GPUs samples are seconds of the device, and memory does not grow.
  IsolatedRun run_timed(const Sizes& sizes, Arrays& arguments, double timeout_seconds, CompiledKernel::Timing& timing) const;

  /// Median seconds of a call of each kernel, `seconds` for all together. On processors calls take turns, so that noise meets all alike; on
  /// GPUs, whose clocks are the device's own, kernels come one after the other, with the L2 cache flushed before each call.
  /// @throws KernelFault where a call fails.
  static std::vector<double> bench(const std::vector<const ExecutableKernel*>& kernels, const Sizes& sizes, const Arrays& arguments, double seconds);

 private:
  explicit ExecutableKernel(Kernel kernel) : kernel_(std::move(kernel)) {}
  Kernel kernel_;
};

}  // namespace tileopt
