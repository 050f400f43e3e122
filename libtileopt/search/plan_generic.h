/// Plans for kernels without an atom: isl's members, tiles where the data volume asks for them, SIMD innermost, threads outermost.
#pragma once

#include <string>
#include <vector>

#include "passes/passes.h"
#include "search/plan_parts.h"

namespace tileopt {

/// Options for the request's kernel under `proposal`, best first; the last one needs nothing but legality of the proposal.
/// Every option's `seconds` is the prediction for the whole part.
std::vector<PartOption> plan_generic(const PlanRequest& request, const ScheduleProposal& proposal);

/// A proposal with its options.
struct LoopPlan {
  std::string method;  ///< KernelPlan::schedule: "original", "isl" or "wavefront"
  std::vector<PartOption> options;
};

/// The original loops and isl's, the one that the model prefers first. isl is not asked where it could not find more.
std::vector<LoopPlan> plan_loops(const PlanRequest& request);

/// The original order, one digit a member, nothing else: the naive baseline.
PartOption plan_original(const PlanRequest& request);

}  // namespace tileopt
