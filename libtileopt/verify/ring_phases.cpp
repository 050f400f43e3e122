/// Phases of barriers: that as many threads arrive, and as many bytes come, at every position as the barrier counts.
#include "verify/report.h"
#include "verify/ring_line.h"

namespace tileopt::proof {

namespace {

using Counts = std::optional<isl::pw_aff>;  ///< { [[tile] -> [k]] -> [(number)] }

Counts sum(const Counts& first, const Counts& second) {
  if (!first) return second;
  return second ? first->union_add(*second) : first;
}

/// { [[tile] -> [k]] : the numbers differ }, absent ones counting 0.
isl::set differing(const Counts& have, const Counts& want, const isl::set& positions) {
  const auto filled = [&](const Counts& counts) {
    isl_val* zero = isl_val_zero(positions.ctx().get());
    const isl::pw_aff nothing = isl::manage(isl_pw_aff_val_on_domain(positions.copy(), zero));
    return counts ? nothing.union_add(*counts) : nothing;
  };
  return filled(have).ne_set(filled(want));
}

Counts constant_on(const isl::set& positions, long value) {
  isl_val* number = isl_val_int_from_si(positions.ctx().get(), value);
  return isl::manage(isl_pw_aff_val_on_domain(positions.copy(), number));
}

/// "3 of 1" at a sample of the positions.
std::string numbers_at(const Counts& have, const Counts& want, const isl::set& where) {
  const isl::set point = where.sample();
  const auto text = [&](const Counts& counts) {
    if (!counts) return std::string("0");
    const isl::set at = point.intersect(counts->domain());
    if (at.is_empty()) return std::string("0");
    const isl::val value = counts->intersect_domain(at).max_val();
    return poly::to_text(value);
  };
  return text(have) + " instead of " + text(want);
}

/// Bytes of one run of a copy: an asynchronous copy always moves its whole box.
std::optional<long> bytes_of_run(const Execution& execution, const LineEvent& event) {
  const ArrayUse& array = execution.arrays[event.array];
  long bytes = size_bytes(array.promoted->element);
  for (const AstStatement::BoxDigit& digit : event.leaf().statement->box) bytes *= digit.radix;
  for (const LineEvent::Member& member : event.members)
    if (!member.leaf->node->extents.empty() && !member.leaf->statement->zero_fill) return {};
  return bytes;
}

bool arrives(const LineEvent& event) {
  return event.is(SyncKind::expect) || event.is(SyncKind::arrive) || event.is(SyncKind::release);
}

}  // namespace

std::optional<PhaseFault> RingLine::check_arrivals(const Barrier& barrier) const {
  const isl::set positions = positions_.wrap();
  Counts arrivals;
  for (const LineEvent& event : events_) {
    const bool tagged = event.is_access() && event.write && event.leaf().pipe != nullptr &&
                        event.leaf().pipe->completion == Completion::tagged && event.leaf().statement->signal == barrier.name;
    const bool here = tagged || (arrives(event) && event.members.front().sync->barrier == &barrier);
    if (!here) continue;
    // Loops over agents around it say which of them run it.
    const bool numbered = std::all_of(event.members.begin(), event.members.end(), [&](const LineEvent::Member& m) { return !agent_loops(execution_, *m.at).empty() && !has_threads(execution_, *m.at); });
    const bool all_threads = !tagged && !event.elected && !numbered && classes(event) > 1;
    if (all_threads && !event.role)
      return PhaseFault{"how many threads arrive by " + event.label + " is not known", event.label};
    const Counts some = count(event, all_threads ? execution_.roles[*event.role].threads : 1);
    if (!some)
      return PhaseFault{event.label + " arrives at barrier " + barrier.name + " a number of times that differs from run to run",
                        event.label};
    arrivals = sum(arrivals, some);
  }
  const isl::set elsewhere = arrivals ? arrivals->domain().subtract(positions) : isl::set::empty(positions.space());
  if (!elsewhere.is_empty())
    return PhaseFault{"barrier " + barrier.name + " is arrived at for positions that nobody uses",
                      poly::sample_text(elsewhere)};
  const Counts wanted = constant_on(positions, barrier.arrivals);
  const isl::set wrong = differing(arrivals, wanted, positions);
  if (wrong.is_empty()) return {};
  return PhaseFault{"a phase of barrier " + barrier.name + " gets " + numbers_at(arrivals, wanted, wrong) + " arrivals",
                    poly::sample_text(wrong)};
}

std::optional<PhaseFault> RingLine::check_bytes(const Barrier& barrier) const {
  const isl::set positions = positions_.wrap();
  Counts announced, moved;
  for (const LineEvent& event : events_) {
    if (event.is(SyncKind::expect) && event.members.front().sync->barrier == &barrier) {
      const long threads = event.elected || !event.role ? 1 : execution_.roles[*event.role].threads;
      announced = sum(announced, count(event, threads * event.declared().bytes));
    }
    const bool counted = event.is_access() && event.leaf().pipe != nullptr &&
                         event.leaf().pipe->completion == Completion::counted && event.leaf().statement->signal == barrier.name;
    if (!counted) continue;
    if (signal_offset(event) != Bound(0))
      return PhaseFault{event.label + " is counted in the phase of another position than it is at", event.label};
    if (!event.write) continue;
    const std::optional<long> bytes = bytes_of_run(execution_, event);
    const Counts some = bytes ? count(event, *bytes) : Counts();
    if (!some) return PhaseFault{"how many bytes " + event.label + " moves differs from run to run", event.label};
    moved = sum(moved, some);
  }
  const isl::set wrong = differing(announced, moved, positions);
  if (wrong.is_empty()) return {};
  return PhaseFault{
      "barrier " + barrier.name + " expects " + numbers_at(announced, moved, wrong) + " bytes, which the copies bring",
      poly::sample_text(wrong)};
}

std::optional<PhaseFault> RingLine::check_phase(const Barrier& barrier) const {
  if (std::optional<PhaseFault> fault = check_arrivals(barrier)) return fault;
  return check_bytes(barrier);
}

void RingLine::check_phases() {
  for (const Barrier* barrier : barriers_) phase_faults_.push_back(check_phase(*barrier));
}

}  // namespace tileopt::proof
