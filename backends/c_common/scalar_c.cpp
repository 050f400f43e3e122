#include "backends/c_common/scalar_c.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "support/error.h"

namespace tileopt {

namespace {
std::string helper_call(const std::string& name, const std::string& a, Helpers& helpers) {
  helpers.use(name);
  return name + "(" + without_parentheses(a) + ")";
}
std::string helper_call(const std::string& name, const std::string& a, const std::string& b, Helpers& helpers) {
  helpers.use(name);
  return name + "(" + without_parentheses(a) + ", " + without_parentheses(b) + ")";
}

std::string round_c(ElementType type, const std::string& value, Helpers& helpers) {
  return is_narrow_float(type) ? helper_call("tileopt_round_" + type_name(type), value, helpers) : value;
}

std::string infix(const std::string& a, const std::string& op, const std::string& b) { return "(" + a + " " + op + " " + b + ")"; }

bool is_four_bit(ElementType type) { return type == ElementType::i4 || type == ElementType::u4; }

/// An integer brought into the values of `type`: by a cast, of 4 bits by a helper.
std::string wrap_c(ElementType type, const std::string& value, Helpers& helpers) {
  if (is_four_bit(type)) return helper_call("tileopt_wrap_" + type_name(type), "(uint32_t)" + value, helpers);
  return "(" + storage_type_c(type) + ")" + value;
}

/// Integer arithmetic wraps: computed unsigned, cast back. bool: nonzero.
std::string wrapped(ElementType type, const std::string& a, const std::string& op, const std::string& b, Helpers& helpers) {
  if (type == ElementType::boolean) return "(uint8_t)(" + infix("(int)" + a, op, "(int)" + b) + " != 0)";
  const std::string wide = size_bytes(type) == 8 ? "(uint64_t)" : "(uint32_t)";
  return wrap_c(type, infix(wide + a, op, wide + b), helpers);
}

std::string real_literal(double value, bool narrow) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  char buffer[64];
  const auto end = narrow ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value)).ptr
                          : std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (narrow) text += "f";
  return std::signbit(value) ? "(" + text + ")" : text;
}

/// A literal's double rounded once to a narrow float.
double round_literal(double value, ElementType type) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), least_exponent(type));
  const double unit = std::ldexp(1.0, exponent - (value_digits(type) - 1));
  const double rounded = std::nearbyint(value / unit) * unit;
  if (std::fabs(rounded) <= largest_finite(type)) return rounded;
  if (!has_infinity(type)) return std::numeric_limits<double>::quiet_NaN();
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

std::string integer_binary_c(BinaryOp op, ElementType type, const std::string& a, const std::string& b, Helpers& helpers) {
  const ElementType as = type == ElementType::boolean ? ElementType::u8 : type;
  const std::string suffix = "_" + type_name(as);
  switch (op) {
    case BinaryOp::add: return wrapped(type, a, "+", b, helpers);
    case BinaryOp::sub: return wrapped(type, a, "-", b, helpers);
    case BinaryOp::mul: return wrapped(type, a, "*", b, helpers);
    case BinaryOp::floor_div: return helper_call("tileopt_floordiv" + suffix, a, b, helpers);
    case BinaryOp::modulo: return helper_call("tileopt_modulo" + suffix, a, b, helpers);
    case BinaryOp::min: return helper_call("tileopt_min" + suffix, a, b, helpers);
    case BinaryOp::max: return helper_call("tileopt_max" + suffix, a, b, helpers);
    case BinaryOp::bit_and: return "(" + storage_type_c(type) + ")" + infix(a, "&", b);
    case BinaryOp::bit_or: return "(" + storage_type_c(type) + ")" + infix(a, "|", b);
    case BinaryOp::bit_xor: return "(" + storage_type_c(type) + ")" + infix(a, "^", b);
    case BinaryOp::shift_left: case BinaryOp::shift_right: {
      const std::string name = op == BinaryOp::shift_left ? "tileopt_shl" : "tileopt_shr";
      if (type != ElementType::boolean) return helper_call(name + suffix, a, b, helpers);
      return infix(a, "&&", "!" + b);
    }
    case BinaryOp::divide: case BinaryOp::lt: case BinaryOp::le: case BinaryOp::gt: case BinaryOp::ge: case BinaryOp::eq:
    case BinaryOp::ne: case BinaryOp::logical_and: case BinaryOp::logical_or: break;
  }
  TILEOPT_CHECK(false, "operator " + op_name(op) + " on " + type_name(type));
  return "";
}

