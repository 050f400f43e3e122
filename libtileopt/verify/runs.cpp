#include "verify/runs.h"

#include <algorithm>
#include <string>

#include "verify/agents.h"

namespace tileopt::proof {

namespace {

std::size_t shared_loops(const Occurrence& first, const Occurrence& second) {
  std::size_t shared = 0;
  while (shared < first.loop_ids.size() && shared < second.loop_ids.size() && first.loop_ids[shared] == second.loop_ids[shared]) ++shared;
  return shared;
}

isl_map* project_side(isl_map* map, isl_dim_type side, std::size_t kept, const std::string& name) {
  const auto dims = static_cast<std::size_t>(isl_map_dim(map, side));
  if (dims > kept) map = isl_map_project_out(map, side, static_cast<unsigned>(kept), static_cast<unsigned>(dims - kept));
  return isl_map_set_tuple_name(map, side, name.c_str());
}

}  // namespace

std::size_t Runs::loops_that_order(const Leaf& leaf, const Leaf& other) const {
  std::size_t count = shared_loops(leaf, other);
  for (const Sync& sync : execution_.syncs)
    if (sync.kernel == leaf.kernel) count = std::max(count, shared_loops(leaf, sync));
  for (const AgentLoop& loop : agent_loops(execution_, leaf)) count = std::max(count, loop.position + 1);
  // Blocks, and loops around lifetimes, tell pairs of launches and of runs apart.
  for (std::size_t i = 0; i < leaf.loop_ids.size(); ++i)
    if (execution_.loops[leaf.loop_ids[i]].kind == LevelKind::independent) count = std::max(count, i + 1);
  for (const PointAccess& read : leaf.reads) count = std::max(count, std::min(leaf.loops.size(), execution_.array_of(read).outer_loops));
  return std::max(count, std::min(leaf.loops.size(), execution_.array_of(leaf.write).outer_loops));
}

const Leaf& Runs::of(const Leaf& leaf, const Leaf& other) {
  const std::size_t count = loops_that_order(leaf, other);
  const auto key = std::make_pair(&leaf, count);
  const auto found = known_.find(key);
  if (found != known_.end()) return *found->second;
  return *known_.emplace(key, std::make_unique<Leaf>(outer_part(leaf, count))).first->second;
}

Leaf Runs::outer_part(const Leaf& leaf, std::size_t count) {
  Leaf part = leaf;
  const auto dims = static_cast<std::size_t>(isl_set_dim(leaf.points.get(), isl_dim_set));
  if (dims == count) return part;
  if (leaf.signal) {
    const isl::map signal = isl::manage(project_side(leaf.signal->as_map().intersect_domain(leaf.points).release(), isl_dim_in, count, leaf.key));
    // A box whose points are counted in several positions stays as it is.
    if (!signal.is_single_valued()) return part;
    part.signal = signal.as_pw_multi_aff().at(0);
  }
  isl_set* points = isl_set_project_out(leaf.points.copy(), isl_dim_set, static_cast<unsigned>(count), static_cast<unsigned>(dims - count));
  part.points = isl::manage(isl_set_set_tuple_name(points, leaf.key.c_str())).coalesce();
  part.loops.resize(count);
  part.loop_ids.resize(count);
  part.box.clear();
  return part;
}

isl::map Runs::of_pairs(const isl::map& pairs, const Leaf& first, const Leaf& second) {
  isl_map* kept = project_side(pairs.copy(), isl_dim_in, static_cast<std::size_t>(isl_set_dim(first.points.get(), isl_dim_set)), first.key);
  return isl::manage(project_side(kept, isl_dim_out, static_cast<std::size_t>(isl_set_dim(second.points.get(), isl_dim_set)), second.key)).coalesce();
}

}  // namespace tileopt::proof
