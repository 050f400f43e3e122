/// What happens at which positions of a line: its events, the positions of one run, and how often each is met.
#include <algorithm>

#include "verify/report.h"
#include "verify/ring_line.h"

namespace tileopt::proof {

isl::map loop_prefix(const Occurrence& occurrence, std::size_t count) {
  isl::space points = occurrence.points.space();
  const isl::space prefix = isl::manage(isl_space_add_dims(isl_space_set_from_params(isl_space_params(points.copy())), isl_dim_set, static_cast<unsigned>(count)));
  return equal_prefix(points, prefix, count).intersect_domain(occurrence.points);
}

namespace {

/// { [x] -> [x + shift] }
isl::map shifted(const isl::map& positions, long shift) {
  isl_space* space = isl_space_range(isl_map_get_space(positions.get()));
  isl_multi_aff* move = isl_multi_aff_identity(isl_space_map_from_set(space));
  isl_aff* aff = isl_aff_add_constant_si(isl_multi_aff_get_aff(move, 0), static_cast<int>(shift));
  move = isl_multi_aff_set_aff(move, 0, aff);
  return positions.apply_range(isl::manage(isl_map_from_multi_aff(move)));
}

isl::map from_zero(const isl::map& positions) {
  return isl::manage(isl_map_lower_bound_si(positions.copy(), isl_dim_out, 0, 0));
}

/// The least position of any run of any size; nothing where there is none, or none is the least.
std::optional<long> least_position(const isl::map& positions) {
  const isl::set range = positions.range().project_out_all_params();
  if (range.is_empty()) return {};
  const isl::val least = isl::manage(isl_set_dim_min_val(range.copy(), 0));
  if (!least.is_int()) return {};
  return least.num_si();
}

/// Every position from 0 up to any that is there is there.
bool is_interval_from_zero(const isl::map& positions) {
  if (!from_zero(positions).is_equal(positions)) return false;
  const isl::space space = positions.range().space();
  const isl::map below = isl::manage(isl_map_lex_le(isl_space_copy(space.get())));  // { [k] -> [k'] : k <= k' }
  return from_zero(positions.apply_range(below.reverse())).is_subset(positions);
}

}  // namespace

void RingLine::add(LineEvent::Member member, const std::string& label, bool elected, std::size_t array, bool write) {
  const bool access = member.leaf != nullptr;
  for (LineEvent& event : events_) {
    if (event.label != label || event.role != member.at->role || event.is_access() != access) continue;
    if (access && (event.array != array || event.write != write)) continue;
    event.members.push_back(std::move(member));
    return;
  }
  LineEvent event;
  event.label = label;
  event.role = member.at->role;
  event.elected = elected;
  event.array = array;
  event.write = write;
  event.members.push_back(std::move(member));
  events_.push_back(std::move(event));
}

void RingLine::collect() {
  const auto on_line = [&](const std::optional<std::size_t>& ring) {
    return ring && std::count(rings_.begin(), rings_.end(), *ring) != 0;
  };
  const auto add_access = [&](const Leaf& leaf, const PointAccess& access, bool write) {
    const ArrayUse& array = execution_.array_of(access);
    if (!on_line(array.ring)) return;
    const isl::map position = access.corner.front().as_map().intersect_domain(access.element.domain());
    add({&leaf, &leaf, nullptr, position}, leaf.name + (write ? " writes " : " reads ") + array.name, false, access.array,
        write);
  };
  for (const Leaf& leaf : execution_.leaves) {
    add_access(leaf, leaf.write, true);
    for (const PointAccess& read : leaf.reads) add_access(leaf, read, false);
  }
  for (const Sync& sync : execution_.syncs) {
    if (!on_line(sync.ring) || sync.declared->kind == SyncKind::advance) continue;
    add({&sync, nullptr, &sync, sync.position->as_map().intersect_domain(sync.points)}, sync.name, sync.declared->elected, 0,
        false);
    const bool known = std::count(barriers_.begin(), barriers_.end(), sync.barrier) != 0;
    if (sync.barrier != nullptr && sync.barrier->scope == BarrierScope::mbarrier && !known) barriers_.push_back(sync.barrier);
  }
}

/// { [tile] -> [(k)] }
isl::map RingLine::run_positions(const LineEvent& event) const {
  isl::map all = positions_.is_null() ? isl::map() : isl::map::empty(positions_.space());
  for (const LineEvent::Member& member : event.members) {
    const isl::map some = loop_prefix(*member.at, tile_dims_).reverse().apply_range(member.position);
    all = all.is_null() ? some : all.unite(some);
  }
  return all.coalesce();
}

/// Waits are brought to the positions of the run that they are in; everything else stays where it says it is.
void RingLine::settle_positions() {
  for (const LineEvent& event : events_)
    if (event.is_access() && event.write)
      positions_ = positions_.is_null() ? run_positions(event) : positions_.unite(run_positions(event)).coalesce();
  if (positions_.is_null())
    throw Undecided("no leaf writes an array of ring " + execution_.rings[rings_.front()].declared->name);
  if (!is_interval_from_zero(positions_))
    throw Undecided("the positions of ring " + execution_.rings[rings_.front()].declared->name + " are no interval from 0 on");
  for (LineEvent& event : events_) {
    const isl::map there = run_positions(event);
    event.regular = there.is_equal(positions_);
    // What awaits positions before the first awaits nothing there.
    if (event.is(SyncKind::await) && !goes_on_ && from_zero(there).is_equal(positions_)) event.regular = true;
    if (event.regular || !event.is(SyncKind::wait)) continue;
    std::vector<long> shifts{execution_.rings[*event.members.front().sync->ring].declared->slots};
    if (const std::optional<long> least = least_position(there)) shifts.insert(shifts.begin(), -*least);
    for (const long shift : shifts) {
      // Before position 0 of the only run there is nothing to wait for, so such waits may be left out.
      const isl::map wanted = shifted(positions_, -shift);
      const bool all = there.is_equal(wanted), needed = !goes_on_ && from_zero(there).is_equal(from_zero(wanted));
      if (!all && !needed) continue;
      event.regular = true;
      event.shift = shift;
      for (LineEvent::Member& member : event.members) member.position = shifted(member.position, shift);
      break;
    }
  }
}

namespace {

/// Every value of the relation's domain has a full box of one size: that many.
std::optional<long> uniform_count(const isl::map& relation) {
  const isl::fixed_box hull = relation.range_simple_fixed_box_hull();
  if (!hull.is_valid()) return {};
  long count = 1;
  const int dims = isl_map_dim(relation.get(), isl_dim_out);
  isl::map box = isl::map::universe(relation.space()).intersect_domain(relation.domain());
  for (int d = 0; d < dims; ++d) {
    const isl::val size = hull.size().at(d);
    const isl::pw_aff corner(hull.offset().at(d));
    count *= size.num_si();
    const auto bound = [&](const isl::pw_aff& limit, bool lower) {
      // { x -> y : y_d >= limit(x) } or { y_d < limit(x) }
      isl_map* value = isl_map_from_pw_aff(limit.copy());
      isl_space* one = isl_space_range(isl_map_get_space(value));
      isl_map* order = lower ? isl_map_lex_le(one) : isl_map_lex_gt(one);
      isl_map* range = isl_map_apply_range(value, order);  // { x -> [y_d] }
      isl_map* pick = isl_map_universe(isl_space_map_from_domain_and_range(isl_space_range(isl_map_get_space(relation.get())),
                                                                           isl_space_range(isl_map_get_space(range))));
      pick = isl_map_equate(pick, isl_dim_in, d, isl_dim_out, 0);
      return isl::manage(isl_map_apply_range(range, isl_map_reverse(pick)));
    };
    box = box.intersect(bound(corner, true)).intersect(bound(corner.add_constant(size), false));
  }
  if (!box.is_subset(relation)) return {};
  return count;
}

}  // namespace

std::optional<isl::pw_aff> RingLine::count(const LineEvent& event, long weight) const {
  std::optional<isl::pw_aff> total;
  for (const LineEvent::Member& member : event.members) {
    const isl::map place = loop_prefix(*member.at, tile_dims_).range_product(member.position);  // { E -> [[tile] -> [k]] }
    isl_map* runs = place.reverse().release();
    const auto loops = static_cast<unsigned>(member.at->loops.size());
    // The points of one box are one run.
    const auto dims = static_cast<unsigned>(isl_map_dim(runs, isl_dim_out));
    isl::map times = isl::manage(isl_map_project_out(runs, isl_dim_out, loops, dims - loops)).coalesce();
    if (times.is_empty()) continue;
    const std::optional<long> each = uniform_count(times);
    if (!each) return {};
    isl_val* value = isl_val_int_from_si(times.ctx().get(), *each * weight);
    const isl::pw_aff some = isl::manage(isl_pw_aff_val_on_domain(times.domain().release(), value));
    total = total ? total->union_add(some) : some;
  }
  return total;
}

RingLine::RingLine(const Execution& execution, const Ordering& ordering, std::vector<std::size_t> rings)
    : execution_(execution), ordering_(ordering), rings_(std::move(rings)) {
  tile_dims_ = execution_.rings[rings_.front()].loop_ids.size();
  goes_on_ = execution_.rings[rings_.front()].goes_on;
  collect();
  settle_positions();
  make_nodes();
  check_phases();
  order_events();
  add_edges();
  close();
}

namespace {

/// { [tile] -> [(k)] } at which arrays of a ring are written.
isl::map written_positions(const Execution& execution, std::size_t ring) {
  isl::map all;
  for (const Leaf& leaf : execution.leaves) {
    if (execution.array_of(leaf.write).ring != ring) continue;
    const isl::map position = leaf.write.corner.front().as_map().intersect_domain(leaf.write.element.domain());
    const isl::map some = loop_prefix(leaf, execution.rings[ring].loop_ids.size()).reverse().apply_range(position);
    all = all.is_null() ? some : all.unite(some);
  }
  if (all.is_null()) throw Undecided("no leaf writes an array of ring " + execution.rings[ring].declared->name);
  return all.coalesce();
}

}  // namespace

std::vector<RingLine> find_lines(const Execution& execution, const Ordering& ordering, std::size_t kernel) {
  std::vector<std::vector<std::size_t>> together;
  for (std::size_t r = 0; r < execution.rings.size(); ++r) {
    if (execution.rings[r].kernel != kernel) continue;
    const auto aligned = std::find_if(together.begin(), together.end(), [&](const std::vector<std::size_t>& rings) {
      return execution.rings[rings.front()].loop_ids == execution.rings[r].loop_ids &&
             written_positions(execution, rings.front()).is_equal(written_positions(execution, r));
    });
    if (aligned == together.end())
      together.push_back({r});
    else
      aligned->push_back(r);
  }
  std::vector<RingLine> lines;
  lines.reserve(together.size());
  for (const std::vector<std::size_t>& rings : together) lines.emplace_back(execution, ordering, rings);
  return lines;
}

}  // namespace tileopt::proof
