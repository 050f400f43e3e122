/// padding: what a whole box computes outside the statement's domain stays in promoted arrays and is never used.
#include "support/text.h"
#include "verify/obligations.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

/// Integer division traps on a zero, and padding operands are zero-filled.
bool may_trap(const ExprPtr& body) {
  bool traps = false;
  walk_expr(body, [&](const Expr& expr) {
    const auto* binary = std::get_if<Binary>(&expr.node);
    if (binary == nullptr || (binary->op != BinaryOp::floor_div && binary->op != BinaryOp::modulo)) return;
    const auto* literal = std::get_if<Literal>(&binary->right->node);
    if (literal == nullptr || literal->integer == 0) traps = true;
  });
  return traps;
}

Outcome check_target(const Execution& execution, const Leaf& leaf) {
  const ArrayUse& array = execution.array_of(leaf.write);
  if (array.promoted != nullptr) return {};
  return Refutation{"a padding point of " + leaf.label + " stores to " + array.name, sample(execution, leaf.padding).text(),
                    leaf.program->write.where};
}

/// Every operand of a padding point has been written: by a copy, by its zero fill, or by another padding point.
Outcome check_operands(Checker& checker, std::size_t index) {
  const Execution& execution = checker.execution;
  const Leaf& leaf = execution.leaves[index];
  for (std::size_t slot = 0; slot < leaf.reads.size(); ++slot) {
    const ArrayUse& array = execution.array_of(leaf.reads[slot]);
    if (array.promoted == nullptr) continue;
    const isl::map unset = checker.writers.of_read(index, slot).unwritten.intersect_domain(leaf.padding);
    if (unset.is_empty()) continue;
    return Refutation{"a padding point of " + leaf.label + " reads an element of " + array.name + " that was never set",
                      sample(execution, unset).text(), leaf.program->reads[slot].where};
  }
  return {};
}

/// Reads that matter: those of instances of the Program, and of copies to a program tensor.
isl::set used_points(const Execution& execution, const Leaf& reader) {
  if (!reader.is_copy()) return reader.inside;
  return execution.array_of(reader.write).promoted == nullptr ? reader.moved : isl::set::empty(reader.points.space());
}

Outcome check_unused(Checker& checker, const Leaf& leaf) {
  const Execution& execution = checker.execution;
  for (std::size_t r = 0; r < execution.leaves.size(); ++r) {
    const Leaf& reader = execution.leaves[r];
    const bool update = reader.program != nullptr && reader.program->updates();
    for (std::size_t slot = 0; slot < reader.reads.size() + (update ? 1 : 0); ++slot) {
      const bool own = slot == reader.reads.size();
      if ((own ? reader.write : reader.reads[slot]).array != leaf.write.array) continue;
      const isl::union_map used = checker.writers.of_read(r, own ? LastWriters::own_read : slot)
                                      .writers.intersect_domain(used_points(execution, reader).to_union_set())
                                      .intersect_range(leaf.padding.to_union_set());
      if (used.is_empty()) continue;
      return Refutation{reader.label + " uses what a padding point of " + leaf.label + " computed", sample(execution, used).text(),
                        leaf.where()};
    }
  }
  return {};
}

Outcome check_leaf(Checker& checker, std::size_t index) {
  const Leaf& leaf = checker.execution.leaves[index];
  if (leaf.padding.is_empty()) return {};
  if (Outcome outcome = check_target(checker.execution, leaf)) return outcome;
  if (may_trap(leaf.program->body))
    return Refutation{"a padding point of " + leaf.label + " may divide an integer by zero",
                      sample(checker.execution, leaf.padding).text(), leaf.where()};
  if (Outcome outcome = check_operands(checker, index)) return outcome;
  return check_unused(checker, leaf);
}

}  // namespace

void check_padding(Checker& checker) {
  const Execution& execution = checker.execution;
  for (std::size_t i = 0; i < execution.leaves.size(); ++i) {
    const Leaf& leaf = execution.leaves[i];
    if (leaf.is_copy()) continue;
    checker.report.prove(obligation("padding", leaf.label + " in kernel " + execution.kernel_name(leaf.kernel), leaf.where(),
                                    kernel_entry(leaf.kernel, "atoms[" + leaf.program->name + "]")),
                         [&] { return check_leaf(checker, i); });
  }
}

}  // namespace tileopt::proof
