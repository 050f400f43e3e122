/// Dependences of a Program, recomputed for the checker: it trusts no pass.
#pragma once

#include "ir/program.h"

namespace tileopt::proof {

/// { S[..] -> T[..] }, source before sink in the original order; both must keep that order. Pairs of updates of one reduction
/// on one element are absent where may_reassociate grants it.
struct ReferenceDependences {
  isl::union_map flow, anti, output;
};

ReferenceDependences find_dependences(const Program& program);

/// All pairs of accesses of one element, one of them a write, in the original order: they contain the dependences, and take no flow
/// analysis. What keeps all of them keeps every dependence; what reverses one may still be right, where another write lies between.
ReferenceDependences find_conflicts(const Program& program);

/// True where updates of this statement may run in any order: granted for floating point, exact for integers. A
/// monoid must have been declared commutative.
bool may_reassociate(const Program& program, const Statement& statement);

/// True where the order of this statement's updates may show in the result.
bool order_rounds(const Program& program, const Statement& statement);

}  // namespace tileopt::proof
