#include "passes/order_check.h"

#include <algorithm>

#include "support/error.h"
#include "support/text.h"

namespace tileopt {

namespace {
/// Position of every band dimension in the time vector of order_map.
void time_positions(const Tree& tree, const std::string& statement, int depth, std::map<std::string, int>& positions) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return;
    case Tree::Kind::band:
      positions[tree.dim()] = depth;
      return time_positions(tree.child(), statement, depth + 1, positions);
    case Tree::Kind::allocate:
    case Tree::Kind::nested: return time_positions(tree.child(), statement, depth, positions);
    case Tree::Kind::sequence:
      for (const Tree::Branch& b : tree.branches())
        if (contains(b.statements, statement)) return time_positions(b.tree, statement, depth + 1, positions);
      return;
  }
}
}  // namespace

OrderChecker::OrderChecker(const Tree& tree, const std::vector<StatementSpace>& statements) {
  const isl::union_map order = order_map(tree, statements);
  std::map<std::string, isl::map> digit_time;
  for (const isl::map& m : poly::sorted_maps(order)) digit_time.emplace(poly::input_name(m), m);
  for (const StatementSpace& s : statements) {
    time_positions(tree, s.name, 0, depth_[s.name]);
    const auto found = digit_time.find(s.name);
    if (found == digit_time.end()) continue;  // empty domain
    time_.emplace(s.name, s.to_program.reverse().apply_range(found->second));
  }
}

isl::map OrderChecker::times(const isl::map& dependence) const {
  const isl::map& from = time_.at(poly::input_name(dependence));
  const isl::map& to = time_.at(poly::output_name(dependence));
  return dependence.apply_domain(from).apply_range(to);
}

DependencePair OrderChecker::reversed_pair(const isl::union_map& dependences) const {
  for (const isl::map& m : poly::sorted_maps(dependences)) {
    if (time_.count(poly::input_name(m)) == 0 || time_.count(poly::output_name(m)) == 0) continue;
    const isl::map pairs = times(m);
    const isl::map backward = isl::manage(isl_map_lex_ge(isl_space_range(isl_map_get_space(pairs.get()))));
    const isl::map bad = pairs.intersect(backward);
    if (bad.is_empty()) continue;
    const isl::map instances = bad.apply_domain(time_.at(poly::input_name(m)).reverse())
                                   .apply_range(time_.at(poly::output_name(m)).reverse())
                                   .intersect(m);
    return {poly::input_name(m), poly::output_name(m), instances};
  }
  return {};
}

DependencePair OrderChecker::carried_pair(const isl::union_map& dependences, const std::string& dim) const {
  for (const isl::map& m : poly::sorted_maps(dependences)) {
    const std::string from = poly::input_name(m), to = poly::output_name(m);
    if (time_.count(from) == 0 || time_.count(to) == 0) continue;
    const auto a = depth_.at(from).find(dim), b = depth_.at(to).find(dim);
    if (a == depth_.at(from).end() || b == depth_.at(to).end() || a->second != b->second) continue;
    isl_map* pairs = times(m).release();
    for (int t = 0; t < a->second; ++t)
      pairs = isl_map_equate(pairs, isl_dim_in, static_cast<unsigned>(t), isl_dim_out, static_cast<unsigned>(t));
    // Smaller or greater: two conjunctions, where taking the equal ones off would have isl solve for its integer divisions.
    const auto position = a->second;
    isl_map* up = isl_map_order_lt(isl_map_copy(pairs), isl_dim_in, position, isl_dim_out, position);
    isl_map* down = isl_map_order_gt(pairs, isl_dim_in, position, isl_dim_out, position);
    const isl::map carried = isl::manage(isl_map_union(up, down));
    if (carried.is_empty()) continue;
    return {from, to, carried.apply_domain(time_.at(from).reverse()).apply_range(time_.at(to).reverse()).intersect(m)};
  }
  return {};
}

namespace {
bool has_pair_of(const isl::union_map& dependences, const DependencePair& pair) {
  for (const isl::map& m : poly::sorted_maps(dependences))
    if (poly::input_name(m) == pair.source && poly::output_name(m) == pair.sink && !m.intersect(pair.instances).is_empty()) return true;
  return false;
}
}  // namespace

std::string dependence_text(const Program& program, const Dependences& dependences, const DependencePair& pair) {
  const Statement& source = program.statement(pair.source);
  const Statement& sink = program.statement(pair.sink);
  const auto named = [](const Statement& statement) {
    const std::string where = to_string(statement.where);
    return "`" + statement.name + "`" + (where.empty() ? "" : " (" + where + ")");
  };
  const auto sentence = [&](const std::string& first, const std::string& second) { return named(source) + " " + first + " before " + named(sink) + " " + second; };
  if (pair.source == pair.sink) {
    if (has_pair_of(dependences.flow, pair)) return named(sink) + " reads what an earlier instance of it wrote to " + source.write.tensor;
    if (has_pair_of(dependences.anti, pair)) return named(sink) + " overwrites what an earlier instance of it read from " + sink.write.tensor;
    if (has_pair_of(dependences.output, pair)) return named(sink) + " overwrites what an earlier instance of it wrote to " + sink.write.tensor;
  }
  if (has_pair_of(dependences.flow, pair)) return sentence("writes " + source.write.tensor, "reads it");
  if (has_pair_of(dependences.anti, pair)) return sentence("reads " + sink.write.tensor, "overwrites it");
  if (has_pair_of(dependences.output, pair)) return sentence("writes " + source.write.tensor, "overwrites it");
  return named(source) + " combines into the same element of " + source.write.tensor + " more than once";
}

std::string witness_text(const DependencePair& pair) {
  // "N = 3, [S[i = 0] -> T[i' = 1]]"
  const std::string sample = poly::sample_text(pair.instances);
  const std::size_t open = sample.find('['), arrow = sample.find(" -> ");
  if (open == std::string::npos || arrow == std::string::npos || !sample.ends_with("]")) return sample;
  const std::string sizes = open < 2 ? "" : sample.substr(0, open - 2) + ": ";
  return sizes + sample.substr(open + 1, arrow - open - 1) + " must run before " + sample.substr(arrow + 4, sample.size() - arrow - 5);
}

std::string undetermined_dims(const StatementSpace& statement, const std::vector<std::string>& placed) {
  bool all = true;
  for (const std::string& dim : statement.dims) all = all && contains(placed, dim);
  if (all) return "";
  isl_map* keep = isl_set_identity(statement.domain.copy());
  for (std::size_t d = statement.dims.size(); d-- > 0;)
    if (!contains(placed, statement.dims[d])) keep = isl_map_project_out(keep, isl_dim_out, static_cast<unsigned>(d), 1);
  const isl::map kept = isl::manage(keep);  // { S[digits] -> [placed digits] }
  if (kept.is_injective()) return "";
  for (const std::string& dim : statement.dims)
    if (!contains(placed, dim)) return dim;
  return "?";
}

}  // namespace tileopt
