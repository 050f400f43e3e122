/// Reductions `sum(e for k in range(K))` -> an init statement and an accumulating statement.
#pragma once

#include "frontends/tile_text/value_lowering.h"

namespace tileopt::tile_text {

/// Where a reduction accumulates.
struct ReductionTarget {
  const TensorSymbol& symbol;
  Subscripts subscripts;   ///< over the nest around the reduction
  syntax::Position where;  ///< of the statement
  bool init;               ///< false: accumulates onto what is there (`+=`)
};

/// Appends the branches `r_init` and `for k: r (+)= e` to `out`. False where an error was reported.
bool emit_reduction(Lowering& lowering, const Nest& nest, const ReductionTarget& target, const syntax::Generator& generator,
                    const Reduction& reduction, std::vector<Tree::Branch>& out);

/// The monoid of (value, index) pairs that keeps the greatest (or least) value and, of equal ones, the index that comes first:
/// the least, or the greatest where the loop is `descending`; a NaN wins over numbers. Its identity comes after every index.
Monoid extreme_search(ElementType element, bool greatest, bool descending);
/// The index of that identity: nothing was found.
Literal no_position(bool descending);

/// Gives a local one leading dimension per iterator around its declaration.
void expand_over(const Scope& scope, const Nest& nest, TensorSymbol& symbol);
/// A scalar local that the source does not name, one for every iteration of `nest`.
const TensorSymbol& add_local(Scope& scope, const Nest& nest, const std::string& name, ElementType type, syntax::Position where);

}  // namespace tileopt::tile_text
