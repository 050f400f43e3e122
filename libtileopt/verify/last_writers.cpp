#include "verify/last_writers.h"

namespace tileopt::proof {

isl::map same_element(const isl::map& first, const isl::map& second) {
  return first.apply_range(second.reverse()).detect_equalities();
}

namespace {

/// { R[..] -> W[..] } the last points of one source before each point of the sink.
struct Candidate {
  const Leaf* leaf = nullptr;
  isl::map last;
};

/// The loops of one leaf, outermost first, are its order in time, so the last point is the lexicographically largest. Taking
/// the shared loops one by one keeps every maximisation convex.
isl::map last_of(const TimedAccess& sink, const TimedAccess& source) {
  const isl::map same = same_element(sink.element, source.element);
  isl::map last = isl::map::empty(same.space());
  isl::set open = sink.element.domain();
  for (const isl::map& level : before_by_level(*source.leaf, *sink.leaf)) {
    const isl::map earlier = same.intersect(level.reverse()).intersect_domain(open);
    if (earlier.is_empty()) continue;
    const isl::map found = earlier.lexmax();
    last = last.unite(found);
    open = open.subtract(found.domain()).coalesce();
  }
  return last.coalesce();
}

/// { R[..] : both have a candidate, and the one of `second` is later }
isl::set later_in_second(const Candidate& first, const Candidate& second) {
  const isl::map both = first.last.range_product(second.last);
  return both.intersect_range(before(*first.leaf, *second.leaf).wrap()).domain();
}

}  // namespace

Origin find_last_writers(const TimedAccess& sink, const std::vector<TimedAccess>& sources) {
  std::vector<Candidate> candidates;
  for (const TimedAccess& source : sources) {
    Candidate found{source.leaf, last_of(sink, source)};
    if (found.last.is_empty()) continue;
    for (Candidate& other : candidates) {
      if (found.last.domain().is_disjoint(other.last.domain())) continue;
      const isl::set lost = later_in_second(found, other);
      other.last = isl::manage(isl_map_subtract_domain(other.last.release(), later_in_second(other, found).release()));
      found.last = isl::manage(isl_map_subtract_domain(found.last.release(), lost.copy()));
    }
    candidates.push_back(found);
  }
  Origin origin{poly::empty_union_map(sink.element.ctx()), sink.element};
  isl::set written = isl::set::empty(sink.element.domain().space());
  for (const Candidate& candidate : candidates) {
    origin.writers = origin.writers.unite(candidate.last.coalesce().to_union_map());
    written = written.unite(candidate.last.domain());
  }
  origin.unwritten = isl::manage(isl_map_subtract_domain(sink.element.copy(), written.coalesce().release()));
  return origin;
}

std::vector<std::size_t> LastWriters::leaves_writing(std::size_t array) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < execution_.leaves.size(); ++i)
    if (execution_.leaves[i].write.array == array) found.push_back(i);
  return found;
}

const Origin& LastWriters::of_read(std::size_t leaf, std::size_t slot) {
  const auto key = std::make_pair(leaf, slot);
  const auto known = reads_.find(key);
  if (known != reads_.end()) return known->second;
  const Leaf& reader = execution_.leaves[leaf];
  const PointAccess& access = slot == own_read ? reader.write : reader.reads[slot];
  std::vector<TimedAccess> sources;
  for (const std::size_t i : leaves_writing(access.array)) sources.push_back({&execution_.leaves[i], execution_.leaves[i].write.element});
  return reads_.emplace(key, find_last_writers({&reader, access.element}, sources)).first->second;
}

}  // namespace tileopt::proof
