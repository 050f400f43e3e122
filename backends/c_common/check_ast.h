/// Refuses an Ast that does not fit its program: printing takes names, arities and kinds for granted, and an Ast may come from
/// an edited dump.
#pragma once

#include <string>
#include <vector>

#include "backends/c_common/signature.h"
#include "ir/ast.h"
#include "ir/program.h"

namespace tileopt {

/// What a printer has forms for.
struct PrintableSpaces {
  std::vector<std::string> spaces = {"register", "stack", "workspace"};
  bool barriers = false;  ///< of the whole block
  std::vector<std::string> pipes = {};  ///< whose groups it can close and wait for; rings then are buffers that are used in turn
  bool phases = false;                  ///< of barriers in memory that count bytes: agents may wait for them, and say how many come
};

/// @throws Refusal (code "ast") with the leaf or loop at fault.
void check_ast(const Ast& ast, const Program& program, const Signature& signature, const PrintableSpaces& printable = {});

}  // namespace tileopt
