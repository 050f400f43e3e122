/// coverage of loops that run one value: the iterations that are left out have no effect, because in every computation below
/// the loop's variable is guarded by the value that is run, nothing in the loop changes that value, and copies that stand alone
/// change nothing. And of boxes, whose points have no conditions of their own: bound loops outside hold all guards of theirs.
#include <algorithm>
#include <set>

#include "verify/ast_expr_reader.h"
#include "verify/obligations.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

std::map<std::string, unsigned> positions_of(const std::vector<std::string>& loops) {
  std::map<std::string, unsigned> positions;
  for (std::size_t i = 0; i < loops.size(); ++i) positions.emplace(loops[i], static_cast<unsigned>(i));
  return positions;
}

/// A loop with the value that it runs.
struct Bound {
  const Execution& execution;
  const LoopUse& loop;
  const AstStatement& statement;  ///< of the binding's leaf
  const Statement& source;

  const AstBinding& binding() const { return *loop.node->binding; }
  const ExprPtr& value() const { return source.guards[binding().guard].value; }
  const std::string& array(std::size_t access) const { return statement.read_arrays[access]; }
};

/// The two values are the same computation on the same elements.
class SameValue {
 public:
  SameValue(const Bound& bound, const Leaf& leaf)
      : bound_(bound), leaf_(leaf), reader_(leaf.points.space(), positions_of(leaf.loops)) {}

  bool equal(const ExprPtr& run, const ExprPtr& guard) const {
    if (run->type != guard->type || run->node.index() != guard->node.index()) return false;
    if (const auto* a = std::get_if<Read>(&run->node)) return same_read(a->access, std::get<Read>(guard->node).access);
    if (const auto* a = std::get_if<IndexValue>(&run->node)) return same_index(a->index, std::get<IndexValue>(guard->node).index);
    // Everything else is compared as text, which names reads and index values by number: so only with none below.
    const std::vector<ExprPtr> left = operands(run), right = operands(guard);
    if (left.size() != right.size() || (left.empty() && expr_text(run) != expr_text(guard))) return false;
    if (!left.empty() && head(run) != head(guard)) return false;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!equal(left[i], right[i])) return false;
    return true;
  }

 private:
  static std::vector<ExprPtr> operands(const ExprPtr& expr) {
    if (const auto* n = std::get_if<Unary>(&expr->node)) return {n->operand};
    if (const auto* n = std::get_if<Binary>(&expr->node)) return {n->left, n->right};
    if (const auto* n = std::get_if<Select>(&expr->node)) return {n->condition, n->then_value, n->else_value};
    if (const auto* n = std::get_if<Cast>(&expr->node)) return {n->operand};
    if (const auto* n = std::get_if<Call>(&expr->node)) return n->arguments;
    if (const auto* n = std::get_if<MakeTuple>(&expr->node)) return n->components;
    if (const auto* n = std::get_if<Component>(&expr->node)) return {n->operand};
    return {};
  }
  static int head(const ExprPtr& expr) {
    if (const auto* n = std::get_if<Unary>(&expr->node)) return static_cast<int>(n->op);
    if (const auto* n = std::get_if<Binary>(&expr->node)) return static_cast<int>(n->op);
    if (const auto* n = std::get_if<Call>(&expr->node)) return static_cast<int>(n->function);
    if (const auto* n = std::get_if<Component>(&expr->node)) return static_cast<int>(n->index);
    return 0;
  }
  bool same_index(std::size_t run, std::size_t guard) const {
    const auto found = bound_.binding().indices.find(run);
    if (found == bound_.binding().indices.end()) return false;
    return leaf_.inside.is_subset(reader_.value(found->second, leaf_.points).eq_set(leaf_.indices[guard]));
  }
  /// The guard's element is that of the value at every point of the box, not at its corner alone.
  bool same_read(std::size_t run, std::size_t guard) const {
    const auto found = bound_.binding().reads.find(run);
    const PointAccess& access = leaf_.reads[guard];
    const ArrayUse& array = bound_.execution.array_of(access);
    if (found == bound_.binding().reads.end() || array.promoted != nullptr || array.name != bound_.array(run)) return false;
    if (!leaf_.inside.is_subset(access.element.domain())) return false;
    for (std::size_t d = 0; d < access.corner.size(); ++d)
      if (!leaf_.inside.is_subset(reader_.value(found->second[d], leaf_.points).eq_set(access.corner[d]))) return false;
    const std::vector<std::vector<long>>& steps = leaf_.statement->read_steps[guard];
    return std::all_of(steps.begin(), steps.end(), [](const std::vector<long>& row) {
      return std::all_of(row.begin(), row.end(), [](long step) { return step == 0; });
    });
  }

  const Bound& bound_;
  const Leaf& leaf_;
  AstExprReader reader_;
};

