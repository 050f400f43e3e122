/// Spaces of programs given as tile text, for tests.
#pragma once

#include <gtest/gtest.h>

#include "space/describe_space.h"
#include "space/score.h"
#include "tests/unit/search/plan_case.h"

namespace tileopt {

/// A program with its space on one machine.
class SpaceCase {
 public:
  explicit SpaceCase(const std::string& text, const std::string& machine = "x86-64-v3", ResolveOptions options = {},
                     const std::string& pins = "")
      : plan_case_(text),
        machine_(find_machine(machine)),
        options_(std::move(options)),
        given_(pins.empty() ? Pins{} : parse_pins(pins, "pins")),
        space_(describe_space(plan_case_.program(), given_, machine_, options_)) {}

  bool exists() const { return feasible(space_); }
  const PlanSpace& space() const { return std::get<PlanSpace>(space_); }
  const Program& program() const { return plan_case_.program(); }
  const Machine& machine() const { return machine_; }
  const ResolveOptions& options() const { return options_; }
  const Pins& given() const { return given_; }

  Candidate<ResolvedPlan> resolve(const Point& point) const {
    return resolve_point(space(), point, program(), machine_, options_);
  }
  double seconds(const Plan& plan) const {
    const TypicalSizes sizes(options_.typical_sizes.begin(), options_.typical_sizes.end());
    return score_plan(program(), plan, machine_, sizes, options_.threads).cost.seconds;
  }

 private:
  PlanCase plan_case_;
  Machine machine_;
  ResolveOptions options_;
  Pins given_;
  Candidate<PlanSpace> space_;
};

inline std::string refusal_of(const Candidate<ResolvedPlan>& candidate) {
  const auto* refused = std::get_if<Infeasible>(&candidate);
  return refused ? to_string(*refused) : "";
}

}  // namespace tileopt
