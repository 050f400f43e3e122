#include "ir/expr.h"

#include <cstdio>

namespace tileopt {

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
};
}  // namespace

std::string expr_text(const ExprPtr& expr) { return std::visit(Printer{expr->type}, expr->node); }

}  // namespace tileopt
