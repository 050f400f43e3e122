/// A kernel as numbers: loops with radices, accesses with coefficients, where copies stand. What the cost model and the
/// features read; made once per structure, changed and evaluated as often as one likes, without isl.
#pragma once

#include <string>
#include <vector>

#include "ir/machine.h"

namespace tileopt {

/// One digit of a member. Digits of a member are numbered from the most significant one.
struct ShapeDigit {
  std::string name;
  int member = 0;
  long radix = 0;  ///< 0: whatever the digits inside it leave
  LevelKind kind = LevelKind::sequential;
};

/// Elements that loops touch again and again. coefficients[d][m]: step of subscript d per unit of member m, the contiguous
/// subscript last; empty where the subscripts are not affine: one element anywhere.
struct ShapeStream {
  std::string tensor;  ///< of the program
  std::string array;   ///< the tensor, or the promoted array
  int element_bytes = 4;
  bool write = false;
  bool packed = false;      ///< lies densely, as it is read: no gaps between rows
  bool copy = false;        ///< moved by a copy, not by the statement itself
  bool created = false;     ///< of a copy: its target
  double copy_cycles = 0;   ///< of a copy's source: instructions' cycles for one element
  bool active = true;       ///< false: belongs to a decision that is not taken now
  std::size_t below = 0;    ///< touched by the loops outside this depth of the path only; the loops inside are one sweep
  std::size_t renewed = 0;  ///< the loops outside this depth fill the same memory anew
  std::vector<std::vector<long>> coefficients;
};

enum class ShapeLeaf {
  plain,         ///< scalar, or SIMD along the innermost digit where its level is lockstep
  multiply_add,  ///< a register tile of outer products
  elementwise,   ///< a box of vectors
};

/// One statement with the loops around it.
struct ShapeStatement {
  std::string name;
  std::vector<int> path;  ///< digits, outermost first; those of an atom's box last
  std::vector<ShapeStream> streams;
  double operations = 1;  ///< scalar operations per instance
  int element_bytes = 4;
  ShapeLeaf leaf = ShapeLeaf::plain;
  double summed_at_once = 1;  ///< multiply_add: products that one instruction adds to a result
  double products = 1;        ///< the same in the time of one multiplication
  bool padded = false;  ///< an atom that runs its whole box
  bool result_in_registers = false;
};

struct KernelShape {
  std::string name;
  std::vector<std::string> members;
  std::vector<double> extents;  ///< values that each member takes, at the typical sizes
  std::vector<ShapeDigit> digits;
  std::vector<std::vector<int>> digits_of;  ///< member -> digits, most significant first
  std::vector<ShapeStatement> statements;
  double fixed_bytes = 0;  ///< of arrays that live for the whole kernel
};

}  // namespace tileopt
