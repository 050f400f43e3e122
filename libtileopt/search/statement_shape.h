/// What planners of register tiles ask about a statement's domain and about the statement that sets its elements first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "search/statement_view.h"

namespace tileopt {

/// `set` with the dimensions that `gone` names eliminated.
isl::set eliminate_dims(const isl::set& set, const std::function<bool(std::size_t)>& gone);

/// The values of iterator `position` do not depend on the other iterators, but for those in `fixed`.
bool is_rectangular(const isl::set& domain, std::size_t position, const std::vector<std::size_t>& fixed);

/// Moves exactly one subscript, by one element.
bool moves_one(const AccessView& access, std::size_t member);
/// ... and no other member moves that subscript.
bool moves_alone(const AccessView& access, std::size_t member);

/// Arithmetic that a vector atom has, reads and literals.
bool is_elementwise(const ExprPtr& body);

/// `candidate` sets the elements that `statement` updates to a literal, or with `from_arrays` to arithmetic on other arrays, its iterators
/// named as those of `statement`. `view`: of `statement` over its iterators.
bool initialises(const Program& program, const Statement& candidate, const Statement& statement, const StatementView& view,
                 const std::vector<std::size_t>& fixed, const TypicalSizes& sizes, bool from_arrays);

}  // namespace tileopt