/// { L[v, b] -> S[i] : i_iterator = v_depth }
bool is_iterator(const Leaf& leaf, std::size_t depth, std::size_t iterator) {
  const isl::map runs = leaf.instance.intersect_domain(leaf.inside);
  isl_map* equal = isl_map_universe(runs.space().release());
  equal = isl_map_equate(equal, isl_dim_in, static_cast<int>(depth), isl_dim_out, static_cast<int>(iterator));
  return runs.is_subset(isl::manage(equal));
}

bool guards_leaf(const Bound& bound, const Leaf& leaf) {
  if (leaf.program == nullptr) return false;
  const SameValue same(bound, leaf);
  return std::any_of(leaf.program->guards.begin(), leaf.program->guards.end(), [&](const Guard& guard) {
    return is_iterator(leaf, bound.loop.depth, guard.iterator) && same.equal(bound.value(), guard.value);
  });
}

Refutation refuted(const Bound& bound, const std::string& reason) {
  return Refutation{"loop " + bound.loop.node->variable + " runs one value, but " + reason, "loop " + bound.loop.node->variable, bound.source.where};
}

Outcome check_names(const Bound& bound) {
  std::set<std::string> names, known(bound.execution.program->parameters().begin(), bound.execution.program->parameters().end());
  for (const std::size_t outer : bound.loop.enclosing) known.insert(bound.execution.loops[outer].node->variable);
  for (const auto& [access, subscripts] : bound.binding().reads)
    for (const AstExprPtr& subscript : subscripts) collect_names(subscript, names);
  for (const auto& [index, value] : bound.binding().indices) collect_names(value, names);
  for (const std::string& name : names)
    if (known.count(name) == 0) return refuted(bound, "the value depends on " + name + ", which is not known where it starts");
  return {};
}

Outcome check_unchanged(const Bound& bound) {
  for (const std::size_t l : bound.loop.leaves) {
    const Leaf& leaf = bound.execution.leaves[l];
    for (const auto& [access, subscripts] : bound.binding().reads)
      if (bound.execution.array_of(leaf.write).name == bound.array(access))
        return refuted(bound, leaf.label + " below it writes " + bound.array(access) + ", which the value is read from");
  }
  return {};
}

/// The value is read wherever the loop is reached, whether or not a leaf below it runs.
Outcome check_reads_inside(const Bound& bound) {
  std::vector<std::string> loops;
  for (const std::size_t outer : bound.loop.enclosing) loops.push_back(bound.execution.loops[outer].node->variable);
  const isl::set& reached = bound.loop.reached;
  const AstExprReader reader(reached.space(), positions_of(loops));
  for (const auto& [access, subscripts] : bound.binding().reads) {
    if (!bound.execution.program->has_tensor(bound.array(access))) return refuted(bound, "its value is read from a promoted array");
    const Tensor& tensor = bound.execution.program->tensor(bound.array(access));
    if (subscripts.size() != tensor.shape.size()) return refuted(bound, "its value is read with another number of subscripts");
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      const isl::pw_aff value = reader.value(subscripts[d], reached);
      const isl::pw_aff extent = isl::manage(isl_pw_aff_insert_domain(tensor.shape[d].copy(), isl_set_get_space(reached.get())));
      const isl::set outside = reached.subtract(value.ge_set(reader.constant(0)).intersect(value.lt_set(extent)));
      if (!outside.is_empty())
        return Refutation{"the value of loop " + bound.loop.node->variable + " is read outside " + tensor.name,
                          sample(bound.execution, outside).text(), bound.source.where};
    }
  }
  return {};
}

bool lives_inside(const Bound& bound, const ArrayUse& array) { return array.promoted != nullptr && array.outer_loops > bound.loop.depth; }

/// { X[o, x] -> T[y] } for copies between a promoted array and a tensor; empty parts of other leaves.
isl::map moved_elements(const Leaf& copy) {
  const PointAccess& near = copy.kind == LeafKind::copy_in ? copy.write : copy.reads[0];
  const PointAccess& far = copy.kind == LeafKind::copy_in ? copy.reads[0] : copy.write;
  return near.element.intersect_domain(copy.moved).reverse().apply_range(far.element.intersect_domain(copy.moved));
}

/// What a store moves, some copy before it has loaded from the same element of the tensor, and no other copy put anything there.
Outcome check_store(const Bound& bound, const Leaf& store) {
  const Execution& execution = bound.execution;
  isl::map left = moved_elements(store);
  const isl::set kept = left.domain();
  for (const std::size_t l : bound.loop.leaves) {
    const Leaf& load = execution.leaves[l];
    if (load.kind != LeafKind::copy_in || load.write.array != store.reads[0].array) continue;
    const auto changed = [&](const std::string& how) {
      return refuted(bound, store.label + " below it stores what " + load.label + " " + how);
    };
    if (!load.write.element.intersect_domain(load.zeroed).range().is_disjoint(kept)) return changed("filled with zeros");
    const isl::map loaded = load.reads[0].array == store.write.array ? moved_elements(load).intersect_domain(kept) : isl::map();
    if (loaded.is_null() || !loaded.is_subset(moved_elements(store))) return changed("loaded from another element");
    const isl::map late = load.write.element.apply_range(store.reads[0].element.reverse()).intersect(not_before(load, store));
    if (!late.is_empty()) return changed("loads later");
    left = left.subtract(loaded);
  }
  if (left.is_empty()) return {};
  return Refutation{"loop " + bound.loop.node->variable + " runs one value, but " + store.label + " below it stores what was not loaded before",
                    sample(execution, left).text(), bound.source.where};
}

