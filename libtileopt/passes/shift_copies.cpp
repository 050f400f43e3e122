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
  if (a->kind == Kind::integer && b->kind == Kind::integer) return ast_integer(a->value - b->value);
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

/// Up to which value of a loop's variable conditions hold: those that it does not move are `gates`.
struct WholeRange {
  std::vector<AstExprPtr> gates, limits;

  /// False where the condition does not end to hold at one value.
  bool add(const AstExprPtr& condition, const std::string& variable) {
    if (condition->kind == Kind::integer) return condition->value != 0;
    if (condition->kind == Kind::logical_and) return add(condition->arguments[0], variable) && add(condition->arguments[1], variable);
    std::set<std::string> names;
    collect_names(condition, names);
    if (names.count(variable) == 0) {
      const std::string text = ast_expr_text(condition);
      for (const AstExprPtr& gate : gates)
        if (ast_expr_text(gate) == text) return true;
      gates.push_back(condition);
      return true;
    }
    const bool ordered = condition->kind == Kind::ge || condition->kind == Kind::gt || condition->kind == Kind::le || condition->kind == Kind::lt;
    if (!ordered) return false;
    const bool greater = condition->kind == Kind::ge || condition->kind == Kind::gt, strict = condition->kind == Kind::gt || condition->kind == Kind::lt;
    // room >= 0
    AstExprPtr room = ast_operation(Kind::sub, {condition->arguments[greater ? 0 : 1], condition->arguments[greater ? 1 : 0]});
    if (strict) room = ast_operation(Kind::sub, {room, ast_integer(1)});
    const auto step = constant_step(room, variable);
    if (!step || *step >= 0) return false;
    const AstExprPtr first = substitute_names(room, {{variable, ast_integer(0)}});
    limits.push_back(*step == -1 ? first : ast_operation(Kind::floor_div, {first, ast_integer(-*step)}));
    return true;
  }
  /// The last such value, or one before `lower`.
  AstExprPtr last(const AstExprPtr& lower) const {
    AstExprPtr least = limits.front();
    for (std::size_t i = 1; i < limits.size(); ++i) least = ast_operation(Kind::min, {least, limits[i]});
    if (gates.empty()) return least;
    AstExprPtr all = gates.front();
    for (std::size_t i = 1; i < gates.size(); ++i) all = ast_operation(Kind::logical_and, {all, gates[i]});
    return ast_operation(Kind::select, {all, least, minus(lower, ast_integer(1))});
  }
};

void collect_arrays(const AstNodePtr& node, Names& arrays) {
  if (node == nullptr) return;
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) arrays.insert(arrays.end(), allocate->arrays.begin(), allocate->arrays.end());
  for (const AstNodePtr& child : children_of(node)) collect_arrays(child, arrays);
}

class CopyShifter {
 public:
  CopyShifter(const PipelinedSchedule::Pipeline& pipeline, const PromotedSchedule& promoted, const Names& flights, const std::set<std::string>& whole, Ast& ast)
      : pipeline_(pipeline), flights_(flights), whole_(whole), ast_(ast) {
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
    if (contains(pipeline_.issued, statement.name)) statement.signal = pipeline_.counted;
    for (std::size_t r = 0; r < statement.read_arrays.size(); ++r)
      if (is_ringed(statement.read_arrays[r])) statement.read_steps[r].insert(statement.read_steps[r].begin(), still);
  }
  AstNodePtr with_positions(const AstNodePtr& node, const AstExprPtr& position) const {
    if (node == nullptr) return nullptr;
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) {
      const AstStatement& statement = ast_.statements.at(leaf->statement);
      AstLeaf result = *leaf;
      if (is_ringed(statement.write_array)) result.write.insert(result.write.begin(), position);
      if (!statement.signal.empty()) result.signal_position = position;
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
    if (loop != nullptr && is_of_line(*loop)) {
      Names arrays;
      collect_arrays(loop->body, arrays);
      if (std::any_of(pipeline_.arrays.begin(), pipeline_.arrays.end(), [&](const std::string& array) { return contains(arrays, array); })) {
        ++found_;
        const std::optional<AstFor> line = one_loop(*loop);
        return line ? shifted(*line) : nullptr;
      }
    }
    std::vector<AstNodePtr> children;
    for (const AstNodePtr& child : children_of(node)) children.push_back(rewrite(child));
    return with_children(node, children);
  }

  bool is_of_line(const AstFor& loop) const { return loop.digit == pipeline_.digit || contains(pipeline_.around, loop.digit); }

