#include "search/statement_shape.h"

#include <algorithm>

#include "passes/effective_pairs.h"
#include "support/text.h"

namespace tileopt {

namespace {

/// Both run under the same conditions, where their iterators of one name are equal.
bool same_conditions(const Program& program, const Statement& candidate, const Statement& statement) {
  if (candidate.guards.size() != statement.guards.size() || candidate.predicate != nullptr || statement.predicate != nullptr) return false;
  const std::vector<GuardElement> mine = guard_elements(program, statement), theirs = guard_elements(program, candidate);
  if (mine.size() != statement.guards.size() || theirs.size() != mine.size()) return false;
  isl_map* same = isl_map_from_domain_and_range(candidate.domain.copy(), statement.domain.copy());
  for (std::size_t i = 0; i < candidate.iterators.size(); ++i) {
    const auto at = std::find(statement.iterators.begin(), statement.iterators.end(), candidate.iterators[i]) - statement.iterators.begin();
    same = isl_map_equate(same, isl_dim_in, static_cast<int>(i), isl_dim_out, static_cast<int>(at));
  }
  const isl::map pairs = isl::manage(same);  // { candidate[..] -> statement[..] }
  for (std::size_t g = 0; g < mine.size(); ++g) {
    if (statement.iterators[mine[g].iterator] != candidate.iterators[theirs[g].iterator] || mine[g].tensor != theirs[g].tensor) return false;
    if (!pairs.apply_range(mine[g].element).is_subset(theirs[g].element)) return false;
  }
  return true;
}

}  // namespace

isl::set eliminate_dims(const isl::set& set, const std::function<bool(std::size_t)>& gone) {
  isl_set* left = set.copy();
  const auto count = static_cast<std::size_t>(isl_set_dim(left, isl_dim_set));
  for (std::size_t d = 0; d < count; ++d)
    if (gone(d)) left = isl_set_eliminate(left, isl_dim_set, static_cast<unsigned>(d), 1);
  return isl::manage(left);
}

bool is_rectangular(const isl::set& domain, std::size_t position, const std::vector<std::size_t>& fixed) {
  const auto is_fixed = [&](std::size_t d) { return std::find(fixed.begin(), fixed.end(), d) != fixed.end(); };
  const isl::set others = eliminate_dims(domain, [&](std::size_t d) { return d == position; });
  const isl::set only = eliminate_dims(domain, [&](std::size_t d) { return d != position && !is_fixed(d); });
  return others.intersect(only).is_equal(domain);
}

bool moves_one(const AccessView& access, std::size_t member) {
  const std::vector<std::size_t> dims = access.dims_of(member);
  return dims.size() == 1 && access.coefficients[dims[0]][member] == 1;
}

bool moves_alone(const AccessView& access, std::size_t member) {
  if (!moves_one(access, member)) return false;
  const std::vector<long>& row = access.coefficients[access.dims_of(member)[0]];
  return std::count(row.begin(), row.end(), 0) + 1 == static_cast<long>(row.size());
}

bool is_elementwise(const ExprPtr& body) {
  bool simple = true;
  walk_expr(body, [&](const Expr& e) {
    if (std::holds_alternative<Call>(e.node) || std::holds_alternative<Select>(e.node) || std::holds_alternative<IndexValue>(e.node)) simple = false;
    static const BinaryOp vectors[] = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::min, BinaryOp::max};
    if (const auto* binary = std::get_if<Binary>(&e.node))
      simple = simple && std::find(std::begin(vectors), std::end(vectors), binary->op) != std::end(vectors);
    if (is_tuple(e.type) || e.type == ElementType::boolean) simple = false;
  });
  return simple;
}

bool initialises(const Program& program, const Statement& candidate, const Statement& statement, const StatementView& view,
                 const std::vector<std::size_t>& fixed, const TypicalSizes& sizes, bool from_arrays) {
  if (candidate.write.tensor != statement.write.tensor || candidate.combine != Combine::assign) return false;
  if (!std::holds_alternative<Literal>(candidate.body->node) && !(from_arrays && is_elementwise(candidate.body))) return false;
  for (const Access& read : candidate.reads)
    if (read.tensor == candidate.write.tensor) return false;
  for (const std::string& iterator : candidate.iterators) {
    if (!contains(statement.iterators, iterator)) return false;
  }
  for (const std::size_t m : fixed)
    if (!contains(candidate.iterators, statement.iterators[m])) return false;
  if (!same_conditions(program, candidate, statement)) return false;
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

}  // namespace tileopt
