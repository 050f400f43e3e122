/// Tries the laws that a `@monoid` claims on sampled values.
#pragma once

#include <optional>
#include <string>

#include "ir/program.h"

namespace tileopt::tile_text {

struct LawViolation {
  std::string message, hint;
  std::string witness;  ///< the values, and the two results that differ
};

/// A counterexample to the identity, to associativity or (where claimed) to commutativity. Integers are compared exactly, floats
/// within the rounding of both evaluations; samples on which a result is not finite say nothing.
std::optional<LawViolation> find_violation(const Monoid& monoid);

/// True where evaluating the expression rounds nothing: no float arithmetic but comparisons, min, max and negation.
bool computes_exactly(const ExprPtr& expr);

}  // namespace tileopt::tile_text
