/// What `#pragma omp simd` over a loop needs: the accumulators that lanes share, or the reason why it may not stand there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/program.h"

namespace tileopt {

/// A leaf that accumulates into one element over the whole loop.
struct Accumulation {
  const AstLeaf* leaf;
  const AstStatement* statement;
  Combine combine;
};

struct SimdLoop {
  bool allowed = false;                     ///< lanes write different elements, or accumulate
  std::vector<Accumulation> accumulations;  ///< in print order
  bool single_leaf = false;                 ///< the body is one leaf and nothing else
};

/// Looks at all leaves below `loop`. Arrays allocated inside belong to one iteration. `boxes`: a box whose points meet in one element accumulates
/// too, where nobody makes lanes of the loop.
SimdLoop analyze_simd_loop(const AstFor& loop, const Ast& ast, const Program& program, bool boxes = false);

/// Whether bounds of loops below depend on the variable, so that trips differ in work.
bool uneven_work(const AstFor& loop);
/// How much an iteration does is read from memory: rows of a sparse matrix, groups of a ragged one.
bool work_from_memory(const AstFor& loop);

}  // namespace tileopt
