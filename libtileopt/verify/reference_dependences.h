/// Dependences of a Program, recomputed for the checker: it trusts no pass.
#pragma once

#include "ir/program.h"

namespace tileopt::proof {

/// { S[..] -> T[..] }, source before sink in the original order.
struct ReferenceDependences {
  isl::union_map flow, anti, output;  ///< must go forward
  isl::union_map relaxed;             ///< pairs of one reduction on one element: free to move, but they conflict
};

ReferenceDependences find_dependences(const Program& program);

/// True where updates of this statement may run in any order: granted for floating point, exact for integers.
bool may_reassociate(const Program& program, const Statement& statement);

}  // namespace tileopt::proof
