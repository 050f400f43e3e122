/// Times, dumps and resumes stages; returns its argument unchanged.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/plan.h"
#include "support/document.h"
#include "support/error.h"

namespace tileopt {

struct TraceOptions {
  std::string dump_dir;     ///< "" = no dumps
  std::string stop_after;   ///< stage short name ("digits", "ast", ...), "" = run to the end
};

class Trace {
 public:
  struct Timing {
    std::string stage, kernel;
    double milliseconds;
  };
  explicit Trace(TraceOptions options = {});
  const std::vector<Timing>& timings() const { return timings_; }
  bool stopped() const { return stopped_; }   ///< `stop_after` was reached
  /// Times `run`, then hands its document to the dump.
  template <class Run>
  auto time(const std::string& stage, const std::string& kernel, Run&& run) {
    const auto start = std::chrono::steady_clock::now();
    auto result = run();
    add_timing(stage, kernel, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    return result;
  }
  void dump(const std::string& stage, const std::string& kernel, const std::function<std::string()>& text, const std::string& extension);
  const TraceOptions& options() const { return options_; }

 private:
  void add_timing(const std::string& stage, const std::string& kernel, double milliseconds);
  TraceOptions options_;
  std::vector<Timing> timings_;
  bool stopped_ = false;
};

}  // namespace tileopt
