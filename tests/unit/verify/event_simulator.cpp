#include "event_simulator.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "event_steps.h"

namespace tileopt::test {

namespace {

// Components: threads, then one for each asynchronous run.
using Clock = std::vector<int>;
void join_clock(Clock& into, const Clock& other) {
  if (into.size() < other.size()) into.resize(other.size(), 0);
  for (std::size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}

struct Flight {
  std::size_t component = 0;
  Clock clock;  // of the issue, and of itself
  const Pipe* pipe = nullptr;
  std::string label, signal;
  long signal_position = 0, bytes = 0;
  bool done = false, seen = false;
};
using FlightPtr = std::shared_ptr<Flight>;

struct Thread {
  std::vector<Step> steps;
  std::size_t at = 0;
  Clock clock;
  bool arrived = false;                                // at a barrier of threads
  std::map<std::string, std::vector<FlightPtr>> open;  // by pipe: not committed yet
  std::map<std::string, std::deque<std::vector<FlightPtr>>> groups;
  std::map<std::string, Clock> ordered;  // by pipe: of its last run
  std::string agent;
};

// One slot of an mbarrier.
struct Phase {
  long completed = 0, pending = 0, bytes = 0;
  Clock gathering, complete;
};

struct Cell {
  std::size_t writer = 0;
  int written = 0;  // 0: by nobody
  std::string writer_label;
  std::map<std::size_t, std::pair<int, std::string>> readers;
};

class Block {
 public:
  Block(const Ast& ast, const Machine& machine, const Names& sizes, Schedule schedule, std::mt19937_64& random)
      : ast_(ast), schedule_(schedule), random_(random) {
    std::vector<AstRole> roles;
    collect(ast.root, roles);
    if (roles.empty()) {
      for (long a = 0; a < agents(ast.root, machine, sizes); ++a)
        start(unroll_thread(ast, machine, sizes, "", a, 0), std::to_string(a));
    } else {
      for (const AstRole& role : roles)
        for (long a = 0; a < agents(role.body, machine, sizes); ++a)
          for (long t = 0; t < role.threads; ++t)
            start(unroll_thread(ast, machine, sizes, role.name, a, t), role.name + std::to_string(a));
    }
    components_ = threads_.size();
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      threads_[t].clock.assign(components_, 0);
      threads_[t].clock[t] = 1;
    }
  }

  std::optional<EventFault> run() {
    for (long turns = 0; !fault_; ++turns) {
      if (turns > 2'000'000) return EventFault{"endless", ""};
      if (!turn()) break;
    }
    if (fault_) return fault_;
    for (const Thread& thread : threads_)
      if (thread.at < thread.steps.size()) return EventFault{"deadlock", thread.steps[thread.at].label};
    for (const FlightPtr& flight : flights_)
      if (!flight->seen) return EventFault{"never awaited", flight->label};
    return {};
  }

 private:
  static void collect(const AstNodePtr& node, std::vector<AstRole>& found) {
    if (node == nullptr) return;
    if (const auto* n = std::get_if<AstBlock>(&node->node))
      for (const AstNodePtr& child : n->children) collect(child, found);
    if (const auto* n = std::get_if<AstFor>(&node->node)) collect(n->body, found);
    if (const auto* n = std::get_if<AstAllocate>(&node->node)) collect(n->body, found);
    if (const auto* n = std::get_if<AstRoles>(&node->node)) found = n->roles;
  }
  // Iterations of the loops over threads.
  static long agents(const AstNodePtr& node, const Machine& machine, const Names& sizes) {
    if (node == nullptr) return 1;
    long most = 1;
    if (const auto* n = std::get_if<AstBlock>(&node->node))
      for (const AstNodePtr& child : n->children) most = std::max(most, agents(child, machine, sizes));
    if (const auto* n = std::get_if<AstAllocate>(&node->node)) most = agents(n->body, machine, sizes);
    if (const auto* n = std::get_if<AstIf>(&node->node))
      most = std::max(agents(n->then_body, machine, sizes), agents(n->else_body, machine, sizes));
    if (const auto* n = std::get_if<AstFor>(&node->node)) {
      const Level* level = machine.find_level(n->level);
      if (level != nullptr && level->kind == LevelKind::barrier) return evaluate(n->upper, sizes) + 1;
      most = agents(n->body, machine, sizes);
    }
    return most;
  }

  void start(std::vector<Step> steps, const std::string& agent) {
    Thread thread;
    thread.steps = std::move(steps);
    thread.agent = agent;
    threads_.push_back(std::move(thread));
  }

  // ---- who goes on

  bool turn() {
    const bool engines = schedule_ == Schedule::engines_first || (schedule_ == Schedule::random && random_() % 2 == 0);
    if (engines && finish_one()) return true;
    if (step_one()) return true;
    return finish_one();
  }

  bool finish_one() {
    std::vector<FlightPtr> flying;
    for (const FlightPtr& flight : flights_)
      if (!flight->done && may_finish(*flight)) flying.push_back(flight);
    if (flying.empty()) return false;
    const std::size_t pick = schedule_ == Schedule::random         ? random_() % flying.size()
                             : schedule_ == Schedule::engines_last ? flying.size() - 1
                                                                   : 0;
    finish(*flying[pick]);
    return true;
  }
  // An engine that keeps the order of issue finishes in it.
  bool may_finish(const Flight& flight) const {
    if (!flight.pipe->ordered) return true;
    for (const FlightPtr& other : flights_) {
      if (other.get() == &flight) return true;
      if (!other->done && other->pipe == flight.pipe && flight.clock.size() > other->component &&
          flight.clock[other->component] > 0)
        return false;
    }
    return true;
  }

  bool step_one() {
    std::vector<std::size_t> order(threads_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (schedule_ == Schedule::last_thread_first) std::reverse(order.begin(), order.end());
    if (schedule_ == Schedule::random || schedule_ == Schedule::engines_first || schedule_ == Schedule::engines_last)
      std::shuffle(order.begin(), order.end(), random_);
    for (const std::size_t t : order)
      if (threads_[t].at < threads_[t].steps.size() && try_step(t)) return true;
    return false;
  }

  // ---- one step

  void fail(const std::string& kind, const std::string& text) {
    if (!fault_) fault_ = EventFault{kind, text};
  }
  void tick(std::size_t t) { ++threads_[t].clock[t]; }

  bool try_step(std::size_t t) {
    Thread& thread = threads_[t];
    const Step& step = thread.steps[thread.at];
    if (step.sync == nullptr)
      run_leaf(t, step);
    else if (!try_sync(t, step))
      return false;
    if (step.sync == nullptr || step.declared->kind != SyncKind::barrier) ++thread.at;
    tick(t);
    return true;
  }

  bool try_sync(std::size_t t, const Step& step) {
    Thread& thread = threads_[t];
    switch (step.declared->kind) {
      case SyncKind::commit: {
        auto& open = thread.open[step.declared->target];
        thread.groups[step.declared->target].push_back(std::move(open));
        open.clear();
        return true;
      }
      case SyncKind::await:
        return try_await(thread, step);
      case SyncKind::barrier:
        return try_meet(t, step);
      case SyncKind::wait:
        return try_wait(thread, step);
      case SyncKind::expect:
      case SyncKind::arrive:
      case SyncKind::release: {
        Phase& phase = phase_at(step.declared->target, step.position);
        phase.bytes += step.declared->bytes;
        --phase.pending;
        if (phase.pending < 0) fail("barrier", step.label + " is one arrival too many");
        join_clock(phase.gathering, thread.clock);
        complete(step.declared->target, phase);
        return true;
      }
      case SyncKind::fence:
      case SyncKind::open:
      case SyncKind::advance:
        return true;
    }
    return true;
  }

  bool try_await(Thread& thread, const Step& step) {
    auto& groups = thread.groups[step.declared->target];
    const auto waited = std::max(0L, static_cast<long>(groups.size()) - step.sync->pending);
    for (long i = 0; i < waited; ++i)
      for (const FlightPtr& flight : groups[static_cast<std::size_t>(i)])
        if (!flight->done) return false;
    for (long i = 0; i < waited; ++i)
      for (const FlightPtr& flight : groups[static_cast<std::size_t>(i)]) {
        join_clock(thread.clock, flight->clock);
        flight->seen = true;
      }
    // A group that was waited for is still counted: later waits count from the last one.
    for (long i = 0; i < waited; ++i) groups[static_cast<std::size_t>(i)].clear();
    return true;
  }

  bool try_meet(std::size_t t, const Step& step) {
    const Barrier& barrier = *ast_.find_barrier(step.declared->target);
    if (barrier.scope == BarrierScope::none) {
      ++threads_[t].at;
      return true;
    }
    threads_[t].arrived = true;
    std::vector<std::size_t> met;
    for (std::size_t other = 0; other < threads_.size(); ++other) {
      const Thread& thread = threads_[other];
      const bool mine = barrier.scope == BarrierScope::block || thread.agent == threads_[t].agent;
      const bool here =
          mine && thread.arrived && thread.at < thread.steps.size() && thread.steps[thread.at].declared == step.declared;
      if (here) met.push_back(other);
    }
    const long needed = barrier.scope == BarrierScope::block ? static_cast<long>(threads_.size()) : barrier.arrivals;
    if (static_cast<long>(met.size()) < needed) return false;
    Clock all;
    for (const std::size_t other : met) join_clock(all, threads_[other].clock);
    for (const std::size_t other : met) {
      join_clock(threads_[other].clock, all);
      threads_[other].arrived = false;
      ++threads_[other].at;
      tick(other);
    }
    return true;
  }

  bool try_wait(Thread& thread, const Step& step) {
    Phase& phase = phase_at(step.declared->target, step.position);
    const long parity = ((floor_quotient(step.position, slots_of(step.declared->target)) % 2) + 2) % 2;
    // The bit says which parity the phase has that completed last; before the first, 1.
    const long last = phase.completed == 0 ? 1 : (phase.completed - 1) % 2;
    if (last != parity) return false;
    join_clock(thread.clock, phase.complete);
    for (const FlightPtr& flight : flights_)
      if (flight->done && thread.clock.size() > flight->component && thread.clock[flight->component] > 0) flight->seen = true;
    return true;
  }

  long slots_of(const std::string& barrier) const { return ast_.find_ring(ast_.find_barrier(barrier)->ring)->slots; }
  Phase& phase_at(const std::string& barrier, long position) {
    const long slots = slots_of(barrier), slot = ((position % slots) + slots) % slots;
    const auto [found, fresh] = phases_.emplace(std::make_pair(barrier, slot), Phase{});
    if (fresh) found->second.pending = ast_.find_barrier(barrier)->arrivals;
    return found->second;
  }
  void complete(const std::string& barrier, Phase& phase) {
    if (phase.pending != 0 || phase.bytes != 0) return;
    ++phase.completed;
    join_clock(phase.gathering, phase.complete);
    phase.complete = phase.gathering;
    phase.gathering.clear();
    phase.pending = ast_.find_barrier(barrier)->arrivals;
  }

  // ---- leaves

  void run_leaf(std::size_t t, const Step& step) {
    Thread& thread = threads_[t];
    if (step.pipe == nullptr) {
      for (const Access& access : step.accesses) touch(access, t, thread.clock, step.label);
      return;
    }
    const auto flight = std::make_shared<Flight>();
    flight->component = components_++;
    flight->clock = thread.clock;
    if (step.pipe->ordered) join_clock(flight->clock, thread.ordered[step.pipe->name]);
    flight->clock.resize(components_, 0);
    flight->clock[flight->component] = 1;
    if (step.pipe->ordered) thread.ordered[step.pipe->name] = flight->clock;
    flight->pipe = step.pipe;
    flight->label = step.label;
    flight->signal = step.signal;
    flight->signal_position = step.signal_position;
    flight->bytes = step.bytes;
    for (const Access& access : step.accesses) touch(access, flight->component, flight->clock, step.label);
    flights_.push_back(flight);
    if (step.pipe->completion == Completion::group) thread.open[step.pipe->name].push_back(flight);
  }

  void finish(Flight& flight) {
    flight.done = true;
    if (flight.signal.empty()) return;
    Phase& phase = phase_at(flight.signal, flight.signal_position);
    if (flight.pipe->completion == Completion::counted)
      phase.bytes -= flight.bytes;
    else if (--phase.pending < 0)
      fail("barrier", flight.label + " is one arrival too many");
    join_clock(phase.gathering, flight.clock);
    complete(flight.signal, phase);
  }

  static bool ordered(const Clock& clock, std::size_t component, int time) {
    return component < clock.size() && clock[component] >= time;
  }

  void touch(const Access& access, std::size_t component, const Clock& clock, const std::string& label) {
    Cell& cell = cells_[access.cell];
    if (cell.written > 0 && cell.writer != component && !ordered(clock, cell.writer, cell.written))
      fail("race", label + (access.write ? " writes " : " reads ") + access.cell + ", not ordered after " + cell.writer_label);
    if (!access.write) {
      cell.readers[component] = {clock[component], label};
      return;
    }
    for (const auto& [reader, when] : cell.readers)
      if (reader != component && !ordered(clock, reader, when.first))
        fail("race", label + " writes " + access.cell + ", not ordered after " + when.second + ", which reads it");
    cell.readers.clear();
    cell.writer = component;
    cell.written = clock[component];
    cell.writer_label = label;
  }

  const Ast& ast_;
  Schedule schedule_;
  std::mt19937_64& random_;
  std::vector<Thread> threads_;
  std::vector<FlightPtr> flights_;
  std::map<std::pair<std::string, long>, Phase> phases_;
  std::map<std::string, Cell> cells_;
  std::size_t components_ = 0;
  std::optional<EventFault> fault_;
};

}  // namespace

std::optional<EventFault> simulate_events(const Ast& ast, const Machine& machine, const std::map<std::string, long>& sizes,
                                          Schedule schedule, std::mt19937_64& random) {
  return Block(ast, machine, sizes, schedule, random).run();
}

}  // namespace tileopt::test