/// Where the guards fail, copies alone would run in the iterations that are left out. They change nothing: what lives inside the
/// loop is gone after it, and what is stored is what was loaded from there.
Outcome check_copy(const Bound& bound, const Leaf& copy) {
  const ArrayUse& near = bound.execution.array_of(copy.kind == LeafKind::copy_in ? copy.write : copy.reads[0]);
  const ArrayUse& far = bound.execution.array_of(copy.kind == LeafKind::copy_in ? copy.reads[0] : copy.write);
  if (!lives_inside(bound, near)) return refuted(bound, copy.label + " below it copies to or from " + near.name + ", which outlives it");
  if (far.promoted != nullptr) return refuted(bound, copy.label + " below it copies between promoted arrays");
  return copy.kind == LeafKind::copy_out ? check_store(bound, copy) : Outcome{};
}

Outcome check_bound(const Execution& execution, const LoopUse& loop) {
  const AstBinding& binding = *loop.node->binding;
  const Ast& ast = (*execution.kernels)[loop.kernel];
  const auto leaf = ast.statements.find(binding.leaf);
  if (leaf == ast.statements.end() || !execution.program->has_statement(leaf->second.statement))
    return Refutation{"loop " + loop.node->variable + " is bound by an unknown statement " + binding.leaf, binding.leaf, {}};
  const Statement& source = execution.program->statement(leaf->second.statement);
  if (binding.guard >= source.guards.size()) return Refutation{source.name + " has no guard of this number", binding.leaf, source.where};
  const Bound bound{execution, loop, leaf->second, source};
  if (loop.node->step != 1) return refuted(bound, "its step is not 1");
  if (Outcome outcome = check_names(bound)) return outcome;
  if (Outcome outcome = check_unchanged(bound)) return outcome;
  if (Outcome outcome = check_reads_inside(bound)) return outcome;
  for (const std::size_t l : loop.leaves) {
    const Leaf& leaf = execution.leaves[l];
    if (leaf.is_copy()) {
      if (Outcome outcome = check_copy(bound, leaf)) return outcome;
    } else if (!guards_leaf(bound, leaf)) {
      return refuted(bound, leaf.label + " is not guarded by it");
    }
  }
  return {};
}

}  // namespace

namespace {
/// Guards of the leaf's statement that a bound loop around it settles; `outside`: only loops of at most this depth count.
bool all_settled(const Execution& execution, const Leaf& leaf, std::size_t outside) {
  if (leaf.program->predicate != nullptr) return false;
  return std::all_of(leaf.program->guards.begin(), leaf.program->guards.end(), [&](const Guard& guard) {
    return std::any_of(leaf.loop_ids.begin(), leaf.loop_ids.end(), [&](std::size_t id) {
      const LoopUse& loop = execution.loops[id];
      return loop.node->binding && loop.depth < outside && is_iterator(leaf, loop.depth, guard.iterator);
    });
  });
}
}  // namespace

bool guards_settled_outside(const Execution& execution, const Leaf& leaf, std::size_t outer_loops) {
  return leaf.program != nullptr && leaf.program->conditional() && all_settled(execution, leaf, outer_loops);
}

void check_bindings(Checker& checker) {
  for (const Leaf& leaf : checker.execution.leaves) {
    if (leaf.program == nullptr || leaf.box.empty() || !leaf.program->conditional()) continue;
    checker.report.prove(obligation("coverage", "conditions of the box of " + leaf.label + " in kernel " + checker.execution.kernel_name(leaf.kernel),
                                    leaf.where(), kernel_entry(leaf.kernel, "atoms[" + leaf.program->name + "]")),
                         [&]() -> Outcome {
                           if (all_settled(checker.execution, leaf, leaf.loops.size())) return {};
                           return Refutation{"the points of a box of " + leaf.label + " have conditions that no loop around it settles",
                                             sample(checker.execution, leaf.points).text(), leaf.where()};
                         });
  }
  for (const LoopUse& loop : checker.execution.loops) {
    if (!loop.node->binding) continue;
    checker.report.prove(obligation("coverage", "values left out by loop " + loop.node->variable + " in kernel " +
                                                    checker.execution.kernel_name(loop.kernel),
                                    {}, kernel_entry(loop.kernel, "digits[" + loop.node->digit + "]")),
                         [&] { return check_bound(checker.execution, loop); });
  }
}

}  // namespace tileopt::proof
