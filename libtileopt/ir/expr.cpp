#include "ir/expr.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <unordered_map>

#include "support/error.h"

namespace tileopt {

Literal largest_value(ElementType type) {
  if (is_float(type)) return {has_infinity(type) ? std::numeric_limits<double>::infinity() : largest_finite(type), 0};
  return {0, static_cast<std::int64_t>(largest_integer(type))};
}

Literal least_value(ElementType type) {
  const Literal largest = largest_value(type);
  if (is_float(type)) return {-largest.real, 0};
  return {0, is_signed(type) ? -largest.integer - 1 : 0};
}

std::string op_name(UnaryOp op) {
  switch (op) {
    case UnaryOp::negate: return "-";
    case UnaryOp::logical_not: return "not";
    case UnaryOp::bit_not: return "~";
  }
  return "?";
}

std::string op_name(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return "+";
    case BinaryOp::sub: return "-";
    case BinaryOp::mul: return "*";
    case BinaryOp::divide: return "/";
    case BinaryOp::floor_div: return "//";
    case BinaryOp::modulo: return "%";
    case BinaryOp::min: return "min";
    case BinaryOp::max: return "max";
    case BinaryOp::lt: return "<";
    case BinaryOp::le: return "<=";
    case BinaryOp::gt: return ">";
    case BinaryOp::ge: return ">=";
    case BinaryOp::eq: return "==";
    case BinaryOp::ne: return "!=";
    case BinaryOp::logical_and: return "and";
    case BinaryOp::logical_or: return "or";
    case BinaryOp::bit_and: return "&";
    case BinaryOp::bit_or: return "|";
    case BinaryOp::bit_xor: return "^";
    case BinaryOp::shift_left: return "<<";
    case BinaryOp::shift_right: return ">>";
  }
  return "?";
}

std::string function_name(Function function) {
  switch (function) {
    case Function::exp: return "exp";
    case Function::exp2: return "exp2";
    case Function::log: return "log";
    case Function::sqrt: return "sqrt";
    case Function::rsqrt: return "rsqrt";
    case Function::tanh: return "tanh";
    case Function::erf: return "erf";
    case Function::abs: return "abs";
    case Function::floor: return "floor";
    case Function::ceil: return "ceil";
    case Function::round: return "round";
  }
  return "?";
}

namespace {
struct Printer {
  ElementType type;
  std::string operator()(const Literal& n) const {
    char buffer[64];
    if (is_float(type)) std::snprintf(buffer, sizeof buffer, "%.17g", n.real);
    else std::snprintf(buffer, sizeof buffer, "%lld", static_cast<long long>(n.integer));
    return type_name(type) + "(" + buffer + ")";
  }
  std::string operator()(const Read& n) const { return "r" + std::to_string(n.access); }
  std::string operator()(const IndexValue& n) const { return type_name(type) + "(x" + std::to_string(n.index) + ")"; }
  std::string operator()(const Unary& n) const { return op_name(n.op) + "(" + expr_text(n.operand) + ")"; }
  std::string operator()(const Binary& n) const {
    if (n.op == BinaryOp::min || n.op == BinaryOp::max)
      return op_name(n.op) + "(" + expr_text(n.left) + ", " + expr_text(n.right) + ")";
    return "(" + expr_text(n.left) + " " + op_name(n.op) + " " + expr_text(n.right) + ")";
  }
  std::string operator()(const Select& n) const {
    return "(" + expr_text(n.then_value) + " if " + expr_text(n.condition) + " else " + expr_text(n.else_value) + ")";
  }
  std::string operator()(const Cast& n) const { return type_name(type) + "(" + expr_text(n.operand) + ")"; }
  std::string operator()(const Call& n) const {
    std::string text = function_name(n.function) + "(";
    for (std::size_t i = 0; i < n.arguments.size(); ++i) text += (i ? ", " : "") + expr_text(n.arguments[i]);
    return text + ")";
  }
  std::string operator()(const MakeTuple& n) const {
    std::string text;
    for (const ExprPtr& component : n.components) text += (text.empty() ? "(" : ", ") + expr_text(component);
    return text + ")";
  }
  std::string operator()(const Component& n) const { return expr_text(n.operand) + "[" + std::to_string(n.index) + "]"; }
};

class Rebuilder {
 public:
  explicit Rebuilder(const std::function<ExprPtr(const ExprPtr&)>& change) : change_(change) {}

