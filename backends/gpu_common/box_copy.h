/// Copies of whole boxes of a tensor, issued by one thread: what the engine is told of the tensor (on the host), and the call.
#pragma once

#include <string>
#include <vector>

#include "backends/c_common/leaf_access.h"
#include "ir/atom.h"
#include "ir/module.h"

namespace tileopt {

/// A tensor map of a launch: an argument of its kernel.
struct BoxMap {
  std::string name, tensor;
  std::vector<std::string> extents;  ///< C, the fastest dimension first
  PrintFacts::BoxCopy copy;
};

/// What the leaf copies, as the engine sees it. `argument`: the tensor that it reads. @throws Refusal.
PrintFacts::BoxCopy describe_box_copy(const LeafView& leaf, const AstLeaf& node, const Atom& atom, const TensorArgument& argument);

/// Host lines that make the map; they return 7 where the engine does not take the tensor.
std::string map_lines(const BoxMap& map, const std::string& pointer);

/// Slot and phase of a position on a ring, as the facts of synchronisations say them.
AstExprPtr slot_of_position(const AstExprPtr& position, long slots);
AstExprPtr phase_of_position(const AstExprPtr& position, long slots);

}  // namespace tileopt
