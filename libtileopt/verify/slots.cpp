/// slots: a slot of a ring is not overwritten before its last reader is done, whatever the number of positions of a run and the
/// number of runs. waits: no cycle of waits, phases complete, parities are not taken for one another. races: what is read of a
/// slot is there.
#include <algorithm>

#include "support/text.h"
#include "verify/obligations.h"
#include "verify/digit_equations.h"
#include "verify/ring_line.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

constexpr long kNever = -1;

struct Line {
  Checker& checker;
  const Ordering& ordering;
  std::size_t kernel;
  const RingLine& ring;

  const Execution& execution() const { return checker.execution; }
  std::string name() const { return execution().rings[ring.rings().front()].declared->name; }
};

bool same_role(const LineEvent& e, const LineEvent& f) { return e.role == f.role || !e.role || !f.role; }

/// { E -> F : the two touch one element of the array } at equal positions of one run, or at any two positions.
isl::map touching(const Line& line, const LineEvent::Member& a, const PointAccess& u, const LineEvent::Member& b,
                  const PointAccess& v, bool one_position) {
  isl::map first = u.element, second = v.element;
  if (!one_position) {
    const auto outer = static_cast<unsigned>(line.execution().array_of(u).outer_loops + 1);
    first = isl::manage(isl_map_project_out(first.release(), isl_dim_out, 0, outer));
    second = isl::manage(isl_map_project_out(second.release(), isl_dim_out, 0, outer));
  }
  return split_equations(first.apply_range(second.reverse()).intersect_domain(a.at->points).intersect_range(b.at->points));
}

std::vector<const PointAccess*> accesses_of(const LineEvent& event, const LineEvent::Member& member) {
  if (event.write) return {&member.leaf->write};
  std::vector<const PointAccess*> reads;
  for (const PointAccess& read : member.leaf->reads)
    if (read.array == event.array) reads.push_back(&read);
  return reads;
}

/// Calls `visit(a, b, pairs)` for the members of two events that touch one element; stops where it returns true.
template <class Visit>
bool any_touching(const Line& line, const LineEvent& e, const LineEvent& f, bool one_position, Visit&& visit) {
  for (const LineEvent::Member& a : e.members)
    for (const LineEvent::Member& b : f.members)
      for (const PointAccess* u : accesses_of(e, a))
        for (const PointAccess* v : accesses_of(f, b)) {
          const isl::map pairs = touching(line, a, *u, b, *v, one_position);
          if (!pairs.is_empty() && visit(a, b, pairs)) return true;
        }
  return false;
}

/// What is known of two events for the worst pair of threads that may meet; kNever where some pair is not ordered at all.
long worst_least(const Line& line, std::size_t e, std::size_t f, bool one_position) {
  const LineEvent& first = line.ring.events()[e];
  const LineEvent& second = line.ring.events()[f];
  const bool one_role = same_role(first, second);
  const bool one_class = line.ring.classes(first) == 1 && line.ring.classes(second) == 1;
  const bool meet =
      one_class || !one_role || any_touching(line, first, second, one_position, [&](const auto& a, const auto& b, const isl::map& pairs) {
        return in_other_agents(line.execution(), *a.at, *b.at, pairs);
      });
  long worst = 0;
  for (int x = 0; x < line.ring.classes(first); ++x)
    for (int y = 0; y < line.ring.classes(second); ++y) {
      if (x != y && !meet) continue;
      const std::optional<long> least = line.ring.least(e, x, f, y, !(one_role && x != y));
      if (!least) return kNever;
      worst = std::max(worst, *least);
    }
  return worst;
}

std::string who(const Line& line, const LineEvent& event) {
  return (event.role ? line.execution().roles[*event.role].name + ": " : "") + event.label;
}

/// { [g] -> [h] : 0 <= g < h and (h - g) mod slots = 0 } - { [g] -> [h] : h >= g + least }
isl::map unordered_reuse(isl::ctx ctx, long slots, long least) {
  const std::string reuse = "{ [g] -> [h] : 0 <= g < h and (h - g) mod " + std::to_string(slots) + " = 0 }";
  const isl::map pairs(ctx, reuse);
  if (least == kNever) return pairs;
  return pairs.subtract(isl::map(ctx, "{ [g] -> [h] : h >= g + " + std::to_string(least) + " }"));
}

