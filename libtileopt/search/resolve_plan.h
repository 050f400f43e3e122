/// Decides every open field of a Plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/dependences.h"
#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"
#include "ir/stages.h"
#include "support/error.h"

namespace tileopt {

struct ResolveOptions {
  int threads = 1;                 ///< threads the kernel will run on; 1: no thread level is used
  std::map<std::string, std::int64_t> typical_sizes;  ///< sizes the model may assume; others default to 1024
  bool rewrites = true;            ///< take rewrites that no pin asks for, where they pay
};

/// A resolved Plan with the reasons, one line a decision ("kernel gemm: 6x16 register tile: ...").
struct ResolvedPlan {
  Plan plan;
  std::vector<std::string> reasons;
};

/// What the passes make of one kernel of the Plan: planning runs them to see what is legal. They refer to the program that was planned.
struct PlannedStages {
  std::string plan;  ///< the kernel's plan, as text
  SynchronizedSchedule synchronized;
  std::optional<Ast> ast;  ///< where planning needed it
};

/// Deterministic. Pins win; a pin that cannot be honoured gives Infeasible (code "pin") that says why. `stages`: where given, gets those of the
/// Plan's kernels, in its order, for `compile` to take instead of running the passes again.
Candidate<ResolvedPlan> resolve_plan(const Program& program, const Pins& pins, const Machine& machine,
                                     const ResolveOptions& options, std::vector<PlannedStages>* stages = nullptr);

}  // namespace tileopt
