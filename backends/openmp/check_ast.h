/// Refuses an Ast that does not fit its program: printing takes names, arities and kinds for granted, and an Ast may come from
/// an edited dump.
#pragma once

#include "backends/openmp/signature.h"
#include "ir/ast.h"
#include "ir/program.h"

namespace tileopt {

/// @throws Refusal (code "ast") with the leaf or loop at fault.
void check_ast(const Ast& ast, const Program& program, const Signature& signature);

}  // namespace tileopt
