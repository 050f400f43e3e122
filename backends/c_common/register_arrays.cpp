#include "backends/c_common/register_arrays.h"

#include "backends/c_common/refusal.h"

namespace tileopt {

namespace {
constexpr std::int64_t max_unrolled_trips = 64;
constexpr long max_named_vectors = 128;

using Constants = std::map<std::string, AstExprPtr>;

/// One access of a leaf to a register array.
struct Use {
  const AstStatement& statement;
  const std::string& array;
  const std::vector<AstExprPtr>& corner;
  const std::vector<std::vector<long>>& steps;
};

class Classifier {
 public:
  Classifier(const Ast& ast, const Machine& machine) : ast_(ast), vector_bytes_(machine.vector_bytes) {
    for (const auto& [name, statement] : ast.statements)
      if (const Atom* atom = machine.find_atom(statement.atom); atom != nullptr && atom->is_collective()) result_.together.insert(statement.write_array);
    for (const Array& array : ast.arrays) {
      if (array.space != "register") continue;
      arrays_.emplace(array.name, &array);
      result_.kinds[array.name] = array.agent_elements() == 1 ? Storage::Kind::scalar : Storage::Kind::vectors;
      choose_lanes(array);
    }
  }

  RegisterArrays run() {
    walk(ast_.root, {}, {});
    for (auto& [name, kind] : result_.kinds) {
      if (result_.together.count(name) != 0) {
        if (not_constant_.count(name) != 0) refuse("atom", "promotions[" + name + "]", "registers " + name + ", which threads fill together, are accessed at a place that loops move");
        kind = Storage::Kind::memory;
        result_.unrolled.insert(needed_[name].begin(), needed_[name].end());
      }
      if (kind != Storage::Kind::vectors) continue;
      if (not_constant_.count(name) != 0) kind = Storage::Kind::memory;
      else result_.unrolled.insert(needed_[name].begin(), needed_[name].end());
    }
    return std::move(result_);
  }

 private:
  void choose_lanes(const Array& array) {
    if (result_.kinds[array.name] != Storage::Kind::vectors) return;
    const int bytes = size_bytes(compute_type(array.element));
    int lanes = 1;
    while (vector_bytes_ > 0 && !is_tuple(array.element) && lanes * 2 * bytes <= vector_bytes_ && array.extents.back() % (lanes * 2) == 0) lanes *= 2;
    if (lanes * bytes < 16) lanes = 1;
    result_.lanes[array.name] = lanes;
    if (array.agent_elements() / lanes > max_named_vectors) result_.kinds[array.name] = Storage::Kind::memory;
  }

  void walk(const AstNodePtr& node, const std::set<std::string>& unrollable, const Constants& constants) {
    for (const AstNodePtr& child : flat_children(node)) visit(child, unrollable, constants);
  }

  void visit(const AstNodePtr& node, const std::set<std::string>& unrollable, const Constants& constants) {
    if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      std::set<std::string> inner = unrollable;
      Constants values = constants;
      const std::vector<std::int64_t> trips = unrolled_values(*loop, constants);
      inner.erase(loop->variable);
      values.erase(loop->variable);
      if (trips.empty()) return walk(loop->body, inner, values);
      inner.insert(loop->variable);
      for (const std::int64_t value : trips) {
        values[loop->variable] = ast_integer(value);
        walk(loop->body, inner, values);
      }
    } else if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      walk(branch->then_body, unrollable, constants);
      if (branch->else_body != nullptr) walk(branch->else_body, unrollable, constants);
    } else if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
      walk(allocate->body, unrollable, constants);
    } else if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) {
      const AstStatement& statement = ast_.statements.at(leaf->statement);
      check_use({statement, statement.write_array, leaf->write, statement.write_steps}, unrollable, constants);
      for (std::size_t r = 0; r < leaf->reads.size(); ++r)
        check_use({statement, statement.read_arrays[r], leaf->reads[r], statement.read_steps[r]}, unrollable, constants);
    }
  }

  void check_use(const Use& use, const std::set<std::string>& unrollable, const Constants& constants) {
    const auto found = arrays_.find(use.array);
    if (found == arrays_.end()) return;
    const Array& array = *found->second;
    for (std::size_t d = static_cast<std::size_t>(array.agent_dims); d < use.corner.size(); ++d) {
      std::set<std::string> names;
      collect_names(use.corner[d], names);
      for (const std::string& name : names) {
        if (unrollable.count(name) == 0) not_constant_.insert(array.name);
        else needed_[array.name].insert(name);
      }
      const auto value = constant_value(fold(substitute(use.corner[d], constants)));
      if (!value) not_constant_.insert(array.name);
      else check_range(use, array, d, *value);
    }
  }

  static void check_range(const Use& use, const Array& array, std::size_t dimension, std::int64_t corner) {
    std::int64_t low = corner, high = corner;
    for (std::size_t b = 0; b < use.statement.box.size(); ++b) {
      const std::int64_t reach = use.steps[dimension][b] * (use.statement.box[b].radix - 1);
      (reach < 0 ? low : high) += reach;
    }
    if (dimension < array.extents.size() && low >= 0 && high < array.extents[dimension]) return;
    refuse("atom", use.statement.name, "leaf " + use.statement.name + " reaches element " + std::to_string(low < 0 ? low : high) +
                                           " in dimension " + std::to_string(dimension) + " of register array " + array.name);
  }

  const Ast& ast_;
  int vector_bytes_;
  RegisterArrays result_;
  std::map<std::string, const Array*> arrays_;
  std::set<std::string> not_constant_;
  std::map<std::string, std::set<std::string>> needed_;
};
}  // namespace

std::vector<std::int64_t> unrolled_values(const AstFor& loop, const std::map<std::string, AstExprPtr>& constants) {
  if (loop.level != "unroll") return {};
  const auto lower = constant_value(fold(substitute(loop.lower, constants)));
  const auto upper = constant_value(fold(substitute(loop.upper, constants)));
  if (!lower || !upper || *upper - *lower < 0 || (*upper - *lower) / loop.step >= max_unrolled_trips) return {};
  std::vector<std::int64_t> values;
  for (std::int64_t value = *lower; value <= *upper; value += loop.step) values.push_back(value);
  return values;
}

std::vector<AstNodePtr> flat_children(const AstNodePtr& node) {
  if (node == nullptr) return {};
  const auto* block = std::get_if<AstBlock>(&node->node);
  if (block == nullptr) return {node};
  std::vector<AstNodePtr> children;
  for (const AstNodePtr& child : block->children)
    for (const AstNodePtr& inner : flat_children(child)) children.push_back(inner);
  return children;
}

RegisterArrays classify_register_arrays(const Ast& ast, const Machine& machine) { return Classifier(ast, machine).run(); }

}  // namespace tileopt
