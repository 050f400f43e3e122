/// Parameter-only isl objects (array shapes, contexts) as integer expressions, so that launchers can evaluate them.
#pragma once

#include "ir/ast.h"
#include "poly/isl.h"

namespace tileopt {

/// [params] -> { [(value)] }. The text assumes nothing about the parameters.
AstExprPtr expr_of(const isl::pw_aff& value);

/// [params] -> { : constraints } as a condition (1 where there is none).
AstExprPtr condition_of(const isl::set& context);

}  // namespace tileopt
