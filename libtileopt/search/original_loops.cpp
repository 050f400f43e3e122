#include "search/original_loops.h"

#include <algorithm>

#include "passes/order_check.h"
#include "search/guarded_loops.h"
#include "search/statement_view.h"
#include "support/text.h"

namespace tileopt {

std::vector<StatementSpace> member_spaces(const Kernel& kernel, const ScheduleProposal& proposal) {
  std::vector<StatementSpace> spaces;
  for (const std::string& name : kernel.statements()) {
    const StatementMembers& members = proposal.members.at(name);
    const isl::set domain = kernel.program().statement(name).domain.intersect_params(kernel.program().context());
    isl::map map(domain.ctx(), members.map);  // { S[i] -> [m] }
    map = isl::manage(isl_map_set_tuple_name(map.intersect_domain(domain).release(), isl_dim_out, name.c_str()));
    spaces.push_back({name, members.members, map.range(), map.reverse()});
  }
  return spaces;
}

namespace {

/// All chains of bands, each outermost first.
void collect_chains(const Tree& tree, std::vector<std::vector<std::string>>& chains) {
  std::vector<std::string> chain;
  Tree node = tree;
  while (node.kind() == Tree::Kind::band) {
    chain.push_back(node.dim());
    node = node.child();
  }
  if (!chain.empty()) chains.push_back(chain);
  if (node.kind() == Tree::Kind::sequence) {
    for (const Tree::Branch& branch : node.branches()) collect_chains(branch.tree, chains);
  }
}

/// `tree` with the bands of one chain in another order.
Tree with_chain(const Tree& tree, const std::vector<std::string>& chain, const std::vector<std::string>& order) {
  if (tree.kind() == Tree::Kind::band && tree.dim() == chain.front()) {
    Tree below = tree;
    for (std::size_t i = 0; i < chain.size(); ++i) below = below.child();
    return Tree::bands(order, below);
  }
  if (tree.kind() == Tree::Kind::band) return Tree::band(tree.dim(), with_chain(tree.child(), chain, order));
  if (tree.kind() != Tree::Kind::sequence) return tree;
  std::vector<Tree::Branch> branches;
  for (const Tree::Branch& branch : tree.branches()) branches.push_back({branch.statements, with_chain(branch.tree, chain, order)});
  return Tree::sequence(std::move(branches));
}

void mark_free_members(const Kernel& kernel, const std::vector<StatementSpace>& spaces, ScheduleProposal& proposal) {
  const OrderChecker checker(proposal.tree, spaces);
  for (auto& [member, free] : proposal.coincident) free = free || !checker.carried_pair(kernel.racing(), member);
}

class LoopAnalysis {
 public:
  LoopAnalysis(const Kernel& kernel, ScheduleProposal& proposal)
      : kernel_(kernel), proposal_(proposal), spaces_(member_spaces(kernel, proposal)) {}

  void run() {
    mark_free_members(kernel_, spaces_, proposal_);
    std::vector<std::vector<std::string>> chains;
    collect_chains(proposal_.tree, chains);
    proposal_.permutable.clear();
    for (const std::vector<std::string>& chain : chains) split_chain(chain);
  }

 private:
  /// Greedy: a member joins the group before it if it may run outermost in that group, that is, no dependence that the loops
  /// around the group leave open goes backwards in it. The members of the group itself satisfy that already.
  void split_chain(const std::vector<std::string>& chain) {
    std::size_t start = 0;
    for (std::size_t i = 1; i <= chain.size(); ++i) {
      const bool fixed = i < chain.size() && (is_guarded(chain[i]) || is_guarded(chain[i - 1]));
      if (i < chain.size() && !fixed && may_run_first(chain, start, i)) continue;
      proposal_.permutable.emplace_back(chain.begin() + static_cast<std::ptrdiff_t>(start), chain.begin() + static_cast<std::ptrdiff_t>(i));
      start = i;
    }
  }

  /// The member is an index read from memory: it stays where its value is known, and what is inside stays inside.
  bool is_guarded(const std::string& member) const {
    for (const std::string& name : kernel_.statements()) {
      const StatementMembers& members = proposal_.members.at(name);
      const Statement& statement = kernel_.program().statement(name);
      const auto found = std::find(members.members.begin(), members.members.end(), member);
      if (found == members.members.end()) continue;
      const std::string iterator = bound_iterator(kernel_.program(), name, members, static_cast<std::size_t>(found - members.members.begin()));
      for (const Guard& guard : statement.guards)
        if (statement.iterators[guard.iterator] == iterator) return true;
    }
    return false;
  }

  bool may_run_first(const std::vector<std::string>& chain, std::size_t start, std::size_t member) const {
    std::vector<std::string> order = chain;
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(member));
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(start), chain[member]);
    return !OrderChecker(with_chain(proposal_.tree, chain, order), spaces_).reversed_pair(kernel_.validity());
  }

  const Kernel& kernel_;
  ScheduleProposal& proposal_;
  std::vector<StatementSpace> spaces_;
};

}  // namespace

void find_free_members(const Kernel& kernel, ScheduleProposal& proposal) {
  mark_free_members(kernel, member_spaces(kernel, proposal), proposal);
}

ScheduleProposal analyze_original_loops(const Kernel& kernel) {
  ScheduleProposal proposal = place_guarded_loops(kernel, propose_schedule(kernel, "original"));
  LoopAnalysis(kernel, proposal).run();
  return proposal;
}

Tree separate_leaves(const Tree& tree, const std::vector<std::string>& statements) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: {
      if (statements.size() < 2) return tree;
      std::vector<Tree::Branch> branches;
      for (const std::string& statement : statements) branches.push_back({{statement}, Tree()});
      return Tree::sequence(std::move(branches));
    }
    case Tree::Kind::band: return Tree::band(tree.dim(), separate_leaves(tree.child(), statements));
    case Tree::Kind::allocate: return Tree::allocate(tree.arrays(), separate_leaves(tree.child(), statements));
    case Tree::Kind::nested: return Tree::nested(separate_leaves(tree.child(), statements));
    case Tree::Kind::sequence: {
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& branch : tree.branches()) branches.push_back({branch.statements, separate_leaves(branch.tree, branch.statements)});
      return Tree::sequence(std::move(branches));
    }
  }
  return tree;
}

}  // namespace tileopt
