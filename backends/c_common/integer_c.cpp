#include "backends/c_common/integer_c.h"

#include <limits>

#include "support/error.h"

namespace tileopt {

namespace {
using Kind = AstExpr::Kind;

std::optional<std::int64_t> fold_constants(Kind kind, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (kind) {
    case Kind::add: return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::sub: return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::mul: return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::floor_div: return b <= 0 ? std::nullopt : std::optional(a / b - (a % b < 0 ? 1 : 0));
    case Kind::modulo: return b <= 0 ? std::nullopt : std::optional(a % b + (a % b < 0 ? b : 0));
    case Kind::exact_div: return b == 0 || b == -1 ? std::nullopt : std::optional(a / b);
    case Kind::min: return a < b ? a : b;
    case Kind::max: return a > b ? a : b;
    case Kind::eq: return a == b;
    case Kind::ne: return a != b;
    case Kind::lt: return a < b;
    case Kind::le: return a <= b;
    case Kind::gt: return a > b;
    case Kind::ge: return a >= b;
    case Kind::logical_and: return a != 0 && b != 0;
    case Kind::logical_or: return a != 0 || b != 0;
    case Kind::integer: case Kind::name: case Kind::negate: case Kind::select: break;
  }
  return std::nullopt;
}

/// Neutral and absorbing elements with one constant operand.
AstExprPtr fold_neutral(Kind kind, const AstExprPtr& a, const AstExprPtr& b) {
  switch (kind) {
    case Kind::add:
      if (is_constant(a, 0)) return b;
      if (is_constant(b, 0)) return a;
      break;
    case Kind::sub:
      if (is_constant(b, 0)) return a;
      break;
    case Kind::mul:
      if (is_constant(a, 1)) return b;
      if (is_constant(b, 1)) return a;
      if (is_constant(a, 0) || is_constant(b, 0)) return ast_integer(0);
      break;
    case Kind::floor_div: case Kind::exact_div:
      if (is_constant(b, 1)) return a;
      break;
    case Kind::modulo:
      if (is_constant(b, 1)) return ast_integer(0);
      break;
    case Kind::integer: case Kind::name: case Kind::negate: case Kind::min: case Kind::max: case Kind::select:
    case Kind::eq: case Kind::ne: case Kind::lt: case Kind::le: case Kind::gt: case Kind::ge:
    case Kind::logical_and: case Kind::logical_or: break;
  }
  return nullptr;
}

AstExprPtr fold_operation(Kind kind, std::vector<AstExprPtr> arguments) {
  if (kind == Kind::negate) {
    const auto value = constant_value(arguments[0]);
    if (value && *value != std::numeric_limits<std::int64_t>::min()) return ast_integer(-*value);
    return ast_operation(kind, std::move(arguments));
  }
  if (kind == Kind::select) {
    const auto condition = constant_value(arguments[0]);
    if (condition) return *condition != 0 ? arguments[1] : arguments[2];
    return ast_operation(kind, std::move(arguments));
  }
  const auto a = constant_value(arguments[0]);
  const auto b = constant_value(arguments[1]);
  if (a && b)
    if (const auto value = fold_constants(kind, *a, *b)) return ast_integer(*value);
  if (AstExprPtr neutral = fold_neutral(kind, arguments[0], arguments[1])) return neutral;
  return ast_operation(kind, std::move(arguments));
}

struct Spelling {
  const char* text;
  int precedence;
};
Spelling spelling(Kind kind) {
  switch (kind) {
    case Kind::logical_or: return {" || ", 1};
    case Kind::logical_and: return {" && ", 2};
    case Kind::eq: return {" == ", 3};
    case Kind::ne: return {" != ", 3};
    case Kind::lt: return {" < ", 4};
    case Kind::le: return {" <= ", 4};
    case Kind::gt: return {" > ", 4};
    case Kind::ge: return {" >= ", 4};
    case Kind::add: return {" + ", 5};
    case Kind::sub: return {" - ", 5};
    case Kind::mul: return {" * ", 6};
    case Kind::exact_div: return {" / ", 6};
    case Kind::integer: case Kind::name: case Kind::negate: case Kind::floor_div: case Kind::modulo: case Kind::min:
    case Kind::max: case Kind::select: break;
  }
  return {nullptr, 8};
}

std::string call_c(const char* helper, const AstExpr& e, const CNames& names, Helpers& helpers) {
  helpers.use(helper);
  return std::string(helper) + "(" + integer_c(e.arguments[0], names, helpers) + ", " + integer_c(e.arguments[1], names, helpers) + ")";
}
}  // namespace

std::optional<std::int64_t> constant_value(const AstExprPtr& expr) {
  if (expr->kind != Kind::integer) return std::nullopt;
  return expr->value;
}

bool is_constant(const AstExprPtr& expr, std::int64_t value) { return expr->kind == Kind::integer && expr->value == value; }

AstExprPtr fold(const AstExprPtr& expr) {
  if (expr->arguments.empty()) return expr;
  std::vector<AstExprPtr> arguments;
  for (const AstExprPtr& argument : expr->arguments) arguments.push_back(fold(argument));
  return fold_operation(expr->kind, std::move(arguments));
}

AstExprPtr substitute(const AstExprPtr& expr, const std::map<std::string, AstExprPtr>& values) {
  if (expr->kind == Kind::name) {
    const auto found = values.find(expr->name);
    return found == values.end() ? expr : found->second;
  }
  if (expr->arguments.empty()) return expr;
  std::vector<AstExprPtr> arguments;
  for (const AstExprPtr& argument : expr->arguments) arguments.push_back(substitute(argument, values));
  return fold_operation(expr->kind, std::move(arguments));
}

std::int64_t evaluate(const AstExprPtr& expr, const std::map<std::string, std::int64_t>& values) {
  std::map<std::string, AstExprPtr> constants;
  for (const auto& [name, value] : values) constants[name] = ast_integer(value);
  const auto result = constant_value(fold(substitute(expr, constants)));
  TILEOPT_CHECK(result.has_value(), "value of " + ast_expr_text(expr));
  return *result;
}

AstExprPtr sum_of(const AstExprPtr& a, const AstExprPtr& b) { return fold_operation(Kind::add, {a, b}); }
AstExprPtr product_of(const AstExprPtr& a, const AstExprPtr& b) { return fold_operation(Kind::mul, {a, b}); }

AstExprPtr plus(const AstExprPtr& a, std::int64_t constant) {
  if (constant == 0) return a;
  if (a->kind == Kind::add && a->arguments[1]->kind == Kind::integer) {
    std::int64_t merged = 0;
    if (!__builtin_add_overflow(a->arguments[1]->value, constant, &merged)) return sum_of(a->arguments[0], ast_integer(merged));
  }
  return sum_of(a, ast_integer(constant));
}

std::string integer_literal_c(std::int64_t value) {
  if (value >= -2147483647 && value <= 2147483647) return std::to_string(value);
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-INT64_C(9223372036854775807) - 1)";
  return value < 0 ? "-INT64_C(" + std::to_string(-value) + ")" : "INT64_C(" + std::to_string(value) + ")";
}

