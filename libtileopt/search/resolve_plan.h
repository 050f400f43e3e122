/// Decides every open field of a Plan.
#pragma once

#include <string>
#include <vector>

#include "ir/dependences.h"
#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"
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

/// Deterministic. Pins win; a pin that cannot be honoured gives Infeasible (code "pin") that says why.
Candidate<ResolvedPlan> resolve_plan(const Program& program, const Pins& pins, const Machine& machine,
                                     const ResolveOptions& options);

}  // namespace tileopt
