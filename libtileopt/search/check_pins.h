/// Pins against finished plans: those that edit a plan are applied, the others must have taken effect already.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/plan_parts.h"

namespace tileopt {

/// Applies order, parallel, vectorize, unroll and promote pins to `plan` and checks tile, atom and schedule pins, as far as they
/// concern this kernel. Gives the first pin that `plan` cannot honour, with the reason.
std::optional<Infeasible> apply_pins(const PlanRequest& request, KernelPlan& plan, std::vector<std::string>& reasons);

/// A pin that names no loop, or loops of several kernels: names must say which.
std::optional<Infeasible> find_unused_pin(const Program& program, const PinTable& pins, const Plan& plan);

}  // namespace tileopt
