/// What indices from memory say about pairs of instances: two instances that cannot both have an effect do not depend.
#pragma once

#include "ir/program.h"

namespace tileopt {

/// An element of a tensor that nothing writes (read there, or through a local copy of it), whose value a guard demands of an iterator.
struct GuardElement {
  std::string tensor;
  isl::map element;       ///< { S[i] -> tensor[x] }
  std::size_t iterator = 0;
};

/// The guards of `statement` that are such elements, in order.
std::vector<GuardElement> guard_elements(const Program& program, const Statement& statement);

/// `pairs` without those whose instances never both have an effect:
///   one element read twice has one value;            guards p[x] == s and p[x] == s'  ->  s = s'
///   injective(p): two elements have two values;      guards p[x] == s and p[y] == s'  ->  s != s' where x != y
///   monotone(p): values do not decrease in a row;    guards p[x] == s and p[y] == s'  ->  s <= s' where x <= y
/// pairs: { S[i] -> T[j] }
isl::union_map effective_pairs(const Program& program, const isl::union_map& pairs);

}  // namespace tileopt
