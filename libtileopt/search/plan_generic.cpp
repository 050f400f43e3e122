#include "search/plan_generic.h"

#include <algorithm>
#include <memory>

#include "search/generic_promotions.h"
#include "search/loop_choice.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr long kThreadChunk = 4096;  ///< iterations of a single loop that one thread takes at a time

/// What one option allows itself; the later options ask for less.
struct Ambition {
  std::size_t choice = 0;   ///< rank among the choices of every chain
  bool lanes = true;
  bool threads = true;
  bool promote = true;
};

class GenericPlanner {
 public:
  GenericPlanner(const PlanRequest& request, ScheduleProposal proposal) : request_(request), proposal_(std::move(proposal)) {
    for (const std::string& statement : request.kernel.statements()) {
      views_[statement] = view_statement(request.program(), statement, proposal_.members.at(statement), request.sizes);
    }
    Tree below;
    chain_ = follow_chain(proposal_.tree, request.kernel.statements(), proposal_, below);
    choices_ = rank_choices(request_, chain_, {}, views_);
  }

  std::size_t choices() const { return choices_.size(); }
  const ChainChoice& choice(std::size_t rank) const { return choices_[std::min(rank, choices_.size() - 1)]; }
  PlanPart build(const Ambition& ambition, NameTable& names) const;

 private:
  struct State {
    Ambition ambition;
    NameTable members, digits;
    std::map<std::string, std::string> renamed;          ///< proposal's member -> member of the Plan
    std::map<std::string, std::vector<Digit>> table;     ///< proposal's member -> digits
    std::vector<std::string> order;                      ///< members in order of appearance
    bool threads_placed = false;
    PlanPart part;
  };

  Tree walk(const Tree& tree, const std::vector<std::string>& statements, std::vector<std::string> outer, bool root, State& state) const;
  Tree leaves(const Tree& below, const std::vector<std::string>& inner) const;
  void cut(const std::string& member, long tile, State& state) const;
  void place_threads(const ChainChoice& choice, const Chain& chain, State& state) const;
  void place_lanes(const std::string& member, const std::vector<std::string>& statements, State& state) const;
  double trips(const std::string& member, const std::vector<std::string>& statements) const;
  std::string reason(const std::string& text) const { return "kernel " + request_.kernel.name() + ": " + text; }

  const PlanRequest& request_;
  ScheduleProposal proposal_;
  std::map<std::string, StatementView> views_;
  Chain chain_;
  std::vector<ChainChoice> choices_;
};

double GenericPlanner::trips(const std::string& member, const std::vector<std::string>& statements) const {
  double result = 1;
  for (const std::string& statement : statements) {
    const StatementView& view = views_.at(statement);
    const std::size_t m = view.member_index(member);
    if (m < view.members.size()) result = std::max(result, view.ranges[m].typical);
  }
  return result;
}

void GenericPlanner::cut(const std::string& member, long tile, State& state) const {
  const std::string serial = level_of_kind(request_.machine, LevelKind::sequential);
  const std::string name = state.members.unique(member);
  state.renamed[member] = name;
  state.order.push_back(member);
  if (tile == 0) {
    state.table[member] = {{state.digits.unique(name), 0, serial}};
  } else {
    const std::string block = state.digits.unique(digit_name(name, 'b'));
    state.table[member] = {{block, 0, serial}, {state.digits.unique(digit_name(name, 'i')), tile, serial}};
  }
}

/// The outermost loop of the chain that carries nothing and has work for all threads.
void GenericPlanner::place_threads(const ChainChoice& choice, const Chain& chain, State& state) const {
  if (!state.ambition.threads || state.threads_placed) return;
  for (const std::string& member : choice.order) {
    std::vector<Digit>& digits = state.table.at(member);
    const auto tile = choice.tiles.find(member);
    const double work = trips(member, chain.statements) / (tile == choice.tiles.end() ? 1.0 : double(tile->second));
    const bool free = proposal_.coincident.count(member) && proposal_.coincident.at(member);
    if (!free || work < 2.0 * request_.threads) continue;
    if (chain.members.size() == 1 && chain.ends_in_leaf && digits.size() == 1 && state.ambition.lanes) {
      // A single loop is cut, so that threads and lanes both get a part.
      if (work < double(kThreadChunk) * request_.threads) continue;
      const std::string level = level_of_kind(request_.machine, LevelKind::sequential);
      digits = {{state.digits.unique(digit_name(state.renamed.at(member), 'b')), 0, level}, {digits[0].name, kThreadChunk, level}};
    }
    digits[0].level = level_of_kind(request_.machine, LevelKind::independent);
    state.threads_placed = true;
    state.part.reasons.push_back(reason("threads over " + member + "; to change: parallel(...)"));
    return;
  }
}

void GenericPlanner::place_lanes(const std::string& member, const std::vector<std::string>& statements, State& state) const {
  if (!state.ambition.lanes || request_.machine.vector_bytes == 0) return;
  for (const std::string& statement : statements) {
    if (!suits_lanes(request_.program(), views_.at(statement), member)) return;
  }
  Digit& digit = state.table.at(member).back();
  if (digit.level != level_of_kind(request_.machine, LevelKind::sequential)) return;
  digit.level = level_of_kind(request_.machine, LevelKind::lockstep);
}

Tree GenericPlanner::leaves(const Tree& below, const std::vector<std::string>& inner) const {
  if (below.kind() != Tree::Kind::sequence || inner.empty()) return Tree::bands(inner, below);
  std::vector<Tree::Branch> branches;
  for (const Tree::Branch& branch : below.branches()) branches.push_back({branch.statements, Tree::bands(inner, branch.tree)});
  return Tree::sequence(std::move(branches));
}

