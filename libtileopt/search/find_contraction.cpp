#include <algorithm>
#include <set>

#include "search/contraction.h"
#include "search/statement_shape.h"
#include "support/text.h"

namespace tileopt {
namespace {

struct Operand {
  std::size_t access;
  ElementType element;  ///< after the casts
};

/// A read under exact widening casts.
std::optional<Operand> operand(const Program& program, const Statement& statement, const ExprPtr& expr) {
  if (const Read* read = std::get_if<Read>(&expr->node)) {
    const ElementType type = program.tensor(statement.reads[read->access].tensor).type;
    return Operand{read->access, type};
  }
  const Cast* cast = std::get_if<Cast>(&expr->node);
  if (!cast || !widens_exactly(cast->operand->type, expr->type)) return std::nullopt;
  std::optional<Operand> inner = operand(program, statement, cast->operand);
  if (inner) inner->element = expr->type;
  return inner;
}

/// Indices from memory, and the iterators that their values and ranges are made of.
std::vector<std::size_t> fixed_iterators(const Statement& statement) {
  std::set<std::size_t> fixed;
  const auto note = [&](const isl::pw_multi_aff& value) {
    value.foreach_piece([&](const isl::set&, const isl::multi_aff& piece) {
      for (std::size_t i = 0; i < statement.iterators.size(); ++i)
        if (isl_multi_aff_involves_dims(piece.get(), isl_dim_in, static_cast<unsigned>(i), 1) == isl_bool_true) fixed.insert(i);
    });
  };
  for (const Guard& guard : statement.guards) {
    fixed.insert(guard.iterator);
    walk_expr(guard.value, [&](const Expr& e) {
      if (const auto* read = std::get_if<Read>(&e.node)) note(statement.reads[read->access].index);
      if (const auto* index = std::get_if<IndexValue>(&e.node)) note(statement.indices[index->index]);
    });
  }
  return {fixed.begin(), fixed.end()};
}

/// The smallest value of iterator `position` for given fixed ones, as text over the iterators' names: "start_at", "0".
std::optional<std::string> least_value(const Statement& statement, const isl::set& domain, std::size_t position,
                                       const std::vector<std::size_t>& fixed) {
  const auto is_fixed = [&](std::size_t d) { return std::find(fixed.begin(), fixed.end(), d) != fixed.end(); };
  isl_map* values = isl_set_identity(eliminate_dims(domain, [&](std::size_t d) { return d != position && !is_fixed(d); }).release());
  const auto count = static_cast<unsigned>(isl_map_dim(values, isl_dim_out));
  const auto at = static_cast<unsigned>(position);
  values = isl_map_project_out(values, isl_dim_out, at + 1, count - at - 1);
  values = isl_map_project_out(values, isl_dim_out, 0, at);
  for (unsigned d = 0; d < count; ++d)
    if (!is_fixed(d)) values = isl_map_eliminate(values, isl_dim_in, d, 1);
  const isl::pw_multi_aff least = isl::manage(isl_map_lexmin_pw_multi_aff(values)).coalesce();
  std::optional<isl::multi_aff> piece;
  if (isl_pw_multi_aff_n_piece(least.get()) != 1) return std::nullopt;
  least.foreach_piece([&](const isl::set&, const isl::multi_aff& value) { piece = value; });
  const isl::aff value = piece->at(0);
  if (isl_aff_dim(value.get(), isl_dim_div) != 0 || isl_aff_involves_dims(value.get(), isl_dim_param, 0, static_cast<unsigned>(isl_aff_dim(value.get(), isl_dim_param))) == isl_bool_true)
    return std::nullopt;
  const isl::val constant = isl::manage(isl_aff_get_constant_val(value.get()));
  if (!constant.is_int()) return std::nullopt;
  std::string text = poly::to_text(constant);
  for (unsigned d = 0; d < count; ++d) {
    const isl::val c = isl::manage(isl_aff_get_coefficient_val(value.get(), isl_dim_in, static_cast<int>(d)));
    if (!c.is_int()) return std::nullopt;
    if (!c.is_zero()) text += " + " + poly::to_text(c) + " * " + statement.iterators[d];
  }
  return text;
}

}  // namespace

std::optional<Contraction> find_contraction(const Kernel& kernel, const std::string& name, const TypicalSizes& sizes,
                                            std::string& why_not) {
  const Program& program = kernel.program();
  const Statement& statement = program.statement(name);
  const auto reject = [&](const std::string& reason) {
    why_not = reason;
    return std::nullopt;
  };
  if (statement.combine != Combine::sum) return reject("it is no sum");
  if (statement.predicate != nullptr) return reject("data decides which products count");
  const Binary* product = std::get_if<Binary>(&statement.body->node);
  if (!product || product->op != BinaryOp::mul) return reject("its body is no product");
  const auto first = operand(program, statement, product->left), second = operand(program, statement, product->right);
  if (!first || !second) return reject("a factor is no plain read");
  if (first->element != second->element || first->element != statement.body->type) return reject("the factors differ in type");
  if (statement.body->type == ElementType::boolean) return reject("it sums truth values");

  Contraction c;
  c.statement = name;
  c.element = statement.body->type;
  c.view = view_statement(program, name, iterator_members(statement), sizes);
  const AccessView& result = c.view.accesses[0];
  const AccessView &a = c.view.accesses[1 + first->access], &b = c.view.accesses[1 + second->access];
  if (!result.affine || !a.affine || !b.affine) return reject("a subscript is not affine");
  if (result.coefficients.empty()) return reject("the result is a scalar");

  const isl::set domain = statement.domain.intersect_params(program.context());
  c.fixed = fixed_iterators(statement);
  const auto is_fixed = [&](std::size_t m) { return std::find(c.fixed.begin(), c.fixed.end(), m) != c.fixed.end(); };
  for (std::size_t m = 0; m < c.view.members.size(); ++m) {
    const auto constant = c.view.ranges[m].least;
    const auto least = c.fixed.empty() ? std::nullopt : least_value(statement, domain, m, c.fixed);
    if (is_fixed(m)) c.least[m] = "0";
    else if (least) c.least[m] = *least;
    else if (constant) c.least[m] = std::to_string(*constant);
  }
  const auto usable = [&](std::size_t m) {
    return !is_fixed(m) && moves_alone(result, m) && c.least.count(m) > 0 && is_rectangular(domain, m, c.fixed);
  };
  std::optional<std::size_t> lanes;
  for (std::size_t m = 0; m < c.view.members.size(); ++m) {
    if (!usable(m) || !result.unit_stride(m) || a.moves_with(m) == b.moves_with(m)) continue;
    const AccessView& right = a.moves_with(m) ? a : b;
    if (moves_one(right, m)) lanes = m;
  }
  if (!lanes) return reject("no loop moves the last subscript of the result and one factor only");
  c.lanes = *lanes;
  const bool first_is_right = a.moves_with(c.lanes);
  c.right = first_is_right ? first->access : second->access;
  c.left = first_is_right ? second->access : first->access;
  const AccessView &left = c.view.accesses[1 + c.left], &right = c.view.accesses[1 + c.right];

  std::optional<std::size_t> rows;
  for (std::size_t m = 0; m < c.view.members.size(); ++m) {
    if (m != c.lanes && usable(m) && left.moves_with(m) && !right.moves_with(m)) rows = m;
  }
  if (!rows) return reject("no loop moves the result and the other factor only");
  c.rows = *rows;
  for (std::size_t m = 0; m < c.view.members.size(); ++m) {
    if (m == c.rows || m == c.lanes || is_fixed(m)) continue;
    if (!result.moves_with(m)) c.reduction.push_back(m);
    else if (right.moves_with(m)) c.outer_right.push_back(m);
    else c.outer_left.push_back(m);
  }
  if (c.reduction.empty()) return reject("nothing is summed over");
  for (const std::size_t m : c.reduction) {
    const bool from_constant = c.view.ranges[m].least && *c.view.ranges[m].least >= 0;
    if (!from_constant && (c.fixed.empty() || c.least.count(m) == 0)) return reject("a summation index has no constant lower bound");
  }
  for (const std::string& other : kernel.statements()) {
    if (initialises(program, program.statement(other), statement, c.view, c.fixed, sizes, true)) c.init = other;
  }
  return c;
}

}  // namespace tileopt
