/// Plans for kernels without an atom: isl's members, tiles where the data volume asks for them, SIMD innermost, threads outermost.
#pragma once

#include <string>
#include <vector>

#include "passes/passes.h"
#include "search/plan_parts.h"

namespace tileopt {

/// Options for the request's kernel under `proposal`, best first; the last one needs nothing but legality of the proposal.
std::vector<PartOption> plan_generic(const PlanRequest& request, const ScheduleProposal& proposal);

/// The original order, one digit a member, nothing else: the naive baseline.
PartOption plan_original(const PlanRequest& request);

}  // namespace tileopt
