#include "rewrites/reduction_parts.h"

#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "support/text.h"

namespace tileopt {

bool is_constant(const ExprPtr& expr) {
  bool constant = true;
  walk_expr(expr, [&](const Expr& e) { constant = constant && !std::holds_alternative<Read>(e.node) && !std::holds_alternative<IndexValue>(e.node); });
  return constant;
}

Candidate<ReductionParts> reduction_parts(const Program& program, const Rewriting& rewriting, const Statement& statement) {
  const auto fails = [&](const std::string& condition, const SourceLocation& where, const std::string& hint) {
    return condition_fails(rewriting, condition, where, hint);
  };
  if (statement.combine == Combine::assign) return fails(statement.name + " is no reduction", statement.where, "name a statement that accumulates");
  if (statement.conditional()) return fails("data decides which terms " + statement.name + " takes", statement.where, "keep the reduction");
  const std::string& tensor = statement.write.tensor;
  for (const Access& read : statement.reads)
    if (read.tensor == tensor) return fails(statement.name + " reads `" + tensor + "`, which it accumulates into", read.where, "keep the reduction");
  ReductionParts parts;
  for (const Statement& s : program.statements()) {
    if (s.write.tensor != tensor || s.name == statement.name) continue;
    if (parts.init != nullptr || s.combine != Combine::assign || s.conditional() || !is_constant(s.body))
      return fails(s.name + " writes `" + tensor + "` too", s.where, "the reduction must be the only writer of its result");
    parts.init = &s;
  }
  if (parts.init == nullptr) return fails("nothing sets `" + tensor + "` before " + statement.name, statement.where, "start from a constant");
  parts.outer = parts.init->iterators.size();
  const std::vector<std::string> loops = loops_around(program, statement.name);
  const bool prefix = parts.outer < loops.size() && loops == statement.iterators && loops_around(program, parts.init->name) == parts.init->iterators &&
                      std::equal(parts.init->iterators.begin(), parts.init->iterators.end(), loops.begin());
  if (!prefix) return fails(parts.init->name + " does not stand around the loops of " + statement.name, parts.init->where, "write both in one nest");
  std::vector<std::string> values;
  for (std::size_t d = 0; d < parts.outer; ++d) values.push_back("d" + std::to_string(d));
  parts.to_outer = tuple_function(program.ctx(), statement.name, loops.size(), parts.init->name, values).as_map().intersect_domain(domain_of(program, statement));
  const isl::map init_write = access_map(program, *parts.init, parts.init->write);
  if (!init_write.is_injective() || !access_map(program, statement, statement.write).is_equal(parts.to_outer.apply_range(init_write)))
    return fails(statement.name + " accumulates into other elements than " + parts.init->name + " sets", statement.write.where, "keep the reduction");
  std::vector<std::string> all;
  for (const Statement& s : program.statements()) all.push_back(s.name);
  if (sharers(program.order(), statement.name, loops[parts.outer], all).size() > 1)
    return fails("the loop " + loops[parts.outer] + " holds more than " + statement.name, statement.where, "keep the reduction");
  return parts;
}

}  // namespace tileopt
