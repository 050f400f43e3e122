/// The order of the events of a line as difference bounds, closed under composition.
#include "verify/ring_line.h"

#include <algorithm>
#include <cstdlib>

namespace tileopt::proof {

namespace {

std::string node_label(const Execution& execution, const LineEvent& event) {
  return (event.role ? execution.roles[*event.role].name + ": " : "") + event.label;
}

bool tighten_least(std::optional<long>& bound, long value) {
  if (bound && *bound <= value) return false;
  bound = value;
  return true;
}

}  // namespace

int RingLine::classes(const LineEvent& event) const {
  const std::size_t kernel = event.members.front().at->kernel;
  const auto here = [&](const auto& item) { return item.kernel == kernel; };
  const bool agents =
      std::any_of(execution_.loops.begin(), execution_.loops.end(), [&](const LoopUse& l) { return here(l) && l.is_agent(); });
  if (!event.role) {
    const bool threads = agents || std::any_of(execution_.roles.begin(), execution_.roles.end(), here);
    return threads && !event.elected ? kThreadClasses : 1;
  }
  // Of an agent with one thread, that one is always the elected one.
  const bool several = execution_.roles[*event.role].threads > 1;
  return (several && !event.elected) || (!several && agents) ? kThreadClasses : 1;
}

void RingLine::make_nodes() {
  enter_.resize(events_.size());
  leave_.resize(events_.size());
  for (std::size_t e = 0; e < events_.size(); ++e) {
    const bool two = events_[e].is_access() ? events_[e].leaf().pipe != nullptr : events_[e].is(SyncKind::barrier);
    for (int x = 0; x < classes(events_[e]); ++x) {
      enter_[e].push_back(nodes_.size());
      nodes_.push_back({node_label(execution_, events_[e]), e, x});
      leave_[e].push_back(two ? nodes_.size() : nodes_.size() - 1);
      if (two) nodes_.push_back({node_label(execution_, events_[e]) + " is done", e, x});
    }
  }
  for (const Barrier* barrier : barriers_) {
    phases_.push_back(nodes_.size());
    nodes_.push_back({"phase of " + barrier->name + " completes", events_.size(), 0});
  }
  const std::vector<Bound> never(nodes_.size());
  within_.assign(nodes_.size(), never);
  across_ = needs_ = within_;
  for (std::size_t n = 0; n < nodes_.size(); ++n) within_[n][n] = across_[n][n] = 0;
}

void RingLine::bound_least(std::size_t from, std::size_t to, long value, bool across) {
  tighten_least(within_[from][to], value);
  if (across) tighten_least(across_[from][to], value);
}
void RingLine::bound_most(std::size_t from, std::size_t to, long value) {
  if (!needs_[from][to] || *needs_[from][to] < value) needs_[from][to] = value;
}

isl::map RingLine::pairs_in_run(const Occurrence& first, const Occurrence& second) const {
  return same_agent(execution_, first, second).intersect(equal_prefix(first.points.space(), second.points.space(), tile_dims_));
}

/// The largest h - g; nothing where there is no pair. Throws where it has no bound.
template <class Keep>
RingLine::Bound RingLine::largest_difference(const LineEvent& e, const LineEvent& f, Keep&& keep) const {
  constexpr long kUnbounded = 1L << 40;
  Bound largest;
  for (const LineEvent::Member& a : e.members)
    for (const LineEvent::Member& b : f.members) {
      const isl::map pairs = keep(a, b);
      const isl::set differences =
          a.position.reverse().apply_range(pairs).apply_range(b.position).deltas().project_out_all_params();
      if (differences.is_empty()) continue;
      const isl::val most = isl::manage(isl_set_dim_max_val(differences.copy(), 0));
      const long value = most.is_int() ? most.num_si() : kUnbounded;
      if (!largest || *largest < value) largest = value;
    }
  if (largest && *largest >= kUnbounded) return kUnbounded;
  return largest;
}

/// Pairs of one run that are not in order say how far apart positions must be; later runs are later anyway.
RingLine::Bound RingLine::least_of_order(const LineEvent& e, const LineEvent& f) const {
  const Bound unordered = largest_difference(e, f, [&](const LineEvent::Member& a, const LineEvent::Member& b) {
    return same_agent(execution_, *a.at, *b.at).intersect(not_before(*a.at, *b.at, tile_dims_));
  });
  if (!unordered) return 0;
  if (*unordered >= 1L << 40) return {};
  return std::max(0L, *unordered + 1);
}

/// How far e runs ahead of f: e at x before f at g, x - g at most.
RingLine::Bound RingLine::most_of_order(const LineEvent& e, const LineEvent& f) const {
  Bound ahead = largest_difference(f, e, [&](const LineEvent::Member& b, const LineEvent::Member& a) {
    return program_order(execution_, *a.at, *b.at, tile_dims_).reverse();
  });
  if (goes_on_) ahead = std::max(ahead.value_or(-1), -1L);
  return ahead;
}

/// Every run of an asynchronous access must be awaited inside its own run of the scope: then every await of later runs is later
/// too.
RingLine::Bound RingLine::least_of_await(const LineEvent& access, const LineEvent& await) const {
  for (const LineEvent::Member& member : access.members)
    if (!member.at->points.is_subset(ordering_.completed(*member.leaf, tile_dims_))) return {};
  const Bound open = largest_difference(access, await, [&](const LineEvent::Member& a, const LineEvent::Member& b) {
    return pairs_in_run(*a.at, *b.at).subtract(ordering_.awaited(*a.leaf, *b.sync, tile_dims_));
  });
  if (!open) return 0;
  if (*open >= 1L << 40) return {};
  return std::max(0L, *open + 1);
}

bool RingLine::signals(const LineEvent& event) const {
  if (event.is_access()) return event.leaf().pipe != nullptr && !event.leaf().statement->signal.empty();
  return event.is(SyncKind::expect) || event.is(SyncKind::arrive) || event.is(SyncKind::release);
}

bool RingLine::signals(const LineEvent& event, const Barrier& barrier) const {
  if (!signals(event)) return false;
  return event.is_access() ? event.leaf().statement->signal == barrier.name : event.members.front().sync->barrier == &barrier;
}

void RingLine::order_events() {
  for (std::size_t e = 0; e < events_.size(); ++e) {
    own_steps_.push_back(events_[e].is_access() ? Bound() : least_of_order(events_[e], events_[e]));
    for (std::size_t f = 0; f < events_.size(); ++f) {
      const LineEvent& first = events_[e];
      const LineEvent& second = events_[f];
      if (first.role != second.role && first.role && second.role) continue;
      if (first.is_access() && second.is_access()) continue;
      if (first.is(SyncKind::wait) && signals(second))
        if (const Bound most = most_of_order(first, second)) bound_most(enter_[f][0], enter_[e][0], *most);
      const Bound least = e == f ? Bound() : least_of_order(first, second);
      const bool may_order = (first.is_access() || first.regular) && (second.is_access() || second.regular);
      for (int x = 0; x < std::min(classes(first), classes(second)); ++x) {
        // The issue of an asynchronous access is in program order; that it is done is not.
        const std::size_t from = first.is_access() ? enter_[e][x] : leave_[e][x], to = enter_[f][x];
        if (may_order && least) bound_least(from, to, *least, true);
      }
    }
  }
}

void RingLine::join_classes(std::size_t event) {
  const auto all = [&](auto&& test) {
    return std::all_of(events_[event].members.begin(), events_[event].members.end(),
                       [&](const LineEvent::Member& m) { return test(*m.sync); });
  };
  const bool block = all([&](const Sync& s) { return joins_block(execution_, s); });
  const bool agent =
      all([&](const Sync& s) { return joins_agent(execution_, s) && (!s.role || execution_.roles[*s.role].threads > 1); });
  for (std::size_t from = 0; from < enter_[event].size(); ++from)
    for (std::size_t to = 0; to < leave_[event].size(); ++to) {
      if (from != to && !(agent && events_[event].regular)) continue;
      const bool alone = all([&](const Sync& s) { return agent_loops(execution_, s).empty(); });
      bound_least(enter_[event][from], leave_[event][to], 0, from == to || block || alone);
    }
}

/// Offset of the phase that an asynchronous access is counted in; nothing where it differs from run to run.
RingLine::Bound RingLine::signal_offset(const LineEvent& access) const {
  isl::set offsets;
  for (const LineEvent::Member& member : access.members) {
    if (!member.leaf->signal) return {};
    const isl::map signal = member.leaf->signal->as_map().intersect_domain(member.position.domain());
    const isl::set some = member.position.reverse().apply_range(signal).deltas().project_out_all_params();
    offsets = offsets.is_null() ? some : offsets.unite(some);
  }
  if (offsets.is_null() || offsets.is_empty() || !offsets.is_singleton()) return {};
  return isl::manage(isl_set_dim_max_val(offsets.copy(), 0)).num_si();
}

void RingLine::add_edges() {
  for (std::size_t e = 0; e < events_.size(); ++e) {
    const LineEvent& event = events_[e];
    if (event.is(SyncKind::barrier)) join_classes(e);
    if (event.is_access() && event.leaf().pipe != nullptr)
      for (int x = 0; x < classes(event); ++x) bound_least(enter_[e][x], leave_[e][x], 0, true);
    if (event.is_access() && event.leaf().pipe != nullptr && event.leaf().pipe->completion == Completion::group)
      for (std::size_t f = 0; f < events_.size(); ++f) {
        if (!events_[f].is(SyncKind::await) || !events_[f].regular || events_[f].declared().target != event.leaf().pipe->name)
          continue;
        if (event.role != events_[f].role) continue;
        const Bound least = least_of_await(event, events_[f]);
        for (int x = 0; least && x < std::min(classes(event), classes(events_[f])); ++x)
          bound_least(leave_[e][x], enter_[f][x], *least, true);
      }
  }
  for (std::size_t b = 0; b < barriers_.size(); ++b) {
    const Barrier& barrier = *barriers_[b];
    const bool right = !phase_faults_[b];
    long slots = 1;
    for (std::size_t e = 0; e < events_.size(); ++e) {
      const LineEvent& event = events_[e];
      if (event.is_access()) {
        if (event.leaf().statement->signal != barrier.name || event.leaf().pipe == nullptr) continue;
        const Bound offset = signal_offset(event);
        if (!offset) continue;
        for (int x = 0; x < classes(event); ++x)
          if (right && *offset >= 0) bound_least(leave_[e][x], phases_[b], *offset, true);
        bound_most(phases_[b], enter_[e][0], -*offset);
        continue;
      }
      if (event.members.front().sync->barrier != &barrier) continue;
      slots = execution_.rings[*event.members.front().sync->ring].declared->slots;
      const bool waits = event.is(SyncKind::wait);
      for (int x = 0; x < classes(event) && right; ++x) {
        if (waits && event.regular && event.shift >= 0) bound_least(phases_[b], enter_[e][x], event.shift, true);
        if (!waits) bound_least(enter_[e][x], phases_[b], 0, true);
      }
      if (waits)
        bound_most(enter_[e][0], phases_[b], -event.shift);
      else
        bound_most(phases_[b], enter_[e][0], 0);
    }
    bound_most(phases_[b], phases_[b], -slots);
  }
}

namespace {

/// Shortest paths whose inner nodes `inner` allows.
void shortest_paths(std::vector<std::vector<std::optional<long>>>& bounds, const std::vector<bool>& inner) {
  for (std::size_t k = 0; k < bounds.size(); ++k) {
    if (!inner[k]) continue;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (!bounds[i][k]) continue;
      for (std::size_t j = 0; j < bounds.size(); ++j)
        if (bounds[k][j]) tighten_least(bounds[i][j], *bounds[i][k] + *bounds[k][j]);
    }
  }
}

}  // namespace

