#include "backends/c_common/loop_pragma.h"

#include <set>

#include "backends/c_common/integer_c.h"
#include "backends/c_common/leaf_access.h"
#include "backends/c_common/register_arrays.h"

namespace tileopt {

namespace {
class Walker {
 public:
  Walker(const Ast& ast, const Program& program, bool boxes) : ast_(ast), program_(program), boxes_(boxes) {}

  SimdLoop run(const AstFor& loop) {
    result_.allowed = true;
    const std::vector<AstNodePtr> children = flat_children(loop.body);
    result_.single_leaf = children.size() == 1 && std::holds_alternative<AstLeaf>(children[0]->node);
    walk(loop.body, {loop.variable}, {});
    for (const Accumulation& accumulation : result_.accumulations) check_only_user(accumulation);
    return result_;
  }

 private:
  using Names = std::set<std::string>;

  /// `varying`: names whose values differ between iterations; `own`: arrays that each iteration has to itself.
  void walk(const AstNodePtr& node, const Names& varying, const Names& own) {
    for (const AstNodePtr& child : flat_children(node)) visit(child, varying, own);
  }

  void visit(const AstNodePtr& node, const Names& varying, const Names& own) {
    if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      Names inner = varying;
      if (depends(loop->lower, varying) || depends(loop->upper, varying)) inner.insert(loop->variable);
      else inner.erase(loop->variable);
      walk(loop->body, inner, own);
    } else if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      walk(branch->then_body, varying, own);
      if (branch->else_body != nullptr) walk(branch->else_body, varying, own);
    } else if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
      Names inner = own;
      inner.insert(allocate->arrays.begin(), allocate->arrays.end());
      walk(allocate->body, varying, inner);
    } else if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) {
      leaves_.push_back(leaf);
      check_leaf(*leaf, varying, own);
    }
  }

  void check_leaf(const AstLeaf& leaf, const Names& varying, const Names& own) {
    const AstStatement& statement = ast_.statements.at(leaf.statement);
    if (is_atomic_update(statement)) result_.allowed = false;
    if (own.count(statement.write_array) != 0) return;
    for (const AstExprPtr& subscript : leaf.write)
      if (depends(subscript, varying)) return;
    const Combine combine = statement.kind == "compute" ? program_.statement(statement.statement).combine : Combine::assign;
    if (combine == Combine::assign || !(statement.box.empty() || (boxes_ && stands_still(statement)))) result_.allowed = false;
    else result_.accumulations.push_back({&leaf, &statement, combine});
  }

  /// All points of the box meet in one element.
  static bool stands_still(const AstStatement& statement) {
    for (const std::vector<long>& row : statement.write_steps)
      for (const long step : row)
        if (step != 0) return false;
    return true;
  }

  /// The accumulator may be touched by this leaf alone.
  void check_only_user(const Accumulation& accumulation) {
    for (const AstLeaf* leaf : leaves_) {
      const AstStatement& statement = ast_.statements.at(leaf->statement);
      if (leaf != accumulation.leaf && statement.write_array == accumulation.statement->write_array) result_.allowed = false;
      for (const std::string& read : statement.read_arrays)
        if (read == accumulation.statement->write_array) result_.allowed = false;
    }
  }

  static bool depends(const AstExprPtr& expr, const Names& varying) {
    Names names;
    collect_names(expr, names);
    for (const std::string& name : names)
      if (varying.count(name) != 0) return true;
    return false;
  }

  const Ast& ast_;
  const Program& program_;
  bool boxes_;
  SimdLoop result_;
  std::vector<const AstLeaf*> leaves_;
};

bool mentions_below(const AstNodePtr& node, const std::string& variable) {
  const auto mentions = [&](const AstExprPtr& expr) {
    std::set<std::string> names;
    collect_names(expr, names);
    return names.count(variable) != 0;
  };
  for (const AstNodePtr& child : flat_children(node)) {
    if (const auto* loop = std::get_if<AstFor>(&child->node)) {
      if (mentions(loop->lower) || mentions(loop->upper) || mentions_below(loop->body, variable)) return true;
    } else if (const auto* branch = std::get_if<AstIf>(&child->node)) {
      if (mentions(branch->condition) || mentions_below(branch->then_body, variable)) return true;
      if (branch->else_body != nullptr && mentions_below(branch->else_body, variable)) return true;
    } else if (const auto* allocate = std::get_if<AstAllocate>(&child->node)) {
      if (mentions_below(allocate->body, variable)) return true;
    }
  }
  return false;
}
}  // namespace

SimdLoop analyze_simd_loop(const AstFor& loop, const Ast& ast, const Program& program, bool boxes) { return Walker(ast, program, boxes).run(loop); }

namespace {
bool binding_mentions(const AstBinding& binding, const std::string& variable) {
  std::set<std::string> names;
  for (const auto& [access, subscripts] : binding.reads)
    for (const AstExprPtr& subscript : subscripts) collect_names(subscript, names);
  for (const auto& [index, value] : binding.indices) collect_names(value, names);
  return names.count(variable) != 0;
}

/// A loop below has a bound that is read from memory for each value of `variable`.
bool bounds_from_memory(const AstNodePtr& node, const std::string& variable) {
  for (const AstNodePtr& child : flat_children(node)) {
    if (const auto* loop = std::get_if<AstFor>(&child->node)) {
      if (loop->binding && binding_mentions(*loop->binding, variable) && mentions_below(loop->body, loop->variable)) return true;
      if (bounds_from_memory(loop->body, variable)) return true;
    } else if (const auto* branch = std::get_if<AstIf>(&child->node)) {
      if (bounds_from_memory(branch->then_body, variable)) return true;
      if (branch->else_body != nullptr && bounds_from_memory(branch->else_body, variable)) return true;
    } else if (const auto* allocate = std::get_if<AstAllocate>(&child->node)) {
      if (bounds_from_memory(allocate->body, variable)) return true;
    }
  }
  return false;
}
}  // namespace

bool work_from_memory(const AstFor& loop) { return bounds_from_memory(loop.body, loop.variable); }

bool uneven_work(const AstFor& loop) { return mentions_below(loop.body, loop.variable); }

}  // namespace tileopt
