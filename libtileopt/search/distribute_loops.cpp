#include "search/distribute_loops.h"

#include <algorithm>
#include <numeric>

#include "passes/digit_map.h"
#include "support/text.h"

namespace tileopt {
namespace {

/// Every pair of statements below a loop is compared.
constexpr std::size_t most_statements = 24;

class Distributor {
 public:
  Distributor(const Tree& tree, std::vector<StatementSpace> spaces) : spaces_(std::move(spaces)) {
    for (const isl::map& time : poly::sorted_maps(order_map(tree, spaces_))) times_.emplace(poly::input_name(time), time.range());
  }

  /// `depth`: entries of the time vector that the nodes above fix, the same for all `statements`.
  Tree walk(const Tree& tree, const std::vector<std::string>& statements, unsigned depth, std::vector<std::string> outer) const {
    if (tree.kind() == Tree::Kind::sequence) {
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& branch : tree.branches()) add(branches, branch.statements, walk(branch.tree, branch.statements, depth + 1, outer));
      return Tree::sequence(std::move(branches));
    }
    if (tree.kind() != Tree::Kind::band) return tree;
    const std::vector<std::vector<std::string>> groups = split(statements, depth);
    if (groups.size() == 1) {
      outer.push_back(tree.dim());
      return Tree::band(tree.dim(), walk(tree.child(), statements, depth + 1, outer));
    }
    std::vector<Tree::Branch> branches;
    for (const std::vector<std::string>& group : groups) add(branches, group, without_constants(restrict_tree(tree, group), group, outer));
    return Tree::sequence(std::move(branches));
  }

 private:
  static void add(std::vector<Tree::Branch>& branches, const std::vector<std::string>& statements, const Tree& tree) {
    if (tree.kind() == Tree::Kind::sequence) branches.insert(branches.end(), tree.branches().begin(), tree.branches().end());
    else branches.push_back({statements, tree});
  }

  /// Everything of `first` runs before everything of `second` wherever the entries above `depth` agree.
  bool precedes(const std::string& first, const std::string& second, unsigned depth) const {
    const isl::set& a = times_.at(first);
    isl_map* not_before = isl_map_lex_ge(isl_set_get_space(a.get()));
    for (unsigned i = 0; i < depth; ++i) not_before = isl_map_equate(not_before, isl_dim_in, static_cast<int>(i), isl_dim_out, static_cast<int>(i));
    return isl::manage(not_before).intersect_domain(a).intersect_range(times_.at(second)).is_empty();
  }

  /// Statements that may alternate stay together; the groups in the order in which they run.
  std::vector<std::vector<std::string>> split(const std::vector<std::string>& statements, unsigned depth) const {
    const std::size_t n = statements.size();
    if (n == 1 || n > most_statements) return {statements};
    std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) before[i][j] = i != j && !before[j][i] && precedes(statements[i], statements[j], depth);
    std::vector<std::size_t> group(n);
    std::iota(group.begin(), group.end(), std::size_t{0});
    const auto merge = [&](std::size_t i, std::size_t j) {
      const std::size_t from = group[j], to = group[i];
      std::replace(group.begin(), group.end(), from, to);
      return from != to;
    };
    // One group runs wholly before another or is one with it; a merge can bring a pair into question again.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < n && !changed; ++i)
        for (std::size_t j = 0; j < n && !changed; ++j)
          if (group[i] != group[j] && !all_before(before, group, group[i], group[j]) && !all_before(before, group, group[j], group[i]))
            changed = merge(i, j);
    }
    std::vector<std::size_t> order;
    for (const std::size_t g : group)
      if (std::find(order.begin(), order.end(), g) == order.end()) order.push_back(g);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return a != b && all_before(before, group, a, b); });
    std::vector<std::vector<std::string>> groups;
    for (const std::size_t g : order) {
      groups.emplace_back();
      for (std::size_t i = 0; i < n; ++i)
        if (group[i] == g) groups.back().push_back(statements[i]);
    }
    return groups;
  }

  static bool all_before(const std::vector<std::vector<bool>>& before, const std::vector<std::size_t>& group, std::size_t a, std::size_t b) {
    for (std::size_t i = 0; i < group.size(); ++i)
      for (std::size_t j = 0; j < group.size(); ++j)
        if (group[i] == a && group[j] == b && !before[i][j]) return false;
    return true;
  }

  /// Bands at the top of `tree` whose value the loops `outer` and those kept decide for every statement are no loops.
  Tree without_constants(const Tree& tree, const std::vector<std::string>& statements, std::vector<std::string> outer) const {
    if (tree.kind() == Tree::Kind::sequence) {
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& branch : tree.branches()) add(branches, branch.statements, without_constants(branch.tree, branch.statements, outer));
      return Tree::sequence(std::move(branches));
    }
    if (tree.kind() != Tree::Kind::band) return tree;
    const bool decided = std::all_of(statements.begin(), statements.end(), [&](const std::string& name) { return is_decided(name, tree.dim(), outer); });
    outer.push_back(tree.dim());
    const Tree child = without_constants(tree.child(), statements, outer);
    return decided ? child : Tree::band(tree.dim(), child);
  }

  bool is_decided(const std::string& statement, const std::string& dim, const std::vector<std::string>& outer) const {
    const auto space = std::find_if(spaces_.begin(), spaces_.end(), [&](const StatementSpace& s) { return s.name == statement; });
    isl_set* values = space->domain.copy();  // { S[outer, dim] }, other dimensions projected out
    std::vector<std::string> dims = space->dims;
    for (std::size_t i = dims.size(); i-- > 0;) {
      if (dims[i] == dim || contains(outer, dims[i])) continue;
      values = isl_set_project_out(values, isl_dim_set, static_cast<unsigned>(i), 1);
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i));
    }
    const auto at = static_cast<unsigned>(std::find(dims.begin(), dims.end(), dim) - dims.begin());
    const auto count = static_cast<unsigned>(dims.size());
    isl_map* value = isl_map_from_range(isl_set_reset_tuple_id(values));  // { [] -> [outer, dim] }
    value = isl_map_move_dims(value, isl_dim_in, 0, isl_dim_out, 0, at);
    value = isl_map_move_dims(value, isl_dim_in, at, isl_dim_out, 1, count - at - 1);
    return isl::manage(value).is_single_valued();
  }

  std::vector<StatementSpace> spaces_;
  std::map<std::string, isl::set> times_;  ///< statement -> { [time] }
};

}  // namespace

Tree distribute_loops(const Program& program, const std::map<std::string, StatementMembers>& members,
                      const std::vector<std::pair<std::string, std::vector<Digit>>>& table, const Tree& tree,
                      const std::vector<std::string>& statements) {
  std::vector<StatementSpace> spaces;
  for (const std::string& name : statements) {
    const Statement& statement = program.statement(name);
    if (!statement.guards.empty()) return tree;
    StatementSpace space;
    space.name = name;
    const isl::map to_members = digits_to_members(program.ctx(), name, members.at(name).members, table, space.dims);
    const isl::set domain = statement.domain.intersect_params(program.context());
    const isl::map member_map(program.ctx(), members.at(name).map);
    space.to_program = to_members.apply_range(member_map.reverse()).intersect_range(domain);
    space.domain = space.to_program.domain();
    spaces.push_back(std::move(space));
  }
  return Distributor(tree, std::move(spaces)).walk(tree, statements, 0, {});
}

}  // namespace tileopt