std::string float_binary_c(BinaryOp op, ElementType type, const std::string& a, const std::string& b, Helpers& helpers) {
  const std::string suffix = "_" + type_name(compute_type(type));
  switch (op) {
    case BinaryOp::add: return round_c(type, infix(a, "+", b), helpers);
    case BinaryOp::sub: return round_c(type, infix(a, "-", b), helpers);
    case BinaryOp::mul: return round_c(type, infix(a, "*", b), helpers);
    case BinaryOp::divide: return round_c(type, infix(a, "/", b), helpers);
    case BinaryOp::min: return helper_call("tileopt_min" + suffix, a, b, helpers);
    case BinaryOp::max: return helper_call("tileopt_max" + suffix, a, b, helpers);
    case BinaryOp::floor_div: case BinaryOp::modulo: case BinaryOp::lt: case BinaryOp::le: case BinaryOp::gt: case BinaryOp::ge:
    case BinaryOp::eq: case BinaryOp::ne: case BinaryOp::logical_and: case BinaryOp::logical_or: case BinaryOp::bit_and:
    case BinaryOp::bit_or: case BinaryOp::bit_xor: case BinaryOp::shift_left: case BinaryOp::shift_right: break;
  }
  TILEOPT_CHECK(false, "operator " + op_name(op) + " on " + type_name(type));
  return "";
}

std::string integer_to_float_c(ElementType from, ElementType to, const std::string& value, Helpers& helpers) {
  const std::string c = compute_type_c(to);
  const bool narrow = is_narrow_float(to);
  if (!narrow || widens_exactly(from, to)) return "(" + c + ")" + value;
  helpers.use("tileopt_odd_f32");
  std::string exact = "(double)" + value;
  if (size_bytes(from) == 8) {
    exact = helper_call(is_signed(from) ? "tileopt_odd_i64" : "tileopt_odd_u64", value, helpers);
  }
  return round_c(to, "tileopt_odd_f32(" + exact + ")", helpers);
}

struct Printer {
  const ExprPtr& expr;
  const ScalarContext& context;

  std::string operand(const ExprPtr& e) const { return scalar_c(e, context); }
  std::string operator()(const Literal& literal) const { return literal_c(literal, expr->type); }
  std::string operator()(const Read& read) const { return context.read(read.access); }
  std::string operator()(const IndexValue& index) const { return context.index(index.index, expr->type); }
  std::string operator()(const Unary& n) const { return unary_c(n.op, expr->type, operand(n.operand), context.helpers); }
  std::string operator()(const Binary& n) const {
    return binary_c(n.op, operand_type(n), operand(n.left), operand(n.right), context.helpers);
  }
  std::string operator()(const Select& n) const {
    return "(" + operand(n.condition) + " ? " + operand(n.then_value) + " : " + operand(n.else_value) + ")";
  }
  std::string operator()(const Cast& n) const { return convert_c(n.operand->type, expr->type, operand(n.operand), context.helpers); }
  std::string operator()(const Call& n) const {
    return call_c(n.function, expr->type, operand(n.arguments.at(0)), context.helpers);
  }
  std::string operator()(const MakeTuple& n) const {
    std::string values;
    for (const ExprPtr& component : n.components)
      values += (values.empty() ? "" : ", ") + store_c(component->type, operand(component), context.helpers);
    return "((" + context.helpers.tuple(expr->type) + "){" + values + "})";
  }
  std::string operator()(const Component& n) const {
    const std::string member = operand(n.operand) + ".c" + std::to_string(n.index);
    return load_c(expr->type, member, context.helpers);
  }
};
}  // namespace

std::string scalar_c(const ExprPtr& expr, const ScalarContext& context) {
  if (context.bound != nullptr)
    if (const auto variable = context.bound->find(expr.get()); variable != context.bound->end()) return variable->second;
  return std::visit(Printer{expr, context}, expr->node);
}

ElementType operand_type(const Binary& binary) { return binary.left->type; }

bool is_comparison(BinaryOp op) {
  return op == BinaryOp::lt || op == BinaryOp::le || op == BinaryOp::gt || op == BinaryOp::ge || op == BinaryOp::eq || op == BinaryOp::ne;
}

std::string without_parentheses(const std::string& text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return text;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0 && i + 1 < text.size()) return text;
  }
  return text.substr(1, text.size() - 2);
}

