#include "verify/ast_expr_reader.h"

#include "verify/execution.h"

namespace tileopt::proof {

namespace {

using Kind = AstExpr::Kind;

/// Deeper expressions are refused before they can exhaust the stack.
constexpr int kMaxDepth = 1000;

std::size_t arity(Kind kind) {
  switch (kind) {
    case Kind::integer:
    case Kind::name: return 0;
    case Kind::negate: return 1;
    case Kind::select: return 3;
    case Kind::add:
    case Kind::sub:
    case Kind::mul:
    case Kind::floor_div:
    case Kind::exact_div:
    case Kind::modulo:
    case Kind::min:
    case Kind::max:
    case Kind::eq:
    case Kind::ne:
    case Kind::lt:
    case Kind::le:
    case Kind::gt:
    case Kind::ge:
    case Kind::logical_and:
    case Kind::logical_or: return 2;
  }
  return 0;
}

bool is_condition(Kind kind) {
  switch (kind) {
    case Kind::eq:
    case Kind::ne:
    case Kind::lt:
    case Kind::le:
    case Kind::gt:
    case Kind::ge:
    case Kind::logical_and:
    case Kind::logical_or: return true;
    case Kind::integer:
    case Kind::name:
    case Kind::negate:
    case Kind::add:
    case Kind::sub:
    case Kind::mul:
    case Kind::floor_div:
    case Kind::exact_div:
    case Kind::modulo:
    case Kind::min:
    case Kind::max:
    case Kind::select: return false;
  }
  return false;
}

void check_shape(const AstExprPtr& expr, int depth) {
  if (expr == nullptr) throw Unreadable("an expression is missing");
  if (depth > kMaxDepth) throw Unreadable("an expression is nested too deeply");
  if (expr->arguments.size() != arity(expr->kind)) throw Unreadable("an operation has the wrong number of operands");
}

/// The positive integer constant that floor division and modulo need.
long divisor(const AstExprPtr& expr, const AstExprPtr& whole) {
  if (expr == nullptr || expr->kind != Kind::integer || expr->value <= 0)
    throw Unreadable("`" + ast_expr_text(whole) + "` divides by something else than a positive constant");
  return static_cast<long>(expr->value);
}

bool is_constant(const isl::pw_aff& value) { return isl_pw_aff_is_cst(value.get()) == isl_bool_true; }

isl::pw_aff floor_quotient(const isl::pw_aff& dividend, long divisor) { return dividend.scale_down(divisor).floor(); }

}  // namespace

isl::pw_aff AstExprReader::dim(unsigned position) const {
  isl_local_space* local = isl_local_space_from_space(space_.copy());
  return isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, position)));
}

isl::pw_aff AstExprReader::constant(long value) const {
  isl_local_space* local = isl_local_space_from_space(space_.copy());
  isl_val* number = isl_val_int_from_si(isl_space_get_ctx(space_.get()), value);
  return isl::manage(isl_pw_aff_from_aff(isl_aff_val_on_domain(local, number)));
}

isl::pw_aff AstExprReader::name(const std::string& name) const {
  const auto found = dims_.find(name);
  if (found != dims_.end()) return dim(found->second);
  const int parameter = isl_space_find_dim_by_name(space_.get(), isl_dim_param, name.c_str());
  if (parameter < 0) throw Unreadable("`" + name + "` is neither a loop variable in scope nor a size parameter");
  isl_local_space* local = isl_local_space_from_space(space_.copy());
  return isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_param, static_cast<unsigned>(parameter))));
}

/// C's `/` truncates towards zero. It is floor division where the dividend is not negative or the division is exact.
isl::pw_aff AstExprReader::quotient(const AstExpr& expr, const isl::set& domain, int depth) const {
  const isl::pw_aff dividend = value(expr.arguments[0], domain, depth + 1);
  const long by = divisor(expr.arguments[1], std::make_shared<const AstExpr>(expr));
  const isl::set negative = dividend.lt_set(constant(0)).intersect(domain);
  if (negative.is_empty()) return floor_quotient(dividend, by);
  const isl::set inexact = dividend.mod(by).ne_set(constant(0)).intersect(negative);
  if (inexact.is_empty()) return floor_quotient(dividend, by);
  return dividend.tdiv_q(constant(by));
}

