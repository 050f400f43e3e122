#include "search/wavefront.h"

#include <algorithm>

#include "search/original_loops.h"
#include "support/text.h"

namespace tileopt {

namespace {

class WavefrontBuilder {
 public:
  WavefrontBuilder(const Kernel& kernel, const ScheduleProposal& proposal) : kernel_(kernel), proposal_(proposal) {}

  std::optional<ScheduleProposal> run() {
    proposal_.tree = walk(proposal_.tree, kernel_.statements());
    if (!found_) return std::nullopt;
    proposal_.method = "wavefront";
    find_free_members(kernel_, proposal_);
    return std::move(proposal_);
  }

 private:
  Tree walk(const Tree& tree, const std::vector<std::string>& statements) {
    std::vector<std::string> chain;
    Tree below = tree;
    while (below.kind() == Tree::Kind::band) {
      chain.push_back(below.dim());
      below = below.child();
    }
    if (below.kind() == Tree::Kind::sequence) {
      std::vector<Tree::Branch> branches;
      bool leaves = true;
      for (const Tree::Branch& branch : below.branches()) {
        leaves = leaves && branch.tree.kind() == Tree::Kind::leaf;
        branches.push_back({branch.statements, walk(branch.tree, branch.statements)});
      }
      if (!leaves) return Tree::bands(chain, Tree::sequence(std::move(branches)));
    }
    if (below.kind() != Tree::Kind::leaf && below.kind() != Tree::Kind::sequence) return tree;
    return Tree::bands(with_wave(std::move(chain), statements), below);
  }

  /// The chain with the last loops of its innermost group exchanged for their wave.
  std::vector<std::string> with_wave(std::vector<std::string> chain, const std::vector<std::string>& statements) {
    if (chain.empty()) return chain;
    const auto group = std::find_if(proposal_.permutable.begin(), proposal_.permutable.end(), [&](const auto& g) { return contains(g, chain.back()); });
    if (group == proposal_.permutable.end() || group->size() < 2 || chain.size() < group->size()) return chain;
    const auto first = chain.end() - static_cast<std::ptrdiff_t>(group->size());
    if (!std::all_of(first, chain.end(), [&](const std::string& member) { return contains(*group, member); })) return chain;
    if (std::any_of(group->begin(), group->end(), [&](const std::string& member) { return proposal_.is_free(member); })) return chain;
    const bool everywhere = std::all_of(statements.begin(), statements.end(), [&](const std::string& statement) {
      const std::vector<std::string>& members = proposal_.members.at(statement).members;
      return std::all_of(group->begin(), group->end(), [&](const std::string& member) { return contains(members, member); });
    });
    if (!everywhere) return chain;

    const std::string last = chain.back(), wave = unique("wave");
    for (const std::string& statement : statements) replace_by_sum(proposal_.members.at(statement), *group, last, wave);
    std::rotate(first, chain.end() - 1, chain.end());
    *(chain.end() - static_cast<std::ptrdiff_t>(group->size())) = wave;
    group->assign(chain.end() - static_cast<std::ptrdiff_t>(group->size()), chain.end());
    proposal_.coincident.erase(last);
    proposal_.coincident[wave] = false;
    found_ = true;
    return chain;
  }

  std::string unique(const std::string& wanted) const {
    std::string name = wanted;
    for (int n = 2; proposal_.coincident.count(name) > 0; ++n) name = wanted + "_" + std::to_string(n);
    return name;
  }

  void replace_by_sum(StatementMembers& members, const std::vector<std::string>& group, const std::string& last, const std::string& wave) const {
    std::vector<std::string> inputs, outputs, terms;
    for (std::size_t m = 0; m < members.members.size(); ++m) {
      inputs.push_back("m" + std::to_string(m));
      outputs.push_back(inputs.back());
      if (contains(group, members.members[m])) terms.push_back(inputs.back());
    }
    const auto at = static_cast<std::size_t>(std::find(members.members.begin(), members.members.end(), last) - members.members.begin());
    outputs[at] = join(terms, " + ");
    members.members[at] = wave;
    const isl::ctx ctx = kernel_.program().ctx();
    const isl::multi_aff sum(ctx, "{ [" + join(inputs, ", ") + "] -> [" + join(outputs, ", ") + "] }");
    members.map = poly::to_text(sum.pullback(isl::multi_aff(ctx, members.map)));
  }

  const Kernel& kernel_;
  ScheduleProposal proposal_;
  bool found_ = false;
};

}  // namespace

std::optional<ScheduleProposal> propose_wavefront(const Kernel& kernel, const ScheduleProposal& proposal) {
  return WavefrontBuilder(kernel, proposal).run();
}

bool is_one_nest(const ScheduleProposal& proposal) { return proposal.permutable.size() == 1 && proposal.tree.kind() == Tree::Kind::band; }

std::optional<ScheduleProposal> propose_loops(const Kernel& kernel, const std::string& schedule) {
  if (schedule != "isl") {
    ScheduleProposal original = analyze_original_loops(kernel);
    if (schedule == "original") return original;
    if (is_one_nest(original)) return propose_wavefront(kernel, original);
  }
  ScheduleProposal proposal = propose_schedule(kernel, "isl");
  if (proposal.method != "isl") return std::nullopt;
  find_free_members(kernel, proposal);
  if (schedule == "isl") return proposal;
  return propose_wavefront(kernel, proposal);
}

}  // namespace tileopt