std::string literal_c(const Literal& literal, ElementType type) {
  switch (type) {
    case ElementType::f64: return real_literal(literal.real, false);
    case ElementType::f32: return real_literal(literal.real, true);
    case ElementType::f16: case ElementType::bf16: case ElementType::tf32:
    case ElementType::e4m3fn: case ElementType::e5m2: case ElementType::e4m3fnuz: case ElementType::e5m2fnuz:
      return real_literal(round_literal(literal.real, type), true);
    case ElementType::i64:
      if (literal.integer == std::numeric_limits<std::int64_t>::min()) return "(-INT64_C(9223372036854775807) - 1)";
      return literal.integer < 0 ? "(-INT64_C(" + std::to_string(-literal.integer) + "))" : "INT64_C(" + std::to_string(literal.integer) + ")";
    case ElementType::u64: return "UINT64_C(" + std::to_string(static_cast<std::uint64_t>(literal.integer)) + ")";
    case ElementType::u32: return std::to_string(static_cast<std::uint32_t>(literal.integer)) + "u";
    case ElementType::i32:
      if (literal.integer == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
      [[fallthrough]];
    case ElementType::i16: case ElementType::i8: case ElementType::u16: case ElementType::u8: case ElementType::i4: case ElementType::u4:
      return literal.integer < 0 ? "(" + std::to_string(literal.integer) + ")" : std::to_string(literal.integer);
    case ElementType::boolean: return literal.integer != 0 ? "1" : "0";
  }
  return "0";
}

std::string unary_c(UnaryOp op, ElementType type, const std::string& operand, Helpers& helpers) {
  switch (op) {
    case UnaryOp::negate:
      if (is_float(type)) return has_negative_zero(type) ? "(-" + operand + ")" : round_c(type, "(-" + operand + ")", helpers);
      return wrapped(type, "0", "-", operand, helpers);
    case UnaryOp::logical_not: return "(!" + operand + ")";
    case UnaryOp::bit_not:
      if (type == ElementType::boolean) return "(!" + operand + ")";
      return wrap_c(type, "(~" + operand + ")", helpers);
  }
  return "";
}

std::string binary_c(BinaryOp op, ElementType type, const std::string& left, const std::string& right, Helpers& helpers) {
  switch (op) {
    case BinaryOp::lt: return infix(left, "<", right);
    case BinaryOp::le: return infix(left, "<=", right);
    case BinaryOp::gt: return infix(left, ">", right);
    case BinaryOp::ge: return infix(left, ">=", right);
    case BinaryOp::eq: return infix(left, "==", right);
    case BinaryOp::ne: return infix(left, "!=", right);
    case BinaryOp::logical_and: return infix(left, "&&", right);
    case BinaryOp::logical_or: return infix(left, "||", right);
    case BinaryOp::add: case BinaryOp::sub: case BinaryOp::mul: case BinaryOp::divide: case BinaryOp::floor_div:
    case BinaryOp::modulo: case BinaryOp::min: case BinaryOp::max: case BinaryOp::bit_and: case BinaryOp::bit_or:
    case BinaryOp::bit_xor: case BinaryOp::shift_left: case BinaryOp::shift_right: break;
  }
  return is_float(type) ? float_binary_c(op, type, left, right, helpers) : integer_binary_c(op, type, left, right, helpers);
}

std::string convert_c(ElementType from, ElementType to, const std::string& value, Helpers& helpers) {
  if (from == to) return value;
  if (to == ElementType::boolean) return "(uint8_t)(" + value + " != 0)";
  if (!is_float(from)) return is_float(to) ? integer_to_float_c(from, to, value, helpers) : widens_exactly(from, to) ? "(" + storage_type_c(to) + ")" + value : wrap_c(to, value, helpers);
  if (!is_float(to))
    return helper_call("tileopt_" + type_name(compute_type(from)) + "_to_" + type_name(to), value, helpers);
  if (to == ElementType::f64) return "(double)" + value;
  const bool wide = from == ElementType::f64;
  if (to == ElementType::f32) return wide ? "(float)" + value : value;
  if (widens_exactly(from, to)) return value;
  return round_c(to, wide ? helper_call("tileopt_odd_f32", value, helpers) : value, helpers);
}

std::string call_c(Function function, ElementType type, const std::string& argument, Helpers& helpers) {
  const bool exact = function == Function::floor || function == Function::ceil || function == Function::round || function == Function::abs;
  if (!is_float(type)) {
    if (function != Function::abs || !is_signed(type) || type == ElementType::boolean) return argument;
    return "(" + infix(argument, "<", "0") + " ? " + wrapped(type, "0", "-", argument, helpers) + " : " + argument + ")";
  }
  const std::string value = helper_call("tileopt_" + function_name(function) + "_" + type_name(compute_type(type)), argument, helpers);
  return exact && has_negative_zero(type) ? value : round_c(type, value, helpers);
}

std::string combine_c(Combine combine, ElementType type, const std::string& element, const std::string& value, Helpers& helpers) {
  if (combine == Combine::assign) return value;
  const std::optional<BinaryOp> op = combine_operator(combine);
  TILEOPT_CHECK(op.has_value(), "combine " + combine_name(combine) + " has no operator");
  return binary_c(*op, type, element, value, helpers);
}

std::string load_c(ElementType type, const std::string& value, Helpers& helpers) {
  return is_narrow_float(type) ? helper_call("tileopt_load_" + type_name(type), value, helpers) : value;
}

std::string store_c(ElementType type, const std::string& value, Helpers& helpers) {
  if (!is_narrow_float(type) || type == ElementType::tf32) return value;
  return helper_call("tileopt_store_" + type_name(type), value, helpers);
}

}  // namespace tileopt
