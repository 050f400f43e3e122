/// text, of synchronisation: the slots, phases, bytes and counts that the printer formed are those of the positions that were
/// proved.
#include <algorithm>

#include "verify/ast_expr_reader.h"
#include "verify/obligations.h"
#include "verify/spaces.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

/// Name of a ring's base in printed expressions.
constexpr const char* kBase = "g0";

Refutation differs(const std::string& what, const std::string& printed, const std::string& wanted) {
  return Refutation{what + " was printed as `" + printed + "` where the Ast has `" + wanted + "`",
                    "printed: " + printed + " | Ast: " + wanted,
                    {}};
}

Outcome same(const std::string& what, const std::string& printed, const std::string& wanted) {
  if (printed == wanted) return {};
  return differs(what, printed, wanted);
}

/// Reads expressions over the loops of an occurrence, the sizes, and the base.
class BaseReader {
 public:
  /// `moves`: the ring goes on from run to run; else its base is 0.
  BaseReader(const Execution& execution, const Occurrence& at, bool moves) {
    std::map<std::string, unsigned> dims;
    for (const std::string& loop : at.loops) dims.emplace(loop, static_cast<unsigned>(dims.size()));
    dims.emplace(kBase, static_cast<unsigned>(at.loops.size()));
    const isl::space space = named_space(*execution.program, at.key, static_cast<unsigned>(at.loops.size() + 1));
    // { E[v, g0] : E[v] runs, g0 >= 0 }
    isl_set* points = isl_set_project_out(at.points.copy(), isl_dim_set, static_cast<unsigned>(at.loops.size()),
                                          static_cast<unsigned>(at.box.size()));
    points = isl_set_reset_tuple_id(points);
    points = isl_set_add_dims(points, isl_dim_set, 1);
    points = isl_set_lower_bound_si(points, isl_dim_set, static_cast<unsigned>(at.loops.size()), 0);
    if (!moves) points = isl_set_upper_bound_si(points, isl_dim_set, static_cast<unsigned>(at.loops.size()), 0);
    points_ = isl::manage(isl_set_set_tuple_name(points, at.key.c_str()));
    reader_.emplace(space, dims);
  }

  /// Equal at every point, whatever the base is.
  bool equal(const std::string& printed, const AstExprPtr& wanted) const {
    const isl::pw_aff have = reader_->value(parse_ast_expr(printed, "print facts"), points_);
    return have.ne_set(reader_->value(wanted, points_)).intersect(points_).is_empty();
  }

 private:
  std::optional<AstExprReader> reader_;
  isl::set points_;
};

AstExprPtr absolute(const AstExprPtr& position) { return ast_operation(AstExpr::Kind::add, {ast_name(kBase), position}); }
AstExprPtr slot_of(const AstExprPtr& position, long slots) {
  return ast_operation(AstExpr::Kind::modulo, {absolute(position), ast_integer(slots)});
}
AstExprPtr phase_of(const AstExprPtr& position, long slots) {
  return ast_operation(AstExpr::Kind::modulo,
                       {ast_operation(AstExpr::Kind::floor_div, {absolute(position), ast_integer(slots)}), ast_integer(2)});
}

Outcome same_value(const Execution& execution, const Occurrence& at, const std::string& what, const std::string& printed,
                   const AstExprPtr& wanted, std::size_t ring) {
  if (printed.empty()) return differs(what, printed, ast_expr_text(wanted));
  if (BaseReader(execution, at, execution.rings[ring].goes_on).equal(printed, wanted)) return {};
  return differs(what, printed, ast_expr_text(wanted));
}

Outcome check_sync(const Execution& execution, const Sync& sync, const PrintFacts::Sync& printed) {
  const Synchronization& declared = *sync.declared;
  if (Outcome o = same("a synchronisation", printed.statement, sync.name)) return o;
  if (Outcome o = same("who runs " + sync.name, printed.elected ? "one thread" : "all threads",
                       declared.elected ? "one thread" : "all threads"))
    return o;
  if (Outcome o = same("the bytes of " + sync.name, std::to_string(printed.bytes), std::to_string(declared.bytes))) return o;
  if (Outcome o =
          same("the groups in flight of " + sync.name, std::to_string(printed.pending), std::to_string(sync.node->pending)))
    return o;
  if (declared.kind == SyncKind::advance)
    return same_value(execution, sync, "the amount of " + sync.name, printed.amount, sync.node->position, *sync.ring);
  if (sync.barrier == nullptr || sync.barrier->scope != BarrierScope::mbarrier) return {};
  const long slots = execution.rings[*sync.ring].declared->slots;
  if (Outcome o = same_value(execution, sync, "the slot of " + sync.name, printed.slot, slot_of(sync.node->position, slots), *sync.ring))
    return o;
  if (declared.kind != SyncKind::wait) return {};
  return same_value(execution, sync, "the phase of " + sync.name, printed.phase, phase_of(sync.node->position, slots), *sync.ring);
}

