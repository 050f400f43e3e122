/// Where the elements of tensors and promoted arrays lie, at given sizes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "interpreter/host_array.h"
#include "ir/ast.h"
#include "ir/program.h"

namespace tileopt {

/// One array: subscripts to bytes. Arrays of registers have no place.
struct ArrayPlace {
  std::string tensor;            ///< tensors of the program: its name; "" else
  std::string space;             ///< as Array::space; "global" for tensors
  long element_bytes = 4;
  std::vector<long> extents;     ///< without the coordinates of agents
  std::vector<long> strides;     ///< elements, one per extent
  std::vector<std::size_t> order;  ///< dimensions from the slowest to the fastest
  Swizzle swizzle = {};
  long slots = 1, slot_elements = 0;
  bool ring = false;             ///< accesses have the position in front
  std::size_t agent_dims = 0;

  bool in_memory() const { return space == "global" || space == "workspace"; }
  /// Byte of an element. `subscripts` as accesses give them.
  long address(const std::vector<long>& subscripts) const;
};

/// All arrays that the kernel names. @throws Errors(invalid_size) where an extent is not defined at these sizes.
std::map<std::string, ArrayPlace> place_arrays(const Program& program, const Ast& ast, const Sizes& sizes);

}  // namespace tileopt
