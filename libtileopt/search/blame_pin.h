/// Which pin a pass's refusal comes from, and what its writer can change.
#pragma once

#include "search/plan_parts.h"

namespace tileopt {

/// `refused` with the position of the pin that asked for its plan entry, and a hint. Without such a pin only the hint is added.
Infeasible blame_pin(const PlanRequest& request, const KernelPlan& plan, Infeasible refused);

}  // namespace tileopt
