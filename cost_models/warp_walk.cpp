#include "cost_models/warp_walk.h"

#include <cmath>

namespace tileopt {
namespace {

constexpr long kAllTrips = 3;             ///< loops of so many iterations are run whole
constexpr double kTestInstructions = 2;   ///< of a guard, or of a bound of lanes
constexpr double kLoopInstructions = 3;   ///< of one iteration: counting, comparing, branching
constexpr double kBulkInstructions = 12;  ///< that start a copy by an engine

}  // namespace

std::vector<std::pair<long, double>> sample_trips(long trips) {
  std::vector<std::pair<long, double>> samples;
  if (trips <= kAllTrips)
    for (long t = 0; t < trips; ++t) samples.emplace_back(t, 1);
  else
    samples = {{0, 1}, {trips / 2, double(trips - 2)}, {trips - 1, 1}};
  return samples;
}

std::vector<AstNodePtr> nodes_below(const AstNodePtr& node) {
  if (node == nullptr) return {};
  if (const auto* block = std::get_if<AstBlock>(&node->node)) return block->children;
  if (const auto* loop = std::get_if<AstFor>(&node->node)) return {loop->body};
  if (const auto* branch = std::get_if<AstIf>(&node->node)) return {branch->then_body, branch->else_body};
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) return {allocate->body};
  if (const auto* roles = std::get_if<AstRoles>(&node->node)) {
    std::vector<AstNodePtr> bodies;
    for (const AstRole& role : roles->roles) bodies.push_back(role.body);
    return bodies;
  }
  return {};
}

bool any_below(const AstNodePtr& node, const std::function<bool(const AstNode&)>& test) {
  if (node == nullptr) return false;
  if (test(*node)) return true;
  for (const AstNodePtr& child : nodes_below(node))
    if (any_below(child, test)) return true;
  return false;
}

long agents_below(const AstNodePtr& node) {
  if (node == nullptr) return 0;
  if (std::holds_alternative<AstLeaf>(node->node)) return 1;
  for (const AstNodePtr& child : nodes_below(node)) {
    const long below = agents_below(child);
    if (below == 0) continue;
    const auto* loop = std::get_if<AstFor>(&node->node);
    return below * (loop ? std::max(1L, loop->agents) : 1);
  }
  return 0;
}

double WarpWalk::copied_per_cycle() const {
  for (const Memory& memory : machine_.memories)
    if (memory.shared) return std::max(1.0, memory.bandwidth / std::max(1, machine_.cores) / std::max(machine_.frequency, 1e8));
  return 1;
}

Chain WarpWalk::walk(const AstNodePtr& node, double times) {
  if (node == nullptr || !any_active()) return {};
  if (const auto* loop = std::get_if<AstFor>(&node->node)) return loop->agents > 0 ? walk_agents(*loop, times) : walk_loop(*loop, times);
  if (const auto* branch = std::get_if<AstIf>(&node->node)) return walk_branch(*branch, times);
  if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) return walk_leaf(*leaf, times);
  if (const auto* sync = std::get_if<AstSync>(&node->node)) return walk_sync(*sync, times);
  const auto* allocate = std::get_if<AstAllocate>(&node->node);
  if (allocate) {
    for (const std::string& name : allocate->arrays) {
      const auto place = places_.find(name);
      if (place == places_.end() || place->second.space != "shared") continue;
      // Arrays of one launch never share bytes, so the printer says.
      if (reserved_.insert(name).second || shared_ == 0) shared_ += (place->second.slots * place->second.slot_elements * place->second.element_bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
    }
  }
  Chain chain;
  const std::vector<AstNodePtr> children = nodes_below(node);
  for (std::size_t c = 0; c < children.size(); ++c) {
    overwritten_ = c + 1 < children.size() && writes_same(children[c], children[c + 1]);
    chain += walk(children[c], times);
  }
  overwritten_ = false;
  return chain;
}

bool WarpWalk::writes_same(const AstNodePtr& first, const AstNodePtr& second) const {
  const auto* a = first ? std::get_if<AstLeaf>(&first->node) : nullptr;
  const auto* b = second ? std::get_if<AstLeaf>(&second->node) : nullptr;
  if (a == nullptr || b == nullptr || a->write.size() != b->write.size() || a->write.empty()) return false;
  if (ast_.statements.at(a->statement).write_array != ast_.statements.at(b->statement).write_array) return false;
  for (std::size_t d = 0; d < a->write.size(); ++d)
    if (ast_expr_text(a->write[d]) != ast_expr_text(b->write[d])) return false;
  return true;
}

