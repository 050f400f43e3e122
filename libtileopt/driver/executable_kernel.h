/// A module compiled for where its machine is: on this processor, or on this machine's GPU.
#pragma once

#include <memory>
#include <vector>

#include "backends/runner/isolated_kernel.h"
#include "ir/machine.h"
#include "ir/module.h"

namespace tileopt {

class ExecutableKernel : public IsolatedKernel {
  struct State;

 public:
  /// @throws ToolchainError: what the machine needs is not here (a compiler, features of the processor, a GPU and its driver).
  static ExecutableKernel compile(const Program& program, const SourceText& text, const Machine& machine);

  IsolatedRun run_isolated(const Sizes& sizes, Arrays& arguments, double timeout_seconds) const override;

  /// Median seconds of a call of each kernel, `seconds` for all together. On processors calls take turns, so that noise meets all alike; on
  /// GPUs, whose clocks are the device's own, kernels come one after the other, with the L2 cache flushed before each call.
  /// @throws KernelFault where a call fails.
  static std::vector<double> bench(const std::vector<const ExecutableKernel*>& kernels, const Sizes& sizes, const Arrays& arguments, double seconds);

 private:
  explicit ExecutableKernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace tileopt
