/// Decides how the arrays of space "register" are printed: as one C variable, as named vectors, or (where some subscript is
/// no constant) as a small C array on the stack.
#pragma once

#include <map>
#include <set>
#include <string>

#include "backends/c_common/storage.h"
#include "ir/ast.h"
#include "ir/machine.h"

namespace tileopt {

struct RegisterArrays {
  std::map<std::string, Storage::Kind> kinds;   ///< scalar, vectors or memory
  std::map<std::string, int> lanes;             ///< of the arrays in vectors
  std::set<std::string> together;               ///< memory: C arrays that an instruction of several agents takes as a whole, accessed at constant places
  std::set<std::string> unrolled;               ///< loop variables that subscripts of named vectors need as constants
};

/// @throws Refusal where a constant subscript leaves its array (an edited dump).
RegisterArrays classify_register_arrays(const Ast& ast, const Machine& machine);

/// Values of an `unroll` loop with constant bounds and few trips; empty where it is not such a loop.
/// `constants`: values of enclosing unrolled loops.
std::vector<std::int64_t> unrolled_values(const AstFor& loop, const std::map<std::string, AstExprPtr>& constants);

/// Children of a node with nested blocks flattened.
std::vector<AstNodePtr> flat_children(const AstNodePtr& node);

}  // namespace tileopt