Chain WarpWalk::walk_agents(const AstFor& loop, double times) {
  const long weight = std::max(1L, agents_below(loop.body));
  Lanes values;
  for (std::size_t lane = 0; lane < kMostLanes; ++lane) {
    const long digit = thread_[lane] / weight;
    values[lane] = agent_depth_ == 0 ? digit : digit % loop.agents;
  }
  scope_.push(loop.variable, values);
  const Lanes first = scope_.evaluate(loop.lower), last = scope_.evaluate(loop.upper);
  const auto kept = active_;
  for (std::size_t lane = 0; lane < lanes_; ++lane) active_[lane] = active_[lane] && values[lane] < loop.agents && first[lane] <= values[lane] && values[lane] <= last[lane];
  ++agent_depth_;
  Chain chain = walk(loop.body, times);
  --agent_depth_;
  active_ = kept;
  scope_.pop();
  if (loop.upper->kind != AstExpr::Kind::integer || (agent_depth_ == 0 && loop.agents * weight < counts_.threads)) {
    issue_integer(kTestInstructions, times);
    chain.cycles += kTestInstructions;
  }
  return chain;
}

Chain WarpWalk::walk_branch(const AstIf& branch, double times) {
  const Lanes condition = scope_.evaluate(branch.condition);
  const auto kept = active_;
  issue_integer(kTestInstructions, times);
  Chain chain{kTestInstructions};
  for (std::size_t lane = 0; lane < lanes_; ++lane) active_[lane] = kept[lane] && condition[lane] != 0;
  chain += walk(branch.then_body, times);
  for (std::size_t lane = 0; lane < lanes_; ++lane) active_[lane] = kept[lane] && condition[lane] == 0;
  chain += walk(branch.else_body, times);
  active_ = kept;
  return chain;
}

Chain WarpWalk::walk_loop(const AstFor& loop, double times) {
  if (loop.binding) return walk_bound(loop, times);
  const Lanes first = scope_.evaluate(loop.lower), last = scope_.evaluate(loop.upper);
  long trips = 0;
  for (std::size_t lane = 0; lane < lanes_; ++lane)
    if (active_[lane]) trips = std::max(trips, (last[lane] - first[lane]) / loop.step + (last[lane] >= first[lane] ? 1 : 0));
  if (trips < 1) return {};
  const auto kept = active_;
  loops_.push_back({loop.variable, loop.step, double(trips)});
  Chain chain;
  const bool meets = any_below(loop.body, [](const AstNode& node) { return std::holds_alternative<AstSync>(node.node); });
  std::vector<std::pair<long, double>> samples = sample_trips(trips);
  // The last iterations that copy ahead: where boxes end.
  if (recording_ != Recording::none && meets)
    for (long before = 1; before < most_slots_ && trips - 1 - before > trips / 2; ++before) samples.emplace_back(trips - 1 - before, 0);
  for (const auto& [t, share] : samples) {
    Lanes values;
    for (std::size_t lane = 0; lane < kMostLanes; ++lane) {
      values[lane] = first[lane] + t * loop.step;
      active_[lane] = kept[lane] && values[lane] <= last[lane];
    }
    scope_.push(loop.variable, values);
    chain += walk(loop.body, times * share).times(share);
    scope_.pop();
  }
  active_ = kept;
  loops_.pop_back();
  const bool loops_inside = any_below(loop.body, [](const AstNode& node) { const auto* f = std::get_if<AstFor>(&node.node); return f && f->agents == 0 && f->level != "unroll"; });
  const double together = meets ? 1 : loop.level == "unroll" ? double(trips) : loops_inside ? 1 : std::min(double(trips), kUnrolled);
  chain.waits /= together;
  chain.hidden /= together;
  const double counting = loop.level == "unroll" ? 0 : kLoopInstructions * double(trips) / together;
  issue_integer(counting, times);
  chain.cycles += counting;
  // Products that are in flight while the rest of an iteration runs.
  if (meets && (chain.matrix > 0 || chain.copied > 0)) {
    chain.cycles = std::max({chain.cycles, matrix_time(chain.matrix), chain.copied / copied_per_cycle()});
    chain.matrix = chain.copied = 0;
  }
  return chain;
}