isl::pw_aff AstExprReader::value(const AstExprPtr& expr, const isl::set& domain, int depth) const {
  check_shape(expr, depth);
  const auto operand = [&](std::size_t i) { return value(expr->arguments[i], domain, depth + 1); };
  switch (expr->kind) {
    case Kind::integer: return constant(static_cast<long>(expr->value));
    case Kind::name: return name(expr->name);
    case Kind::negate: return operand(0).neg();
    case Kind::add: return operand(0).add(operand(1));
    case Kind::sub: return operand(0).sub(operand(1));
    case Kind::mul: {
      const isl::pw_aff left = operand(0), right = operand(1);
      if (!is_constant(left) && !is_constant(right)) throw Unreadable("`" + ast_expr_text(expr) + "` is not affine");
      return left.mul(right);
    }
    case Kind::floor_div: return floor_quotient(operand(0), divisor(expr->arguments[1], expr));
    case Kind::exact_div: return quotient(*expr, domain, depth);
    case Kind::modulo: return operand(0).mod(divisor(expr->arguments[1], expr));
    case Kind::min: return operand(0).min(operand(1));
    case Kind::max: return operand(0).max(operand(1));
    case Kind::select: {
      const isl::set taken = holds(expr->arguments[0], domain, depth + 1);
      const isl::pw_aff when = value(expr->arguments[1], domain.intersect(taken), depth + 1);
      const isl::pw_aff otherwise = value(expr->arguments[2], domain, depth + 1);
      return when.intersect_domain(taken).union_add(otherwise.intersect_domain(taken.complement())).coalesce();
    }
    case Kind::eq:
    case Kind::ne:
    case Kind::lt:
    case Kind::le:
    case Kind::gt:
    case Kind::ge:
    case Kind::logical_and:
    case Kind::logical_or: return holds(expr, domain, depth + 1).indicator_function();
  }
  throw Unreadable("an expression of unknown kind");
}

isl::set AstExprReader::holds(const AstExprPtr& condition, const isl::set& domain, int depth) const {
  check_shape(condition, depth);
  const auto& arguments = condition->arguments;
  const auto operand = [&](std::size_t i) { return value(arguments[i], domain, depth + 1); };
  if (!is_condition(condition->kind)) return value(condition, domain, depth + 1).ne_set(constant(0));
  switch (condition->kind) {
    case Kind::eq: return operand(0).eq_set(operand(1));
    case Kind::ne: return operand(0).ne_set(operand(1));
    case Kind::lt: return less_than(operand(0), arguments[1], domain);
    case Kind::le: return at_most(operand(0), arguments[1], domain);
    case Kind::gt: return less_than(operand(1), arguments[0], domain);
    case Kind::ge: return at_most(operand(1), arguments[0], domain);
    case Kind::logical_and: {
      const isl::set first = holds(arguments[0], domain, depth + 1);
      return first.intersect(holds(arguments[1], domain.intersect(first), depth + 1));
    }
    case Kind::logical_or: {
      const isl::set first = holds(arguments[0], domain, depth + 1);
      return first.unite(holds(arguments[1], domain, depth + 1));
    }
    case Kind::integer:
    case Kind::name:
    case Kind::negate:
    case Kind::add:
    case Kind::sub:
    case Kind::mul:
    case Kind::floor_div:
    case Kind::exact_div:
    case Kind::modulo:
    case Kind::min:
    case Kind::max:
    case Kind::select: break;
  }
  throw Unreadable("a condition of unknown kind");
}

/// Whether `expr` is a minimum or a maximum of its last two operands wherever `domain` holds: isl prints some as choices.
AstExprReader::Choice AstExprReader::choice(const AstExprPtr& expr, const isl::set& domain) const {
  if (expr == nullptr || expr->arguments.size() != arity(expr->kind)) return Choice::none;
  if (expr->kind == Kind::min) return Choice::minimum;
  if (expr->kind == Kind::max) return Choice::maximum;
  if (expr->kind != Kind::select) return Choice::none;
  const isl::pw_aff when = value(expr->arguments[1], domain), otherwise = value(expr->arguments[2], domain);
  const isl::set condition = holds(expr->arguments[0], domain);
  const isl::set taken = domain.intersect(condition), untaken = domain.subtract(condition);
  if (taken.is_disjoint(when.gt_set(otherwise)) && untaken.is_disjoint(otherwise.gt_set(when))) return Choice::minimum;
  if (taken.is_disjoint(when.lt_set(otherwise)) && untaken.is_disjoint(otherwise.lt_set(when))) return Choice::maximum;
  return Choice::none;
}

namespace {
const AstExprPtr& second_last(const AstExprPtr& expr) { return expr->arguments[expr->arguments.size() - 2]; }
}  // namespace

isl::set AstExprReader::at_most(const isl::pw_aff& subject, const AstExprPtr& expr, const isl::set& domain) const {
  if (choice(expr, domain) == Choice::minimum)
    return at_most(subject, second_last(expr), domain).intersect(at_most(subject, expr->arguments.back(), domain));
  return subject.le_set(value(expr, domain));
}

isl::set AstExprReader::less_than(const isl::pw_aff& subject, const AstExprPtr& expr, const isl::set& domain) const {
  if (choice(expr, domain) == Choice::minimum)
    return less_than(subject, second_last(expr), domain).intersect(less_than(subject, expr->arguments.back(), domain));
  return subject.lt_set(value(expr, domain));
}

isl::set AstExprReader::at_least(const isl::pw_aff& subject, const AstExprPtr& expr, const isl::set& domain) const {
  if (choice(expr, domain) == Choice::maximum)
    return at_least(subject, second_last(expr), domain).intersect(at_least(subject, expr->arguments.back(), domain));
  return subject.ge_set(value(expr, domain));
}

}  // namespace tileopt::proof
