/// `grid`, `range` and affine `if`: how they narrow the instances that reach a place.
#pragma once

#include "frontends/tile_text/affine.h"

namespace tileopt::tile_text {

/// Most loops around one statement (reduction iterators included).
constexpr std::size_t most_loops = 16;

/// The nest inside `for targets in iterable`. Errors make the result unknown, so that its body can still be read.
Nest enter_loop(Scope& scope, const Nest& outer, const std::vector<syntax::Target>& targets,
                const syntax::ExpressionPtr& iterable);

/// Whether the iterable counts down.
bool descends(const syntax::ExpressionPtr& iterable);

/// `nest` where an affine condition holds. Errors make the result unknown.
Nest restrict(Scope& scope, const Nest& nest, const syntax::ExpressionPtr& condition);

/// Adds an unbounded dimension.
void append_iterator(Nest& nest, const Iterator& iterator);

/// One dimension of a local declared inside the loop over iterator `position` of `nest`.
struct LeadingDimension {
  isl::pw_aff extent;  ///< [params] -> { [(count)] }, not negative on the context
  isl::pw_aff shift;   ///< [params] -> { [(least value)] }: the subscript is iterator - shift
};
LeadingDimension expand_dimension(const Scope& scope, const Nest& nest, std::size_t position);

}  // namespace tileopt::tile_text
