/// Where loops over indices from memory stand. The source enters an index at the innermost statement that uses it; what the index
/// does not depend on can run inside it, and statements under one index can share its loop.
#pragma once

#include "passes/passes.h"

namespace tileopt {

/// `proposal` (original order) with every guarded member moved out to just below what its value depends on, and equal ones at the
/// head of neighbouring branches merged into one, as far as the dependences allow:
///   t > d > token_at   ->   t > token_at > d
///   i > (A: key_at > .. ; B: key_at_2 > ..)   ->   i > key_at > (A: .. ; B: ..)
ScheduleProposal place_guarded_loops(const Kernel& kernel, ScheduleProposal proposal);

}  // namespace tileopt
