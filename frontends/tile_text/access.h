/// Subscripted tensors: affine subscripts, arity, bounds, and the access relation.
#pragma once

#include "frontends/tile_text/loops.h"

namespace tileopt::tile_text {

/// The subscripts of one access, leading dimensions of locals included.
struct Subscripts {
  std::vector<isl::pw_aff> values;  ///< { [iterators] -> [(subscript)] }
};

/// Reads `name` or `name[subscripts]` (an expression whose base names `symbol`) at a place and checks it against the
/// tensor's extents. nullopt: reported, or nothing can be said because the nest or the tensor is unknown.
std::optional<Subscripts> read_subscripts(Scope& scope, const Nest& nest, const TensorSymbol& symbol,
                                          const syntax::ExpressionPtr& expression);

/// Subscripts that are the enclosing iterators alone (a scalar local, an inline reduction's accumulator).
Subscripts leading_subscripts(const Nest& nest, const TensorSymbol& symbol);

/// { statement[iterators] -> tensor[subscripts] } on the nest's instances.
isl::pw_multi_aff access_relation(const Scope& scope, const Nest& nest, const TensorSymbol& symbol,
                                  const Subscripts& subscripts, const std::string& statement);

}  // namespace tileopt::tile_text
