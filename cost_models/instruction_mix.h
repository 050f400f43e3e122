/// Instructions of one instance of a statement, by the unit that runs them.
#pragma once

#include "ir/program.h"

namespace tileopt {

/// Counts are instructions of one thread (or of a warp, whose lanes run together).
struct InstructionMix {
  double multiply_add = 0;  ///< f32 and narrower: sums, products, both at once
  double integer = 0;       ///< integers, comparisons, minima, selections, moves of bits
  double convert = 0;
  double special = 0;       ///< exp2, reciprocals, roots
  double doubles = 0;
  double chain = 0;         ///< the longest chain of them: of one result, from its operands

  double count() const { return multiply_add + integer + convert + special + doubles; }
};

/// Of the body, and of combining its value with the element. Estimates of what compilers for GPUs make of it: a function is counted as its
/// polynomial and the special instructions in it; `numerics` says which short forms are granted.
InstructionMix count_instructions(const Program& program, const Statement& statement);

}  // namespace tileopt
