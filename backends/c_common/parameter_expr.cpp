#include "backends/c_common/parameter_expr.h"

#include <cstdlib>

#include "support/error.h"

namespace tileopt {

namespace {
using Kind = AstExpr::Kind;

AstExprPtr convert(const isl::ast_expr& expr);

std::vector<AstExprPtr> arguments_of(const isl::ast_expr& expr) {
  std::vector<AstExprPtr> arguments;
  const int count = isl_ast_expr_get_op_n_arg(expr.get());
  for (int i = 0; i < count; ++i) arguments.push_back(convert(isl::manage(isl_ast_expr_get_op_arg(expr.get(), i))));
  return arguments;
}

AstExprPtr left_to_right(Kind kind, const std::vector<AstExprPtr>& arguments) {
  AstExprPtr result = arguments.at(0);
  for (std::size_t i = 1; i < arguments.size(); ++i) result = ast_operation(kind, {result, arguments[i]});
  return result;
}

AstExprPtr convert_operation(const isl::ast_expr& expr) {
  const std::vector<AstExprPtr> arguments = arguments_of(expr);
  switch (isl_ast_expr_get_op_type(expr.get())) {
    case isl_ast_op_and: case isl_ast_op_and_then: return left_to_right(Kind::logical_and, arguments);
    case isl_ast_op_or: case isl_ast_op_or_else: return left_to_right(Kind::logical_or, arguments);
    case isl_ast_op_max: return left_to_right(Kind::max, arguments);
    case isl_ast_op_min: return left_to_right(Kind::min, arguments);
    case isl_ast_op_minus: return ast_operation(Kind::negate, arguments);
    case isl_ast_op_add: return left_to_right(Kind::add, arguments);
    case isl_ast_op_sub: return left_to_right(Kind::sub, arguments);
    case isl_ast_op_mul: return left_to_right(Kind::mul, arguments);
    case isl_ast_op_div: case isl_ast_op_pdiv_q: return ast_operation(Kind::exact_div, arguments);
    case isl_ast_op_fdiv_q: return ast_operation(Kind::floor_div, arguments);
    case isl_ast_op_pdiv_r: case isl_ast_op_zdiv_r: return ast_operation(Kind::modulo, arguments);
    case isl_ast_op_cond: case isl_ast_op_select: return ast_operation(Kind::select, arguments);
    case isl_ast_op_eq: return ast_operation(Kind::eq, arguments);
    case isl_ast_op_le: return ast_operation(Kind::le, arguments);
    case isl_ast_op_lt: return ast_operation(Kind::lt, arguments);
    case isl_ast_op_ge: return ast_operation(Kind::ge, arguments);
    case isl_ast_op_gt: return ast_operation(Kind::gt, arguments);
    case isl_ast_op_call: case isl_ast_op_access: case isl_ast_op_member: case isl_ast_op_address_of: case isl_ast_op_error: break;
  }
  TILEOPT_CHECK(false, "operation in " + poly::to_text(expr));
  return nullptr;
}

AstExprPtr convert(const isl::ast_expr& expr) {
  switch (isl_ast_expr_get_type(expr.get())) {
    case isl_ast_expr_int: {
      const isl::val value = isl::manage(isl_ast_expr_get_val(expr.get()));
      return ast_integer(isl_val_get_num_si(value.get()));
    }
    case isl_ast_expr_id: {
      const isl::id id = isl::manage(isl_ast_expr_get_id(expr.get()));
      return ast_name(isl_id_get_name(id.get()));
    }
    case isl_ast_expr_op: return convert_operation(expr);
    case isl_ast_expr_error: break;
  }
  TILEOPT_CHECK(false, "isl gave no expression");
  return nullptr;
}

isl::ast_build unconstrained_build(isl::ctx ctx) {
  return isl::manage(isl_ast_build_from_context(isl_set_universe(isl_space_params_alloc(ctx.get(), 0))));
}
}  // namespace

AstExprPtr expr_of(const isl::pw_aff& value) {
  isl::ast_build build = unconstrained_build(value.ctx());
  isl_pw_aff* copy = value.copy();
  // Extents may come as functions of an empty tuple; an AST expression wants functions of the parameters alone.
  return convert(isl::manage(isl_ast_build_expr_from_pw_aff(build.get(), copy)));
}

AstExprPtr condition_of(const isl::set& context) {
  isl::ast_build build = unconstrained_build(context.ctx());
  return convert(isl::manage(isl_ast_build_expr_from_set(build.get(), isl_set_params(context.copy()))));
}

}  // namespace tileopt
