/// Times the stages of one compile, dumps them, and stops where asked. Returns what it is given.
///
/// Dump folder (docs/dumps.md):
///   00-program.tile  05-rewritten.yaml  10-dependences.yaml  15-kernels.yaml
///   <kernel>/20-schedule.yaml … <kernel>/60-ast.yaml
///   70-source.c  70-source.h  80-certificate.json  plan.json  timing.tsv
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "driver/stage_dump.h"
#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"
#include "support/error.h"

namespace tileopt {

struct TraceOptions {
  std::string dump_dir;    ///< "" = no dumps
  std::string stop_after;  ///< stage ("digits", "30" or "30-digits"), "" = run to the end
  std::string planted_failure = {};  ///< for tests: the stage, as above, that fails with an internal error
  std::function<void(const std::string& stage, const std::string& kernel)> on_stage = {};  ///< before every stage; what it throws ends the compile
  std::function<void(const std::string& path, const std::string& text)> on_file = {};      ///< every file of a dump folder, "kernel/30-digits.yaml"
  bool dumps() const { return !dump_dir.empty() || on_file; }
};

/// The full name of a stage given as "digits", "30" or "30-digits".
/// @throws Errors(invalid_option) with the list of stages.
std::string find_stage(const std::string& name);

/// The full names of all stages, in driver order.
const std::vector<std::string>& stage_names();

/// Code of the Infeasible that `--stop-after` makes: nothing failed, the rest was not asked for.
inline constexpr const char* stopped_code = "stopped";

class Trace {
 public:
  struct Timing {
    std::string stage, kernel;
    double milliseconds;
  };

  /// @throws Errors(invalid_option) on an unknown stage.
  explicit Trace(TraceOptions options = {});

  /// Names what the dumps of this compile bundle; writes 00-program.tile and plan.json.
  /// @throws Errors(file_access) where the folder cannot be written.
  void begin(std::shared_ptr<const Program> program, const Plan& plan, const Machine& machine);

  /// Runs `run` (-> T or Candidate<T>), times it, dumps what it returns.
  /// An Infeasible passes through; after the stage `stop_after` the result is an Infeasible with `stopped_code`.
  template <class Run>
  auto operator()(const std::string& stage, const std::string& kernel, Run&& run) {
    using Result = std::decay_t<decltype(run())>;
    if constexpr (is_candidate<Result>::value) {
      return keep(stage, kernel, timed(stage, kernel, run));
    } else {
      return keep(stage, kernel, Candidate<Result>(timed(stage, kernel, run)));
    }
  }
  template <class Run>
  auto operator()(const std::string& stage, Run&& run) {
    return (*this)(stage, std::string(), std::forward<Run>(run));
  }

  const std::vector<Timing>& timings() const { return timings_; }
  const TraceOptions& options() const { return options_; }

 private:
  template <class T>
  struct is_candidate : std::false_type {};
  template <class T>
  struct is_candidate<std::variant<T, Infeasible>> : std::true_type {};

  template <class Run>
  auto timed(const std::string& stage, const std::string& kernel, Run&& run) {
    if (options_.on_stage) options_.on_stage(stage, kernel);
    const auto start = std::chrono::steady_clock::now();
    TILEOPT_CHECK(stage != options_.planted_failure, "planted in " + stage);
    auto result = run();
    add_timing(stage, kernel, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    return result;
  }
  template <class T>
  Candidate<T> keep(const std::string& stage, const std::string& kernel, Candidate<T> candidate) {
    if (!feasible(candidate)) return candidate;
    if (options_.dumps()) write_files(stage, kernel, stage_files(stage, kernel, std::get<T>(candidate), context_));
    if (stage == options_.stop_after) return Infeasible{stopped_code, stage, kernel, "", "stopped after " + stage};
    return candidate;
  }
  void write_files(const std::string& stage, const std::string& kernel, const std::vector<StageFile>& files);
  void add_timing(const std::string& stage, const std::string& kernel, double milliseconds);

  TraceOptions options_;
  DumpContext context_;
  std::vector<Timing> timings_;
};

}  // namespace tileopt
