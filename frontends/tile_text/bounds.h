/// Subscripts stay inside their arrays, for every size that the context allows.
#pragma once

#include "frontends/tile_text/affine.h"

namespace tileopt::tile_text {

/// Proves 0 <= subscript < extent on the nest's instances, for the declared dimensions of `symbol`. Reports at most one
/// error, at the first subscript that can leave its dimension, with a witness and a way to mend it. False: reported.
bool check_bounds(Scope& scope, const Nest& nest, const TensorSymbol& symbol, const std::vector<syntax::ExpressionPtr>& indices,
                  const std::vector<isl::pw_aff>& values);

/// "k = K - 1; for example M = 1, K = 1: i = 0, k = 0": one point of a set over the iterators of a nest, preceded by the
/// iterators in `solve` that are functions of the sizes on the whole set.
std::string witness_text(const isl::set& points, const std::vector<Iterator>& iterators, const std::vector<std::size_t>& solve);

}  // namespace tileopt::tile_text
