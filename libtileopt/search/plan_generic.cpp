#include "search/plan_generic.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "search/distribute_loops.h"
#include "search/generic_promotions.h"
#include "search/lane_box.h"
#include "search/memory_hints.h"
#include "search/loop_choice.h"
#include "search/original_loops.h"
#include "search/wavefront.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr double kThreadEfficiency = 0.8;
constexpr double kForkSeconds = 5e-6;    ///< to start a team of threads and wait for it
constexpr long kThreadChunk = 4096;  ///< iterations of a single loop that one thread takes at a time

/// isl's schedule must promise this much: it tends to pull apart what the source keeps together.
constexpr double kIslGain = 0.8;

/// What one option allows itself; the later options ask for less.
struct Ambition {
  std::size_t choice = 0;   ///< rank among the choices of every chain
  bool boxes = true;        ///< lanes as boxes of an atom where that is possible
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
    proposal_.tree = separate_leaves(proposal_.tree, request.kernel.statements());
    rank_chains(proposal_.tree, request.kernel.statements(), {});
  }

  /// The largest number of choices that a chain has.
  std::size_t choices() const;
  /// Predicted for the choices of this rank, over all chains that end in statements.
  double seconds(std::size_t rank) const;
  bool tiles(std::size_t rank) const;
  /// Some loop of the choices of this rank can be spread over the threads.
  bool has_threads(std::size_t rank) const;
  /// Some chain of this rank has boxes, as far as its tiles do not forbid them.
  bool has_boxes(std::size_t rank) const;
  PlanPart build(const Ambition& ambition, NameTable& names) const;

 private:
  struct State {
    Ambition ambition;
    NameTable members, digits;
    std::map<std::string, std::string> renamed;          ///< proposal's member -> member of the Plan
    std::map<std::string, std::vector<Digit>> table;     ///< proposal's member -> digits
    std::map<std::string, Digit> boxes;                  ///< proposal's member -> its digit inside atoms
    std::vector<std::string> order;                      ///< members in order of appearance
    std::vector<std::pair<std::string, std::string>> staged;  ///< statement, digit below which its result is gathered
    PlanPart part;
  };

  struct RankedChain {
    Chain chain;
    std::vector<ChainChoice> choices;
    const ChainChoice& choice(std::size_t rank) const { return choices[std::min(rank, choices.size() - 1)]; }
  };

  void rank_chains(const Tree& tree, const std::vector<std::string>& statements, std::vector<std::string> outer);
  Tree walk(const Tree& tree, const std::vector<std::string>& statements, bool threads_wanted, std::size_t& next, State& state) const;
  Tree leaves(const Tree& below, const std::vector<std::string>& inner) const;
  void cut(const std::string& member, long tile, State& state) const;
  std::string thread_member(const ChainChoice& choice, const Chain& chain) const;
  bool worth_forking(const ChainChoice& choice, const Chain& chain, const std::string& member) const;
  bool pays_forking(double teams, const ChainChoice& choice) const;
  bool place_threads(const ChainChoice& choice, const Chain& chain, State& state) const;
  bool may_be_free(const ChainChoice& choice, const Chain& chain) const;
  std::vector<Digit> all_digits(const std::string& member, const State& state) const;
  bool place_box(const std::string& member, const std::vector<std::string>& statements, State& state) const;
  /// Both loops of a transposition run over squares that are turned in registers.
  bool place_square(const ChainChoice& choice, const Chain& chain, State& state) const;
  void place_lanes(const std::string& member, const std::vector<std::string>& statements, State& state) const;
  bool is_guarded(const std::string& member, const std::vector<std::string>& statements) const;
  double trips(const std::string& member, const std::vector<std::string>& statements) const;
  std::string reason(const std::string& text) const { return "kernel " + request_.kernel.name() + ": " + text; }

  const PlanRequest& request_;
  ScheduleProposal proposal_;
  std::map<std::string, StatementView> views_;
  std::vector<RankedChain> chains_;  ///< in the order of a walk, parents first
};

void GenericPlanner::rank_chains(const Tree& tree, const std::vector<std::string>& statements, std::vector<std::string> outer) {
  Tree below;
  Chain chain = follow_chain(tree, statements, proposal_, below);
  for (const std::string& member : outer) chain.runs *= trips(member, statements);
  std::vector<ChainChoice> choices = rank_choices(request_, chain, outer, views_);
  outer.insert(outer.end(), chain.members.begin(), chain.members.end());
  const bool at_leaves = chain.ends_in_leaf || chain.ends_in_leaves;
  chains_.push_back({std::move(chain), std::move(choices)});
  if (at_leaves) return;
  for (const Tree::Branch& branch : below.branches()) rank_chains(branch.tree, branch.statements, outer);
}

