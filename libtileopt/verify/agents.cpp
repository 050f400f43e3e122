#include "verify/agents.h"

#include <algorithm>
#include <map>

namespace tileopt::proof {

bool Execution::is_asynchronous(std::size_t kernel) const {
  const auto here = [&](const auto& item) { return item.kernel == kernel; };
  return std::any_of(syncs.begin(), syncs.end(), here) || std::any_of(roles.begin(), roles.end(), here) ||
         std::any_of(rings.begin(), rings.end(), here) ||
         std::any_of(loops.begin(), loops.end(), [&](const LoopUse& l) { return here(l) && l.is_agent(); }) ||
         std::any_of(leaves.begin(), leaves.end(), [&](const Leaf& l) { return here(l) && l.pipe != nullptr; });
}

std::vector<AgentLoop> agent_loops(const Execution& execution, const Occurrence& occurrence) {
  std::vector<AgentLoop> found;
  std::map<std::string, std::size_t> axes;
  for (std::size_t i = occurrence.loop_ids.size(); i-- > 0;) {
    const LoopUse& loop = execution.loops[occurrence.loop_ids[i]];
    if (loop.is_agent()) found.push_back({loop.node->level, axes[loop.node->level]++, i, loop.node->agents});
  }
  return found;
}

bool may_share_agent(const Occurrence& first, const Occurrence& second) {
  return first.kernel == second.kernel && (!first.role || !second.role || *first.role == *second.role);
}

namespace {

/// The loops say which digit of their agent's number they are.
bool numbered(const std::vector<AgentLoop>& loops) {
  return !loops.empty() && std::all_of(loops.begin(), loops.end(), [](const AgentLoop& loop) { return loop.agents > 0; });
}

std::vector<long> radices_of(const std::vector<AgentLoop>& loops) {
  std::vector<long> result;
  for (const AgentLoop& loop : loops) result.push_back(loop.agents);
  return result;
}

/// Adds the agent's number, times `sign`, to the equation.
isl_constraint* add_number(isl_constraint* equation, isl_dim_type type, const std::vector<AgentLoop>& loops, int sign) {
  int weight = sign;
  for (const AgentLoop& loop : loops) {
    equation = isl_constraint_set_coefficient_si(equation, type, static_cast<int>(loop.position), weight);
    weight *= static_cast<int>(loop.agents);
  }
  return equation;
}

isl::map all_pairs(const Occurrence& first, const Occurrence& second) {
  return isl::manage(isl_map_from_domain_and_range(first.points.copy(), second.points.copy()));
}

isl::map no_pairs(const Occurrence& first, const Occurrence& second) {
  return isl::map::empty(equal_prefix(first.points.space(), second.points.space(), 0).space());
}

}  // namespace

isl::map equal_agents(const Execution& execution, const Occurrence& first, const Occurrence& second) {
  isl_map* pairs = equal_prefix(first.points.space(), second.points.space(), 0).release();
  const std::vector<AgentLoop> mine = agent_loops(execution, first), theirs = agent_loops(execution, second);
  if (numbered(mine) && numbered(theirs) && radices_of(mine) != radices_of(theirs)) {
    isl_constraint* equal = isl_constraint_alloc_equality(isl_local_space_from_space(isl_map_get_space(pairs)));
    equal = add_number(add_number(equal, isl_dim_in, mine, 1), isl_dim_out, theirs, -1);
    return isl::manage(isl_map_add_constraint(pairs, equal));
  }
  for (const AgentLoop& a : mine)
    for (const AgentLoop& b : theirs)
      if (a.level == b.level && a.axis == b.axis)
        pairs = isl_map_equate(pairs, isl_dim_in, static_cast<int>(a.position), isl_dim_out, static_cast<int>(b.position));
  return isl::manage(pairs);
}

isl::map same_agent(const Execution& execution, const Occurrence& first, const Occurrence& second) {
  return all_pairs(first, second).intersect(equal_agents(execution, first, second));
}

bool has_threads(const Execution& execution, const Occurrence& occurrence) {
  if (occurrence.role) return execution.roles[*occurrence.role].threads > 1;
  // Without roles, agent loops say which threads there are: what stands outside of them is run by all, and so is, along the axes that it
  // lacks, what stands in fewer of a level than others do, unless its loops say the agent's number.
  const std::vector<AgentLoop> own = agent_loops(execution, occurrence);
  if (own.empty())
    return std::any_of(execution.loops.begin(), execution.loops.end(),
                       [&](const LoopUse& loop) { return loop.kernel == occurrence.kernel && loop.is_agent(); });
  if (numbered(own)) return false;
  std::map<std::string, std::size_t> axes;
  for (const AgentLoop& loop : own) ++axes[loop.level];
  for (const Leaf& leaf : execution.leaves) {
    if (leaf.kernel != occurrence.kernel || leaf.role) continue;
    for (const AgentLoop& loop : agent_loops(execution, leaf))
      if (axes.count(loop.level) != 0 && loop.axis >= axes.at(loop.level)) return true;
  }
  return false;
}

isl::map in_one_block(const Execution& execution, const Occurrence& first, const Occurrence& second, const isl::map& pairs) {
  const auto is_block = [&](const Occurrence& occurrence, std::size_t position) {
    const LoopUse& loop = execution.loops[occurrence.loop_ids[position]];
    return loop.kind == LevelKind::independent && !loop.node->persistent;
  };
  const auto launch_of = [&](const Occurrence& occurrence) {
    std::size_t position = 0;
    while (position < occurrence.loop_ids.size() && !is_block(occurrence, position)) ++position;
    return position;
  };
  std::size_t shared = 0;
  while (shared < first.loop_ids.size() && shared < second.loop_ids.size() && first.loop_ids[shared] == second.loop_ids[shared]) ++shared;
  const std::size_t launch = launch_of(first), other = launch_of(second);
  if (launch == first.loop_ids.size() && other == second.loop_ids.size()) return pairs;
  if (launch >= shared || other >= shared) return no_pairs(first, second);
  isl_map* kept = pairs.copy();
  for (std::size_t i = 0; i < shared; ++i)
    if (i < launch || is_block(first, i)) kept = isl_map_equate(kept, isl_dim_in, static_cast<int>(i), isl_dim_out, static_cast<int>(i));
  return isl::manage(kept);
}

bool in_other_agents(const Execution& execution, const Occurrence& first, const Occurrence& second, const isl::map& pairs) {
  if (!may_share_agent(first, second) || has_threads(execution, first) || has_threads(execution, second)) return !pairs.is_empty();
  const std::vector<AgentLoop> mine = agent_loops(execution, first), theirs = agent_loops(execution, second);
  if (mine.size() != theirs.size() && !(numbered(mine) && numbered(theirs))) return !pairs.is_empty();
  return !pairs.is_subset(equal_agents(execution, first, second));
}

isl::map program_order(const Execution& execution, const Occurrence& first, const Occurrence& second, std::size_t shared) {
  if (!may_share_agent(first, second)) return no_pairs(first, second);
  // What stands outside of a lifetime's loops is in none of its runs.
  if (shared > first.loops.size() || shared > second.loops.size()) return no_pairs(first, second);
  return before(first, second, shared).intersect(same_agent(execution, first, second)).coalesce();
}

std::size_t block_prefix(const Execution& execution, const Occurrence& first, const Occurrence& second) {
  std::size_t shared = 0, blocks = 0;
  while (shared < first.loop_ids.size() && shared < second.loop_ids.size() && first.loop_ids[shared] == second.loop_ids[shared]) ++shared;
  while (blocks < shared) {
    const LoopUse& loop = execution.loops[first.loop_ids[blocks]];
    if (loop.kind != LevelKind::independent || loop.node->persistent) break;
    ++blocks;
  }
  return blocks;
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
  // From the await backwards: commits have few loops around them, and what is issued has many.
  for (long i = 1; i < commits; ++i) last = next.apply_range(last).coalesce();
  const isl::union_map all = reached.apply_range(last).coalesce();
  return all.is_empty() ? no_pairs(first, await) : all.as_map();
}

isl::map Ordering::awaited(const Leaf& leaf, const Sync& await, std::size_t shared) const {
  if (leaf.pipe == nullptr || leaf.pipe->completion != Completion::group || leaf.pipe->name != await.declared->target ||
      !may_share_agent(leaf, await) || !run_by_all(execution_, await))
    return no_pairs(leaf, await);
  const auto key = std::make_tuple(&leaf, &await, shared);
  const auto known = awaited_.find(key);
  if (known != awaited_.end()) return known->second;
  return awaited_.emplace(key, chain(leaf, await, await.node->pending + 1, shared)).first->second;
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

isl::map Ordering::done_before_sync(const Leaf& leaf, const Sync& sync, std::size_t shared) const {
  if (leaf.pipe == nullptr) return program_order(execution_, leaf, sync, shared);
  isl::map done = no_pairs(leaf, sync);
  for (const Sync& end : execution_.syncs) {
    if (end.kernel != leaf.kernel || &end == &sync || !run_by_all(execution_, end)) continue;
    const isl::map ends = ends_at(leaf, end, shared);
    if (!ends.is_empty()) done = done.unite(ends.apply_range(program_order(execution_, end, sync, shared)));
  }
  return done.coalesce();
}

isl::map Ordering::done_before(const Leaf& first, const Occurrence& second, std::size_t shared, bool private_to_threads) const {
  isl::map ordered = no_pairs(first, second);
  // What one thread does with what is its own is in its program order: meetings add nothing.
  const std::vector<const Sync*> meetings = private_to_threads && first.pipe == nullptr ? std::vector<const Sync*>() : joins(first, second);
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
