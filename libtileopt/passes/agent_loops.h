/// Loops of a kernel that is launched: blocks of agents, with barriers where statements of a block cross.
#pragma once

#include <optional>

#include "ir/ast.h"
#include "ir/stages.h"

namespace tileopt {

/// Rewrites ast.root so that
///   - every leaf stands in a nest of independent loops (a *launch*; what is outside of those runs on the host, launch after launch),
///   - every leaf of a launch stands in agent loops, whose values are the digits of its agent's number: what has none is run by agent 0,
///   - a barrier of the block stands, outside of agent loops, before what crosses with something since the last barrier.
///     for k: for b: (for t: S ; for t: T)   ->   for k: for b: (for t: S ; barrier ; for t: T)      where S and T cross
/// Barriers are placed as late as possible and never where agents go different ways.
std::optional<Infeasible> place_agents(const SynchronizedSchedule& synchronized, Ast& ast);

}  // namespace tileopt