Refutation overwritten(const Line& line, const LineEvent& first, const LineEvent& second, const Array& array,
                       const isl::map& pairs) {
  const isl::map least = pairs.intersect_domain(pairs.domain().lexmin()).lexmin();
  const isl::set point = least.wrap().sample();
  const auto at = [&](int dim) {
    isl_point* p = isl_set_sample_point(point.copy());
    isl_val* v = isl_point_get_coordinate_val(p, isl_dim_set, dim);
    const long value = isl_val_get_num_si(v);
    isl_val_free(v);
    isl_point_free(p);
    return value;
  };
  const long g = at(0), h = at(1);
  const std::string slot = std::to_string(g % array.slots);
  return {"slot reuse of " + array.name + ": " + who(line, second) + " is not ordered after " + who(line, first),
          who(line, first) + " at g = " + std::to_string(g) + " | " + who(line, second) + " at g = " + std::to_string(h) +
              ", both slot " + slot + " of " + std::to_string(array.slots),
          first.leaf().where()};
}

/// All pairs that meet in a slot, an earlier position first.
Outcome check_reuse(const Line& line, std::size_t array_index) {
  const Array& array = *line.execution().arrays[array_index].promoted;
  const auto& events = line.ring.events();
  std::vector<std::size_t> readers, writers;
  for (std::size_t e = 0; e < events.size(); ++e)
    if (events[e].is_access() && events[e].array == array_index) (events[e].write ? writers : readers).push_back(e);
  std::vector<std::size_t> users = readers;
  users.insert(users.end(), writers.begin(), writers.end());
  // What a slot holds is replaced by a write; a read of a later position follows that write.
  for (const std::size_t e : users)
    for (const std::size_t f : writers) {
      if (!any_touching(line, events[e], events[f], false, [](const auto&, const auto&, const isl::map&) { return true; }))
        continue;
      const isl::map unordered = unordered_reuse(line.ring.positions().ctx(), array.slots, worst_least(line, e, f, false));
      if (!unordered.is_empty()) return overwritten(line, events[e], events[f], array, unordered);
    }
  return {};
}

/// At one position: whoever comes first in time is done before the other starts.
Outcome check_arrival(const Line& line, std::size_t array_index) {
  const auto& events = line.ring.events();
  for (std::size_t e = 0; e < events.size(); ++e)
    for (std::size_t f = 0; f < events.size(); ++f) {
      const bool here =
          events[e].is_access() && events[f].is_access() && events[e].array == array_index && events[f].array == array_index;
      if (!here || !(events[e].write || events[f].write)) continue;
      std::optional<isl::map> pair;
      any_touching(line, events[e], events[f], true, [&](const auto& a, const auto& b, const isl::map& pairs) {
        const isl::map ordered = pairs.intersect(before(*a.at, *b.at));
        if (!ordered.is_empty()) pair = ordered;
        return pair.has_value();
      });
      if (!pair || worst_least(line, e, f, true) == 0) continue;
      const LineEvent& first = events[e];
      const LineEvent& second = events[f];
      return Refutation{who(line, second) + " before " + who(line, first) + " is done", sample(line.execution(), *pair).text(),
                        second.leaf().where()};
    }
  return {};
}

/// The base of every role moves on by as many positions as a run has.
Outcome check_base(const Line& line, std::size_t ring_index, const std::optional<std::size_t>& role) {
  const Execution& execution = line.execution();
  const RingUse& ring = execution.rings[ring_index];
  const auto depth = ring.loop_ids.size();
  isl::map moved = isl::map::empty(line.ring.positions().space());
  const std::string who = role ? "role " + execution.roles[*role].name : std::string("the kernel");
  for (const Sync& sync : execution.syncs) {
    if (sync.declared->kind != SyncKind::advance || sync.ring != ring_index || sync.role != role) continue;
    const isl::map amount =
        loop_prefix(sync, depth).reverse().apply_range(sync.position->as_map().intersect_domain(sync.points));
    const isl::set twice = moved.domain().intersect(amount.domain());
    if (!twice.is_empty() || sync.loops.size() != agent_loops(execution, sync).size() + depth)
      return Refutation{who + " advances ring " + ring.declared->name + " twice in one run", sync.label, {}};
    moved = moved.unite(amount);
    for (const LineEvent& event : line.ring.events())
      for (const LineEvent::Member& member : event.members) {
        if (member.at->role != role) continue;
        const isl::map late = program_order(execution, sync, *member.at, depth);
        if (!late.is_empty())
          return Refutation{
              event.label + " follows the advance of ring " + ring.declared->name, sample(execution, late).text(), {}};
      }
  }
  // { [tile] -> [number of positions] }: one behind the last, 0 where there is none.
  const isl::map last = line.ring.positions().lexmax();
  const isl::map count = isl::manage(isl_map_from_pw_aff(isl_pw_aff_add_constant_val(
      isl_pw_multi_aff_get_pw_aff(isl_pw_multi_aff_from_map(last.copy()), 0), isl_val_one(last.ctx().get()))));
  isl::set run = isl::set::empty(moved.domain().space());
  for (const LineEvent& event : line.ring.events())
    for (const LineEvent::Member& member : event.members)
      if (member.at->role == role) run = run.unite(loop_prefix(*member.at, depth).range());
  const isl::map wrong = count.intersect_domain(run).subtract(moved);
  if (!wrong.is_empty())
    return Refutation{
        who + " does not advance ring " + ring.declared->name + " by the positions of the run", poly::sample_text(wrong), {}};
  const isl::map extra =
      moved.subtract(count).subtract(isl::manage(isl_map_fix_si(isl_map_universe(moved.space().release()), isl_dim_out, 0, 0)));
  if (extra.is_empty()) return {};
  return Refutation{
      who + " advances ring " + ring.declared->name + " by more than the positions of the run", poly::sample_text(extra), {}};
}

