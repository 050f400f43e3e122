/// Contractions on machines whose kernels are launched: a block keeps tiles of both factors in its shared memory, a thread a tile of the
/// result in its registers.
///   ib > jb > (C_init: it > jt ; kb > (copy A, copy B ; C: it > jt > kk))     i = 128 ib + 8 it + ii,  j = 128 jb + 8 jt + jj,  k = 16 kb + kk
#pragma once

#include <string>
#include <vector>

#include "search/contraction.h"

namespace tileopt {

/// Options, best first; empty (with the reason) where the factors do not lie as two-dimensional tiles, or the problem is too small to gain.
std::vector<PartOption> plan_agent_contraction(const PlanRequest& request, const Contraction& contraction, std::string& why_not);

}  // namespace tileopt
