/// Indices that only a run knows: `X[idx[i]]`, `range(len[b])`, `C[(i + 3) % N]`. Each becomes an iterator over all values
/// that it may have (a *symbol*), entered where everything it is made of is known; the statements inside are guarded by
/// `symbol == value` (Statement::guards).
#pragma once

#include "frontends/tile_text/loops.h"

namespace tileopt::tile_text {

/// The nest with a dimension for every symbol of `statement` whose parts are all known outside it and that nothing inside it
/// changes. Symbols that stand already are used again.
Nest enter_symbols(Scope& scope, const Nest& nest, const syntax::Statement& statement);
/// The same for the expressions of one place: `affine` are subscripts and bounds, `values` may hold some inside.
Nest enter_symbols(Scope& scope, const Nest& nest, const std::vector<syntax::ExpressionPtr>& affine,
                   const std::vector<syntax::ExpressionPtr>& values);

/// True for what is no function of iterators and sizes that isl could be told, by its form alone: an element of a tensor, or
/// `//` and `%` by something that is no constant.
bool is_symbolic(const Scope& scope, const syntax::ExpressionPtr& expression);

/// Why `expression`, which is symbolic, is no symbol of the nest, as message and hint.
struct Refused {
  ErrorCode code;
  std::string message, hint;
};
Refused why_no_symbol(const Scope& scope, const syntax::ExpressionPtr& expression, const std::string& role);

/// Names of the tensors that a block assigns to.
std::set<std::string> written_names(const syntax::Block& block);
/// The same without what declarations initialise.
std::set<std::string> assigned_names(const syntax::Block& block);
/// What is known of the values of a local of `type` that is only ever set to `value`: those of the index that it copies.
ValueFacts facts_of_copy(const Scope& scope, const syntax::ExpressionPtr& value, ElementType type);
/// True when `expression` reads one of `names`.
bool mentions_any(const syntax::ExpressionPtr& expression, const std::set<std::string>& names);

}  // namespace tileopt::tile_text
