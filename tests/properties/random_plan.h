/// Random Plans: digits, order, levels and promotions drawn anew, on top of the members of a resolved Plan. Most are legal; the
/// others must be refused with a reason.
#pragma once

#include <cstdint>
#include <random>

#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"

namespace tileopt::testing {

/// `base` has one digit a member (schedule "original"). The same seed gives the same Plan.
Plan random_plan(const Program& program, const Plan& base, const Machine& machine, std::uint64_t seed);

}  // namespace tileopt::testing