std::string integer_c(const AstExprPtr& expr, const CNames& names, Helpers& helpers, int context) {
  const AstExpr& e = *expr;
  switch (e.kind) {
    case Kind::integer: {
      const std::string text = integer_literal_c(e.value);
      return e.value < 0 && context >= 5 ? "(" + text + ")" : text;
    }
    case Kind::name: return names.value(e.name);
    case Kind::negate: {
      const std::string text = "-" + integer_c(e.arguments[0], names, helpers, 8);
      return context >= 5 ? "(" + text + ")" : text;
    }
    case Kind::floor_div: return call_c("tileopt_floord", e, names, helpers);
    case Kind::modulo: return call_c("tileopt_mod", e, names, helpers);
    case Kind::min: return call_c("tileopt_min", e, names, helpers);
    case Kind::max: return call_c("tileopt_max", e, names, helpers);
    case Kind::select:
      return "(" + integer_c(e.arguments[0], names, helpers, 1) + " ? " + integer_c(e.arguments[1], names, helpers, 1) + " : " +
             integer_c(e.arguments[2], names, helpers, 1) + ")";
    case Kind::add: case Kind::sub: case Kind::mul: case Kind::exact_div:
    case Kind::eq: case Kind::ne: case Kind::lt: case Kind::le: case Kind::gt: case Kind::ge:
    case Kind::logical_and: case Kind::logical_or: break;
  }
  const Spelling infix = spelling(e.kind);
  // Comparisons and && inside || are parenthesised although C would not need it: compilers warn about the bare form.
  const bool logical = e.kind == Kind::logical_or || e.kind == Kind::logical_and;
  const int left = logical ? 3 : infix.precedence;
  const std::string text = integer_c(e.arguments[0], names, helpers, left) + infix.text +
                           integer_c(e.arguments[1], names, helpers, logical ? 3 : infix.precedence + 1);
  return infix.precedence < context ? "(" + text + ")" : text;
}

}  // namespace tileopt
