#include "verify/last_writers.h"

#include <algorithm>

#include "verify/witness.h"

namespace tileopt::proof {

namespace {

/// Time entry `position` of an access; the reader at the end comes after every kernel.
TimeEntry entry(const Execution& execution, const TimedAccess& access, std::size_t position) {
  if (access.leaf == nullptr)
    return TimeEntry{false, position == 0 ? static_cast<long>(execution.kernels->size()) : 0, 0};
  return position < access.leaf->time.size() ? access.leaf->time[position] : TimeEntry{};
}

/// Positions that tell any two of the accesses apart: isl's flow analysis pays for every one.
std::vector<std::size_t> telling_positions(const Execution& execution, const std::vector<TimedAccess>& accesses, std::size_t first) {
  std::size_t depth = 1;
  for (const TimedAccess& access : accesses)
    if (access.leaf != nullptr) depth = std::max(depth, access.leaf->time.size());
  std::vector<std::size_t> positions;
  for (std::size_t p = first; p < depth; ++p) {
    const TimeEntry head = entry(execution, accesses.front(), p);
    const bool same = std::all_of(accesses.begin(), accesses.end(), [&](const TimedAccess& access) {
      const TimeEntry e = entry(execution, access, p);
      return !e.is_loop && !head.is_loop && e.position == head.position;
    });
    if (!same) positions.push_back(p);
  }
  return positions;
}

/// { X[..] -> [time at `positions`] }
isl::map order_of(const Execution& execution, const TimedAccess& access, const std::vector<std::size_t>& positions) {
  isl_space* space = isl_space_from_domain(access.element.domain().space().release());
  isl_local_space* local = isl_local_space_from_space(access.element.domain().space().release());
  space = isl_space_add_dims(space, isl_dim_out, static_cast<unsigned>(positions.size()));
  isl_multi_aff* time = isl_multi_aff_zero(space);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const TimeEntry e = entry(execution, access, positions[i]);
    isl_aff* value = e.is_loop ? isl_aff_var_on_domain(isl_local_space_copy(local), isl_dim_set, static_cast<unsigned>(e.loop))
                               : isl_aff_val_on_domain(isl_local_space_copy(local),
                                                       isl_val_int_from_si(execution.context.ctx().get(), e.position));
    time = isl_multi_aff_set_aff(time, static_cast<int>(i), value);
  }
  isl_local_space_free(local);
  return isl::manage(isl_map_from_multi_aff(time));
}

isl::map piece_with_domain(const isl::union_map& all, const isl::map& like) {
  isl::map found = isl::map::empty(like.space());
  for (const isl::map& piece : poly::sorted_maps(all))
    if (poly::input_name(piece) == poly::input_name(like)) found = found.unite(piece);
  return found;
}

}  // namespace

Origin find_last_writers(const Execution& execution, const TimedAccess& sink, const std::vector<TimedAccess>& sources,
                         std::size_t first_time) {
  Origin origin;
  origin.writers = poly::empty_union_map(execution.context.ctx());
  origin.unwritten = sink.element;
  if (sources.empty() || sink.element.is_empty()) return origin;
  std::vector<TimedAccess> all = sources;
  all.push_back(sink);
  const std::vector<std::size_t> positions = telling_positions(execution, all, first_time);
  isl::union_map order = poly::empty_union_map(execution.context.ctx());
  isl::union_map writes = order;
  for (const TimedAccess& access : all) order = order.unite(order_of(execution, access, positions).to_union_map());
  for (const TimedAccess& source : sources) writes = writes.unite(source.element.to_union_map());
  order = order.intersect_domain(writes.domain().unite(sink.element.domain().to_union_set()));
  const poly::Flow flow = poly::compute_flow(sink.element.to_union_map(), writes, isl::union_map(), isl::union_map(), order);
  origin.writers = flow.must.reverse();
  origin.unwritten = piece_with_domain(flow.no_source, sink.element);
  return origin;
}

std::vector<std::size_t> LastWriters::leaves_writing(std::size_t array) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < execution_.leaves.size(); ++i)
    if (execution_.leaves[i].write.array == array) found.push_back(i);
  return found;
}

std::vector<TimedAccess> LastWriters::sources(std::size_t array) const {
  std::vector<TimedAccess> found;
  for (const std::size_t i : leaves_writing(array)) found.push_back({&execution_.leaves[i], execution_.leaves[i].write.element});
  return found;
}

const Origin& LastWriters::of_read(std::size_t leaf, std::size_t slot) {
  const auto key = std::make_pair(leaf, slot);
  const auto known = reads_.find(key);
  if (known != reads_.end()) return known->second;
  const Leaf& reader = execution_.leaves[leaf];
  const PointAccess& access = slot == own_read ? reader.write : reader.reads[slot];
  const std::size_t first = execution_.arrays[access.array].outer_times;
  return reads_.emplace(key, find_last_writers(execution_, {&reader, access.element}, sources(access.array), first)).first->second;
}

isl::map final_reads(const Execution& execution, std::size_t array) {
  const ArrayUse& use = execution.arrays[array];
  const isl::set elements = use.elements.intersect_params(execution.context);
  isl_map* identity = isl_set_identity(elements.copy());
  return isl::manage(isl_map_set_tuple_name(identity, isl_dim_in, final_name(use.name).c_str()));
}

const Origin& LastWriters::at_end(std::size_t array) {
  const auto known = ends_.find(array);
  if (known != ends_.end()) return known->second;
  return ends_.emplace(array, find_last_writers(execution_, {nullptr, final_reads(execution_, array)}, sources(array), 0)).first->second;
}

}  // namespace tileopt::proof
