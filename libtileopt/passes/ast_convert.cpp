#include "passes/ast_convert.h"

#include <sstream>

#include "support/error.h"

namespace tileopt {

namespace {
using Kind = AstExpr::Kind;

AstExprPtr fold(Kind kind, const std::vector<AstExprPtr>& arguments) {
  AstExprPtr result = arguments.front();
  for (std::size_t i = 1; i < arguments.size(); ++i) result = ast_operation(kind, {result, arguments[i]});
  return result;
}

AstExprPtr convert(isl_ast_expr* expr) {
  const isl::ast_expr owned = isl::manage(expr);
  return convert_expr(owned);
}
}  // namespace

AstExprPtr convert_expr(const isl::ast_expr& expr) {
  switch (isl_ast_expr_get_type(expr.get())) {
    case isl_ast_expr_int: {
      const isl::val value = isl::manage(isl_ast_expr_int_get_val(expr.get()));
      return ast_integer(value.num_si());
    }
    case isl_ast_expr_id: {
      isl_id* id = isl_ast_expr_id_get_id(expr.get());
      const std::string name = isl_id_get_name(id);
      isl_id_free(id);
      return ast_name(name);
    }
    case isl_ast_expr_op: break;
    default: TILEOPT_CHECK(false, "isl made an expression of unknown kind");
  }
  std::vector<AstExprPtr> arguments;
  const int count = isl_ast_expr_op_get_n_arg(expr.get());
  for (int i = 0; i < count; ++i) arguments.push_back(convert(isl_ast_expr_op_get_arg(expr.get(), i)));
  switch (isl_ast_expr_op_get_type(expr.get())) {
    case isl_ast_expr_op_and:
    case isl_ast_expr_op_and_then: return fold(Kind::logical_and, arguments);
    case isl_ast_expr_op_or:
    case isl_ast_expr_op_or_else: return fold(Kind::logical_or, arguments);
    case isl_ast_expr_op_max: return fold(Kind::max, arguments);
    case isl_ast_expr_op_min: return fold(Kind::min, arguments);
    case isl_ast_expr_op_minus: return ast_operation(Kind::negate, arguments);
    case isl_ast_expr_op_add: return ast_operation(Kind::add, arguments);
    case isl_ast_expr_op_sub: return ast_operation(Kind::sub, arguments);
    case isl_ast_expr_op_mul: return ast_operation(Kind::mul, arguments);
    case isl_ast_expr_op_div: return ast_operation(Kind::exact_div, arguments);
    case isl_ast_expr_op_fdiv_q: return ast_operation(Kind::floor_div, arguments);
    case isl_ast_expr_op_pdiv_q: return ast_operation(Kind::exact_div, arguments);
    case isl_ast_expr_op_pdiv_r:
    case isl_ast_expr_op_zdiv_r: return ast_operation(Kind::modulo, arguments);
    case isl_ast_expr_op_cond:
    case isl_ast_expr_op_select: return ast_operation(Kind::select, arguments);
    case isl_ast_expr_op_eq: return ast_operation(Kind::eq, arguments);
    case isl_ast_expr_op_le: return ast_operation(Kind::le, arguments);
    case isl_ast_expr_op_lt: return ast_operation(Kind::lt, arguments);
    case isl_ast_expr_op_ge: return ast_operation(Kind::ge, arguments);
    case isl_ast_expr_op_gt: return ast_operation(Kind::gt, arguments);
    default: break;
  }
  TILEOPT_CHECK(false, "isl made an operation of unknown kind: " + poly::to_text(expr));
}

AstExprPtr substitute_names(const AstExprPtr& expr, const std::map<std::string, AstExprPtr>& values) {
  if (expr->kind == Kind::name) {
    const auto found = values.find(expr->name);
    return found == values.end() ? expr : found->second;
  }
  if (expr->arguments.empty()) return expr;
  std::vector<AstExprPtr> arguments;
  for (const AstExprPtr& a : expr->arguments) arguments.push_back(substitute_names(a, values));
  return ast_operation(expr->kind, std::move(arguments));
}

namespace {
AstLeaf substitute_leaf(AstLeaf leaf, const std::map<std::string, AstExprPtr>& values) {
  const auto rewrite = [&](std::vector<AstExprPtr>& exprs) {
    for (AstExprPtr& e : exprs) e = substitute_names(e, values);
  };
  rewrite(leaf.instance);
  rewrite(leaf.write);
  for (std::vector<AstExprPtr>& read : leaf.reads) rewrite(read);
  rewrite(leaf.indices);
  rewrite(leaf.extents);
  if (leaf.signal_position != nullptr) leaf.signal_position = substitute_names(leaf.signal_position, values);
  return leaf;
}
}  // namespace

AstNodePtr substitute_names(const AstNodePtr& node, const std::map<std::string, AstExprPtr>& values) {
  if (node == nullptr) return node;
  if (const AstBlock* block = std::get_if<AstBlock>(&node->node)) {
    AstBlock result;
    for (const AstNodePtr& child : block->children) result.children.push_back(substitute_names(child, values));
    return make_node(std::move(result));
  }
  if (const AstFor* loop = std::get_if<AstFor>(&node->node)) {
    AstFor result = *loop;
    result.lower = substitute_names(loop->lower, values);
    result.upper = substitute_names(loop->upper, values);
    std::map<std::string, AstExprPtr> inner = values;
    inner.erase(loop->variable);
    result.body = substitute_names(loop->body, inner);
    return make_node(std::move(result));
  }
  if (const AstIf* branch = std::get_if<AstIf>(&node->node))
    return make_node(AstIf{substitute_names(branch->condition, values), substitute_names(branch->then_body, values), substitute_names(branch->else_body, values)});
  if (const AstAllocate* allocate = std::get_if<AstAllocate>(&node->node))
    return make_node(AstAllocate{allocate->arrays, substitute_names(allocate->body, values), allocate->rings});
  if (const AstSync* sync = std::get_if<AstSync>(&node->node)) {
    AstSync result = *sync;
    if (sync->position != nullptr) result.position = substitute_names(sync->position, values);
    return make_node(std::move(result));
  }
  return make_node(substitute_leaf(std::get<AstLeaf>(node->node), values));
}

AstNodePtr AstConverter::convert(const isl::ast_node& node) const { return walk(node.get(), {}); }

AstNodePtr AstConverter::walk(isl_ast_node* node, const Values& values) const {
  switch (isl_ast_node_get_type(node)) {
    case isl_ast_node_for: return walk_for(node, values);
    case isl_ast_node_user: return walk_leaf(node, values);
    case isl_ast_node_if: {
      AstIf result;
      result.condition = substitute_names(convert_expr(isl::manage(isl_ast_node_if_get_cond(node))), values);
      const isl::ast_node then_node = isl::manage(isl_ast_node_if_get_then_node(node));
      result.then_body = walk(then_node.get(), values);
      if (isl_ast_node_if_has_else_node(node) == isl_bool_true) {
        const isl::ast_node else_node = isl::manage(isl_ast_node_if_get_else_node(node));
        result.else_body = walk(else_node.get(), values);
      }
      return make_node(std::move(result));
    }
    case isl_ast_node_block: {
      AstBlock block;
      const isl::ast_node_list children = isl::manage(isl_ast_node_block_get_children(node));
      const int count = isl_ast_node_list_n_ast_node(children.get());
      for (int i = 0; i < count; ++i) {
        const isl::ast_node child = isl::manage(isl_ast_node_list_get_ast_node(children.get(), i));
        block.children.push_back(walk(child.get(), values));
      }
      return make_node(std::move(block));
    }
    case isl_ast_node_mark:
    case isl_ast_node_error: break;
  }
  TILEOPT_CHECK(false, "isl made a node of unknown kind");
}

AstNodePtr AstConverter::walk_for(isl_ast_node* node, const Values& values) const {
  const std::string iterator = convert_expr(isl::manage(isl_ast_node_for_get_iterator(node)))->name;
  const int depth = std::stoi(iterator.substr(2));
  const AstExprPtr lower = substitute_names(convert_expr(isl::manage(isl_ast_node_for_get_init(node))), values);
  const isl::ast_node body = isl::manage(isl_ast_node_for_get_body(node));
  Values inner = values;
  const bool degenerate = isl_ast_node_for_is_degenerate(node) == isl_bool_true;
  const auto [digit, level] = digit_of_(first_statement(body.get()), depth);
  if (degenerate && !keep_(level)) {
    inner[iterator] = lower;
    return walk(body.get(), inner);
  }
  AstFor loop;
  loop.variable = digit;
  loop.digit = digit;
  loop.level = level;
  loop.lower = lower;
  if (degenerate) {
    loop.upper = lower;
    inner[iterator] = ast_name(digit);
    loop.body = walk(body.get(), inner);
    return make_node(std::move(loop));
  }
  const AstExprPtr condition = convert_expr(isl::manage(isl_ast_node_for_get_cond(node)));
  TILEOPT_CHECK((condition->kind == Kind::le || condition->kind == Kind::lt) && condition->arguments[0]->kind == Kind::name &&
                    condition->arguments[0]->name == iterator,
                "isl made a loop condition of another form: " + ast_expr_text(condition));
  const AstExprPtr bound = substitute_names(condition->arguments[1], values);
  loop.upper = condition->kind == Kind::le ? bound : ast_operation(Kind::sub, {bound, ast_integer(1)});
  loop.step = convert_expr(isl::manage(isl_ast_node_for_get_inc(node)))->value;
  inner[iterator] = ast_name(digit);
  loop.body = walk(body.get(), inner);
  return make_node(std::move(loop));
}

AstNodePtr AstConverter::walk_leaf(isl_ast_node* node, const Values& values) const {
  isl_id* id = isl_ast_node_get_annotation(node);
  TILEOPT_CHECK(id != nullptr, "isl made a leaf without annotation");
  const std::size_t number = std::stoul(isl_id_get_name(id));
  isl_id_free(id);
  return make_leaf_(substitute_leaf(leaves_.at(number), values));
}

std::string AstConverter::first_statement(isl_ast_node* node) const {
  switch (isl_ast_node_get_type(node)) {
    case isl_ast_node_for: {
      const isl::ast_node body = isl::manage(isl_ast_node_for_get_body(node));
      return first_statement(body.get());
    }
    case isl_ast_node_if: {
      const isl::ast_node body = isl::manage(isl_ast_node_if_get_then_node(node));
      return first_statement(body.get());
    }
    case isl_ast_node_block: {
      const isl::ast_node_list children = isl::manage(isl_ast_node_block_get_children(node));
      const isl::ast_node child = isl::manage(isl_ast_node_list_get_ast_node(children.get(), 0));
      return first_statement(child.get());
    }
    case isl_ast_node_mark: {
      const isl::ast_node body = isl::manage(isl_ast_node_mark_get_node(node));
      return first_statement(body.get());
    }
    case isl_ast_node_user: {
      isl_id* id = isl_ast_node_get_annotation(node);
      TILEOPT_CHECK(id != nullptr, "isl made a leaf without annotation");
      const std::size_t number = std::stoul(isl_id_get_name(id));
      isl_id_free(id);
      return leaves_.at(number).statement;
    }
    case isl_ast_node_error: break;
  }
  TILEOPT_CHECK(false, "isl made a node of unknown kind");
}

}  // namespace tileopt
