#include "passes/shift_copies.h"

#include <algorithm>
#include <set>

#include "passes/ast_children.h"
#include "passes/ast_convert.h"
#include "support/text.h"

namespace tileopt {

namespace {
using Names = std::vector<std::string>;
using Kind = AstExpr::Kind;

AstExprPtr plus(const AstExprPtr& a, const AstExprPtr& b) {
  if (a->kind == Kind::integer && b->kind == Kind::integer) return ast_integer(a->value + b->value);
  if (a->kind == Kind::integer && a->value == 0) return b;
  if (b->kind == Kind::integer && b->value == 0) return a;
  return ast_operation(Kind::add, {a, b});
}
AstExprPtr minus(const AstExprPtr& a, const AstExprPtr& b) {
  return b->kind == Kind::integer && b->value == 0 ? a : ast_operation(Kind::sub, {a, b});
}

AstNodePtr block_of(std::vector<AstNodePtr> nodes) {
  nodes.erase(std::remove(nodes.begin(), nodes.end(), nullptr), nodes.end());
  if (nodes.empty()) return nullptr;
  return nodes.size() == 1 ? nodes.front() : make_node(AstBlock{std::move(nodes)});
}

/// What is left of the node with the leaves that `keep` holds of, without the lifetimes that `drop` names; null: nothing.
template <class Keep>
AstNodePtr restrict_to(const AstNodePtr& node, const Keep& keep, const Names& drop) {
  if (node == nullptr) return nullptr;
  if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) return keep(leaf->statement) ? node : nullptr;
  if (const auto* block = std::get_if<AstBlock>(&node->node)) {
    std::vector<AstNodePtr> kept;
    for (const AstNodePtr& child : block->children) kept.push_back(restrict_to(child, keep, drop));
    return block_of(std::move(kept));
  }
  if (const auto* branch = std::get_if<AstIf>(&node->node)) {
    AstNodePtr taken = restrict_to(branch->then_body, keep, drop), other = restrict_to(branch->else_body, keep, drop);
    if (taken == nullptr && other == nullptr) return nullptr;
    return make_node(AstIf{branch->condition, taken == nullptr ? make_node(AstBlock{}) : taken, other});
  }
  if (const auto* loop = std::get_if<AstFor>(&node->node)) {
    AstFor kept = *loop;
    kept.body = restrict_to(loop->body, keep, drop);
    return kept.body == nullptr ? nullptr : make_node(std::move(kept));
  }
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
    const AstNodePtr body = restrict_to(allocate->body, keep, drop);
    Names arrays;
    for (const std::string& array : allocate->arrays)
      if (!contains(drop, array)) arrays.push_back(array);
    return body == nullptr || arrays.empty() ? body : make_node(AstAllocate{arrays, body, allocate->rings});
  }
  return node;
}

void collect_arrays(const AstNodePtr& node, Names& arrays) {
  if (node == nullptr) return;
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) arrays.insert(arrays.end(), allocate->arrays.begin(), allocate->arrays.end());
  for (const AstNodePtr& child : children_of(node)) collect_arrays(child, arrays);
}

class CopyShifter {
 public:
  CopyShifter(const PipelinedSchedule::Pipeline& pipeline, const PromotedSchedule& promoted, Ast& ast) : pipeline_(pipeline), ast_(ast) {
    taken_.insert(promoted.program().parameters().begin(), promoted.program().parameters().end());
    collect_variables(ast.root);
    for (auto& [name, statement] : ast_.statements) add_position_steps(statement);
  }

  std::optional<Infeasible> run() {
    AstNodePtr root = rewrite(ast_.root);
    if (!problem_ && found_ != 1)
      refuse(found_ == 0 ? "loop " + pipeline_.digit + " has one iteration at most, so nothing can run ahead in it"
                         : "loop " + pipeline_.digit + " stands in " + std::to_string(found_) + " places, and its slots are used in one order");
    if (problem_) return problem_;
    ast_.root = std::move(root);
    declare();
    return std::nullopt;
  }

 private:
  bool is_ringed(const std::string& array) const { return contains(pipeline_.arrays, array); }
  void refuse(const std::string& reason) {
    if (!problem_) problem_ = Infeasible{"codegen", "build_ast", ast_.kernel, "kernels[" + ast_.kernel + "].pipelines[" + pipeline_.digit + "]", reason};
  }
  void collect_variables(const AstNodePtr& node) {
    if (node == nullptr) return;
    if (const auto* loop = std::get_if<AstFor>(&node->node)) taken_.insert(loop->variable);
    for (const AstNodePtr& child : children_of(node)) collect_variables(child);
  }

