#include "search/guarded_loops.h"

#include <algorithm>
#include <optional>
#include <set>

#include "passes/effective_pairs.h"
#include "passes/order_check.h"
#include "search/original_loops.h"
#include "search/statement_view.h"
#include "support/text.h"

namespace tileopt {
namespace {

/// A tree with the renaming of members that merged loops ask for.
struct Placed {
  Tree tree;
  std::map<std::string, std::string> renamed;  ///< member -> the one that it is merged with
};

class Placement {
 public:
  Placement(const Kernel& kernel, const ScheduleProposal& proposal, bool share) : kernel_(kernel), proposal_(proposal), share_(share) {
    for (const std::string& name : kernel.statements())
      for (std::size_t m = 0; m < members(name).size(); ++m)
        iterators_[name].push_back(bound_iterator(kernel.program(), name, proposal.members.at(name), m));
  }

  Placed run() {
    Tree tree = place(proposal_.tree, kernel_.statements());
    return {std::move(tree), std::move(renamed_)};
  }

 private:
  const std::vector<std::string>& members(const std::string& statement) const { return proposal_.members.at(statement).members; }
  const Statement& statement(const std::string& name) const { return kernel_.program().statement(name); }

  std::string current(const std::string& member) const {
    const auto found = renamed_.find(member);
    return found == renamed_.end() ? member : found->second;
  }

  /// The statement's guard on the member, as it is called now.
  const Guard* guard_on(const std::string& name, const std::string& member) const {
    for (std::size_t m = 0; m < members(name).size(); ++m) {
      if (current(members(name)[m]) != member) continue;
      const Statement& s = statement(name);
      for (const Guard& guard : s.guards)
        if (s.iterators[guard.iterator] == iterators_.at(name)[m]) return &guard;
    }
    return nullptr;
  }

  bool is_guarded(const std::string& member, const std::vector<std::string>& statements) const {
    return std::any_of(statements.begin(), statements.end(), [&](const std::string& s) { return guard_on(s, member) != nullptr; });
  }

  /// Members that the guard's value is made of.
  std::set<std::string> needed(const std::string& name, const Guard& guard) const {
    const Statement& s = statement(name);
    std::set<std::size_t> positions;
    const auto note = [&](const isl::pw_multi_aff& value) {
      value.foreach_piece([&](const isl::set&, const isl::multi_aff& piece) {
        for (std::size_t i = 0; i < s.iterators.size(); ++i)
          if (isl_multi_aff_involves_dims(piece.get(), isl_dim_in, static_cast<unsigned>(i), 1) == isl_bool_true) positions.insert(i);
      });
    };
    walk_expr(guard.value, [&](const Expr& e) {
      if (const auto* index = std::get_if<IndexValue>(&e.node)) note(s.indices[index->index]);
      if (const auto* read = std::get_if<Read>(&e.node)) note(s.reads[read->access].index);
    });
    std::set<std::string> result;
    for (std::size_t m = 0; m < members(name).size(); ++m)
      for (const std::size_t i : positions)
        if (iterators_.at(name)[m] == s.iterators[i]) result.insert(current(members(name)[m]));
    return result;
  }

  /// Guarded members as far out as the members that they need allow; the others keep their order.
  std::vector<std::string> hoisted(const std::vector<std::string>& chain, const std::vector<std::string>& statements) const {
    std::vector<std::string> result, waiting;
    const auto ready = [&](const std::string& member) {
      for (const std::string& name : statements) {
        const Guard* guard = guard_on(name, member);
        if (guard == nullptr) continue;
        for (const std::string& other : needed(name, *guard))
          if (contains(chain, other) && !contains(result, other)) return false;
      }
      return true;
    };
    for (const std::string& member : chain)
      if (is_guarded(member, statements)) waiting.push_back(member);
    const auto place_ready = [&] {
      for (std::size_t i = 0; i < waiting.size();) {
        if (!ready(waiting[i])) {
          ++i;
          continue;
        }
        result.push_back(waiting[i]);
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
        i = 0;
      }
    };
    place_ready();
    for (const std::string& member : chain) {
      if (is_guarded(member, statements)) continue;
      result.push_back(member);
      place_ready();
    }
    result.insert(result.end(), waiting.begin(), waiting.end());
    return result;
  }

  /// { [outer members] -> tensor[x] }: the element that the guard demands, where it depends on the loops around alone.
  std::optional<isl::map> demanded(const std::string& name, const std::string& member, const std::vector<std::string>& outer) const {
    const Statement& s = statement(name);
    for (const GuardElement& guard : guard_elements(kernel_.program(), s)) {
      const Guard* found = guard_on(name, member);
      if (found == nullptr || found->iterator != guard.iterator) continue;
      isl::map values(kernel_.program().ctx(), proposal_.members.at(name).map);  // { S[i] -> [members] }
      isl_map* kept = values.intersect_domain(s.domain.intersect_params(kernel_.program().context())).release();
      std::vector<std::string> order;
      for (std::size_t m = members(name).size(); m-- > 0;)
        if (!contains(outer, current(members(name)[m]))) kept = isl_map_project_out(kept, isl_dim_out, static_cast<unsigned>(m), 1);
      for (const std::string& m : members(name))
        if (contains(outer, current(m))) order.push_back(current(m));
      const isl::map element = isl::manage(kept).reverse().apply_range(guard.element);
      if (order != outer || !element.is_single_valued()) return std::nullopt;
      return element;
    }
    return std::nullopt;
  }

