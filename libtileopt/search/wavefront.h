/// Wavefronts: where every loop of a permutable nest carries a dependence, the iterations of equal sum are independent (Lamport's hyperplane).
#pragma once

#include <optional>

#include "passes/passes.h"

namespace tileopt {

/// `proposal` with the sum of the loops as the outermost loop of every innermost permutable group in which no loop is free; the member
/// before it replaces is the group's last. Empty where there is no such group.
///   band[t, i, j] permutable  ->  band[w, t, i], w = t + i + j, and t, i are free
std::optional<ScheduleProposal> propose_wavefront(const Kernel& kernel, const ScheduleProposal& proposal);

/// One permutable nest over all statements: no other schedule has more freedom.
bool is_one_nest(const ScheduleProposal& proposal);

/// The analysed proposal of KernelPlan::schedule: "original", "isl" or "wavefront"; empty where there is none.
std::optional<ScheduleProposal> propose_loops(const Kernel& kernel, const std::string& schedule);

}  // namespace tileopt
