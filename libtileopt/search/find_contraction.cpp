#include <algorithm>

#include "search/contraction.h"
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

/// The values of iterator `position` do not depend on the other iterators.
bool is_rectangular(const isl::set& domain, std::size_t position) {
  const auto at = static_cast<unsigned>(position);
  const auto count = static_cast<unsigned>(static_cast<int>(isl_set_dim(domain.get(), isl_dim_set)));
  const isl::set without = isl::manage(isl_set_eliminate(domain.copy(), isl_dim_set, at, 1));
  isl_set* only = isl_set_eliminate(domain.copy(), isl_dim_set, 0, at);
  only = isl_set_eliminate(only, isl_dim_set, at + 1, count - at - 1);
  return without.intersect(isl::manage(only)).is_equal(domain);
}

/// Sets the same elements to a literal, its iterators named as those of `statement`.
bool initialises(const Program& program, const Statement& candidate, const Statement& statement, const StatementView& view,
                 const TypicalSizes& sizes) {
  if (candidate.write.tensor != statement.write.tensor || candidate.combine != Combine::assign) return false;
  if (!std::holds_alternative<Literal>(candidate.body->node)) return false;
  for (const std::string& iterator : candidate.iterators) {
    if (!contains(statement.iterators, iterator)) return false;
  }
  const StatementView other = view_statement(program, candidate.name, iterator_members(candidate), sizes);
  const AccessView& mine = view.accesses[0];
  const AccessView& theirs = other.accesses[0];
  if (!theirs.affine) return false;
  for (std::size_t m = 0; m < view.members.size(); ++m) {
    const std::size_t at = other.member_index(view.members[m]);
    for (std::size_t d = 0; d < mine.coefficients.size(); ++d) {
      const long step = at < other.members.size() ? theirs.coefficients[d][at] : 0;
      if (step != mine.coefficients[d][m]) return false;
    }
  }
  return true;
}

/// Moves exactly one subscript, by one element.
bool moves_one(const AccessView& access, std::size_t member) {
  const std::vector<std::size_t> dims = access.dims_of(member);
  return dims.size() == 1 && access.coefficients[dims[0]][member] == 1;
}

/// ... and no other member moves that subscript.
bool moves_alone(const AccessView& access, std::size_t member) {
  if (!moves_one(access, member)) return false;
  const std::vector<long>& row = access.coefficients[access.dims_of(member)[0]];
  return std::count(row.begin(), row.end(), 0) + 1 == static_cast<long>(row.size());
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
  if (statement.conditional()) return reject("data decides which products count");
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
  const auto usable = [&](std::size_t m) {
    const auto least = c.view.ranges[m].least;
    return moves_alone(result, m) && least && is_rectangular(domain, m);
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
    if (m == c.rows || m == c.lanes) continue;
    if (!result.moves_with(m)) c.reduction.push_back(m);
    else if (right.moves_with(m)) c.outer_right.push_back(m);
    else c.outer_left.push_back(m);
  }
  if (c.reduction.empty()) return reject("nothing is summed over");
  for (const std::size_t m : c.reduction) {
    if (!c.view.ranges[m].least || *c.view.ranges[m].least < 0) return reject("a summation index has no constant lower bound");
  }
  for (const std::string& other : kernel.statements()) {
    if (initialises(program, program.statement(other), statement, c.view, sizes)) c.init = other;
  }
  return c;
}

}  // namespace tileopt
