/// Loops over an index that is read from memory run its one effective value.
#pragma once

#include "ir/ast.h"
#include "ir/program.h"

namespace tileopt {

/// Gives a binding to every loop whose variable is guarded (Statement::guards) alike in all leaves below it, by a value that
/// is known where the loop starts and that nothing below changes. Other leaves test their guards themselves. Copies to and from
/// arrays that live inside the loop may stand below it: they run for that value alone.
///   for s in [0, B - 1]: H[s] += v[i]   ->   bind s = idx[i]: H[s] += v[i]
AstNodePtr bind_guards(const AstNodePtr& root, const Ast& ast, const Program& program);

/// Why a leaf cannot do without a bound loop that the Ast does not have, or "": boxes are not tested point by point, and an array
/// without copy-in has no content to keep.
std::string unbound_guard(const Ast& ast, const Program& program);

}  // namespace tileopt