Outcome check_bases(const Line& line, std::size_t ring) {
  if (!line.execution().rings[ring].goes_on) return {};
  std::vector<std::optional<std::size_t>> roles;
  for (const LineEvent& event : line.ring.events())
    if (std::find(roles.begin(), roles.end(), event.role) == roles.end()) roles.push_back(event.role);
  for (const auto& role : roles)
    if (Outcome outcome = check_base(line, ring, role)) return outcome;
  return {};
}

/// A thread that waits for a phase must see it: not the one before (which has the other parity's twin two phases earlier), and
/// not so late that the next one is complete too.
Outcome check_parity(const Line& line, std::size_t barrier) {
  const auto& events = line.ring.events();
  const Barrier* subject = line.ring.barriers()[barrier];
  for (std::size_t w = 0; w < events.size(); ++w) {
    if (!events[w].is(SyncKind::wait) || events[w].members.front().sync->barrier != subject) continue;
    const long slots = line.execution().rings[*events[w].members.front().sync->ring].declared->slots;
    const std::optional<long> step = line.ring.own_step(w);
    if (!events[w].regular || !step || *step > slots)
      return Refutation{
          who(line, events[w]) + " may take a phase of barrier " + subject->name + " for the one two phases before",
          who(line, events[w]) + (events[w].regular ? " out of order" : " does not wait at every position"),
          {}};
    for (int x = 0; x < line.ring.classes(events[w]); ++x) {
      bool ordered = false;
      for (std::size_t a = 0; a < events.size() && !ordered; ++a) {
        // A phase takes all that it counts, so one of them that comes after the wait holds it.
        const bool arrival = line.ring.signals(events[a], *subject);
        for (int y = 0; arrival && y < line.ring.classes(events[a]); ++y) {
          const std::optional<long> least = line.ring.least(w, x, a, y, true);
          ordered = ordered || (least && *least <= slots - events[w].shift);
        }
      }
      if (ordered) continue;
      const std::string thread = x == 0 ? "a thread" : "a thread that is not elected";
      return Refutation{
          thread + " of " + who(line, events[w]) + " may miss its phase of barrier " + subject->name +
              ": nothing holds the phase after next",
          who(line, events[w]) + " for position 0 | the phase of position " + std::to_string(slots) + " completes",
          {}};
    }
  }
  return {};
}

/// What comes before the phase of the same slot is complete would be counted in that one.
Outcome check_early_signals(const Line& line, std::size_t barrier) {
  const auto& events = line.ring.events();
  const Barrier& subject = *line.ring.barriers()[barrier];
  const long slots = line.execution().kernels->at(line.kernel).find_ring(subject.ring)->slots;
  for (std::size_t a = 0; a < events.size(); ++a) {
    if (!line.ring.signals(events[a], subject)) continue;
    for (int y = 0; y < line.ring.classes(events[a]); ++y) {
      const std::optional<long> least = line.ring.least_after_phase(barrier, a, y);
      if (least && *least <= slots) continue;
      return Refutation{who(line, events[a]) + " may be counted in the phase before: nothing says that it is complete",
                        "the phase of position 0 of barrier " + subject.name + " | " + who(line, events[a]) + " at g = " + std::to_string(slots), {}};
    }
  }
  return {};
}

