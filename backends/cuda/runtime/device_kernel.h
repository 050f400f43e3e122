/// A printed CUDA module on this machine's GPU, called like any other kernel.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "backends/runner/isolated_kernel.h"
#include "ir/machine.h"
#include "ir/module.h"

namespace tileopt {

class DeviceKernel : public IsolatedKernel {
  struct State;

 public:
  /// Device code by NVRTC (or from the cache) for the machine's architecture, the launcher by the host's C++ compiler.
  /// @throws ToolchainError: no driver, no NVRTC, no C++ compiler, or one of them refuses the text.
  static DeviceKernel compile(const Program& program, const SourceText& text, const Machine& machine);

  /// A compilation that has begun: the compilers run beside the caller.
  class Pending {
   public:
    /// Waits. Once only. @throws ToolchainError: a compiler failed.
    DeviceKernel finish() { return DeviceKernel(state_.get()); }
    /// Waits, and keeps what went wrong for `finish`.
    void wait() const { state_.wait(); }

   private:
    friend class DeviceKernel;
    std::future<std::shared_ptr<State>> state_;
  };
  /// As compile, in two steps. @throws ToolchainError: no driver.
  static Pending start(const Program& program, const SourceText& text, const Machine& machine);

  /// @throws also ToolchainError where the GPU cannot be used: none, of another architecture, too little memory.
  IsolatedRun run_isolated(const Sizes& sizes, Arrays& arguments, double timeout_seconds) const override;

  struct Timing {
    double seconds = 0.5;         ///< given: calls go on until they have taken this long together
    std::int64_t least = 5;       ///< given: but at least so often
    bool flush_cache = true;      ///< given: no call finds its arguments in the L2 cache
    std::vector<double> samples;  ///< seconds on the device of every timed call, after warm-up
    Arrays last;                  ///< out and inout arrays after one more call at the end, on the same arguments
  };
  IsolatedRun run_timed(const Sizes& sizes, Arrays& arguments, double timeout_seconds, Timing& timing) const;

  /// What ptxas reported: registers, spills, shared memory of each kernel.
  const std::string& compiler_log() const;
  bool from_cache() const;

 private:
  explicit DeviceKernel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace tileopt
