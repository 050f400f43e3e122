/// The original order with the facts that planning needs: which loops carry nothing, which may be interchanged and tiled.
#pragma once

#include "passes/passes.h"

namespace tileopt {

/// propose_schedule(kernel, "original") with loops over indices placed (guarded_loops.h), and `coincident` and `permutable` derived
/// from the dependences.
ScheduleProposal analyze_original_loops(const Kernel& kernel);

/// Sets `coincident` for every member that carries nothing at its place in the tree, which is more than isl says: it asks for a distance of 0
/// whatever is around.
void find_free_members(const Kernel& kernel, ScheduleProposal& proposal);

/// Statements over the members of a proposal: { S[members] }.
std::vector<StatementSpace> member_spaces(const Kernel& kernel, const ScheduleProposal& proposal);

/// Several statements that share a leaf of `tree` (isl gave them distinct times) are ordered as in the source.
Tree separate_leaves(const Tree& tree, const std::vector<std::string>& statements);

}  // namespace tileopt
