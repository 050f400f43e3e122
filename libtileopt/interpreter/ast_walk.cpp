#include "interpreter/ast_walk.h"

#include <algorithm>

#include "interpreter/number.h"
#include "support/error.h"

namespace tileopt {

namespace {
[[noreturn]] void reject(const std::string& kernel, const std::string& message) {
  throw Errors(Diagnostic{ErrorCode::invalid_dump, {}, "the Ast of kernel `" + kernel + "` " + message,
                          "compare the entry with a freshly written dump (docs/dumps.md)", ""});
}
[[noreturn]] void fail_overflow() {
  throw Errors(Diagnostic{ErrorCode::invalid_size, {}, "a loop bound or subscript overflows 64 bits at these sizes", "choose smaller sizes", ""});
}
}  // namespace

/// Operands of the leaf that runs.
class AstWalk::Corner : public LeafCorner {
 public:
  Corner(const AstWalk& walk, const Node& leaf) : walk_(walk), leaf_(leaf) {}
  bool write(std::int64_t* subscripts) override { return give(leaf_.write, subscripts); }
  bool read(std::size_t access, std::int64_t* subscripts) override { return give(leaf_.reads[access], subscripts); }
  bool index(std::size_t number, std::int64_t* value) override { return give_one(leaf_.indices, number, value); }
  bool extent(std::size_t digit, std::int64_t* value) override { return give_one(leaf_.extents, digit, value); }
  bool limited() const override { return !leaf_.extents.empty(); }
  bool instance(std::int64_t* iterators) override { return give(leaf_.instance, iterators); }