Chain WarpWalk::walk_bound(const AstFor& loop, double times) {
  const AstStatement& statement = ast_.statements.at(loop.binding->leaf);
  Chain chain{kTestInstructions};
  Lanes hash = all_lanes(0);
  for (const auto& [access, subscripts] : loop.binding->reads) {
    if (access >= statement.read_arrays.size()) continue;
    const auto place = places_.find(statement.read_arrays[access]);
    if (place == places_.end()) continue;
    chain += touch({statement.read_arrays[access], subscripts, {}}, {}, times);
    const std::vector<Lanes> values = evaluate(subscripts);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      std::vector<long> at;
      for (const Lanes& value : values) at.push_back(value[lane]);
      hash[lane] = hash[lane] * 31 + place->second.address(at);
    }
  }
  const Lanes first = scope_.evaluate(loop.lower), last = scope_.evaluate(loop.upper);
  Lanes values;
  for (std::size_t lane = 0; lane < kMostLanes; ++lane) {
    const auto mixed = static_cast<unsigned long>(hash[lane] + 1) * 0x9E3779B97F4A7C15ul;
    values[lane] = first[lane] + (last[lane] > first[lane] ? long((mixed >> 20) % static_cast<unsigned long>(last[lane] - first[lane] + 1)) : 0);
  }
  issue_integer(kTestInstructions, times);
  scope_.push(loop.variable, values);
  ++bound_;
  for (const auto& [access, subscripts] : loop.binding->reads) known_reads_.insert({loop.binding->leaf, access});
  chain += walk(loop.body, times);
  --bound_;
  scope_.pop();
  return chain;
}

Chain WarpWalk::walk_sync(const AstSync& sync, double times) {
  const auto found = ast_.synchronizations.find(sync.statement);
  if (found == ast_.synchronizations.end()) return {};
  issue(1, times);
  switch (found->second.kind) {
    case SyncKind::barrier:
      counts_.barriers += block_share() * times;
      return {rates_.barrier_latency};
    case SyncKind::wait:
      return {rates_.shared_latency};
    case SyncKind::await:
    case SyncKind::expect:
    case SyncKind::arrive:
    case SyncKind::release:
    case SyncKind::commit:
    case SyncKind::advance:
    case SyncKind::fence:
    case SyncKind::open: return {kLatency};
  }
  return {};
}

Chain WarpWalk::walk_leaf(const AstLeaf& leaf, double times) {
  const AstStatement& statement = ast_.statements.at(leaf.statement);
  const Atom* atom = statement.atom.empty() ? nullptr : machine_.find_atom(statement.atom);
  std::vector<long> box = box_of(leaf, statement);
  double points = 1;
  for (const long extent : box) points *= double(extent);
  if (points < 1) return {};
  if (atom && atom->is_collective()) return run_matrix(*atom, statement, times);
  if (atom && atom->body == "copy" && machine_.pipe_of(atom->name)) return run_copy(leaf, statement, *atom, box, times);
  return run_plain(leaf, statement, atom, box, points, times);
}

std::vector<long> WarpWalk::box_of(const AstLeaf& leaf, const AstStatement& statement) {
  std::vector<long> box;
  for (std::size_t d = 0; d < statement.box.size(); ++d) {
    long extent = statement.box[d].radix;
    if (d < leaf.extents.size()) {
      const Lanes values = scope_.evaluate(leaf.extents[d]);
      long most = 0;
      for (std::size_t lane = 0; lane < lanes_; ++lane)
        if (active_[lane]) most = std::max(most, values[lane]);
      extent = std::min(extent, most);
    }
    box.push_back(std::max(0L, extent));
  }
  return box;
}

Chain WarpWalk::run_matrix(const Atom& atom, const AstStatement& statement, double times) {
  double products = 1, agents = 1;
  for (const AstStatement::BoxDigit& digit : statement.box) products *= double(digit.radix);
  for (const long radix : atom.agents) agents *= double(radix);
  const double warps = std::max(1.0, agents / double(lanes_));
  const double cycles = products * agents / std::max(1.0, atom.throughput);
  matrix_groups_ = std::max(1.0, double(counts_.threads) / agents);
  counts_.matrix_cycles += cycles / warps * warp_weight_ * times;
  issue(2, times);
  for (const AtomOperand& operand : atom.operands) {
    if (operand.space != "memory") continue;
    double elements = 1;
    for (std::size_t d = 0; d < statement.box.size() && d < operand.uses.size(); ++d)
      if (operand.uses[d] != '0') elements *= double(statement.box[d].radix);
    const std::vector<long>& steps = operand.role == "left" ? atom.steps.rows : atom.steps.lanes;
    for (std::size_t a = 0; a < atom.agents.size(); ++a) {
      const std::size_t at = statement.box.size() + a;
      const bool moves = (at < steps.size() && steps[at] != 0) || (at < atom.steps.depth.size() && atom.steps.depth[at] != 0);
      if (moves) elements *= double(atom.agents[a]);
    }
    const auto type = parse_type(operand.element);
    counts_.matrix_bytes += elements * (type ? size_bytes(*type) : 4) / warps * warp_weight_ * times;
  }
  Chain chain;
  chain.cycles = 2;
  chain.matrix = cycles;
  return chain;
}