void RingLine::close() {
  std::vector<bool> inner(nodes_.size(), true);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].event == events_.size()) continue;
    inner[n] = events_[nodes_[n].event].regular;  // else the path may lead over a position that has no such event
  }
  shortest_paths(within_, inner);
  shortest_paths(across_, inner);
}

std::optional<long> RingLine::least(std::size_t e, int x, std::size_t f, int y, bool one_agent) const {
  return (one_agent ? within_ : across_)[leave_[e][static_cast<std::size_t>(x)]][enter_[f][static_cast<std::size_t>(y)]];
}

/// wait -> phase -> whoever signals it -> a wait before that in the same role -> ... Where every role has one order, a cycle
/// exists only if one exists that visits each role once, so one step of program order, taken as it is, lies between two phases.
/// Longest paths stop at the first cycle that does not go back in position.
std::optional<RingLine::Cycle> RingLine::find_deadlock() const {
  const std::size_t count = nodes_.size();
  std::vector<std::vector<Bound>> longest = needs_;
  std::vector<std::vector<std::size_t>> next(count, std::vector<std::size_t>(count));
  for (auto& row : next)
    for (std::size_t j = 0; j < count; ++j) row[j] = j;
  const auto found = [&](std::size_t start) {
    Cycle cycle;
    long position = 0;
    std::size_t at = start;
    do {
      const std::size_t to = next[at][start];
      cycle.steps.push_back(nodes_[at].label + " at g" +
                            (position == 0 ? "" : (position > 0 ? " + " : " - ") + std::to_string(std::abs(position))));
      position += *needs_[at][to];
      at = to;
    } while (at != start && cycle.steps.size() <= count);
    cycle.steps.push_back(nodes_[start].label + " at g" + (position == 0 ? "" : " + " + std::to_string(position)));
    return cycle;
  };
  for (std::size_t n = 0; n < count; ++n)
    if (longest[n][n] && *longest[n][n] >= 0) return found(n);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < count; ++i) {
      if (!longest[i][k]) continue;
      for (std::size_t j = 0; j < count; ++j) {
        if (!longest[k][j]) continue;
        const long value = *longest[i][k] + *longest[k][j];
        if (longest[i][j] && *longest[i][j] >= value) continue;
        longest[i][j] = value;
        next[i][j] = next[i][k];
        if (i == j && value >= 0) return found(i);
      }
    }
  return {};
}

}  // namespace tileopt::proof
