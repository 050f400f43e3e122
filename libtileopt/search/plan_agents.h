/// Plans for machines whose kernels are launched: loops that carry nothing become blocks and their threads, the rest is serial in a thread.
///   i > j > k with i, j free   ->   ib > jb > it > jt > k      (blocks ib, jb; threads it, jt, the contiguous one innermost)
/// Serial loops outside of blocks are run by the host, launch after launch; what has no free loop is run by one thread.
#pragma once

#include <vector>

#include "search/plan_generic.h"

namespace tileopt {

/// Options for the request's kernel, best first by schedule; the last one keeps the original order on one thread.
std::vector<LoopPlan> plan_agents(const PlanRequest& request);

}  // namespace tileopt
