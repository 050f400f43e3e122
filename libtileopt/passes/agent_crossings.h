/// Which statements touch one element in different agents of one block, and so need a barrier between them.
#pragma once

#include <optional>
#include <vector>

#include "ir/stages.h"

namespace tileopt {

/// Pairs in the order of the statements, each once; a statement may cross with itself (in another iteration of a loop around its agents).
/// The agent digits around a statement are the mixed-radix digits of its agent's number, the innermost one least significant; a statement
/// without any is run by agent 0. Two statements cross only under equal values of the independent digits that they share: blocks never meet.
std::vector<SynchronizedSchedule::Crossing> find_crossings(const PromotedSchedule& promoted, const Machine& machine);

/// Why an array that belongs to one block or one agent is shared by several, or nothing.
std::optional<Infeasible> find_shared_owner(const PromotedSchedule& promoted, const Machine& machine);

}  // namespace tileopt
