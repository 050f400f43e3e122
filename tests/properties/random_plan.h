/// Random Plans: digits, order, levels, atoms and promotions drawn anew. They are drawn from what legal_choices.h allows, so that most
/// can be honoured; the others must be refused with a reason.
#pragma once

#include <cstdint>
#include <memory>

#include "ir/dependences.h"
#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"
#include "legal_choices.h"

namespace tileopt::testing {

/// What a random Plan asks for, so that a suite can show how much of each it ran.
struct PlanFeatures {
  bool tiled = false;         ///< a member of several digits
  bool interchanged = false;  ///< bands in another order than the program's
  bool parallel = false;      ///< a digit on an independent level
  bool lockstep = false;
  bool promoted = false;
  bool split_layout = false;  ///< a tensor dimension written in two digits of a promoted array
  bool atom = false;          ///< a leaf that runs a box
  bool nested = false;        ///< interior and edge blocks apart
};
PlanFeatures features_of(const Plan& plan, const Plan& base, const Machine& machine);

/// `base` has one digit a member (schedule "original"); `choices` are kept from one Plan of it to the next. The same seed gives the
/// same Plan.
Plan random_plan(const std::shared_ptr<const Program>& program, const std::shared_ptr<const Dependences>& dependences, const Plan& base,
                 const Machine& machine, PlanChoices& choices, std::uint64_t seed);

/// `base`, any resolved Plan, with smaller radices: what is cut for caches and registers meets its edges at small sizes too.
/// Equal radices stay equal, since layouts follow the digits.
Plan shrunk_plan(const Plan& base, std::uint64_t seed);

}  // namespace tileopt::testing