 private:
  bool give(const std::vector<std::uint32_t>& exprs, std::int64_t* values) const {
    for (std::size_t i = 0; i < exprs.size(); ++i) values[i] = walk_.value(exprs[i]);
    return true;
  }
  bool give_one(const std::vector<std::uint32_t>& exprs, std::size_t number, std::int64_t* value) const {
    if (number >= exprs.size()) return false;
    *value = walk_.value(exprs[number]);
    return true;
  }
  const AstWalk& walk_;
  const Node& leaf_;
};

AstWalk::AstWalk(const Ast& ast, const Sizes& sizes, WalkOrder order, std::int64_t most_iterations,
                 std::function<void(const AstLeaf&)> check, std::function<void(const AstBinding&)> check_bound)
    : order_(std::move(order)), check_(std::move(check)), check_bound_(std::move(check_bound)), kernel_(ast.kernel), most_iterations_(most_iterations) {
  for (const auto& [name, size] : sizes) {
    slots_[name] = values_.size();
    values_.push_back(size);
  }
  root_ = lower(ast.root);
}

std::size_t AstWalk::add(Node node) {
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

std::uint32_t AstWalk::compile(const AstExprPtr& expr) {
  Code code{expr->kind, expr->value, 0, 0, 0};
  if (expr->kind == AstExpr::Kind::name) {
    const auto found = slots_.find(expr->name);
    if (found == slots_.end()) reject(kernel_, "names `" + expr->name + "`, which is neither a loop around it nor a size");
    code.value = static_cast<std::int64_t>(found->second);
  }
  std::uint32_t* operands[] = {&code.first, &code.second, &code.third};
  if (expr->arguments.size() > 3) reject(kernel_, "has an operation of more than three operands");
  for (std::size_t i = 0; i < expr->arguments.size(); ++i) *operands[i] = compile(expr->arguments[i]);
  code_.push_back(code);
  return static_cast<std::uint32_t>(code_.size() - 1);
}

std::vector<std::uint32_t> AstWalk::compile(const std::vector<AstExprPtr>& exprs) {
  std::vector<std::uint32_t> result;
  for (const AstExprPtr& expr : exprs) result.push_back(compile(expr));
  return result;
}

std::size_t AstWalk::lower_loop(const AstFor& loop) {
  Node node;
  node.kind = Node::Kind::loop;
  node.name = loop.digit;
  node.lower = compile(loop.lower);
  node.upper = compile(loop.upper);
  node.step = loop.step;
  if (node.step < 1) reject(kernel_, "has a loop of step " + std::to_string(node.step));
  const LevelKind kind = order_.level ? order_.level(loop.level) : LevelKind::sequential;
  node.independent = kind == LevelKind::independent;
  node.free = node.independent || kind == LevelKind::lockstep;
  if (loop.binding) node.bound = lower_binding(*loop.binding);
  node.slot = values_.size();
  values_.push_back(0);
  const auto outer = slots_;
  slots_[loop.variable] = node.slot;
  node.children.push_back(lower(loop.body));
  slots_ = outer;
  return add(std::move(node));
}

std::size_t AstWalk::lower_binding(const AstBinding& binding) {
  if (check_bound_) check_bound_(binding);
  Node node;
  node.kind = Node::Kind::leaf;
  node.name = binding.leaf;
  node.guard = binding.guard;
  for (const auto& [access, subscripts] : binding.reads) {
    if (node.reads.size() <= access) node.reads.resize(access + 1);
    node.reads[access] = compile(subscripts);
  }
  for (const auto& [index, value] : binding.indices) {
    if (node.indices.size() <= index) node.indices.resize(index + 1);
    node.indices[index] = compile(value);
  }
  return add(std::move(node));
}

std::size_t AstWalk::lower_leaf(const AstLeaf& leaf) {
  if (check_) check_(leaf);
  Node node;
  node.kind = Node::Kind::leaf;
  node.name = leaf.statement;
  node.instance = compile(leaf.instance);
  node.write = compile(leaf.write);
  for (const std::vector<AstExprPtr>& read : leaf.reads) node.reads.push_back(compile(read));
  node.indices = compile(leaf.indices);
  node.extents = compile(leaf.extents);
  return add(std::move(node));
}

std::size_t AstWalk::lower(const AstNodePtr& tree) {
  if (tree == nullptr) return add(Node());
  if (const auto* loop = std::get_if<AstFor>(&tree->node)) return lower_loop(*loop);
  if (const auto* leaf = std::get_if<AstLeaf>(&tree->node)) return lower_leaf(*leaf);
  Node node;
  if (const auto* block = std::get_if<AstBlock>(&tree->node)) {
    for (const AstNodePtr& child : block->children) node.children.push_back(lower(child));
  } else if (const auto* branch = std::get_if<AstIf>(&tree->node)) {
    node.kind = Node::Kind::branch;
    node.condition = compile(branch->condition);
    node.children = {lower(branch->then_body), lower(branch->else_body)};
  } else if (const auto* allocate = std::get_if<AstAllocate>(&tree->node)) {
    node.kind = Node::Kind::allocate;
    node.arrays = allocate->arrays;
    node.children.push_back(lower(allocate->body));
  } else {
    reject(kernel_, "runs roles side by side or synchronizes, which is not interpreted");
  }
  return add(std::move(node));
}

std::int64_t AstWalk::value(std::uint32_t expr) const {
  const Code& code = code_[expr];
  const auto first = [&] { return value(code.first); };
  const auto second = [&] { return value(code.second); };
  std::int64_t result = 0;
  switch (code.kind) {
    case AstExpr::Kind::integer: return code.value;
    case AstExpr::Kind::name: return values_[static_cast<std::size_t>(code.value)];
    case AstExpr::Kind::negate:
      if (__builtin_sub_overflow(std::int64_t(0), first(), &result)) fail_overflow();
      return result;
    case AstExpr::Kind::add:
      if (__builtin_add_overflow(first(), second(), &result)) fail_overflow();
      return result;
    case AstExpr::Kind::sub:
      if (__builtin_sub_overflow(first(), second(), &result)) fail_overflow();
      return result;
    case AstExpr::Kind::mul:
      if (__builtin_mul_overflow(first(), second(), &result)) fail_overflow();
      return result;
    case AstExpr::Kind::floor_div:
    case AstExpr::Kind::exact_div:
    case AstExpr::Kind::modulo: {
      const std::int64_t divisor = second();
      if (divisor < 1) reject(kernel_, "divides by " + std::to_string(divisor));
      const std::int64_t dividend = first();
      if (code.kind == AstExpr::Kind::floor_div) return floor_quotient(dividend, divisor);
      if (code.kind == AstExpr::Kind::exact_div) return dividend / divisor;
      return dividend - divisor * floor_quotient(dividend, divisor);
    }
    case AstExpr::Kind::min: return std::min(first(), second());
    case AstExpr::Kind::max: return std::max(first(), second());
    case AstExpr::Kind::select: return first() != 0 ? second() : value(code.third);
    case AstExpr::Kind::eq: return first() == second();
    case AstExpr::Kind::ne: return first() != second();
    case AstExpr::Kind::lt: return first() < second();
    case AstExpr::Kind::le: return first() <= second();
    case AstExpr::Kind::gt: return first() > second();
    case AstExpr::Kind::ge: return first() >= second();
    case AstExpr::Kind::logical_and: return first() != 0 && second() != 0;
    case AstExpr::Kind::logical_or: return first() != 0 || second() != 0;
  }
  return result;
}

void AstWalk::run(AstVisitor& visitor) {
  around_.clear();
  loops_run_ = 0;
  iterations_ = 0;
  run(nodes_[root_], visitor);
}

void AstWalk::count_iteration() {
  if (++iterations_ <= most_iterations_) [[likely]] return;
  throw Errors(Diagnostic{ErrorCode::invalid_size, {}, "the loops of kernel `" + kernel_ + "` run more than " + std::to_string(most_iterations_) + " iterations at these sizes",
                          "choose smaller sizes, or look at the bounds of the loops", ""});
}

void AstWalk::run(const Node& node, AstVisitor& visitor) {
  switch (node.kind) {
    case Node::Kind::loop: return run_loop(node, visitor);
    case Node::Kind::leaf: {
      Corner corner(*this, node);
      return visitor.visit_leaf(node.name, corner);
    }
    case Node::Kind::branch: return run(nodes_[node.children[value(node.condition) != 0 ? 0 : 1]], visitor);
    case Node::Kind::allocate:
    case Node::Kind::block:
      if (!node.arrays.empty()) visitor.open(node.arrays);
      for (const std::size_t child : node.children) run(nodes_[child], visitor);
      return;
  }
}

void AstWalk::run_loop(const Node& node, AstVisitor& visitor) {
  std::int64_t low = value(node.lower), high = value(node.upper);
  if (node.bound) {
    Corner corner(*this, nodes_[*node.bound]);
    const std::int64_t only = visitor.bound_value(nodes_[*node.bound].name, nodes_[*node.bound].guard, corner);
    if (only < low || only > high) return;
    low = high = only;
  }
  const Node& body = nodes_[node.children.front()];
  around_.push_back(&node);
  if (node.independent) visitor.begin_parallel();
  const auto enter = [&](std::int64_t x) {
    count_iteration();
    if (node.independent) visitor.next_agent();
    values_[node.slot] = x;
    run(body, visitor);
  };
  if (node.free && order_.order != LoopOrder::forward) {
    std::int64_t distance = 0;
    if (__builtin_sub_overflow(high, low, &distance)) fail_overflow();
    const std::int64_t last = low > high ? -1 : std::min(distance / node.step, most_iterations_);
    for (const std::int64_t k : visiting_order(0, last, order_.order, order_.seed + ++loops_run_)) enter(low + k * node.step);
  } else {
    for (std::int64_t x = low; x <= high;) {
      enter(x);
      if (__builtin_add_overflow(x, node.step, &x)) break;
    }
  }
  if (node.independent) visitor.end_parallel();
  around_.pop_back();
}

std::vector<std::pair<std::string, std::int64_t>> AstWalk::loops() const {
  std::vector<std::pair<std::string, std::int64_t>> result;
  for (const Node* loop : around_) result.emplace_back(loop->name, values_[loop->slot]);
  return result;
}

}  // namespace tileopt
