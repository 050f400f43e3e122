/// One Plan, compiled, proved, checked and timed: whatever happens on the way, the answer is a Record.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/executable_kernel.h"
#include "driver/request.h"
#include "driver/work.h"
#include "interpreter/interpreter.h"
#include "records/record.h"

namespace tileopt {

/// Of everything that the machine file says: what records are keyed by.
std::string machine_hash(const Machine& machine);

struct MeasureOptions {
  Sizes sizes;                   ///< at which it is timed
  std::uint64_t seed = 1;        ///< of the arguments
  double seconds = 0.5;          ///< timed calls go on until they have taken this long
  int least_calls = 3;
  double timeout = 30;           ///< seconds for one process of the kernel beyond `seconds`
  int threads = 1;
  CompileOptions compile;
};

/// A Plan whose text the C compiler is working on, or how that ended.
struct PendingPlan {
  Record record;                                 ///< as in PreparedPlan
  std::optional<ExecutableKernel::Pending> kernel;
};

/// A kernel that was compiled for a Plan, or how that ended.
struct PreparedPlan {
  Record record;                        ///< all but the measurement; its outcome is `measured` where `kernel` is set
  std::optional<ExecutableKernel> kernel;
};

/// Measures Plans of one program at one size vector on one machine. Arguments and reference results are made once.
class Measurer {
 public:
  /// @throws Errors(invalid_size), ToolchainError: no C compiler, or a processor without the machine's features.
  Measurer(std::shared_ptr<const Program> program, Machine machine, MeasureOptions options);

  /// Passes, printing, proof; then the C compiler goes on beside the caller, so that several may run at a time.
  PendingPlan begin(const Plan& plan, const std::string& origin) const;
  /// A Plan that could not even be begun: an infeasible record with this reason.
  PendingPlan failed(const Plan& plan, const std::string& origin, const std::string& detail) const;
  /// Waits for the compiler, then checks at small sizes against the interpreter.
  PreparedPlan finish(PendingPlan pending) const;
  PreparedPlan prepare(const Plan& plan, const std::string& origin) const { return finish(begin(plan, origin)); }
  /// Timed calls in a process of its own, with the results before and after them compared; `text` replaces the printed text (tests).
  Record time(PreparedPlan prepared) const;
  Record measure(const Plan& plan, const std::string& origin) const { return time(prepare(plan, origin)); }

  /// For tests: the record of a text that claims to be the kernel of `plan`. Nothing is proved.
  PreparedPlan prepare_text(const Plan& plan, const SourceText& text, const std::string& origin) const;

  /// Results to compare with at the sizes of the measurement: the interpreter's where it can run them, else those of `kernel`,
  /// which was checked at small sizes. Without either, only what the calls of one kernel say of each other is compared.
  void set_reference(const IsolatedKernel& kernel);
  const RecordKey& key() const { return key_; }
  const Work& work() const { return work_; }

 private:
  Record start_record(const Plan& plan, const std::string& origin) const;
  PendingPlan begin_text(const Plan& plan, const SourceText& text, const std::string& origin) const;
  void check(PreparedPlan& prepared) const;
  std::string compare_results(const Arrays& results) const;
  double floor_seconds() const;

  std::shared_ptr<const Program> program_;
  Machine machine_;
  MeasureOptions options_;
  RecordKey key_;
  Work work_;
  Arrays arguments_;
  std::optional<InterpreterResult> exact_;  ///< at the sizes of the measurement
  std::optional<Arrays> approximate_;
};

/// "2026-11-30T06:00:00Z", now.
std::string utc_time();
/// What the operating system calls this processor.
std::string processor_name();

}  // namespace tileopt
