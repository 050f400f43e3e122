/// One type for every array that the generated code touches: program tensors and promoted copies.
#pragma once

#include <string>
#include <vector>

#include "ir/types.h"
#include "support/document.h"

namespace tileopt {

/// Elements of a row stand elsewhere than their subscripts say: subscript `along` is replaced by itself xor (subscript `by` mod the extent of
/// `along`, a power of two). So eight rows of 128 bytes keep their equal columns in different banks. Dimensions are counted as the extents are.
struct Swizzle {
  int along = -1, by = -1;
  bool empty() const { return along < 0; }
  friend bool operator==(const Swizzle&, const Swizzle&) = default;
};

struct Array {
  std::string name;
  ElementType element = ElementType::f32;
  std::string space;            ///< "global" for program tensors; "workspace", "stack", "register", "shared" for promoted arrays
  std::string tensor;           ///< program tensor that this is, or that it keeps a part of
  std::vector<long> extents;    ///< promoted arrays: constant, outermost first; empty for "global" (the tensor's shape holds)
  std::string scope;            ///< band digit below which a promoted array lives; "" = the whole kernel
  int alignment = 64;           ///< bytes
  std::string ring = "";        ///< one copy a slot of this ring: accesses have the position as one more subscript, in front
  int agent_dims = 0;           ///< the first so many dimensions are the coordinates of agents, outermost axis first: each holds its own elements
  long slots = 1;               ///< copies; position g lives in copy g % slots
  std::vector<long> strides = {};  ///< elements from neighbour to neighbour, one a dimension that says where an element lies; empty: without gaps

  Swizzle swizzle = {};

  long elements() const;        ///< product of extents: of one copy
  long agent_elements() const;  ///< elements of one copy that one agent holds
  long stored_elements() const; ///< the same, gaps between rows included
  Document write() const;
  static Array read(const Document& document, const std::string& file);
};

}  // namespace tileopt
