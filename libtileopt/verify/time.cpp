/// Order in time between the points of two leaves, from the loops that they share and the place where they part.
#include "support/error.h"
#include "verify/execution.h"

namespace tileopt::proof {

isl::map equal_prefix(const isl::space& first, const isl::space& second, std::size_t count) {
  isl_space* space = isl_space_map_from_domain_and_range(first.copy(), second.copy());
  isl_map* map = isl_map_universe(space);
  for (std::size_t i = 0; i < count; ++i)
    map = isl_map_equate(map, isl_dim_in, static_cast<int>(i), isl_dim_out, static_cast<int>(i));
  return isl::manage(map);
}

namespace {

/// Where two leaves part: after `loops` shared loops, the first is at an earlier (-1), the same (0) or a later (1) position.
struct Parting {
  std::size_t loops = 0;
  int order = 0;
};

Parting find_parting(const Occurrence& first, const Occurrence& second) {
  Parting parting;
  for (std::size_t p = 0; p < first.time.size() && p < second.time.size(); ++p) {
    const TimeEntry& a = first.time[p];
    const TimeEntry& b = second.time[p];
    TILEOPT_CHECK(a.is_loop == b.is_loop, "leaves " + first.label + " and " + second.label + " part without a position");
    if (a.is_loop) {
      ++parting.loops;
    } else if (a.position != b.position) {
      parting.order = a.position < b.position ? -1 : 1;
      break;
    }
  }
  return parting;
}

/// Pairs whose first `loops` loop values decide the order: first before second where `forward`, else second before first;
/// `equal_too` adds the pairs with all of them equal. Sharing one more loop value, or the same ones and the place after them in
/// the sequence too, is one level higher.
std::vector<BeforePart> lexicographic(const Occurrence& first, const Occurrence& second, std::size_t loops, bool forward, bool equal_too) {
  const isl::space a = first.points.space(), b = second.points.space();
  std::vector<BeforePart> parts;
  if (equal_too) parts.push_back({2 * loops, equal_prefix(a, b, loops)});
  for (std::size_t i = loops; i-- > 0;) {
    const auto position = static_cast<int>(i);
    isl_map* piece = equal_prefix(a, b, i).release();
    parts.push_back({2 * i + 1, isl::manage(forward ? isl_map_order_lt(piece, isl_dim_in, position, isl_dim_out, position)
                                                    : isl_map_order_gt(piece, isl_dim_in, position, isl_dim_out, position))});
  }
  return parts;
}

isl::map unite(const Occurrence& first, const Occurrence& second, const std::vector<BeforePart>& parts, std::size_t shared) {
  const isl::space a = first.points.space(), b = second.points.space();
  isl::map all = isl::map::empty(equal_prefix(a, b, 0).space());
  for (const BeforePart& part : parts) {
    const std::size_t equal = part.level / 2;
    const bool decided_there = part.level % 2 == 1;
    if (equal < shared && decided_there) continue;
    all = all.unite(equal < shared ? part.pairs.intersect(equal_prefix(a, b, shared)) : part.pairs);
  }
  return all;
}

}  // namespace

std::vector<BeforePart> before_by_level(const Occurrence& first, const Occurrence& second) {
  const Parting parting = find_parting(first, second);
  return lexicographic(first, second, parting.loops, true, parting.order < 0);
}

isl::map before(const Occurrence& first, const Occurrence& second, std::size_t shared) {
  return unite(first, second, before_by_level(first, second), shared);
}

isl::map not_before(const Occurrence& first, const Occurrence& second, std::size_t shared) {
  const Parting parting = find_parting(first, second);
  return unite(first, second, lexicographic(first, second, parting.loops, false, parting.order >= 0), shared);
}

isl::map other_box_points(const Leaf& leaf) {
  const isl::space space = leaf.points.space();
  isl::map pairs = isl::map::empty(equal_prefix(space, space, 0).space());
  for (std::size_t d = 0; d < leaf.box.size(); ++d) {
    const auto position = static_cast<int>(leaf.loops.size() + d);
    isl_map* piece = equal_prefix(space, space, leaf.loops.size() + d).release();
    piece = isl_map_order_lt(piece, isl_dim_in, position, isl_dim_out, position);
    pairs = pairs.unite(isl::manage(piece));
  }
  return pairs.unite(pairs.reverse());
}

}  // namespace tileopt::proof
