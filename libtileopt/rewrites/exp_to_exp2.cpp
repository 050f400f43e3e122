/// exp2(S): exp(x) -> exp2(x * log2(e)), exp(c * x) -> exp2(x * (c * log2(e))), in one statement or in all.
///
/// Condition: there is such a call on f32 or f64. (Narrower floats would round the product to few digits.)
/// Numerics: approx_ulp. The product is rounded, and so is the constant: a relative error of |x log2 e| roundoffs in the argument
/// becomes |x| roundoffs in the result, times two with the constant's. |x| is below 104 in f32 and below 746 in f64, since the
/// result over- or underflows beyond.
#include <cmath>

#include "rewrites/program_edit.h"
#include "rewrites/rewrite.h"

namespace tileopt {

namespace {

constexpr double log2_e = 1.4426950408889634074;

int needed_ulps(ElementType type) { return type == ElementType::f32 ? 2 * 104 : 2 * 746; }

double rounded(double value, ElementType type) { return type == ElementType::f32 ? static_cast<double>(static_cast<float>(value)) : value; }

/// x * log2(e), with a literal factor of x folded in where that stays a normal number.
ExprPtr scaled(const ExprPtr& x) {
  const auto times = [&](const ExprPtr& value, double constant) -> ExprPtr {
    const double folded = rounded(constant * log2_e, x->type);
    if (!std::isfinite(folded) || std::fabs(folded) < std::ldexp(1.0, least_exponent(x->type))) return nullptr;
    return make_expr(x->type, Binary{BinaryOp::mul, value, make_expr(x->type, Literal{folded, 0})});
  };
  if (const Binary* product = std::get_if<Binary>(&x->node); product != nullptr && product->op == BinaryOp::mul) {
    const Literal *left = std::get_if<Literal>(&product->left->node), *right = std::get_if<Literal>(&product->right->node);
    const ExprPtr folded = left ? times(product->right, left->real) : right ? times(product->left, right->real) : nullptr;
    if (folded) return folded;
  }
  return times(x, 1);
}

}  // namespace

Candidate<Rewritten> exp_to_exp2(const Program& program, const Rewriting& rewriting) {
  ProgramParts parts = take_apart(program);
  int needed = 0;
  SourceLocation where;
  for (Statement& statement : parts.statements) {
    if (!rewriting.arguments.empty() && statement.name != rewriting.arguments.front()) continue;
    change_expressions(statement, [&](const ExprPtr& e) -> ExprPtr {
      const Call* call = std::get_if<Call>(&e->node);
      if (call == nullptr || call->function != Function::exp || (e->type != ElementType::f32 && e->type != ElementType::f64)) return e;
      if (needed_ulps(e->type) > needed) {
        needed = needed_ulps(e->type);
        where = statement.where;
      }
      return make_expr(e->type, Call{Function::exp2, {scaled(call->arguments.front())}});
    });
  }
  if (needed == 0)
    return condition_fails(rewriting, "there is no exp of an f32 or f64", rewriting.arguments.empty() ? SourceLocation{program.file(), 0, 0} : program.statement(rewriting.arguments.front()).where,
                           "drop the rewrite");
  if (program.numerics().approx_ulp < needed)
    return not_granted(rewriting, "approx_ulp=" + std::to_string(needed), "the rounded argument of exp2 moves its result that far where it is extreme", where);
  return Rewritten{put_together(program, std::move(parts)), false, {"approx_ulp"}};
}

}  // namespace tileopt
