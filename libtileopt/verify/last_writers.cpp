#include "verify/last_writers.h"

#include <set>

#include "verify/digit_equations.h"
#include "verify/neutral_points.h"

namespace tileopt::proof {

isl::map same_element(const isl::map& first, const isl::map& second) {
  return split_equations(first.apply_range(second.reverse()));
}

namespace {

/// { R[..] -> W[..] } the last points of one source before each point of the sink, at one level.
struct Candidate {
  const Leaf* leaf = nullptr;
  isl::map last;
};

/// { R[..] : both have a candidate, and the one of `second` is later }
isl::set later_in_second(const Candidate& first, const Candidate& second) {
  const isl::map both = first.last.range_product(second.last);
  return both.intersect_range(before(*first.leaf, *second.leaf).wrap()).domain();
}

/// Adds a candidate; where another one of its level is later, that one stays.
void add_candidate(std::vector<Candidate>& candidates, Candidate found) {
  for (Candidate& other : candidates) {
    if (found.last.domain().is_disjoint(other.last.domain())) continue;
    const isl::set lost = later_in_second(found, other);
    const isl::set later = later_in_second(other, found);
    other.last = isl::manage(isl_map_subtract_domain(other.last.release(), later.copy()));
    found.last = isl::manage(isl_map_subtract_domain(found.last.release(), lost.copy()));
  }
  candidates.push_back(std::move(found));
}

/// One source with its relation to the sink by level.
struct Source {
  const Leaf* leaf = nullptr;
  isl::map same;                  ///< { R[..] -> W[..] : same element }
  std::vector<BeforePart> parts;  ///< { W[..] -> R[..] }, highest level first
};

std::vector<Source> prepare(const TimedAccess& sink, const std::vector<TimedAccess>& sources) {
  std::vector<Source> prepared;
  for (const TimedAccess& source : sources)
    prepared.push_back({source.leaf, same_element(sink.element, source.element), before_by_level(*source.leaf, *sink.leaf)});
  return prepared;
}

std::vector<std::size_t> levels_of(const std::vector<Source>& sources) {
  std::set<std::size_t> levels;
  for (const Source& source : sources)
    for (const BeforePart& part : source.parts) levels.insert(part.level);
  return {levels.rbegin(), levels.rend()};
}

/// The loops of one leaf, outermost first, are its order in time, so its last point is the lexicographically largest one.
std::vector<Candidate> candidates_at(std::size_t level, const std::vector<Source>& sources, const isl::set& open) {
  std::vector<Candidate> candidates;
  for (const Source& source : sources)
    for (const BeforePart& part : source.parts) {
      if (part.level != level) continue;
      // A maximum is taken point by point, so `open`, which is seldom convex, may wait until after it.
      const isl::map last = source.same.intersect(part.pairs.reverse()).detect_equalities().lexmax().intersect_domain(open);
      if (!last.is_empty()) add_candidate(candidates, {source.leaf, last});
    }
  return candidates;
}

}  // namespace

/// Level by level: what a high level decides need not be asked at lower ones, and every maximisation stays convex.
Origin find_last_writers(const TimedAccess& sink, const std::vector<TimedAccess>& sources) {
  const std::vector<Source> prepared = prepare(sink, sources);
  Origin origin{poly::empty_union_map(sink.element.ctx()), sink.element};
  isl::set open = sink.element.domain();
  for (const std::size_t level : levels_of(prepared)) {
    if (open.is_empty()) break;
    isl::set found = isl::set::empty(open.space());
    for (const Candidate& candidate : candidates_at(level, prepared, open)) {
      origin.writers = origin.writers.unite(candidate.last.to_union_map());
      found = found.unite(candidate.last.domain());
    }
    open = open.subtract(found).coalesce();
  }
  origin.writers = origin.writers.coalesce();
  origin.unwritten = sink.element.intersect_domain(open);
  return origin;
}

std::vector<std::size_t> LastWriters::leaves_writing(std::size_t array) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < execution_.leaves.size(); ++i)
    if (execution_.leaves[i].write.array == array) found.push_back(i);
  return found;
}

const isl::map& LastWriters::changes(std::size_t leaf) {
  const auto known = changes_.find(leaf);
  if (known != changes_.end()) return known->second;
  isl::map element = execution_.leaves[leaf].write.element;
  if (sums_in_box(execution_.leaves[leaf])) {
    const isl::set neutral = neutral_points(execution_, *this, leaf);
    if (!neutral.is_empty()) element = isl::manage(isl_map_subtract_domain(element.release(), neutral.copy())).coalesce();
  }
  return changes_.emplace(leaf, element).first->second;
}

const Origin& LastWriters::of_read(std::size_t leaf, std::size_t slot) {
  const auto key = std::make_pair(leaf, slot);
  const auto known = reads_.find(key);
  if (known != reads_.end()) return known->second;
  const Leaf& reader = execution_.leaves[leaf];
  const PointAccess& access = slot == own_read ? reader.write : reader.reads[slot];
  std::vector<TimedAccess> sources;
  for (const std::size_t i : leaves_writing(access.array))
    if (!execution_.apart(execution_.leaves[i].kernel, reader.kernel)) sources.push_back({&execution_.leaves[i], changes(i)});
  return reads_.emplace(key, find_last_writers({&reader, access.element}, sources)).first->second;
}

}  // namespace tileopt::proof
