/// What `assume` says of the values of index tensors.
#pragma once

#include "frontends/tile_text/scope.h"

namespace tileopt::tile_text {

/// The conditions that `condition` joins by `and`.
void split_facts(const syntax::ExpressionPtr& condition, std::vector<syntax::ExpressionPtr>& parts);

/// Reads `0 <= idx[:] < N`, `monotone(off)` or `injective(perm)` into the tensor's facts; errors are reported. False where the
/// condition is about sizes alone.
bool read_value_fact(Scope& scope, const syntax::Function& function, const syntax::ExpressionPtr& condition);

}  // namespace tileopt::tile_text
