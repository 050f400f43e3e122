/// Compiles printed code and calls it on host arrays, in this process or in one of its own.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "backends/runner/isolated_kernel.h"
#include "interpreter/host_array.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt {

/// The middle one of the sorted values (of an even number the upper one); 0 of none.
double median(std::vector<double> values);

struct CompileOptions {
  std::string compiler;                  ///< "" = find_c_compiler()
  std::vector<std::string> extra_flags;  ///< e.g. {"-Wall", "-Werror"}
};

/// A kernel that ran, but wrongly: wrote outside its arrays or into an input, or refused arguments that are valid.
class KernelFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class CompiledKernel : public IsolatedKernel {
  struct State;

 public:
  /// @throws ToolchainError: no compiler, it fails, or this processor lacks features of the machine.
  static CompiledKernel compile(const Program& program, const SourceText& text, const Machine& machine, const CompileOptions& options = {});

  /// A compilation that has begun: the C compiler runs beside the caller.
  class Pending {
   public:
    /// Waits for the compiler. Once only. @throws ToolchainError: it failed.
    CompiledKernel finish();
    /// Waits, and keeps what went wrong for `finish`.
    void wait() const { done_.wait(); }

   private:
    friend class CompiledKernel;
    std::shared_ptr<State> state_;
    std::future<void> done_;
  };
  /// As compile, in two steps. @throws ToolchainError: no compiler, or this processor lacks features of the machine.
  static Pending start(const Program& program, const SourceText& text, const Machine& machine, const CompileOptions& options = {});

  /// Calls the launcher on guarded copies of `arguments` (in, inout and out tensors, by name, of the shapes that `sizes` give)
  /// and stores the out and inout copies back. Returns the launcher's code; arrays change only where it is 0.
  /// @throws KernelFault where guard bytes or an input changed, Errors(invalid_size) where arguments do not fit.
  int run(const Sizes& sizes, Arrays& arguments) const;

  /// The same in a process of its own, with a time limit: a crash or hang costs that process only.
  IsolatedRun run_isolated(const Sizes& sizes, Arrays& arguments, double timeout_seconds) const override;

  /// What timing in a process of its own gives.
  struct Timing {
    double seconds = 0.5;               ///< given: calls go on until they have taken this long together
    int least = 3;                      ///< given: but at least so often
    std::vector<double> samples;        ///< seconds of every timed call, after one untimed call
    std::int64_t growth_bytes = 0;      ///< memory that the process gained over the timed calls
    double elapsed = 0;                 ///< seconds of the whole process by our own clock
    Arrays last;                        ///< out and inout arrays after one more call at the end, on the same arguments
  };
  /// As run_isolated, with timed calls between the one whose results come back in `arguments` and the one of `timing.last`; what
  /// the kernel writes is set back before each call.
  IsolatedRun run_timed(const Sizes& sizes, Arrays& arguments, double timeout_seconds, Timing& timing) const;

  std::int64_t workspace_bytes(const Sizes& sizes) const;
  /// Calls the launcher in this process on the caller's own memory: one pointer an argument, in the signature's order, and workspace_bytes
  /// of workspace. Returns the launcher's code.
  /// @throws ToolchainError: $TILEOPT_RUN_WITH runs kernels of another processor.
  int call(const Sizes& sizes, void* const* arguments, void* workspace) const;

  /// Median seconds of a call, measured for about `seconds` after one warm-up call (at least 3 calls). `arguments` do not change.
  double bench(const Sizes& sizes, const Arrays& arguments, double seconds) const;

  /// Medians of several kernels that take the same arguments, calls taking turns so that machine noise meets all alike.
  static std::vector<double> bench_interleaved(const std::vector<const CompiledKernel*>& kernels, const Sizes& sizes,
                                               const Arrays& arguments, double seconds);

  const std::string& compiler() const;
  /// Path of the shared object, alive as long as a copy of this value is.
  const std::string& object() const;

 private:
  explicit CompiledKernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace tileopt