Chain WarpWalk::run_copy(const AstLeaf& leaf, const AstStatement& statement, const Atom& atom, const std::vector<long>& box, double times) {
  const auto target = places_.find(statement.write_array);
  const bool bulk = machine_.pipe_of(atom.name)->completion == Completion::counted;
  // Rows that are not aligned are copied element by element, by ordinary loads and stores.
  double points = 1;
  for (const long extent : box) points *= double(extent);
  if (!bulk && !statement.read_arrays.empty() && piece_of(leaf, 1, statement.read_arrays.front()) == 1 && points > 1) {
    issue_integer(kTestInstructions * points, times);
    Chain chain = run_plain(leaf, statement, nullptr, box, points, times);
    chain.cycles += kTestInstructions * points;
    return chain;
  }
  double whole = 1;
  for (const AstStatement::BoxDigit& digit : statement.box) whole *= double(digit.radix);
  if (target != places_.end()) {
    const double bytes = whole * double(target->second.element_bytes);
    if (bulk) counts_.matrix_bytes += bytes * warp_weight_ * times;
    else counts_.shared_rounds += bytes * double(active_count()) / double(machine_.multiprocessor->banks * machine_.multiprocessor->bank_bytes) * warp_weight_ * times;
  }
  const double instructions = bulk ? kBulkInstructions : 2;
  issue_integer(instructions, times);
  Chain chain{instructions};
  const long slots = target == places_.end() ? 1 : target->second.slots;
  for (std::size_t r = 0; r < leaf.reads.size() && r < statement.read_arrays.size(); ++r) {
    touch({statement.read_arrays[r], leaf.reads[r], statement.read_steps[r], piece_of(leaf, 1 + r, statement.read_arrays[r]), false, true}, box, times);
  }
  const bool ahead = slots > 1 && !loops_.empty();
  if (ahead && target != places_.end()) chain.copied += points * double(target->second.element_bytes) * (bulk ? 1 : active_count() * std::ceil(double(counts_.threads) / double(lanes_)));
  if (ahead) chain.hidden += 1.0 / double(slots - 1) / copies_of_loop();
  else chain.waits += 1;
  return chain;
}

double WarpWalk::copies_of_loop() const {
  double copies = 0;
  for (const auto& [name, other] : ast_.statements) {
    const Atom* atom = other.atom.empty() ? nullptr : machine_.find_atom(other.atom);
    if (atom && atom->body == "copy" && machine_.pipe_of(atom->name)) copies += 1;
  }
  return std::max(1.0, copies);
}

Chain WarpWalk::run_plain(const AstLeaf& leaf, const AstStatement& statement, const Atom* atom, const std::vector<long>& box, double points, double times) {
  const InstructionMix mix = mixes_.contains(leaf.statement) ? mixes_.at(leaf.statement) : InstructionMix();
  const double each = points * warp_weight_ * times;
  counts_.multiply_add += mix.multiply_add * each;
  counts_.integer += mix.integer * each;
  counts_.convert += mix.convert * each;
  counts_.special += mix.special * each;
  counts_.doubles += mix.doubles * each;
  counts_.instructions += mix.count() * each;
  Chain chain{mix.count() * points};

  const bool atomic = atom && atom->body == "atomic_update";
  const Statement* source = mixes_.contains(leaf.statement) ? &program_.statement(statement.statement) : nullptr;
  double waits = 0;
  for (std::size_t r = 0; r < leaf.reads.size() && r < statement.read_arrays.size(); ++r) {
    if (known_reads_.contains({leaf.statement, r})) continue;
    const Chain access = touch({statement.read_arrays[r], leaf.reads[r], statement.read_steps[r], piece_of(leaf, 1 + r, statement.read_arrays[r])}, box, times);
    chain.cycles += access.cycles;
    waits = std::max(waits, access.waits);
  }
  // Loads of one leaf are on their way together.
  chain.waits += waits;
  if (const auto place = places_.find(statement.write_array); place != places_.end()) {
    const bool held = overwritten_ || facts_.is_held(loops_.empty() ? "" : loops_.back().variable, statement.write_array);
    if (atomic || !held) chain.cycles += touch({statement.write_array, leaf.write, statement.write_steps, piece_of(leaf, 0, statement.write_array), true, false, atomic}, box, times).cycles;
    if (source && source->updates() && !held && !atomic && place->second.space == "shared") chain.cycles += rates_.shared_latency;
  }
  // Terms of one sum wait for each other.
  if (source && source->combine != Combine::assign) {
    double distinct = 1;
    for (std::size_t d = 0; d < box.size(); ++d)
      if (std::any_of(statement.write_steps.begin(), statement.write_steps.end(), [&](const std::vector<long>& row) { return d < row.size() && row[d] != 0; })) distinct *= double(box[d]);
    chain.cycles = std::max(chain.cycles, points / distinct * std::max(1.0, source->combine == Combine::monoid ? mix.chain : 1) * kLatency);
  } else {
    chain.cycles += mix.chain * kLatency / kUnrolled;
  }
  return chain;
}

}  // namespace tileopt
