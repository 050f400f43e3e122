#include "verify/neutral_points.h"

#include <algorithm>

namespace tileopt::proof {

namespace {

const Read* read_under_casts(const ExprPtr& expr) {
  if (const auto* cast = std::get_if<Cast>(&expr->node)) return read_under_casts(cast->operand);
  return std::get_if<Read>(&expr->node);
}

/// Only copies write the array: the search for who zeroed it ends there.
bool only_copied(const Execution& execution, const LastWriters& writers, std::size_t array) {
  const std::vector<std::size_t> leaves = writers.leaves_writing(array);
  return std::all_of(leaves.begin(), leaves.end(), [&](std::size_t i) { return execution.leaves[i].is_copy(); });
}

/// { L[v, b] } whose read number `slot` finds a zero that a copy filled in.
isl::set reads_zero(const Execution& execution, LastWriters& writers, std::size_t leaf, std::size_t slot) {
  const Leaf& reader = execution.leaves[leaf];
  isl::set found = isl::set::empty(reader.points.space());
  const std::size_t array = reader.reads[slot].array;
  if (!only_copied(execution, writers, array)) return found;
  const Origin& origin = writers.of_read(leaf, slot);
  for (const std::size_t i : writers.leaves_writing(array)) {
    const isl::union_map from = origin.writers.intersect_range(execution.leaves[i].zeroed.to_union_set());
    for (const isl::map& piece : poly::sorted_maps(from)) found = found.unite(piece.domain());
  }
  return found;
}

/// { L[v, b] } whose element holds a sum of the Program: what happens to others is nobody's matter, and seldom simple.
isl::set touches_results(const Leaf& leaf) {
  const isl::set results = leaf.write.element.intersect_domain(leaf.inside).range().coalesce();
  return leaf.write.element.intersect_range(results).domain().coalesce();
}

}  // namespace

bool sums_in_box(const Leaf& leaf) {
  if (leaf.is_copy() || leaf.program->combine == Combine::assign) return false;
  for (std::size_t b = 0; b < leaf.statement->box.size(); ++b) {
    const auto& steps = leaf.statement->write_steps;
    const bool still = std::all_of(steps.begin(), steps.end(), [&](const std::vector<long>& row) { return row[b] == 0; });
    if (still && leaf.statement->box[b].radix > 1) return true;
  }
  return false;
}

isl::set neutral_points(const Execution& execution, LastWriters& writers, std::size_t index) {
  const Leaf& leaf = execution.leaves[index];
  const isl::set none = isl::set::empty(leaf.points.space());
  if (leaf.is_copy() || leaf.program->combine != Combine::sum || leaf.program->predicate != nullptr || leaf.padding.is_empty()) return none;
  const auto* product = std::get_if<Binary>(&leaf.program->body->node);
  if (product == nullptr || product->op != BinaryOp::mul) return none;
  const Read* left = read_under_casts(product->left);
  const Read* right = read_under_casts(product->right);
  if (left == nullptr || right == nullptr) return none;
  const isl::set zero_left = reads_zero(execution, writers, index, left->access), zero_right = reads_zero(execution, writers, index, right->access);
  const bool floats = is_float(leaf.program->body->type) || is_float(execution.program->tensor(leaf.program->write.tensor).type);
  if (!floats) return zero_left.unite(zero_right).intersect(leaf.padding).intersect(touches_results(leaf)).coalesce();
  if (!execution.program->numerics().reassociate) return none;
  return zero_left.intersect(zero_right).intersect(leaf.padding).intersect(touches_results(leaf)).coalesce();
}

}  // namespace tileopt::proof