Outcome check_syncs(const Checker& checker, std::size_t kernel) {
  const std::vector<PrintFacts::Sync>& printed = checker.facts[kernel].syncs;
  std::size_t at = 0;
  for (const Sync& sync : checker.execution.syncs) {
    if (sync.kernel != kernel) continue;
    if (at >= printed.size()) return differs("a synchronisation", "nothing", sync.name);
    if (Outcome outcome = check_sync(checker.execution, sync, printed[at++])) return outcome;
  }
  if (at < printed.size()) return differs("a synchronisation", printed[at].statement, "nothing");
  return {};
}

/// The barrier that an asynchronous leaf signals, by slot.
Outcome check_signals(const Checker& checker, std::size_t kernel) {
  const std::vector<PrintFacts::Leaf>& printed = checker.facts[kernel].leaves;
  std::size_t at = 0;
  for (const Leaf& leaf : checker.execution.leaves) {
    if (leaf.kernel != kernel || at >= printed.size()) continue;
    const PrintFacts::Leaf& fact = printed[at++];
    if (leaf.node->signal_position == nullptr) {
      if (Outcome outcome = same("the signal of " + leaf.label, fact.signal_slot, "")) return outcome;
      continue;
    }
    const Barrier* barrier = (*checker.execution.kernels)[kernel].find_barrier(leaf.statement->signal);
    const Ring* ring = barrier == nullptr ? nullptr : (*checker.execution.kernels)[kernel].find_ring(barrier->ring);
    const auto use = std::find_if(checker.execution.rings.begin(), checker.execution.rings.end(), [&](const RingUse& r) { return r.kernel == kernel && r.declared == ring; });
    if (ring == nullptr || use == checker.execution.rings.end())
      return Refutation{leaf.label + " signals `" + leaf.statement->signal + "`, which is no mbarrier", leaf.label, {}};
    if (Outcome outcome = same_value(checker.execution, leaf, "the signal of " + leaf.label, fact.signal_slot,
                                     slot_of(leaf.node->signal_position, ring->slots), static_cast<std::size_t>(use - checker.execution.rings.begin())))
      return outcome;
  }
  return {};
}

/// Barriers in memory are made ready as they are declared: so many slots, so many arrivals.
Outcome check_phases_ready(const Checker& checker, std::size_t kernel) {
  for (const Barrier& barrier : (*checker.execution.kernels)[kernel].barriers) {
    if (barrier.scope != BarrierScope::mbarrier) continue;
    const Ring* ring = (*checker.execution.kernels)[kernel].find_ring(barrier.ring);
    const auto& printed = checker.facts[kernel].phases;
    const auto found = std::find_if(printed.begin(), printed.end(), [&](const PrintFacts::Phases& p) { return p.barrier == barrier.name; });
    if (ring == nullptr || found == printed.end()) return Refutation{"barrier " + barrier.name + " was not made ready before it is used", barrier.name, {}};
    const auto text = [](long slots, long arrivals) { return std::to_string(slots) + " slots, " + std::to_string(arrivals) + " arrivals"; };
    if (Outcome outcome = same("barrier " + barrier.name, text(found->slots, found->arrivals), text(ring->slots, barrier.arrivals))) return outcome;
  }
  return {};
}

}  // namespace

void check_sync_text(Checker& checker, std::size_t kernel) {
  if (!checker.execution.is_asynchronous(kernel) && checker.facts[kernel].syncs.empty()) return;
  const auto entry = [&](const std::string& what) {
    return obligation("text", what + " of kernel " + checker.execution.kernel_name(kernel), {}, kernel_entry(kernel, ""));
  };
  checker.report.prove(entry("synchronisation"), [&] { return check_syncs(checker, kernel); });
  checker.report.prove(entry("signals"), [&] { return check_signals(checker, kernel); });
  checker.report.prove(entry("barriers"), [&] { return check_phases_ready(checker, kernel); });
}

}  // namespace tileopt::proof