  // --- positions: the first subscript of every array of the ring
  void add_position_steps(AstStatement& statement) const {
    const std::vector<long> still(statement.box.size(), 0);
    if (is_ringed(statement.write_array)) statement.write_steps.insert(statement.write_steps.begin(), still);
    for (std::size_t r = 0; r < statement.read_arrays.size(); ++r)
      if (is_ringed(statement.read_arrays[r])) statement.read_steps[r].insert(statement.read_steps[r].begin(), still);
  }
  AstNodePtr with_positions(const AstNodePtr& node, const AstExprPtr& position) const {
    if (node == nullptr) return nullptr;
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) {
      const AstStatement& statement = ast_.statements.at(leaf->statement);
      AstLeaf result = *leaf;
      if (is_ringed(statement.write_array)) result.write.insert(result.write.begin(), position);
      for (std::size_t r = 0; r < statement.read_arrays.size(); ++r)
        if (is_ringed(statement.read_arrays[r])) result.reads[r].insert(result.reads[r].begin(), position);
      return make_node(std::move(result));
    }
    std::vector<AstNodePtr> children;
    for (const AstNodePtr& child : children_of(node)) children.push_back(with_positions(child, position));
    return with_children(node, children);
  }

  // --- the loop
  AstNodePtr rewrite(const AstNodePtr& node) {
    if (node == nullptr || std::holds_alternative<AstLeaf>(node->node)) return node;
    const auto* loop = std::get_if<AstFor>(&node->node);
    if (loop != nullptr && loop->digit == pipeline_.digit) {
      Names arrays;
      collect_arrays(loop->body, arrays);
      if (std::any_of(pipeline_.arrays.begin(), pipeline_.arrays.end(), [&](const std::string& array) { return contains(arrays, array); })) {
        ++found_;
        return shifted(*loop);
      }
    }
    std::vector<AstNodePtr> children;
    for (const AstNodePtr& child : children_of(node)) children.push_back(rewrite(child));
    return with_children(node, children);
  }

  AstNodePtr shifted(const AstFor& loop) {
    if (loop.step != 1 || loop.binding) {
      refuse("loop " + loop.variable + " does not count in steps of one");
      return nullptr;
    }
    Names dropped = pipeline_.arrays;
    dropped.insert(dropped.end(), pipeline_.held.begin(), pipeline_.held.end());
    Names all;
    collect_arrays(loop.body, all);
    const AstExprPtr variable = ast_name(loop.variable), position = minus(variable, loop.lower);
    const AstNodePtr body = with_positions(loop.body, position);
    const auto issued = [&](const std::string& statement) { return contains(pipeline_.issued, statement); };
    const auto stored = [&](const std::string& statement) { return contains(pipeline_.stored, statement); };
    const AstNodePtr issue = restrict_to(body, issued, all), store = restrict_to(body, stored, all);
    const AstNodePtr compute = restrict_to(body, [&](const std::string& s) { return !issued(s) && !stored(s); }, dropped);
    const auto at = [&](const AstNodePtr& node, const AstExprPtr& value) { return node == nullptr ? nullptr : substitute_names(node, {{loop.variable, value}}); };
    const auto within = [&](const AstExprPtr& value, const AstNodePtr& node) -> AstNodePtr {
      return node == nullptr ? nullptr : make_node(AstIf{ast_operation(Kind::le, {value, loop.upper}), node, nullptr});
    };
    const AstNodePtr commit = pipeline_.pipe.empty() ? nullptr : make_node(AstSync{"commit_" + pipeline_.ring});

    AstFor ahead;
    ahead.variable = loop.variable + "_ahead";
    for (int n = 1; !taken_.insert(ahead.variable).second; ++n) ahead.variable = loop.variable + "_ahead_" + std::to_string(n);
    ahead.digit = loop.digit;
    ahead.level = loop.level;
    ahead.lower = ast_integer(0);
    ahead.upper = ast_integer(pipeline_.distance - 1);
    const AstExprPtr early = plus(loop.lower, ast_name(ahead.variable));
    ahead.body = block_of({within(early, held(block_of({at(issue, early), at(store, early)}))), commit});

    AstFor steady = loop;
    const AstExprPtr later = plus(variable, ast_integer(pipeline_.distance));
    std::vector<AstNodePtr> steps;
    if (commit != nullptr) steps.push_back(make_node(AstSync{"await_" + pipeline_.ring, position, pipeline_.distance - 1}));
    steps.push_back(make_node(AstSync{"meet_" + pipeline_.ring, position}));
    steps.insert(steps.end(), {within(later, at(issue, later)), commit, compute, within(later, at(store, later))});
    steady.body = held(block_of(std::move(steps)));
    return make_node(AstAllocate{pipeline_.arrays, block_of({make_node(std::move(ahead)), make_node(std::move(steady))}), {pipeline_.ring}});
  }

  AstNodePtr held(const AstNodePtr& body) const { return pipeline_.held.empty() ? body : make_node(AstAllocate{pipeline_.held, body}); }

  void declare() {
    ast_.rings.push_back({pipeline_.ring, pipeline_.slots});
    if (ast_.find_barrier("block") == nullptr) ast_.barriers.push_back({"block", BarrierScope::block, "", 0});
    const std::string meet = "meet_" + pipeline_.ring, commit = "commit_" + pipeline_.ring, await = "await_" + pipeline_.ring;
    ast_.synchronizations[meet] = {meet, SyncKind::barrier, "block", pipeline_.ring};
    if (pipeline_.pipe.empty()) return;
    ast_.synchronizations[commit] = {commit, SyncKind::commit, pipeline_.pipe};
    ast_.synchronizations[await] = {await, SyncKind::await, pipeline_.pipe, pipeline_.ring};
  }

  const PipelinedSchedule::Pipeline& pipeline_;
  Ast& ast_;
  std::set<std::string> taken_;
  int found_ = 0;
  std::optional<Infeasible> problem_;
};
}  // namespace

std::optional<Infeasible> shift_copies(const PipelinedSchedule& pipelined, Ast& ast) {
  for (const PipelinedSchedule::Pipeline& pipeline : pipelined.pipelines())
    if (auto problem = CopyShifter(pipeline, pipelined.promoted(), ast).run()) return problem;
  return std::nullopt;
}

}  // namespace tileopt