  bool same_value(const std::string& a, const std::string& member_a, const std::string& b, const std::string& member_b,
                  const std::vector<std::string>& outer) const {
    const auto first = demanded(a, member_a, outer), second = demanded(b, member_b, outer);
    if (!first || !second || !first->space().is_equal(second->space())) return false;
    return first->intersect_domain(second->domain()).is_equal(second->intersect_domain(first->domain()));
  }

  /// Branches that follow each other and start with loops over one index become one branch under one loop.
  std::vector<Tree::Branch> shared(const std::vector<Tree::Branch>& branches, const std::vector<std::string>& outer) {
    std::vector<Tree::Branch> result;
    for (const Tree::Branch& branch : branches) {
      const bool leads = branch.tree.kind() == Tree::Kind::band && !result.empty() && result.back().tree.kind() == Tree::Kind::band;
      if (!leads || !same_value(result.back().statements.front(), result.back().tree.dim(), branch.statements.front(), branch.tree.dim(), outer)) {
        result.push_back(branch);
        continue;
      }
      Tree::Branch& before = result.back();
      const std::string member = before.tree.dim();
      renamed_[branch.tree.dim()] = member;
      std::vector<Tree::Branch> inner = branches_of(before.statements, before.tree.child());
      const std::vector<Tree::Branch> added = branches_of(branch.statements, branch.tree.child());
      inner.insert(inner.end(), added.begin(), added.end());
      before.statements.insert(before.statements.end(), branch.statements.begin(), branch.statements.end());
      std::vector<std::string> around = outer;
      around.push_back(member);
      before.tree = Tree::band(member, from_branches(shared(inner, around)));
    }
    return result;
  }
  static std::vector<Tree::Branch> branches_of(const std::vector<std::string>& statements, const Tree& tree) {
    if (tree.kind() == Tree::Kind::sequence) return tree.branches();
    return {{statements, tree}};
  }
  static Tree from_branches(std::vector<Tree::Branch> branches) {
    return branches.size() == 1 ? branches.front().tree : Tree::sequence(std::move(branches));
  }

  Tree place(const Tree& tree, const std::vector<std::string>& statements, const std::vector<std::string>& outer = {}) {
    std::vector<std::string> chain;
    Tree below = tree;
    for (; below.kind() == Tree::Kind::band; below = below.child()) chain.push_back(below.dim());
    if (below.kind() == Tree::Kind::sequence) {
      std::vector<std::string> around = outer;
      around.insert(around.end(), chain.begin(), chain.end());
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& branch : below.branches()) branches.push_back({branch.statements, place(branch.tree, branch.statements, around)});
      below = from_branches(share_ ? shared(branches, around) : branches);
      for (; below.kind() == Tree::Kind::band; below = below.child()) chain.push_back(below.dim());
    }
    return Tree::bands(hoisted(chain, statements), below);
  }

  const Kernel& kernel_;
  const ScheduleProposal& proposal_;
  bool share_;
  std::map<std::string, std::vector<std::string>> iterators_;  ///< per member of every statement: what it stands for
  std::map<std::string, std::string> renamed_;
};

ScheduleProposal with_tree(ScheduleProposal proposal, const Placed& placed) {
  proposal.tree = placed.tree;
  for (auto& [statement, members] : proposal.members)
    for (std::string& member : members.members)
      if (const auto found = placed.renamed.find(member); found != placed.renamed.end()) member = found->second;
  for (const auto& [member, kept] : placed.renamed) proposal.coincident.erase(member);
  return proposal;
}

bool is_legal(const Kernel& kernel, const ScheduleProposal& proposal) {
  return !OrderChecker(proposal.tree, member_spaces(kernel, proposal)).reversed_pair(kernel.validity());
}

}  // namespace

ScheduleProposal place_guarded_loops(const Kernel& kernel, ScheduleProposal proposal) {
  const auto guarded = [&](const std::string& name) { return !kernel.program().statement(name).guards.empty(); };
  if (std::none_of(kernel.statements().begin(), kernel.statements().end(), guarded)) return proposal;
  for (const bool share : {true, false}) {
    ScheduleProposal placed = with_tree(proposal, Placement(kernel, proposal, share).run());
    if (is_legal(kernel, placed)) return placed;
  }
  return proposal;
}

}  // namespace tileopt
