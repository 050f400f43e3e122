#include "search/plan_agents.h"

#include <algorithm>
#include <memory>

#include "passes/order_check.h"
#include "search/agent_planner.h"
#include "search/generic_promotions.h"
#include "search/plan_agent_turn.h"
#include "search/run_promotions.h"
#include "search/wavefront.h"

namespace tileopt {
namespace {

constexpr long kWarpRun = 32;            ///< along the contiguous loop where a second one shares what a warp reads

}  // namespace

/// Digits of a member: block, threads where there are several, what a thread runs one after the other, and what it moves at once (`run`).
void AgentPlanner::cut(const std::string& member, long agents, long inside, State& state, long run) const {
  const std::string name = state.members.unique(member);
  state.renamed[member] = name;
  state.order.push_back(member);
  std::vector<Digit>& digits = state.table[member];
  if (agents == 0) {
    digits = {{state.digits.unique(name), 0, serial_}};
  } else {
    digits = {{state.digits.unique(digit_name(name, 'b')), 0, block_}};
    if (agents > 1) digits.push_back({state.digits.unique(digit_name(name, 't')), agents, agent_});
    if (inside > 1) digits.push_back({state.digits.unique(digit_name(name, 'i')), inside, serial_});
  }
  if (run > 1) digits.push_back({state.digits.unique(digit_name(name, 'v')), run, atom_});
}

void AgentPlanner::add_box(const Wide& wide, const Chain& chain, const std::string& digit, State& state) const {
  for (const std::string& statement : chain.statements) state.part.atoms[statement] = AtomChoice{wide.box.atoms.at(statement), {digit}, "extents"};
  state.part.reasons.push_back(reason("a thread moves " + std::to_string(wide.box.extent) + " neighbours along " + wide.member + " at once; to change: atom(" +
                                      chain.statements.front() + ", \"scalar\")"));
}

/// Cuts the parallel members; gives their digits in the order of the tree.
std::vector<std::string> AgentPlanner::cut_parallel(const Roles& roles, const Chain& chain, State& state) const {
  const std::string fastest = contiguous_member(roles.parallel, chain.statements);
  const bool reuses = roles.parallel.size() > 1 && (!roles.inside.empty() || !chain.ends_in_leaf);
  std::vector<std::string> by_speed = roles.parallel;  // fastest first, then from the inside
  std::reverse(by_speed.begin(), by_speed.end());
  std::stable_partition(by_speed.begin(), by_speed.end(), [&](const std::string& m) { return m == fastest; });
  long left = kBlockThreads;
  std::map<std::string, std::pair<long, long>> shape;  // agents, inside
  std::optional<Wide> wide;
  // Inside, data may pick one value: no loop.
  const auto is_picked = [&](const std::string& member) {
    return std::all_of(chain.statements.begin(), chain.statements.end(), [&](const std::string& statement) {
      const StatementView& view = views_.at(statement);
      const std::size_t m = view.member_index(member);
      return m >= view.members.size() || view.guarded[m];
    });
  };
  if (state.ambition.wide && std::all_of(roles.inside.begin(), roles.inside.end(), is_picked) && !pinned(agent_, fastest, chain.statements)) wide = wide_member(chain, fastest);
  if (wide && (wide->member != fastest || pinned(block_, fastest, chain.statements).value_or(0) % wide->box.extent != 0)) wide.reset();
  std::size_t axes = 0;
  for (const std::string& member : by_speed) {
    const auto block = pinned(block_, member, chain.statements), thread = pinned(agent_, member, chain.statements);
    const double extent = trips(member, chain.statements);
    const long inside = thread.value_or(1), run = wide && member == fastest ? wide->box.extent : 1;
    long agents = axes < 2 ? power_of_two(extent / double(inside * run), reuses && member == fastest ? std::min(left, kWarpRun) : left) : 1;
    if (block) {
      const long threads = *block / run;
      agents = std::max(1L, std::min(left, threads / inside));
      while (threads % (agents * inside) != 0 && agents > 1) --agents;
      shape[member] = {agents, threads / agents};
    } else {
      shape[member] = {agents, inside};
    }
    if (agents > 1) ++axes;
    left = std::max(1L, left / std::max(1L, agents));
  }
  std::vector<std::string> text;
  for (const std::string& member : roles.parallel) cut(member, shape[member].first, shape[member].second, state, wide && member == fastest ? wide->box.extent : 1);
  if (wide) add_box(*wide, chain, state.table.at(fastest).back().name, state);
  for (const std::string& member : by_speed)
    if (shape[member].first > 1) text.push_back(member + "=" + std::to_string(shape[member].first));
  state.part.reasons.push_back(reason("blocks over " + join(roles.parallel, ", ") + (text.empty() ? ", one thread each" : ", threads " + join(text, ", ") + " (fastest first)") +
                                      "; to change: tile(\"" + block_ + "\", " + roles.parallel.front() + "=...)"));
  std::vector<std::string> digits, agents, inside;
  for (const std::string& member : roles.parallel) digits.push_back(state.table.at(member).front().name);
  for (auto member = by_speed.rbegin(); member != by_speed.rend(); ++member)
    for (const Digit& digit : state.table.at(*member)) {
      if (digit.level == agent_) agents.push_back(digit.name);
      if (digit.level == serial_) inside.push_back(digit.name);
    }
  digits.insert(digits.end(), agents.begin(), agents.end());
  digits.insert(digits.end(), inside.begin(), inside.end());
  return digits;
}

Tree AgentPlanner::walk_block(const Tree& tree, const std::vector<std::string>& statements, State& state) const {
  Tree below;
  const Chain chain = follow_chain(tree, statements, proposal_, below);
  const std::string shared = shared_member(chain);
  const std::optional<Wide> wide = state.ambition.wide && !shared.empty() ? wide_member(chain, shared) : std::nullopt;
  const auto run_of = [&](const std::string& member) { return wide && wide->member == member ? wide->box.extent : 1; };
  std::vector<std::string> digits;
  if (!shared.empty()) {
    const long threads = power_of_two(trips(shared, statements) / double(run_of(shared)), state.block_threads);
    const std::string name = state.members.unique(shared);
    state.renamed[shared] = name;
    state.order.push_back(shared);
    const std::string outer = state.digits.unique(digit_name(name, 'b')), agent = state.digits.unique(digit_name(name, 't'));
    state.table[shared] = {{outer, 0, serial_}, {agent, threads, agent_}};
    if (run_of(shared) > 1) state.table[shared].push_back({state.digits.unique(digit_name(name, 'v')), run_of(shared), atom_});
    digits.push_back(agent);
    state.part.reasons.push_back(reason("the threads of a block share " + shared + " around " + join(statements, ", ")));
  }
  for (const std::string& member : chain.members) {
    if (member != shared) cut(member, 0, 1, state, run_of(member));
    digits.push_back(state.table.at(member).front().name);
  }
  if (wide) add_box(*wide, chain, state.table.at(wide->member).back().name, state);
  if (below.kind() != Tree::Kind::sequence) return Tree::bands(digits, below);
  std::vector<Tree::Branch> branches;
  for (const Tree::Branch& branch : below.branches())
    branches.push_back({branch.statements, shared.empty() ? walk_block(branch.tree, branch.statements, state) : walk(branch.tree, branch.statements, true, state)});
  return Tree::bands(digits, Tree::sequence(std::move(branches)));
}

/// What threads of a block exchange lies in its shared memory; larger arrays stay where they are.
void AgentPlanner::share_promotions(PlanPart& part) const {
  const auto level_of = [&](const std::string& name) {
    for (const auto& [member, table] : part.digits)
      for (const Digit& digit : table)
        if (digit.name == name) return digit.level;
    return std::string();
  };
  for (Promotion& promotion : part.promotions) {
    bool exchanged = false;
    for (const std::string& statement : promotion.statements) {
      const std::vector<std::string> path = path_dims(part.tree, statement);
      const auto scope = std::find(path.begin(), path.end(), promotion.after);
      exchanged = exchanged || std::any_of(scope == path.end() ? scope : scope + 1, path.end(), [&](const std::string& dim) { return level_of(dim) == agent_; });
    }
    if (exchanged) promotion.space = "shared";
  }
}

Tree AgentPlanner::walk(const Tree& tree, const std::vector<std::string>& statements, bool in_block, State& state) const {
  Tree below;
  const Chain chain = follow_chain(tree, statements, proposal_, below);
  const Roles roles = roles_of(chain, in_block, state.ambition);
  std::vector<std::string> digits;
  const auto add_serial = [&](const std::vector<std::string>& members) {
    for (const std::string& member : members) {
      cut(member, 0, 1, state);
      digits.push_back(state.table.at(member).front().name);
    }
  };
  add_serial(roles.host);
  if (state.ambition.cooperate && !in_block && !roles.parallel.empty() && below.kind() == Tree::Kind::sequence && (state.ambition.copies || inner_runs(tree, statements))) {
    const long partials = partial_results(below, statements);
    state.block_threads = partials > 1 ? partials : kBlockThreads;
    const std::string& last = roles.parallel.back();
    const long rows = iterations_beside(below, last, statements, state.block_threads);
    for (const std::string& member : roles.parallel) {
      cut(member, member == last ? rows : 1, 1, state);
      digits.push_back(state.table.at(member).front().name);
    }
    state.part.reasons.push_back(reason("a block for every " + (rows > 1 ? std::to_string(rows) + " iterations" : std::string("iteration")) + " of " + join(roles.parallel, ", ") +
                                        ": neighbours in memory lie along the loops inside"));
    add_serial(roles.inside);
    // Agents meet between the branches: those of an iteration that does not exist wait there too.
    const std::vector<std::string> beside = rows > 1 ? std::vector<std::string>{state.table.at(last)[1].name} : std::vector<std::string>{};
    std::vector<Tree::Branch> branches;
    for (const Tree::Branch& branch : below.branches()) branches.push_back({branch.statements, Tree::bands(beside, walk_block(branch.tree, branch.statements, state))});
    return Tree::bands(digits, Tree::sequence(std::move(branches)));
  }
  if (!roles.parallel.empty()) {
    const std::vector<std::string> parallel = cut_parallel(roles, chain, state);
    digits.insert(digits.end(), parallel.begin(), parallel.end());
    in_block = true;
  }
  add_serial(roles.inside);
  if (below.kind() != Tree::Kind::sequence) return Tree::bands(digits, below);
  std::vector<Tree::Branch> branches;
  for (const Tree::Branch& branch : below.branches()) branches.push_back({branch.statements, walk(branch.tree, branch.statements, in_block, state)});
  return Tree::bands(digits, Tree::sequence(std::move(branches)));
}

PlanPart AgentPlanner::build(const Ambition& ambition, NameTable& names) const {
  State state;
  state.ambition = ambition;
  state.members = names;
  state.digits = names;
  PlanPart& part = state.part;
  part.statements = request_.kernel.statements();
  part.tree = walk(proposal_.tree, part.statements, false, state);
  for (const std::string& member : state.order) part.digits.emplace_back(state.renamed.at(member), state.table.at(member));
  for (const std::string& statement : part.statements) {
    StatementMembers members = proposal_.members.at(statement);
    for (std::string& member : members.members) {
      // A member without a band is constant on the statement: its digit is placed nowhere.
      if (!state.renamed.count(member)) {
        cut(member, 0, 1, state);
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
  if (ambition.promote) share_promotions(part);
  if (ambition.promote && ambition.wide) add_run_promotions(request_, views_, part, names);
  return std::move(part);
}

namespace {

/// The machine's atom that updates one element at once; "" = none.
std::string atomic_atom(const Machine& machine) {
  for (const Atom& atom : machine.atoms)
    if (atom.body == "atomic_update") return atom.name;
  return "";
}

/// Updates that devices have instructions of 4 and 8 bytes for.
bool updates_atomically(const Program& program, const Statement& s) {
  const bool combines = s.combine == Combine::sum || s.combine == Combine::bit_and || s.combine == Combine::bit_or || s.combine == Combine::bit_xor;
  const ElementType type = program.tensor(s.write.tensor).type;
  return combines && !is_tuple(type) && size_bytes(type) >= 4;
}

/// Statements that accumulate where data says, and those that combine what such ones accumulated in a local: their updates may be atomic.
std::vector<std::string> scatters(const PlanRequest& request) {
  std::vector<std::string> found;
  const Program& program = request.program();
  for (const std::string& name : request.kernel.statements()) {
    const Statement& s = program.statement(name);
    const bool scattered = std::any_of(s.guards.begin(), s.guards.end(), [&](const Guard& guard) {
      return isl_pw_multi_aff_involves_dims(s.write.index.get(), isl_dim_in, static_cast<unsigned>(guard.iterator), 1) == isl_bool_true;
    });
    if (scattered && updates_atomically(program, s) && !request.pins.atom(name)) found.push_back(name);
  }
  const std::vector<std::string> scattering = found;
  for (const std::string& name : request.kernel.statements()) {
    const Statement& s = program.statement(name);
    const bool gathers = std::any_of(scattering.begin(), scattering.end(), [&](const std::string& other) {
      const std::string& local = program.statement(other).write.tensor;
      return program.tensor(local).role == TensorRole::local && std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& read) { return read.tensor == local; });
    });
    if (gathers && !contains(found, name) && updates_atomically(program, s) && !request.pins.atom(name)) found.push_back(name);
  }
  return atomic_atom(request.machine).empty() ? std::vector<std::string>{} : found;
}

/// The loop of a thread inside of which an index is read runs several iterations at once, so that several reads are on their way: the innermost
/// one that no index decides.
void unroll_reads(const PlanRequest& request, const std::string& name, PlanPart& part) {
  const Statement& statement = request.program().statement(name);
  const StatementMembers& members = part.members.at(name);
  const std::vector<std::string> path = path_dims(part.tree, name);
  for (auto dim = path.rbegin(); dim != path.rend(); ++dim)
    for (auto& [member, digits] : part.digits) {
      const auto digit = std::find_if(digits.begin(), digits.end(), [&](const Digit& d) { return d.name == *dim; });
      if (digit == digits.end()) continue;
      const auto m = static_cast<std::size_t>(std::find(members.members.begin(), members.members.end(), member) - members.members.begin());
      const std::string iterator = m < members.members.size() ? bound_iterator(request.program(), name, members, m) : std::string();
      const auto at = std::find(statement.iterators.begin(), statement.iterators.end(), iterator);
      const bool guarded = at != statement.iterators.end() && statement.guard_of(static_cast<std::size_t>(at - statement.iterators.begin())) != nullptr;
      const bool one_trip = digits.size() > 1 && digit == digits.begin();  // the threads have all of it
      if (guarded || one_trip) break;
      if (digit->level == level_of_kind(request.machine, LevelKind::sequential)) digit->level = level_of_kind(request.machine, LevelKind::unrolled);
      return;
    }
}

/// `proposal` with the loops free that only carry updates of `atomic` statements.
ScheduleProposal free_scatters(const PlanRequest& request, ScheduleProposal proposal, const std::vector<std::string>& atomic) {
  isl::union_map pairs = request.kernel.racing();
  for (const isl::map& relaxed : poly::sorted_maps(request.kernel.dependences().relaxed))
    if (contains(atomic, poly::input_name(relaxed)) && contains(atomic, poly::output_name(relaxed)))
      pairs = pairs.subtract(relaxed.to_union_map().subtract(request.kernel.validity().intersect(relaxed.to_union_map())));
  const OrderChecker checker(proposal.tree, member_spaces(request.kernel, proposal));
  for (auto& [member, free] : proposal.coincident) free = free || !checker.carried_pair(pairs, member);
  return proposal;
}

LoopPlan plan_proposal(const PlanRequest& request, const std::string& method, const ScheduleProposal& proposal, bool& cooperates) {
  const auto planner = std::make_shared<AgentPlanner>(request, proposal);
  LoopPlan plan{method, plan_agent_turn(request, proposal)};
  std::vector<Ambition> ambitions = {{true, true, true, false}, {false, true, true, false}};
  if (planner->seconds(ambitions[1]) < planner->seconds(ambitions[0])) std::swap(ambitions[0], ambitions[1]);
  const auto add = [&](Ambition ambition, const std::string& label) {
    for (const bool wide : {true, false}) {
      ambition.wide = wide;
      plan.options.push_back({label + (wide ? ", wide accesses" : ""), planner->seconds(ambition), [planner, ambition](NameTable& names) { return planner->build(ambition, names); }});
    }
  };
  if (const std::vector<std::string> atomic = scatters(request); !atomic.empty()) {
    const auto scattering = std::make_shared<AgentPlanner>(request, free_scatters(request, proposal, atomic));
    const auto scatter = [&](const Ambition& ambition, const std::string& label) {
      plan.options.push_back({label, 0, [scattering, atomic, ambition, &request](NameTable& names) {
                                PlanPart part = scattering->build(ambition, names);
                                for (const std::string& name : atomic) {
                                  part.atoms[name] = AtomChoice{atomic_atom(request.machine), {}, "extents"};
                                  if (ambition.copies && !request.program().statement(name).guards.empty()) unroll_reads(request, name, part);
                                }
                                return part;
                              }});
    };
    const bool copies = std::any_of(atomic.begin(), atomic.end(), [&](const std::string& name) { return request.program().tensor(request.program().statement(name).write.tensor).role == TensorRole::local; });
    if (copies) scatter({false, true, true, true, true, true}, "atomic updates of copies of a block");
    scatter({false, true, false, false}, "atomic updates");
  }
  cooperates = planner->wants_cooperation();
  if (cooperates) {
    add({false, true, true, true}, "blocks that cooperate");
    add({false, true, false, true}, "blocks that cooperate without promotion");
  }
  for (const Ambition& ambition : ambitions) {
    add(ambition, ambition.hoist ? "blocks outermost" : "blocks in place");
    Ambition plain = ambition;
    plain.promote = false;
    add(plain, (ambition.hoist ? std::string("blocks outermost") : std::string("blocks in place")) + " without promotion");
  }
  add({false, false, true, false}, "one thread");
  add({false, false, false, false}, "one thread without promotion");
  return plan;
}
}  // namespace

std::vector<LoopPlan> plan_agents(const PlanRequest& request) {
  std::vector<LoopPlan> plans;
  if (request.pins.schedule == "wavefront") return plans;  // a block has no loop that many agents would wait in
  bool cooperates = false, pulled_apart = false;
  if (request.pins.schedule != "isl") {
    const ScheduleProposal original = analyze_original_loops(request.kernel);
    plans.push_back(plan_proposal(request, "original", original, cooperates));
    const bool guarded = std::any_of(request.kernel.statements().begin(), request.kernel.statements().end(),
                                     [&](const std::string& name) { return !request.program().statement(name).guards.empty(); });
    // Rows that a block works on stay as they are, and isl may take minutes over their chunks.
    if (((is_one_nest(original) || cooperates) && !request.pins.schedule) || guarded) return plans;
  }
  const ScheduleProposal proposal = propose_schedule(request.kernel, "isl");
  if (proposal.method != "isl") return plans;
  plans.push_back(plan_proposal(request, "isl", proposal, pulled_apart));
  // isl pulls apart what the source keeps together: it must promise much more.
  if (plans.size() == 2 && plans[1].options.front().seconds < 0.5 * plans[0].options.front().seconds) std::swap(plans[0], plans[1]);
  return plans;
}

}  // namespace tileopt
