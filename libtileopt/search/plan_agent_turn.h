/// Assignments that read along one loop what they write along another, on machines whose blocks share memory: tiles are read row by row, kept
/// there, and written row by row.
///   jb, ib > allocate(A_shared) > (copy_in_A_shared: y > x > s, box v ; B: jt > it > js, box iv)
#pragma once

#include "passes/passes.h"
#include "search/plan_parts.h"

namespace tileopt {

/// Empty where the kernel is no single assignment of free loops, or no operand lies across.
std::vector<PartOption> plan_agent_turn(const PlanRequest& request, const ScheduleProposal& proposal);

}  // namespace tileopt