  /// The nest of loops that the ring goes through, as one loop: its copies run ahead from the end of an inner loop into the next run of it.
  ///   for cb: for r in 0..2: for s in 0..2: S(cb, r, s)  ->  for s_line: S(s_line / 9, s_line / 3 - 3 (s_line / 9), s_line - 3 (s_line / 3))
  std::optional<AstFor> one_loop(const AstFor& outermost) {
    std::vector<AstFor> nest = {outermost};
    while (nest.back().digit != pipeline_.digit) {
      const auto* inner = nest.back().body == nullptr ? nullptr : std::get_if<AstFor>(&nest.back().body->node);
      const bool counts = inner != nullptr && is_of_line(*inner) && inner->step == 1 && !inner->binding && inner->lower->kind == Kind::integer && inner->upper->kind == Kind::integer;
      if (!counts) {
        refuse("a block runs what stands in loop " + nest.back().variable + " once for every value of it, and only loops with a constant number of iterations and nothing beside them become one loop with that around them");
        return std::nullopt;
      }
      nest.push_back(*inner);
    }
    if (nest.size() == 1) return outermost;
    if (outermost.step != 1 || outermost.binding) {
      refuse("loop " + outermost.variable + " does not count in steps of one");
      return std::nullopt;
    }
    AstFor line = nest.back();
    line.variable = fresh(pipeline_.digit + "_line");
    std::map<std::string, AstExprPtr> values;
    AstExprPtr outside = ast_name(line.variable);  // iterations of this loop and those inside it, before the current one
    std::int64_t inside = 1;
    for (std::size_t i = nest.size(); i-- > 1;) {
      const std::int64_t trips = nest[i].upper->value - nest[i].lower->value + 1;
      inside *= trips;
      const AstExprPtr runs = ast_operation(Kind::exact_div, {ast_name(line.variable), ast_integer(inside)});
      values[nest[i].variable] = plus(nest[i].lower, trips == 1 ? ast_integer(0) : minus(outside, ast_operation(Kind::mul, {ast_integer(trips), runs})));
      outside = runs;
    }
    values[outermost.variable] = plus(outermost.lower, outside);
    const AstExprPtr last = minus(outermost.upper, outermost.lower);
    line.lower = ast_integer(0);
    line.upper = last->kind == Kind::integer ? ast_integer((last->value + 1) * inside - 1) : plus(ast_operation(Kind::mul, {ast_integer(inside), last}), ast_integer(inside - 1));
    line.body = substitute_names(line.body, values);
    return line;
  }
  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 1; !taken_.insert(name).second; ++n) name = wanted + "_" + std::to_string(n);
    return name;
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
    std::vector<AstExprPtr> now, then;  // conditions of what is whole, of this iteration and of the one that is copied
    const AstNodePtr whole_issue = side(issue, true, then), whole_store = side(store, true, then), whole_compute = side(compute, true, now);
    WholeRange range;
    const AstExprPtr later = plus(variable, ast_integer(pipeline_.distance));
    bool splits = !now.empty() && range.add(ast_operation(Kind::le, {later, loop.upper}), loop.variable);
    for (const AstExprPtr& condition : now) splits = splits && range.add(condition, loop.variable);
    for (const AstExprPtr& condition : then) splits = splits && range.add(substitute_names(condition, {{loop.variable, later}}), loop.variable);
    std::vector<AstExprPtr> unused;
    // Where a loop of its own runs what is whole, what is left takes every test.
    const auto rest = [&](const AstNodePtr& node) { return splits ? side(node, false, unused) : node; };

    AstFor ahead;
    ahead.variable = fresh(loop.variable + "_ahead");
    ahead.digit = loop.digit;
    ahead.level = loop.level;
    ahead.lower = ast_integer(0);
    ahead.upper = ast_integer(pipeline_.distance - 1);
    const AstExprPtr early = plus(loop.lower, ast_name(ahead.variable));
    ahead.body = block_of({within(loop, early, held(block_of({expect(loop, early), at(loop, rest(issue), early), at(loop, rest(store), early)}))), commit()});
    std::vector<AstNodePtr> loops = {make_node(std::move(ahead))};

    AstFor last = loop;
    if (splits) {
      AstFor steady = loop;
      steady.upper = range.last(loop.lower);
      steady.body = iteration(counted() ? block_of({expect(loop, later), at(loop, whole_issue, later)}) : at(loop, whole_issue, later), whole_compute, at(loop, whole_store, later), position);
      last.lower = ast_operation(Kind::max, {loop.lower, plus(steady.upper, ast_integer(1))});
      loops.push_back(make_node(std::move(steady)));
    }
    const AstNodePtr last_issue = at(loop, rest(issue), later);
    last.body = iteration(within(loop, later, counted() ? block_of({expect(loop, later), last_issue}) : last_issue), rest(compute), within(loop, later, at(loop, rest(store), later)), position);
    loops.push_back(make_node(std::move(last)));
    return make_node(AstAllocate{pipeline_.arrays, block_of(std::move(loops)), {pipeline_.ring}});
  }

  static AstNodePtr at(const AstFor& loop, const AstNodePtr& node, const AstExprPtr& value) {
    return node == nullptr ? nullptr : substitute_names(node, {{loop.variable, value}});
  }
  static AstNodePtr within(const AstFor& loop, const AstExprPtr& value, const AstNodePtr& node) {
    return node == nullptr ? nullptr : make_node(AstIf{ast_operation(Kind::le, {value, loop.upper}), node, nullptr});
  }
  bool flies(const AstNodePtr& node) const {
    if (node == nullptr) return false;
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) return contains(flights_, leaf->statement);
    const std::vector<AstNodePtr> children = children_of(node);
    return std::any_of(children.begin(), children.end(), [&](const AstNodePtr& child) { return flies(child); });
  }
  AstNodePtr commit() const { return pipeline_.pipe.empty() || counted() ? nullptr : make_node(AstSync{"commit_" + pipeline_.ring}); }
  bool counted() const { return !pipeline_.counted.empty(); }
  AstNodePtr expect(const AstFor& loop, const AstExprPtr& value) const { return counted() ? make_node(AstSync{"expect_" + pipeline_.ring, minus(value, loop.lower)}) : nullptr; }
  /// Atoms that compute asynchronously are issued first: they run while threads copy.
  AstNodePtr iteration(const AstNodePtr& issue, const AstNodePtr& compute, const AstNodePtr& store, const AstExprPtr& position) const {
    // Who issues next has met all that have read the slot before: copies that one agent issues come last.
    if (counted()) return block_of({make_node(AstSync{"wait_" + pipeline_.ring, position}), compute, make_node(AstSync{"meet_" + pipeline_.ring, position}), issue});
    std::vector<AstNodePtr> steps = {issue, commit(), compute, store};
    if (flies(compute)) steps = {compute, issue, commit(), store};
    steps.insert(steps.begin(), make_node(AstSync{"meet_" + pipeline_.ring, position}));
    if (!pipeline_.pipe.empty()) steps.insert(steps.begin(), make_node(AstSync{"await_" + pipeline_.ring, position, pipeline_.distance - 1}));
    return held(block_of(std::move(steps)));
  }

  /// One side of every branch that tells whole blocks from others; `conditions`: of those.
  AstNodePtr side(const AstNodePtr& node, bool whole, std::vector<AstExprPtr>& conditions) const {
    if (node == nullptr || std::holds_alternative<AstLeaf>(node->node)) return node;
    const auto* branch = std::get_if<AstIf>(&node->node);
    if (branch != nullptr && branch->else_body != nullptr && whole_.count(ast_expr_text(branch->condition)) != 0) {
      conditions.push_back(branch->condition);
      return side(whole ? branch->then_body : branch->else_body, whole, conditions);
    }
    std::vector<AstNodePtr> children;
    for (const AstNodePtr& child : children_of(node)) children.push_back(side(child, whole, conditions));
    return with_children(node, children);
  }

  AstNodePtr held(const AstNodePtr& body) const { return pipeline_.held.empty() ? body : make_node(AstAllocate{pipeline_.held, body}); }

  void declare() {
    ast_.rings.push_back({pipeline_.ring, pipeline_.slots});
    if (ast_.find_barrier("block") == nullptr) ast_.barriers.push_back({"block", BarrierScope::block, "", 0});
    const std::string meet = "meet_" + pipeline_.ring, commit = "commit_" + pipeline_.ring, await = "await_" + pipeline_.ring;
    ast_.synchronizations[meet] = {meet, SyncKind::barrier, "block", pipeline_.ring};
    if (pipeline_.pipe.empty()) return;
    if (counted()) {
      const std::string wait = "wait_" + pipeline_.ring, expect = "expect_" + pipeline_.ring;
      ast_.barriers.push_back({pipeline_.counted, BarrierScope::mbarrier, pipeline_.ring, 1});
      ast_.synchronizations[wait] = {wait, SyncKind::wait, pipeline_.counted};
      ast_.synchronizations[expect] = {expect, SyncKind::expect, pipeline_.counted, "", false, pipeline_.bytes};
      return;
    }
    ast_.synchronizations[commit] = {commit, SyncKind::commit, pipeline_.pipe};
    ast_.synchronizations[await] = {await, SyncKind::await, pipeline_.pipe, pipeline_.ring};
  }

  const PipelinedSchedule::Pipeline& pipeline_;
  const Names& flights_;
  const std::set<std::string>& whole_;
  Ast& ast_;
  std::set<std::string> taken_;
  int found_ = 0;
  std::optional<Infeasible> problem_;
};
}  // namespace

std::optional<Infeasible> shift_copies(const SynchronizedSchedule& synchronized, const std::set<std::string>& whole, Ast& ast) {
  const PipelinedSchedule& pipelined = synchronized.pipelined();
  Names flights;
  for (const auto& [statement, pipe] : synchronized.flights()) flights.push_back(statement);
  for (const PipelinedSchedule::Pipeline& pipeline : pipelined.pipelines())
    if (auto problem = CopyShifter(pipeline, pipelined.promoted(), flights, whole, ast).run()) return problem;
  return std::nullopt;
}

}  // namespace tileopt
