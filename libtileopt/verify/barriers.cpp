/// waits: all threads that a barrier counts reach it, and an await lets no group be in flight that it is taken to have waited
/// for.
#include "verify/obligations.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

/// Who runs the statement: "role consumer", "agent loop t".
std::string narrowed_by(const Execution& execution, const Sync& sync) {
  const auto loops = agent_loops(execution, sync);
  if (!loops.empty()) return "loop " + sync.loops[loops.back().position];
  return sync.role ? "role " + execution.roles[*sync.role].name : "";
}

std::string place_of(const Execution& execution, const Sync& sync) {
  return sync.points.is_empty() ? sync.label : sample(execution, sync.points).text();
}

/// All threads pass a barrier equally often: it stands where nothing but what they all do decides.
Outcome check_uniform(const Execution& execution, const Sync& sync) {
  const Barrier& barrier = *sync.barrier;
  if (sync.points.is_empty() || barrier.scope == BarrierScope::none) return {};
  if (sync.declared->elected)
    return Refutation{"one thread alone waits at barrier " + barrier.name, place_of(execution, sync), {}};
  const std::string narrow = narrowed_by(execution, sync);
  if (barrier.scope == BarrierScope::block && !narrow.empty())
    return Refutation{
        "barrier " + barrier.name + " of the whole block is reached by " + narrow + " alone", place_of(execution, sync), {}};
  if (barrier.scope == BarrierScope::block) return {};
  if (barrier.scope == BarrierScope::mbarrier)
    return Refutation{"barrier " + barrier.name + " is arrived at and waited for, not met at", place_of(execution, sync), {}};
  if (!sync.role)
    return Refutation{"barrier " + barrier.name + " of some threads is reached by all", place_of(execution, sync), {}};
  const RoleUse& role = execution.roles[*sync.role];
  if (role.threads == barrier.arrivals) return {};
  return Refutation{"barrier " + barrier.name + " counts " + std::to_string(barrier.arrivals) +
                        " threads where one agent of role " + role.name + " has " + std::to_string(role.threads),
                    place_of(execution, sync),
                    {}};
}

/// Waits and signals need a barrier with phases.
Outcome check_phased(const Sync& sync) {
  if (sync.barrier->scope == BarrierScope::mbarrier) return {};
  return Refutation{
      sync_kind_name(sync.declared->kind) + " on barrier " + sync.barrier->name + ", which has no phases", sync.label, {}};
}

/// { c -> w : w is taken to have waited for commit c, and does not }
Outcome check_await(const Execution& execution, const Ordering& ordering, const Sync& await) {
  if (!await.ring) return {};
  const std::size_t run = execution.rings[*await.ring].loop_ids.size();
  for (const Sync* commit : ordering.commits(await, await.declared->target)) {
    if (commit->ring != await.ring) continue;
    const isl::map claimed = commit->position->as_map()
                                 .apply_range(await.position->as_map().reverse())
                                 .intersect_domain(commit->points)
                                 .intersect_range(await.points)
                                 .intersect(same_agent(execution, *commit, await))
                                 .intersect(equal_prefix(commit->points.space(), await.points.space(), run));
    const isl::map open = claimed.subtract(ordering.closed_before(*commit, await, run));
    if (open.is_empty()) continue;
    return Refutation{await.label + " allows " + std::to_string(await.node->pending) + " groups in flight, but fewer follow " +
                          commit->label + " of its position",
                      sample(execution, open).text(),
                      {}};
  }
  return {};
}

}  // namespace

void check_barriers(Checker& checker) {
  const Execution& execution = checker.execution;
  const Ordering ordering(execution);
  for (const Sync& sync : execution.syncs) {
    const Obligation entry = obligation("waits", sync.label + " in kernel " + execution.kernel_name(sync.kernel), {},
                                        kernel_entry(sync.kernel, "pipeline"));
    switch (sync.declared->kind) {
      case SyncKind::barrier:
        checker.report.prove(entry, [&] { return check_uniform(execution, sync); });
        break;
      case SyncKind::wait:
      case SyncKind::expect:
      case SyncKind::arrive:
      case SyncKind::release:
        checker.report.prove(entry, [&] { return check_phased(sync); });
        break;
      case SyncKind::await:
        checker.report.prove(entry, [&] { return check_await(execution, ordering, sync); });
        break;
      case SyncKind::commit:
      case SyncKind::fence:
      case SyncKind::open:
      case SyncKind::advance:
        break;
    }
  }
}

}  // namespace tileopt::proof
