/// Atoms that compute asynchronously are opened, committed and awaited in the loops of the Ast.
#pragma once

#include "ir/ast.h"
#include "ir/stages.h"

namespace tileopt {

/// Around each largest part of a block's loops that runs nothing but such atoms of one pipe stand an *open* (where the pipe is fenced) and a
/// *commit*. An *await* of everything follows behind the copies that come next, so that these run meanwhile and what follows finds the atoms done:
///   kb > (kk > C ; A_copy)   ->   kb > (open ; kk > C ; commit ; A_copy ; await)
/// Barriers before which memory may have been written that such an atom reads after them get a *fence* in front, where the pipe is fenced.
void await_atoms(const SynchronizedSchedule& synchronized, Ast& ast);

}  // namespace tileopt
