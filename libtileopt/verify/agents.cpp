#include "verify/agents.h"

#include <algorithm>

namespace tileopt::proof {

bool Execution::is_asynchronous(std::size_t kernel) const {
  const auto here = [&](const auto& item) { return item.kernel == kernel; };
  return std::any_of(syncs.begin(), syncs.end(), here) || std::any_of(roles.begin(), roles.end(), here) ||
         std::any_of(rings.begin(), rings.end(), here) ||
         std::any_of(loops.begin(), loops.end(), [&](const LoopUse& l) { return here(l) && l.is_agent(); }) ||
         std::any_of(leaves.begin(), leaves.end(), [&](const Leaf& l) { return here(l) && l.pipe != nullptr; });
}

std::vector<std::pair<std::string, std::size_t>> agent_loops(const Execution& execution, const Occurrence& occurrence) {
  std::vector<std::pair<std::string, std::size_t>> found;
  for (std::size_t i = 0; i < occurrence.loop_ids.size(); ++i) {
    const LoopUse& loop = execution.loops[occurrence.loop_ids[i]];
    if (loop.is_agent()) found.emplace_back(loop.node->digit, i);
  }
  return found;
}

bool may_share_agent(const Occurrence& first, const Occurrence& second) {
  return first.kernel == second.kernel && (!first.role || !second.role || *first.role == *second.role);
}

namespace {

/// Positions of one digit's loop around both.
struct SharedAgents {
  std::size_t first = 0, second = 0;
};

std::vector<SharedAgents> shared_agents(const Execution& execution, const Occurrence& first, const Occurrence& second) {
  std::vector<SharedAgents> found;
  for (const auto& [digit, i] : agent_loops(execution, first))
    for (const auto& [other, j] : agent_loops(execution, second))
      if (digit == other) found.push_back({i, j});
  return found;
}

isl::map all_pairs(const Occurrence& first, const Occurrence& second) {
  return isl::manage(isl_map_from_domain_and_range(first.points.copy(), second.points.copy()));
}

isl::map no_pairs(const Occurrence& first, const Occurrence& second) {
  return isl::map::empty(equal_prefix(first.points.space(), second.points.space(), 0).space());
}

}  // namespace

isl::map same_agent(const Execution& execution, const Occurrence& first, const Occurrence& second) {
  isl_map* pairs = all_pairs(first, second).release();
  for (const SharedAgents& shared : shared_agents(execution, first, second))
    pairs = isl_map_equate(pairs, isl_dim_in, static_cast<int>(shared.first), isl_dim_out, static_cast<int>(shared.second));
  return isl::manage(pairs);
}

bool has_threads(const Execution& execution, const Occurrence& occurrence) {
  if (occurrence.role) return execution.roles[*occurrence.role].threads > 1;
  // Without roles, agent loops say which threads there are: what stands outside of them is run by all.
  return agent_loops(execution, occurrence).empty() &&
         std::any_of(execution.loops.begin(), execution.loops.end(),
                     [&](const LoopUse& loop) { return loop.kernel == occurrence.kernel && loop.is_agent(); });
}

isl::map other_agents(const Execution& execution, const Occurrence& first, const Occurrence& second) {
  const isl::map pairs = all_pairs(first, second);
  if (!may_share_agent(first, second) || has_threads(execution, first) || has_threads(execution, second)) return pairs;
  if (agent_loops(execution, first).size() != agent_loops(execution, second).size()) return pairs;
  return pairs.subtract(same_agent(execution, first, second));
}

isl::map program_order(const Execution& execution, const Occurrence& first, const Occurrence& second, std::size_t shared) {
  if (!may_share_agent(first, second)) return no_pairs(first, second);
  isl::map pairs = before(first, second).intersect(same_agent(execution, first, second));
  if (shared > 0) pairs = pairs.intersect(equal_prefix(first.points.space(), second.points.space(), shared));
  return pairs.coalesce();
}

bool joins_block(const Execution& execution, const Sync& sync) {
  return sync.declared->kind == SyncKind::barrier && sync.barrier->scope == BarrierScope::block && !sync.declared->elected &&
         !sync.role && agent_loops(execution, sync).empty();
}

bool joins_agent(const Execution& execution, const Sync& sync) {
  if (joins_block(execution, sync)) return true;
  const bool meets =
      sync.barrier != nullptr && (sync.barrier->scope == BarrierScope::named || sync.barrier->scope == BarrierScope::warp);
  return sync.declared->kind == SyncKind::barrier && meets && !sync.declared->elected && sync.role &&
         sync.barrier->arrivals == execution.roles[*sync.role].threads;
}

std::vector<const Sync*> Ordering::joins(const Occurrence& first, const Occurrence& second) const {
  const bool one_agent = first.role && first.role == second.role && agent_loops(execution_, first).empty() &&
                         agent_loops(execution_, second).empty();
  std::vector<const Sync*> found;
  for (const Sync& sync : execution_.syncs) {
    if (sync.kernel != first.kernel) continue;
    if (joins_block(execution_, sync) || (one_agent && sync.role == first.role && joins_agent(execution_, sync)))
      found.push_back(&sync);
  }
  return found;
}

bool run_by_all(const Execution& execution, const Sync& sync) {
  return !sync.declared->elected || !has_threads(execution, sync);
}

std::vector<const Sync*> Ordering::commits(const Occurrence& occurrence, const std::string& pipe) const {
  std::vector<const Sync*> found;
  for (const Sync& sync : execution_.syncs)
    if (sync.declared->kind == SyncKind::commit && sync.declared->target == pipe && may_share_agent(occurrence, sync) &&
        run_by_all(execution_, sync))
      found.push_back(&sync);
  return found;
}

/// { first -> await : at least `commits` commits of the await's pipe lie between }, commits >= 1
isl::map Ordering::chain(const Occurrence& first, const Sync& await, long commits, std::size_t shared) const {
  const std::vector<const Sync*> closing = this->commits(await, await.declared->target);
  isl::union_map reached = poly::empty_union_map(first.points.ctx()), next = reached, last = reached;
  for (const Sync* commit : closing) {
    reached = reached.unite(program_order(execution_, first, *commit, shared).to_union_map());
    last = last.unite(program_order(execution_, *commit, await, shared).to_union_map());
    if (commits < 2) continue;
    for (const Sync* later : closing) next = next.unite(program_order(execution_, *commit, *later, shared).to_union_map());
  }
  for (long i = 1; i < commits; ++i) reached = reached.apply_range(next).coalesce();
  const isl::union_map all = reached.apply_range(last).coalesce();
  return all.is_empty() ? no_pairs(first, await) : all.as_map();
}

isl::map Ordering::awaited(const Leaf& leaf, const Sync& await, std::size_t shared) const {
  if (leaf.pipe == nullptr || leaf.pipe->completion != Completion::group || leaf.pipe->name != await.declared->target ||
      !may_share_agent(leaf, await) || !run_by_all(execution_, await))
    return no_pairs(leaf, await);
  return chain(leaf, await, await.node->pending + 1, shared);
}

isl::map Ordering::closed_before(const Sync& commit, const Sync& await, std::size_t shared) const {
  if (!may_share_agent(commit, await)) return no_pairs(commit, await);
  if (await.node->pending == 0) return program_order(execution_, commit, await, shared);
  return chain(commit, await, await.node->pending, shared);
}

isl::map Ordering::signalled(const Leaf& leaf, const Sync& wait, std::size_t shared) const {
  const bool meets = leaf.signal && wait.barrier != nullptr && wait.barrier->name == leaf.statement->signal && wait.position &&
                     leaf.kernel == wait.kernel;
  if (!meets) return no_pairs(leaf, wait);
  const isl::map same = leaf.signal->as_map().apply_range(wait.position->as_map().reverse());
  return same.intersect(equal_prefix(leaf.points.space(), wait.points.space(), shared))
      .intersect_domain(leaf.points)
      .intersect_range(wait.points);
}

isl::map Ordering::ends_at(const Leaf& leaf, const Sync& sync, std::size_t shared) const {
  if (sync.declared->kind == SyncKind::await) return awaited(leaf, sync, shared);
  if (sync.declared->kind != SyncKind::wait || !sync.ring) return no_pairs(leaf, sync);
  return signalled(leaf, sync, std::max(shared, execution_.rings[*sync.ring].loop_ids.size()));
}

isl::set Ordering::completed(const Leaf& leaf, std::size_t shared) const {
  isl::set done = isl::set::empty(leaf.points.space());
  for (const Sync& sync : execution_.syncs)
    if (sync.kernel == leaf.kernel) done = done.unite(ends_at(leaf, sync, shared).domain());
  return done.coalesce();
}

isl::map Ordering::done_before(const Leaf& first, const Occurrence& second, std::size_t shared, bool private_to_threads) const {
  isl::map ordered = no_pairs(first, second);
  const std::vector<const Sync*> meetings = joins(first, second);
  const bool one_thread = private_to_threads || !(has_threads(execution_, first) || has_threads(execution_, second));
  // { end of `first` -> second }: in the thread that sees the end, or behind a barrier.
  const auto onwards = [&](const Occurrence& end, const isl::map& reached, bool seen_by_all) {
    if (one_thread && seen_by_all) ordered = ordered.unite(reached.apply_range(program_order(execution_, end, second, shared)));
    for (const Sync* join : meetings)
      if (&end != join)
        ordered = ordered.unite(reached.apply_range(program_order(execution_, end, *join, shared))
                                    .apply_range(program_order(execution_, *join, second, shared)));
  };
  if (first.pipe == nullptr) {
    isl_map* identity = isl_set_identity(first.points.copy());
    onwards(first, isl::manage(identity), true);
    return ordered.coalesce();
  }
  for (const Sync& sync : execution_.syncs) {
    if (sync.kernel != first.kernel) continue;
    const isl::map ends = ends_at(first, sync, shared);
    if (!ends.is_empty()) onwards(sync, ends, run_by_all(execution_, sync));
  }
  return ordered.coalesce();
}

}  // namespace tileopt::proof
