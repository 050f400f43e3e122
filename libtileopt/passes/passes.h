/// The passes, in driver order. Free functions `verb_noun(const In&, decisions) -> Out`, one file each.
#pragma once

#include "ir/ast.h"
#include "ir/stages.h"

namespace tileopt {

/// 10. Flow, anti and output dependences of the whole program; pairs of one reduction relaxed.
Dependences analyze_dependences(const Program& program);

/// 15. The kernels of the Plan, checked: every statement in exactly one, launch order respects the dependences.
Candidate<std::vector<Kernel>> group_kernels(std::shared_ptr<const Program> program,
                                             std::shared_ptr<const Dependences> dependences, const Plan& plan);

/// Default grouping: one kernel per top-level nest of the original order. Statement names per kernel.
std::vector<std::vector<std::string>> default_groups(const Program& program);

/// 20. The members of the Plan's kernel.
Candidate<Schedule> compute_schedule(const Kernel& kernel);

/// What isl's scheduler proposes for a kernel, as members and a tree over them (resolve_plan turns it into decisions).
/// method: "isl", or "original" (members = iterators, tree = original order). Quota and failures fall back to "original".
struct ScheduleProposal {
  std::string method;
  std::map<std::string, StatementMembers> members;  ///< statement -> members
  Tree tree;                                        ///< over member names
  /// Per member: carries no validity or relaxed dependence at its place in the tree.
  std::map<std::string, bool> coincident;
  /// Sets of members that may be interchanged and tiled together, outermost band first.
  std::vector<std::vector<std::string>> permutable;

  bool is_free(const std::string& member) const {
    const auto flag = coincident.find(member);
    return flag != coincident.end() && flag->second;
  }
};
ScheduleProposal propose_schedule(const Kernel& kernel, const std::string& method);

/// 30, 40, 50, 55, 58: see the stages' `create`, which these call.
Candidate<DigitSchedule> digitize(const Schedule& schedule, const Machine& machine);
Candidate<FittedSchedule> fit_atoms(const DigitSchedule& digits, const Machine& machine);
Candidate<PromotedSchedule> promote_footprints(const FittedSchedule& fitted, const Machine& machine);
Candidate<PipelinedSchedule> pipeline_copies(const PromotedSchedule& promoted, const Machine& machine);
Candidate<SynchronizedSchedule> place_barriers(const PipelinedSchedule& pipelined, const Machine& machine);

/// 60. Loops and leaves.
Candidate<Ast> build_ast(const SynchronizedSchedule& synchronized);

}  // namespace tileopt