Tree GenericPlanner::walk(const Tree& tree, const std::vector<std::string>& statements, std::vector<std::string> outer, bool root,
                          State& state) const {
  Tree below;
  const Chain chain = follow_chain(tree, statements, proposal_, below);
  const std::vector<ChainChoice> ranked = root ? choices_ : rank_choices(request_, chain, outer, views_);
  const ChainChoice& choice = ranked[std::min(state.ambition.choice, ranked.size() - 1)];
  for (const std::string& member : chain.members) cut(member, choice.tiles.count(member) ? choice.tiles.at(member) : 0, state);
  place_threads(choice, chain, state);
  const bool at_leaves = chain.ends_in_leaf || chain.ends_in_leaves;
  if (at_leaves && !chain.members.empty()) place_lanes(choice.order.back(), statements, state);

  std::vector<std::string> loops;
  for (const auto& group : chain.groups) {
    std::vector<std::string> points;
    for (const std::string& member : group) {
      if (state.table.at(member).size() > 1) loops.push_back(state.table.at(member).front().name);
    }
    for (const std::string& member : choice.order) {
      if (contains(group, member)) loops.push_back(state.table.at(member).back().name);
    }
  }
  if (!choice.tiles.empty()) {
    std::vector<std::string> extents;
    for (const auto& [member, extent] : choice.tiles) extents.push_back(member + "=" + std::to_string(extent));
    state.part.reasons.push_back(reason("tiles " + join(extents, ", ") + " around " + join(statements, ", ") + ", bound by " + choice.binding +
                                        "; to change: tile(\"serial\", " + extents.front() + ")"));
  } else if (!chain.members.empty()) {
    state.part.reasons.push_back(reason("loops " + join(choice.order, ", ") + " around " + join(statements, ", ") +
                                        " not tiled: no tile moves fewer bytes by a margin; to change: tile(\"serial\", " +
                                        choice.order.front() + "=...)"));
  }
  if (at_leaves) {
    const bool distribute = choice.distribute && !loops.empty();
    const std::vector<std::string> inner = distribute ? std::vector<std::string>{loops.back()} : std::vector<std::string>{};
    if (distribute) loops.pop_back();
    return Tree::bands(loops, leaves(below, inner));
  }
  outer.insert(outer.end(), chain.members.begin(), chain.members.end());
  std::vector<Tree::Branch> branches;
  for (const Tree::Branch& branch : below.branches()) {
    branches.push_back({branch.statements, walk(branch.tree, branch.statements, outer, false, state)});
  }
  return Tree::bands(loops, Tree::sequence(std::move(branches)));
}

PlanPart GenericPlanner::build(const Ambition& ambition, NameTable& names) const {
  State state;
  state.ambition = ambition;
  state.threads_placed = request_.threads <= 1;
  state.members = names;
  state.digits = names;
  PlanPart& part = state.part;
  part.statements = request_.kernel.statements();
  part.tree = walk(proposal_.tree, part.statements, {}, true, state);
  for (const std::string& member : state.order) part.digits.emplace_back(state.renamed.at(member), state.table.at(member));
  for (const std::string& statement : part.statements) {
    StatementMembers members = proposal_.members.at(statement);
    for (std::string& member : members.members) {
      // A member without a band is constant on the statement: its digit is placed nowhere.
      if (!state.renamed.count(member)) {
        cut(member, 0, state);
        part.digits.emplace_back(state.renamed.at(member), state.table.at(member));
      }
      member = state.renamed.at(member);
    }
    part.members[statement] = std::move(members);
  }
  for (const std::string& member : state.order) {
    names.reserve(state.renamed.at(member));
    for (const Digit& digit : state.table.at(member)) names.reserve(digit.name);
  }
  if (ambition.promote) add_generic_promotions(request_, views_, part, names);
  return std::move(part);
}

}  // namespace

std::vector<PartOption> plan_generic(const PlanRequest& request, const ScheduleProposal& proposal) {
  const auto planner = std::make_shared<GenericPlanner>(request, proposal);
  std::vector<PartOption> options;
  const auto add = [&](const Ambition& ambition) {
    const ChainChoice& choice = planner->choice(ambition.choice);
    std::string label = choice.tiles.empty() ? "plain loops" : "tiled loops";
    if (!ambition.lanes) label += " without lanes";
    if (!ambition.promote) label += " without promotion";
    options.push_back({label, choice.seconds, [planner, ambition](NameTable& names) { return planner->build(ambition, names); }});
  };
  for (std::size_t rank = 0; rank < planner->choices(); ++rank) {
    add({rank, true, true, true});
    add({rank, true, true, false});
    add({rank, false, true, true});
  }
  add({planner->choices(), false, false, false});
  return options;
}

PartOption plan_original(const PlanRequest& request) {
  const auto build = [&request](NameTable& names) {
    const ScheduleProposal proposal = propose_schedule(request.kernel, "original");
    PlanPart part;
    part.statements = request.kernel.statements();
    part.members = proposal.members;
    part.tree = proposal.tree;
    const std::string serial = level_of_kind(request.machine, LevelKind::sequential);
    for (const std::vector<std::string>& set : proposal.permutable) {
      for (const std::string& member : set) {
        part.digits.push_back({member, {{member, 0, serial}}});
        names.reserve(member);
      }
    }
    part.reasons.push_back("kernel " + request.kernel.name() + ": original order, nothing tiled or promoted");
    return part;
  };
  return {"original", 0, build};
}

}  // namespace tileopt
