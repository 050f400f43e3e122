/// `best: tuple[f32, i64][K] = topk(X[j] for j in range(N))` -> K searches, each below what the one before it found.
#pragma once

#include "frontends/tile_text/value_lowering.h"

namespace tileopt::tile_text {

/// The call `topk(...)` that `expression` is, or null.
const syntax::Call* as_topk(const syntax::ExpressionPtr& expression);

/// Lowers the search into `best`, an array of `extent` pairs (value, index), the greatest first; of equal values the one first
/// that the loop meets first; a NaN is greater than every number. Pairs that are left over hold the least value and -1.
void lower_topk(Lowering& lowering, const Nest& nest, const TensorSymbol& best, const syntax::ExpressionPtr& extent,
                const syntax::ExpressionPtr& expression, std::vector<Tree::Branch>& out);

}  // namespace tileopt::tile_text