Outcome check_phase(const Line& line, std::size_t barrier) {
  const std::optional<PhaseFault>& fault = line.ring.phase_fault(barrier);
  if (!fault) return {};
  return Refutation{fault->reason, fault->witness, {}};
}

Outcome check_deadlock(const Line& line) {
  const std::optional<RingLine::Cycle> cycle = line.ring.find_deadlock();
  if (!cycle) return {};
  return Refutation{"waits form a cycle", join(cycle->steps, " needs "), {}};
}

/// Slots of several lines may wait for each other: a role that uses two lines whose runs differ ties them together.
bool share_a_role(const RingLine& first, const RingLine& second) {
  for (const LineEvent& e : first.events())
    for (const LineEvent& f : second.events())
      if (same_role(e, f)) return true;
  return false;
}

/// Scopes that follow each other in one kernel would use the same bytes, and a line knows of one of them only.
void refuse_second_scope(const Execution& execution, std::size_t array) {
  const Array* promoted = execution.arrays[array].promoted;
  const auto scopes = std::count_if(execution.arrays.begin(), execution.arrays.end(), [&](const ArrayUse& use) { return use.promoted == promoted; });
  if (scopes > 1) throw Undecided("array " + promoted->name + " is opened in " + std::to_string(scopes) + " scopes of its ring");
}

void check_line(const Line& line) {
  const Execution& execution = line.execution();
  Report& report = line.checker.report;
  const std::string place = " in kernel " + execution.kernel_name(line.kernel);
  const auto entry = [&](const std::string& name, const std::string& subject) {
    return obligation(name, subject + place, {}, kernel_entry(line.kernel, "pipeline"));
  };
  for (std::size_t a = 0; a < execution.arrays.size(); ++a) {
    const ArrayUse& array = execution.arrays[a];
    if (!array.ring || std::count(line.ring.rings().begin(), line.ring.rings().end(), *array.ring) == 0) continue;
    report.prove(entry("slots", array.name), [&] {
      refuse_second_scope(execution, a);
      return check_reuse(line, a);
    });
    report.prove(entry("races", "slots of " + array.name), [&] { return check_arrival(line, a); });
  }
  for (const std::size_t ring : line.ring.rings())
    report.prove(entry("slots", "positions of ring " + execution.rings[ring].declared->name),
                 [&] { return check_bases(line, ring); });
  for (std::size_t b = 0; b < line.ring.barriers().size(); ++b) {
    report.prove(entry("waits", "phases of barrier " + line.ring.barrier_name(b)), [&] { return check_phase(line, b); });
    report.prove(entry("waits", "parity of barrier " + line.ring.barrier_name(b)), [&]() -> Outcome {
      if (Outcome outcome = check_parity(line, b)) return outcome;
      return check_early_signals(line, b);
    });
  }
  report.prove(entry("waits", "cycles on ring " + line.name()), [&] { return check_deadlock(line); });
}

void check_kernel(Checker& checker, const Ordering& ordering, std::size_t kernel) {
  std::vector<RingLine> lines;
  const std::string place = " in kernel " + checker.execution.kernel_name(kernel);
  const bool read = checker.report.prove(obligation("slots", "reading the rings" + place, {}, kernel_entry(kernel, "pipeline")),
                                         [&]() -> Outcome {
                                           lines = find_lines(checker.execution, ordering, kernel);
                                           return {};
                                         });
  if (!read) return;
  for (const RingLine& line : lines) check_line({checker, ordering, kernel, line});
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (share_a_role(lines[i], lines[j]))
        checker.report.skip(obligation("waits",
                                       "cycles over rings " + checker.execution.rings[lines[j].rings().front()].declared->name +
                                           " and " + checker.execution.rings[lines[i].rings().front()].declared->name + place,
                                       {}, kernel_entry(kernel, "pipeline")),
                            "their runs have different numbers of positions");
}

}  // namespace

void check_rings(Checker& checker) {
  const Ordering ordering(checker.execution);
  for (std::size_t k = 0; k < checker.execution.kernels->size(); ++k)
    if (std::any_of(checker.execution.rings.begin(), checker.execution.rings.end(),
                    [&](const RingUse& r) { return r.kernel == k; }))
      check_kernel(checker, ordering, k);
}

}  // namespace tileopt::proof