std::size_t GenericPlanner::choices() const {
  std::size_t most = 0;
  for (const RankedChain& ranked : chains_) most = std::max(most, ranked.choices.size());
  return most;
}

double GenericPlanner::seconds(std::size_t rank) const {
  double sum = 0;
  for (const RankedChain& ranked : chains_) {
    if (ranked.chain.ends_in_leaf || ranked.chain.ends_in_leaves) sum += ranked.choice(rank).seconds;
  }
  return sum;
}

bool GenericPlanner::tiles(std::size_t rank) const {
  return std::any_of(chains_.begin(), chains_.end(), [&](const RankedChain& ranked) { return !ranked.choice(rank).tiles.empty(); });
}

double GenericPlanner::trips(const std::string& member, const std::vector<std::string>& statements) const {
  double result = 1;
  for (const std::string& statement : statements) {
    const StatementView& view = views_.at(statement);
    const std::size_t m = view.member_index(member);
    if (m < view.members.size()) result = std::max(result, view.ranges[m].typical);
  }
  return result;
}

bool GenericPlanner::is_guarded(const std::string& member, const std::vector<std::string>& statements) const {
  return std::any_of(statements.begin(), statements.end(), [&](const std::string& statement) {
    const StatementView& view = views_.at(statement);
    const std::size_t m = view.member_index(member);
    return m < view.members.size() && view.guarded[m];
  });
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

/// The outermost loop of the chain that carries nothing and has work for all threads, or "".
std::string GenericPlanner::thread_member(const ChainChoice& choice, const Chain& chain) const {
  for (const std::string& member : choice.order) {
    const auto group = std::find_if(chain.groups.begin(), chain.groups.end(), [&](const auto& g) { return contains(g, member); });
    const bool tiled = std::any_of(group->begin(), group->end(), [&](const std::string& m) { return choice.tiles.count(m) > 0; });
    bool free = true;
    for (const std::string& other : *group) {
      // A tile runs several iterations of the members before it, so those may carry nothing either.
      const bool relevant = other == member || (tiled && std::find(group->begin(), group->end(), other) < std::find(group->begin(), group->end(), member));
      if (other == member && is_guarded(member, chain.statements)) free = false;
      if (relevant && !proposal_.is_free(other)) free = false;
    }
    const auto tile = choice.tiles.find(member);
    const double work = trips(member, chain.statements) / (tile == choice.tiles.end() ? 1.0 : double(tile->second));
    // A single loop is shared in chunks that keep its lanes busy.
    const double least = chain.members.size() == 1 && chain.ends_in_leaf ? double(kThreadChunk) : 2.0;
    // Behind a loop of its own group that carries something lies one step of a wavefront: threads would trade lines at every step.
    for (const std::string& outer : *group) {
      if (outer == member) break;
      if (proposal_.method == "wavefront" && contains(chain.carried, outer)) free = false;
    }
    if (free && work >= least * request_.threads) return worth_forking(choice, chain, member) ? member : "";
  }
  return "";
}

/// A team is started for every iteration of the loops around the threads' loop.
bool GenericPlanner::worth_forking(const ChainChoice& choice, const Chain& chain, const std::string& member) const {
  if (!chain.ends_in_leaf && !chain.ends_in_leaves) return true;  // the estimate knows nothing of the loops below
  double teams = chain.runs;
  for (const auto& group : chain.groups) {
    for (const std::string& other : group) {
      const auto tile = choice.tiles.find(other);
      if (tile == choice.tiles.end()) continue;
      if (other == member) return pays_forking(teams, choice);
      teams *= std::ceil(trips(other, chain.statements) / double(tile->second));
    }
    for (const std::string& other : choice.order) {
      if (!contains(group, other)) continue;
      if (other == member) return pays_forking(teams, choice);
      const auto tile = choice.tiles.find(other);
      teams *= tile == choice.tiles.end() ? trips(other, chain.statements) : double(tile->second);
    }
  }
  return true;
}

bool GenericPlanner::pays_forking(double teams, const ChainChoice& choice) const {
  return teams * kForkSeconds < choice.seconds * (1 - 1 / (kThreadEfficiency * request_.threads));
}

bool GenericPlanner::has_threads(std::size_t rank) const {
  return request_.threads > 1 && std::any_of(chains_.begin(), chains_.end(), [&](const RankedChain& ranked) {
    return !thread_member(ranked.choice(rank), ranked.chain).empty();
  });
}

bool GenericPlanner::place_threads(const ChainChoice& choice, const Chain& chain, State& state) const {
  const std::string member = thread_member(choice, chain);
  if (member.empty()) return false;
  std::vector<Digit>& digits = state.table.at(member);
  if (chain.members.size() == 1 && chain.ends_in_leaf && digits.size() == 1 && state.ambition.lanes) {
    // A single loop is cut, so that threads and lanes both get a part.
    const std::string level = level_of_kind(request_.machine, LevelKind::sequential);
    digits = {{state.digits.unique(digit_name(state.renamed.at(member), 'b')), 0, level}, {digits[0].name, kThreadChunk, level}};
  }
  digits[0].level = level_of_kind(request_.machine, LevelKind::independent);
  state.part.reasons.push_back(reason("threads over " + member + "; to change: parallel(...)"));
  return true;
}

/// The innermost loop carries nothing, or only what a reduction allows, or what moving it below the sequence may take away.
bool GenericPlanner::may_be_free(const ChainChoice& choice, const Chain& chain) const {
  if (choice.distribute || proposal_.is_free(choice.order.back())) return true;
  return std::any_of(chain.statements.begin(), chain.statements.end(), [&](const std::string& statement) {
    return request_.program().statement(statement).combine != Combine::assign;
  });
}

bool GenericPlanner::has_boxes(std::size_t rank) const {
  return std::any_of(chains_.begin(), chains_.end(), [&](const RankedChain& ranked) {
    const ChainChoice& choice = ranked.choice(rank);
    const bool at_leaves = ranked.chain.ends_in_leaf || ranked.chain.ends_in_leaves;
    if (!choice.turned.empty()) return true;
    return at_leaves && !choice.order.empty() && may_be_free(choice, ranked.chain) && choose_lane_box(request_, views_, ranked.chain.statements, choice.order.back(), 0);
  });
}

std::vector<Digit> GenericPlanner::all_digits(const std::string& member, const State& state) const {
  std::vector<Digit> digits = state.table.at(member);
  if (const auto box = state.boxes.find(member); box != state.boxes.end()) digits.push_back(box->second);
  return digits;
}

/// The innermost loop runs over boxes: its digit counts them, and another one, in the atom, what is inside.
bool GenericPlanner::place_box(const std::string& member, const std::vector<std::string>& statements, State& state) const {
  if (!state.ambition.boxes) return false;
  Digit& digit = state.table.at(member).back();
  if (digit.level != level_of_kind(request_.machine, LevelKind::sequential)) return false;
  const auto box = choose_lane_box(request_, views_, statements, member, digit.radix);
  if (!box) return false;
  const std::string& name = state.renamed.at(member);
  digit.radix /= box->extent;
  state.boxes[member] = {state.digits.unique(digit_name(name, 'v')), box->extent, level_of_kind(request_.machine, LevelKind::atom)};
  for (const auto& [statement, atom] : box->atoms) state.part.atoms[statement] = {atom, {state.boxes.at(member).name}, "extents"};
  state.part.reasons.push_back(reason(std::to_string(box->extent) + " iterations of " + member + " at once around " + join(statements, ", ") +
                                      ", in vectors, the last masked; to change: tile(\"atom\", " + member + "=...)"));
  return true;
}

bool GenericPlanner::place_square(const ChainChoice& choice, const Chain& chain, State& state) const {
  if (!state.ambition.boxes || choice.turned.empty()) return false;
  const std::string& statement = chain.statements.front();
  const StatementView& view = views_.at(statement);
  const auto square = choose_square_box(request_, view, choice.turned, choice.lanes);
  const std::string serial = level_of_kind(request_.machine, LevelKind::sequential);
  if (!square) return false;
  AtomChoice atom{square->atom, {}, "extents"};
  for (const std::string& member : {choice.turned, choice.lanes}) {
    const Digit& digit = state.table.at(member).back();
    if (digit.radix % square->extent != 0 || digit.radix == square->extent) return false;
  }
  for (const std::string& member : {choice.turned, choice.lanes}) {
    state.table.at(member).back().radix /= square->extent;
    state.boxes[member] = {state.digits.unique(digit_name(state.renamed.at(member), 'v')), square->extent, level_of_kind(request_.machine, LevelKind::atom)};
    atom.box.push_back(state.boxes.at(member).name);
  }
  atom.stream = worth_streaming(request_, view);
  const bool tiled = choice.tiles.count(choice.turned) > 0 && choice.tiles.count(choice.lanes) > 0;
  const bool far = std::any_of(view.accesses.begin() + 1, view.accesses.end(), [&](const AccessView& read) { return read.affine && beyond_caches(request_, view, read); });
  for (const std::string& member : chain.groups.back())
    if (tiled && far && state.table.at(member).size() > 1) atom.prefetch = state.table.at(member).front().name;
  state.part.atoms[statement] = atom;
  state.part.reasons.push_back(reason(statement + " turns squares of " + std::to_string(square->extent) + " by " + std::to_string(square->extent) + " in registers" +
                                      (atom.stream ? ", and stores them past the caches" : "") + "; to change: atom(" + statement + ", \"scalar\")"));
  return true;
}

/// An element of the tensor that it writes is the same for all lanes. Told that lanes are independent, the C compiler asks no further, and loads that
/// element again for every vector of lanes; left alone, it checks that nothing overlaps and loads it once.
bool rereads_its_tensor(const StatementView& view, const std::string& member) {
  const std::size_t m = view.member_index(member);
  const AccessView& write = view.accesses.front();
  return write.moves_with(m) && std::any_of(view.accesses.begin() + 1, view.accesses.end(), [&](const AccessView& read) { return read.tensor == write.tensor && !read.moves_with(m); });
}

void GenericPlanner::place_lanes(const std::string& member, const std::vector<std::string>& statements, State& state) const {
  if (state.ambition.lanes && place_box(member, statements, state)) return;
  if (!state.ambition.lanes || request_.machine.vector_bytes == 0) return;
  for (const std::string& statement : statements) {
    if (!suits_lanes(request_.program(), views_.at(statement), member) || rereads_its_tensor(views_.at(statement), member)) return;
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

Tree GenericPlanner::walk(const Tree& tree, const std::vector<std::string>& statements, bool threads_wanted, std::size_t& next,
                          State& state) const {
  Tree below;
  const RankedChain& ranked = chains_[next++];
  Chain chain = follow_chain(tree, statements, proposal_, below);
  chain.runs = ranked.chain.runs;
  const ChainChoice& choice = ranked.choice(state.ambition.choice);
  for (const std::string& member : chain.members) cut(member, choice.tiles.count(member) ? choice.tiles.at(member) : 0, state);
  if (threads_wanted && place_threads(choice, chain, state)) threads_wanted = false;
  const bool at_leaves = chain.ends_in_leaf || chain.ends_in_leaves;
  const bool square = at_leaves && place_square(choice, chain, state);
  if (!square && at_leaves && !chain.members.empty() && may_be_free(choice, chain)) place_lanes(choice.order.back(), statements, state);

  std::vector<std::string> loops;
  for (const auto& group : chain.groups) {
    for (const std::string& member : group) {
      if (state.table.at(member).size() > 1) loops.push_back(state.table.at(member).front().name);
    }
    for (const std::string& member : choice.order) {
      if (contains(group, member)) loops.push_back(state.table.at(member).back().name);
    }
  }
  if (choice.staged) {
    std::string last_block;
    for (const std::string& member : chain.groups.back()) {
      if (state.table.at(member).size() > 1) last_block = state.table.at(member).front().name;
    }
    state.staged.emplace_back(statements.front(), last_block);
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
  std::vector<Tree::Branch> branches;
  for (const Tree::Branch& branch : below.branches()) {
    branches.push_back({branch.statements, walk(branch.tree, branch.statements, threads_wanted, next, state)});
  }
  return Tree::bands(loops, Tree::sequence(std::move(branches)));
}

PlanPart GenericPlanner::build(const Ambition& ambition, NameTable& names) const {
  State state;
  state.ambition = ambition;
  state.members = names;
  state.digits = names;
  PlanPart& part = state.part;
  part.statements = request_.kernel.statements();
  std::size_t next = 0;
  part.tree = walk(proposal_.tree, part.statements, ambition.threads && request_.threads > 1, next, state);
  for (const std::string& member : state.order) part.digits.emplace_back(state.renamed.at(member), all_digits(member, state));
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
  // An order that is pinned is looked for in the nest as it was found.
  if (request_.pins.orders.empty()) part.tree = distribute_loops(request_.program(), part.members, part.digits, part.tree, part.statements);
  for (const std::string& member : state.order) {
    names.reserve(state.renamed.at(member));
    for (const Digit& digit : all_digits(member, state)) names.reserve(digit.name);
  }
  if (ambition.promote) {
    for (const auto& [statement, after] : state.staged) add_staged_result(request_, statement, after, part, names);
    add_generic_promotions(request_, views_, part, names);
  }
  add_memory_hints(request_, views_, part);
  return std::move(part);
}

}  // namespace

std::vector<PartOption> plan_generic(const PlanRequest& request, const ScheduleProposal& proposal) {
  const auto planner = std::make_shared<GenericPlanner>(request, proposal);
  std::vector<PartOption> options;
  const auto seconds = [&](std::size_t rank) {
    return planner->seconds(rank) / (planner->has_threads(rank) ? kThreadEfficiency * request.threads : 1.0);
  };
  const auto add = [&](const Ambition& ambition) {
    std::string label = planner->tiles(ambition.choice) ? "tiled loops" : "plain loops";
    if (ambition.boxes) label += " over boxes";
    if (!ambition.lanes) label += " without lanes";
    if (!ambition.promote) label += " without promotion";
    options.push_back({label, seconds(ambition.choice), [planner, ambition](NameTable& names) { return planner->build(ambition, names); }});
  };
  std::vector<std::size_t> ranks(planner->choices());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  double threaded = 0;
  for (const std::size_t rank : ranks) {
    if (planner->has_threads(rank) && seconds(rank) > 0 && (threaded == 0 || seconds(rank) < threaded)) threaded = seconds(rank);
  }
  // What all threads share may beat a better nest on one; otherwise choices stay as ranked.
  std::stable_partition(ranks.begin(), ranks.end(), [&](std::size_t rank) {
    return threaded == 0 || planner->has_threads(rank) || (seconds(rank) > 0 && seconds(rank) <= threaded);
  });
  for (const std::size_t rank : ranks) {
    if (planner->has_boxes(rank)) add({rank, true, true, true, true});
    add({rank, false, true, true, true});
    add({rank, false, true, true, false});
    add({rank, false, false, true, true});
  }
  add({planner->choices(), false, false, false, false});
  return options;
}

namespace {
bool has_guards(const Kernel& kernel) {
  return std::any_of(kernel.statements().begin(), kernel.statements().end(),
                     [&](const std::string& name) { return !kernel.program().statement(name).guards.empty(); });
}

double seconds(const LoopPlan& plan) { return plan.options.front().seconds; }

void add_wavefront(const PlanRequest& request, const ScheduleProposal& proposal, std::vector<LoopPlan>& plans) {
  const auto waves = has_guards(request.kernel) ? std::nullopt : propose_wavefront(request.kernel, proposal);
  if (!waves) return;
  LoopPlan plan{"wavefront", plan_generic(request, *waves)};
  const bool first = plans.empty() || seconds(plan) < kIslGain * seconds(plans.front());
  plans.insert(first ? plans.begin() : plans.end(), std::move(plan));
}
}  // namespace

std::vector<LoopPlan> plan_loops(const PlanRequest& request) {
  std::vector<LoopPlan> plans;
  if (!request.pins.schedule || request.pins.schedule == "original") {
    const ScheduleProposal original = analyze_original_loops(request.kernel);
    plans.push_back({"original", plan_generic(request, original)});
    // One permutable nest over all statements: nothing is left to find.
    if (is_one_nest(original) && !request.pins.schedule) {
      add_wavefront(request, original, plans);
      return plans;
    }
    // isl does not know that a loop over an index from memory must stay inside the loops that the index depends on.
    if (has_guards(request.kernel)) return plans;
  }
  if (request.pins.schedule == "wavefront") {
    if (const auto waves = propose_loops(request.kernel, "wavefront")) plans.push_back({"wavefront", plan_generic(request, *waves)});
    return plans;
  }
  const auto proposal = propose_loops(request.kernel, "isl");
  if (!proposal) return plans;
  plans.push_back({"isl", plan_generic(request, *proposal)});
  if (plans.size() == 2 && seconds(plans[1]) < kIslGain * seconds(plans[0])) std::swap(plans[0], plans[1]);
  if (request.pins.schedule != "isl") add_wavefront(request, *proposal, plans);
  return plans;
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
