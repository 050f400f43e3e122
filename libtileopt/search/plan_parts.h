/// What the planners share: the question (a kernel on a machine), unique names, and parts of a KernelPlan.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/stages.h"
#include "search/pins.h"
#include "search/statement_view.h"

namespace tileopt {

/// The question: plan `kernel` for `machine`. All referenced objects outlive the planning.
struct PlanRequest {
  const Kernel& kernel;
  const Machine& machine;
  const TypicalSizes& sizes;
  const PinTable& pins;
  int threads = 1;

  const Program& program() const { return kernel.program(); }
};

/// Hands out names that no digit, member or layout dimension of the kernel has yet.
class NameTable {
 public:
  /// `wanted`, or `wanted_2`, `wanted_3`, ...
  std::string unique(const std::string& wanted);
  void reserve(const std::string& name) { used_.insert(name); }

 private:
  std::set<std::string> used_;
};

/// Names of the digits of one member: the member itself where it has one digit, else "ic", "ir", "ii" and the like.
std::string digit_name(const std::string& member, char role);

/// Some statements of a kernel with all decisions about them; parts run one after another.
struct PlanPart {
  std::vector<std::string> statements;
  std::map<std::string, StatementMembers> members;
  std::vector<std::pair<std::string, std::vector<Digit>>> digits;
  Tree tree;
  std::map<std::string, AtomChoice> atoms;
  std::vector<Promotion> promotions;
  std::vector<Pipelining> pipelines = {};
  std::vector<std::string> reasons;
  std::vector<isl::pw_aff> excess = {};  ///< [params] -> { [(K mod 8)] }: where all are 0, and they are never negative, the part would be better
};

/// One way to plan a part; built only when it is tried.
struct PartOption {
  std::string label;     ///< "contraction", "tiles 32x32", "original", ...
  double seconds = 0;    ///< predicted, to rank the options of one part
  std::function<PlanPart(NameTable&)> build;
};

/// The loop of `loops` that a pin gives to the threads, else the outermost one with two pieces of work for each; `pieces(m)`: of loop m.
std::optional<std::size_t> choose_thread_loop(const PlanRequest& request, const std::string& statement, const StatementView& view,
                                              const std::vector<std::size_t>& loops, const std::function<double(std::size_t)>& pieces);

/// The machine's first level of this kind, or "serial".
std::string level_of_kind(const Machine& machine, LevelKind kind);

/// Parts in order, as one KernelPlan.
KernelPlan join_parts(const Kernel& kernel, const std::string& schedule, const std::vector<PlanPart>& parts);

}  // namespace tileopt
