/// What the printer made of the leaves of an Ast: accesses of several neighbours, elements that loops hold in variables.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "cost_models/lane_values.h"
#include "ir/module.h"

namespace tileopt {

class LeafFacts {
 public:
  /// Referenced objects outlive it.
  LeafFacts(const Ast& ast, const PrintFacts& facts);

  /// Neighbours that one access of operand `operand` (0: what is written, 1 + r: read r) moves; 1 where the sizes do not align rows.
  long piece(const AstLeaf& leaf, std::size_t operand, long element_bytes, LaneScope& sizes) const;
  /// The loop keeps the element of `array` that its leaf accumulates into in a variable.
  bool is_held(const std::string& variable, const std::string& array) const { return held_.count({variable, array}) != 0; }
  /// 32-bit registers of what the wide accesses of one leaf hold, of the leaf with most of them.
  double fragment_registers() const { return fragment_registers_; }

 private:
  std::map<const AstLeaf*, const PrintFacts::Leaf*> leaves_;
  std::set<std::pair<std::string, std::string>> held_;
  double fragment_registers_ = 0;
};

}  // namespace tileopt
