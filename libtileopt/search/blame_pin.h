/// Which pin a pass's refusal comes from, and what its writer can change.
#pragma once

#include "search/pins.h"

namespace tileopt {

/// `refused` with the position of the pin that asked for its plan entry, and a hint. Without such a pin only the hint is added.
Infeasible blame_pin(const Program& program, const PinTable& pins, const KernelPlan& plan, Infeasible refused);

/// The same for a refusal that comes after planning, from the passes or the printer.
Infeasible blame_pin(const Program& source, const Pins& pins, const Machine& machine, const Plan& plan, Infeasible refused);

}  // namespace tileopt
