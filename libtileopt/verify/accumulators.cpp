/// text: an element that a printer holds in a variable during a loop. The loads and stores that this adds are in no Ast, so the other
/// obligations know nothing of them: what is said here makes them those of the loop's own leaf, in place and in time.
#include <algorithm>

#include "support/text.h"
#include "verify/obligations.h"

namespace tileopt::proof {

namespace {

Refutation wrong(const std::string& why, const std::string& witness, const SourceLocation& where) { return Refutation{why, witness, where}; }

std::string element_type(const ArrayUse& array) {
  return type_name(array.promoted != nullptr ? array.promoted->element : array.tensor->type);
}

/// Every agent has elements of its own.
bool held_by_agents(const ArrayUse& array) { return array.promoted != nullptr && array.promoted->agent_dims > 0; }

/// { [outer loops, the loop] } that run no point of the leaf.
isl::set iterations_without_points(const Execution& execution, const LoopUse& loop, const Leaf& leaf) {
  const auto depth = static_cast<unsigned>(loop.depth + 1);
  isl_set* points = isl_set_reset_tuple_id(leaf.points.copy());
  points = isl_set_project_out(points, isl_dim_set, depth, static_cast<unsigned>(isl_set_dim(points, isl_dim_set)) - depth);
  isl_set* runs = isl_set_reset_tuple_id(isl_set_intersect_params(loop.iterations.copy(), execution.context.copy()));
  return isl::manage(isl_set_subtract(runs, points));
}

/// What the printer says that it tests where the leaf stands, found by counting leaves in print order.
const PrintFacts::Leaf* printed_leaf(const Execution& execution, const PrintFacts& facts, std::size_t number) {
  std::size_t position = 0;
  for (std::size_t i = 0; i < number; ++i) position += execution.leaves[i].kernel == execution.leaves[number].kernel ? 1 : 0;
  return position < facts.leaves.size() ? &facts.leaves[position] : nullptr;
}

}  // namespace

Outcome check_accumulator(const Checker& checker, std::size_t index, const PrintFacts& facts, const PrintFacts::Accumulator& held) {
  const LoopUse& loop = checker.execution.loops[index];
  const std::string what = "loop " + loop.node->variable + " holds " + held.array + "[" + join(held.subscripts, ", ") + "] in a variable";
  const AstLeaf* node = only_node<AstLeaf>(loop.node->body);  // every iteration reaches it
  if (node == nullptr || loop.leaves.size() != 1) return wrong(what + ", and more than one leaf stands in it, or not every iteration reaches it", what, {});
  if (loop.kind == LevelKind::independent || loop.is_agent()) return wrong(what + ", and several agents run it", "level " + loop.node->level, {});
  if (!held.tested) return wrong(what + ", and stores it where no iteration runs", what, {});
  const Leaf& leaf = checker.execution.leaves[loop.leaves.front()];
  const AstStatement& statement = *leaf.statement;
  if (leaf.kind != LeafKind::compute || leaf.pipe != nullptr) return wrong(what + ", which " + leaf.label + " does not update", what, leaf.where());
  for (const std::vector<long>& row : statement.write_steps)
    for (const long step : row)
      if (step != 0) return wrong(what + ", and the points of a box of " + leaf.label + " write different elements", what, leaf.where());

  std::vector<std::string> subscripts;
  for (const AstExprPtr& subscript : node->write) {
    subscripts.push_back(ast_expr_text(subscript));
    if (mentions(subscript, loop.node->variable)) return wrong(what + ", and its iterations write different elements", subscripts.back(), leaf.where());
  }
  const std::string written = statement.write_array + "[" + join(subscripts, ", ") + "]";
  if (held.array != statement.write_array || held.subscripts != subscripts)
    return wrong(what + ", and " + leaf.label + " updates " + written, "printed: " + held.array + "[" + join(held.subscripts, ", ") + "] | Ast: " + written, leaf.where());
  if (contains(statement.read_arrays, held.array)) return wrong(what + ", and " + leaf.label + " reads " + held.array + " from memory", what, leaf.where());

  const std::string type = element_type(checker.execution.arrays[leaf.write.array]);
  if (held.type != type) return wrong(what + " of type " + held.type + ", which rounds and wraps unlike " + type, "printed: " + held.type + " | stored: " + type, leaf.where());
  if (type == "i4" || type == "u4") return wrong(what + ", which does not wrap like " + type, type, leaf.where());

  // A box may be cut to nothing and a guard hold in no iteration: then the element is another instance's, perhaps another thread's, and
  // storing it undoes theirs. What an agent holds by itself is no other's.
  if (held_by_agents(checker.execution.arrays[leaf.write.array])) return {};
  const isl::set idle = iterations_without_points(checker.execution, loop, leaf);
  if (!idle.is_empty())
    return wrong(what + ", and stores it though the box of " + leaf.label + " may be cut to nothing: another agent's update is undone", poly::sample_text(idle), leaf.where());
  const PrintFacts::Leaf* tests = printed_leaf(checker.execution, facts, loop.leaves.front());
  if (tests == nullptr) return wrong(what + ", and its leaf was not printed", what, leaf.where());
  for (const std::string& test : tests->tested)
    if (test.starts_with("guard") || test == "atomic")
      return wrong(what + ", and stores it though " + test + " of " + leaf.label + " may hold in no iteration: another agent's update is undone", what, leaf.where());
  return {};
}

}  // namespace tileopt::proof
