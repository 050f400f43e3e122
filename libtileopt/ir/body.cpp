#include "ir/body.h"

#include <algorithm>

namespace tileopt {

const ExprPtr& without_casts(const ExprPtr& expr) {
  const Cast* cast = std::get_if<Cast>(&expr->node);
  return cast == nullptr ? expr : without_casts(cast->operand);
}

bool is_arithmetic(const ExprPtr& body) {
  static const BinaryOp known[] = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::divide, BinaryOp::min, BinaryOp::max};
  bool simple = true;
  walk_expr(body, [&](const Expr& e) {
    if (std::holds_alternative<Select>(e.node) || std::holds_alternative<IndexValue>(e.node)) simple = false;
    if (const auto* binary = std::get_if<Binary>(&e.node)) simple = simple && std::find(std::begin(known), std::end(known), binary->op) != std::end(known);
  });
  return simple;
}

bool reads_always(const Program& program, const Statement& statement) {
  const isl::set domain = statement.domain.intersect_params(program.context());
  return std::all_of(statement.reads.begin(), statement.reads.end(), [&](const Access& read) { return domain.is_subset(read.index.domain()); });
}

}  // namespace tileopt
