/// The space of one program on one machine, made from what the planner decides: its structures, and around each the values that
/// pins can give to what it left open.
#pragma once

#include "search/resolve_plan.h"
#include "space/space.h"

namespace tileopt {

/// Which structures a space is made of.
enum class SpaceScope {
  all,      ///< also other kernels, rewrites, sources of loops, and the loops as written
  planned,  ///< the planner's own only: sooner made
};

/// The space that `pins` leave. Takes a few resolve_plan calls a structure. The Infeasible is the planner's, where the pins
/// allow no Plan.
/// @throws Errors(invalid_pin).
Candidate<PlanSpace> describe_space(const Program& program, const Pins& pins, const Machine& machine,
                                    const ResolveOptions& options, SpaceScope scope = SpaceScope::all);

/// The Plan of a point, or why there is none: legality that no constraint foresees shows here.
Candidate<ResolvedPlan> resolve_point(const PlanSpace& space, const Point& point, const Program& program,
                                      const Machine& machine, const ResolveOptions& options);

}  // namespace tileopt