  ExprPtr run(const ExprPtr& expr) {
    const auto known = memo_.find(expr.get());
    if (known != memo_.end()) return known->second;
    const ExprPtr result = change_(std::visit([&](const auto& node) { return with_operands(expr, node); }, expr->node));
    memo_.emplace(expr.get(), result);
    return result;
  }

 private:
  ExprPtr with_operands(const ExprPtr& e, const Literal&) { return e; }
  ExprPtr with_operands(const ExprPtr& e, const Read&) { return e; }
  ExprPtr with_operands(const ExprPtr& e, const IndexValue&) { return e; }
  ExprPtr with_operands(const ExprPtr& e, const Unary& n) { return make_expr(e->type, Unary{n.op, run(n.operand)}); }
  ExprPtr with_operands(const ExprPtr& e, const Binary& n) { return make_expr(e->type, Binary{n.op, run(n.left), run(n.right)}); }
  ExprPtr with_operands(const ExprPtr& e, const Select& n) {
    return make_expr(e->type, Select{run(n.condition), run(n.then_value), run(n.else_value)});
  }
  ExprPtr with_operands(const ExprPtr& e, const Cast& n) { return make_expr(e->type, Cast{run(n.operand)}); }
  ExprPtr with_operands(const ExprPtr& e, const Call& n) { return make_expr(e->type, Call{n.function, run(n.arguments)}); }
  ExprPtr with_operands(const ExprPtr& e, const MakeTuple& n) { return make_expr(e->type, MakeTuple{run(n.components)}); }
  ExprPtr with_operands(const ExprPtr& e, const Component& n) { return make_expr(e->type, Component{run(n.operand), n.index}); }

  std::vector<ExprPtr> run(const std::vector<ExprPtr>& list) {
    std::vector<ExprPtr> result;
    for (const ExprPtr& expr : list) result.push_back(run(expr));
    return result;
  }

  const std::function<ExprPtr(const ExprPtr&)>& change_;
  std::unordered_map<const Expr*, ExprPtr> memo_;
};

class TreeSize {
 public:
  explicit TreeSize(std::size_t limit) : limit_(limit) {}

  std::size_t of(const ExprPtr& expr) {
    const auto known = memo_.find(expr.get());
    if (known != memo_.end()) return known->second;
    std::size_t size = 1;
    for (const ExprPtr& child : operands(*expr)) size = std::min(limit_, size + of(child));
    memo_.emplace(expr.get(), size);
    return size;
  }

 private:
  std::size_t limit_;
  std::unordered_map<const Expr*, std::size_t> memo_;
};
}  // namespace

std::vector<ExprPtr> operands(const Expr& expr) {
  struct Visitor {
    std::vector<ExprPtr> operator()(const Literal&) const { return {}; }
    std::vector<ExprPtr> operator()(const Read&) const { return {}; }
    std::vector<ExprPtr> operator()(const IndexValue&) const { return {}; }
    std::vector<ExprPtr> operator()(const Unary& n) const { return {n.operand}; }
    std::vector<ExprPtr> operator()(const Binary& n) const { return {n.left, n.right}; }
    std::vector<ExprPtr> operator()(const Select& n) const { return {n.condition, n.then_value, n.else_value}; }
    std::vector<ExprPtr> operator()(const Cast& n) const { return {n.operand}; }
    std::vector<ExprPtr> operator()(const Call& n) const { return n.arguments; }
    std::vector<ExprPtr> operator()(const MakeTuple& n) const { return n.components; }
    std::vector<ExprPtr> operator()(const Component& n) const { return {n.operand}; }
  };
  return std::visit(Visitor{}, expr.node);
}

ExprPtr rebuild(const ExprPtr& expr, const std::function<ExprPtr(const ExprPtr&)>& change) { return Rebuilder(change).run(expr); }

ExprPtr substitute_reads(const ExprPtr& expr, const std::vector<ExprPtr>& values) {
  return rebuild(expr, [&](const ExprPtr& e) {
    const auto* read = std::get_if<Read>(&e->node);
    if (read == nullptr) return e;
    TILEOPT_CHECK(read->access < values.size(), "no value for read " + std::to_string(read->access));
    TILEOPT_CHECK(values[read->access]->type == e->type, "a read is replaced by a value of another type");
    return values[read->access];
  });
}

std::size_t tree_size(const ExprPtr& expr, std::size_t limit) { return TreeSize(limit).of(expr); }

std::string expr_text(const ExprPtr& expr) { return std::visit(Printer{expr->type}, expr->node); }

}  // namespace tileopt
