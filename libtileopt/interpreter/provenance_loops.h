/// The printed loops of one kernel, with names replaced by numbered slots: from the Ast, or from what the printer says it printed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "interpreter/host_array.h"
#include "ir/ast.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt {

/// An integer expression over slots.
struct SlotExpr {
  AstExpr::Kind kind = AstExpr::Kind::integer;
  std::int64_t value = 0;  ///< of an integer; slot of a name
  std::vector<SlotExpr> arguments;

  /// @throws ProvenanceFault where it divides by zero or leaves 64 bits.
  std::int64_t evaluate(const std::vector<std::int64_t>& slots) const;
};
using SlotExprs = std::vector<SlotExpr>;

struct PrintedNode {
  enum class Kind { block, loop, branch, allocate, leaf };
  Kind kind = Kind::block;
  std::vector<PrintedNode> children;
  std::vector<std::string> arrays;          ///< allocate
  // Loops.
  std::size_t slot = 0;
  SlotExpr lower, upper, condition;         ///< condition: of a branch
  std::int64_t step = 1;
  bool independent = false, lanes = false, single_leaf = false;
  std::string pragma, variable;
  const AstBinding* binding = nullptr;      ///< of a loop that runs one value
  std::map<std::size_t, SlotExprs> bound_reads;
  std::map<std::size_t, SlotExpr> bound_indices;
  std::string held;                         ///< array of which the only leaf's element is held in a variable; "": none
  SlotExprs held_element;                   ///< as it is loaded and stored, in the first iteration
  bool held_tested = true;                  ///< only where there is one
  // Leaves.
  const AstStatement* statement = nullptr;
  SlotExprs write, indices, extents, instance;
  std::vector<SlotExprs> reads;
  long printed_points = 0;                  ///< 0: the whole box
  std::uint32_t tested_guards = 0;          ///< one bit each
  bool tests_predicate = true;
  bool atomic = false;                      ///< its update may meet others of its kind
};

struct PrintedLoops {
  PrintedNode root;
  std::size_t slots = 0;
  std::size_t parallel_depth = 0;  ///< nested parallel loops, boxes included
};

/// `facts`: null: the Ast's own. @throws ProvenanceFault where they do not fit each other, ProvenanceUnsupported.
PrintedLoops lower_printed(const Program& program, const Ast& ast, const PrintFacts* facts, const Machine& machine, const Sizes& sizes,
                           std::vector<std::int64_t>& values);

}  // namespace tileopt
