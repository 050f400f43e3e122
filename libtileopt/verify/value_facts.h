/// What the program assumes of the values of index tensors, said of pairs: both run only where the values that they ask for
/// can occur together.
#pragma once

#include <vector>

#include "verify/execution.h"

namespace tileopt::proof {

/// A point (or an instance) has an effect only where the element has the value.
struct Condition {
  const Tensor* tensor = nullptr;  ///< written by no statement
  isl::map element;                ///< { P[..] -> T[x] }
  isl::map value;                  ///< { P[..] -> [(v)] }
};

/// Guards of a statement, over its instances.
std::vector<Condition> conditions_of(const Program& program, const Statement& statement);
/// Guards of a leaf's statement and the values of the bound loops around it, over its points.
std::vector<Condition> conditions_of(const Execution& execution, const Leaf& leaf);

/// The pairs { P[..] -> Q[..] } in which all conditions of both may hold.
isl::map possible_pairs(isl::map pairs, const std::vector<Condition>& first, const std::vector<Condition>& second);

}  // namespace tileopt::proof
