#include "rewrites/rewrite.h"

namespace tileopt {

Infeasible condition_fails(const Rewriting& rewriting, const std::string& condition, const SourceLocation& where, const std::string& hint) {
  return Infeasible{"rewrite", "apply_rewrites", "", "rewrites", to_string(rewriting) + ": " + condition, where, "", hint};
}

Infeasible not_granted(const Rewriting& rewriting, const std::string& permission, const std::string& why, const SourceLocation& where) {
  return Infeasible{"numerics", "apply_rewrites", "", "rewrites", to_string(rewriting) + " needs " + permission + ": " + why, where, "",
                    "grant it with @numerics(" + permission + "), or drop the rewrite"};
}

bool regroups_exactly(const Program& program, const Statement& statement) {
  switch (statement.combine) {
    case Combine::sum:
    case Combine::prod: return !is_float(program.tensor(statement.write.tensor).type);
    case Combine::monoid: return program.monoid(statement.monoid).exact;
    case Combine::min:
    case Combine::max:
    case Combine::any:
    case Combine::all:
    case Combine::bit_and:
    case Combine::bit_or:
    case Combine::bit_xor: return true;
    case Combine::assign: return false;
  }
  return false;
}

std::optional<Infeasible> check_regrouping(const Program& program, const Rewriting& rewriting, const Statement& statement, const std::string& why) {
  if (regroups_exactly(program, statement)) return std::nullopt;
  if (statement.combine == Combine::monoid)
    return condition_fails(rewriting, "`" + statement.monoid + "` rounds, and no bound is known for another grouping", statement.where, "keep the order of the indices");
  if (!program.numerics().reassociate) return not_granted(rewriting, "reassociate=True", why, statement.where);
  return std::nullopt;
}

ExprPtr identity_of(const Program& program, const Statement& statement) {
  TILEOPT_CHECK(statement.combine != Combine::assign, statement.name + " is no reduction");
  if (statement.combine == Combine::monoid) return program.monoid(statement.monoid).identity;
  const ElementType type = program.tensor(statement.write.tensor).type;
  Literal literal = combine_identity(statement.combine, type);
  // 0 would turn a -0 that nothing is added to into 0.
  if (statement.combine == Combine::sum && is_float(type) && has_negative_zero(type)) literal.real = -0.0;
  return make_expr(type, literal);
}

ExprPtr combined(const Program& program, const Statement& statement, const ExprPtr& left, const ExprPtr& right) {
  if (statement.combine == Combine::monoid) return substitute_reads(program.monoid(statement.monoid).combine, {left, right});
  return make_expr(left->type, Binary{*combine_operator(statement.combine), left, right});
}

}  // namespace tileopt
