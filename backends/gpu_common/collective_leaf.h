/// Leaves that several threads run by one instruction: its two matrices as descriptors of memory that the block shares, its result a C array of
/// each thread's registers.
#pragma once

#include <string>
#include <vector>

#include "backends/c_common/leaf_access.h"
#include "ir/atom.h"
#include "ir/module.h"

namespace tileopt {

struct CollectiveCall {
  std::string text;                              ///< the printed line
  std::string wrapper;                           ///< "tileopt_wgmma_bf16_n256"
  std::vector<PrintFacts::Matrix> matrices;      ///< left, right
  long columns = 0;                              ///< of the instruction
};

/// `leaf`: with the threads that run it together at 0. @throws Refusal where the instruction takes no such operands.
CollectiveCall print_collective(const LeafView& leaf, const Atom& atom, StorageTable& storage);

}  // namespace tileopt
