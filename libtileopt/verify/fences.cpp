/// races, where a pipe sees memory and registers in its own way: between what agents write and what an atom of a fenced pipe reads stands a
/// fence of each writer, then a meeting; between what an agent does to registers and what the pipe does to them stands an open.
#include <algorithm>

#include "verify/digit_equations.h"
#include "verify/obligations.h"
#include "verify/runs.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

struct Met {
  const Leaf* leaf;
  const PointAccess* access;
};

bool is_private(const Execution& execution, const PointAccess& access) {
  const ArrayUse& use = execution.array_of(access);
  return use.promoted != nullptr && use.promoted->space == "register";
}

/// What orders runs before those of one leaf: from a fence over a meeting, or from an open, on to the leaf. Few loops stand around the
/// statements between, so that the way is composed from its end.
class Ways {
 public:
  /// With the first `shared` loop values equal all the way.
  Ways(const Execution& execution, const Ordering& ordering, const Leaf& second, bool own, std::size_t shared) : ordering_(ordering), shared_(shared) {
    for (const Sync& sync : execution.syncs) {
      if (sync.kernel != second.kernel || sync.declared->target != second.pipe->name || sync.declared->kind != (own ? SyncKind::open : SyncKind::fence)) continue;
      if (!run_by_all(execution, sync)) continue;
      isl::map onwards = own ? program_order(execution, sync, second, shared) : isl::map::empty(equal_prefix(sync.points.space(), second.points.space(), 0).space());
      if (!own)
        for (const Sync* meeting : ordering.joins(second, second))
          if (const isl::map reached = program_order(execution, sync, *meeting, shared); !reached.is_empty()) onwards = onwards.unite(reached.apply_range(program_order(execution, *meeting, second, shared)));
      if (!onwards.is_empty()) ways_.emplace_back(&sync, onwards.coalesce());
    }
  }

  /// The pairs that no way leads between.
  isl::map without(isl::map pairs, const Leaf& first) const {
    for (const auto& [sync, onwards] : ways_) {
      if (pairs.is_empty()) return pairs;
      const isl::map reached = ordering_.done_before_sync(first, *sync, shared_);
      if (!reached.is_empty()) pairs = pairs.subtract(reached.apply_range(onwards));
    }
    return pairs;
  }

 private:
  const Ordering& ordering_;
  std::size_t shared_;
  std::vector<std::pair<const Sync*, isl::map>> ways_;
};

Outcome check_pair(const Execution& execution, const Ordering& ordering, Runs& runs, const Met& first, const Met& second) {
  isl::map meeting = first.access->element.apply_range(second.access->element.reverse());
  const bool own = is_private(execution, *second.access);
  // Of runs: a quick way to "yes".
  const Leaf &a = runs.of(*first.leaf, *second.leaf), &b = runs.of(*second.leaf, *first.leaf);
  const std::size_t shared = block_prefix(execution, a, b);
  const isl::map on_runs = Runs::of_pairs(in_one_block(execution, *first.leaf, *second.leaf, split_equations(meeting)), a, b);
  if (Ways(execution, ordering, b, own, shared).without(on_runs.intersect(before(a, b, shared)), a).is_empty()) return {};
  meeting = in_one_block(execution, *first.leaf, *second.leaf, meeting).intersect(before(*first.leaf, *second.leaf));
  const isl::map open = Ways(execution, ordering, *second.leaf, own, 0).without(meeting, *first.leaf);
  if (open.is_empty()) return {};
  return Refutation{second.leaf->label + " on pipe " + second.leaf->pipe->name + " may miss what " + first.leaf->label + (own ? " has done to registers of " : " has written to ") +
                        execution.array_of(*second.access).name + ": no " + (own ? "open" : "fence and meeting") + " stands between",
                    sample(execution, open).text(), second.leaf->where()};
}

}  // namespace

void check_fences_of_pipes(Checker& checker) {
  const Execution& execution = checker.execution;
  const Ordering ordering(execution);
  Runs runs(execution);
  for (const Leaf& leaf : execution.leaves) {
    if (leaf.pipe == nullptr || !leaf.pipe->fenced) continue;
    std::vector<const PointAccess*> touched = {&leaf.write};
    for (const PointAccess& read : leaf.reads) touched.push_back(&read);
    for (const PointAccess* access : touched) {
      const ArrayUse& array = execution.array_of(*access);
      // Engines behind a fence see each other's work.
      const auto is_ordinary = [&](const Leaf& writer) { return writer.kernel == leaf.kernel && writer.write.array == access->array && (writer.pipe == nullptr || !writer.pipe->fenced); };
      if (array.promoted == nullptr && std::none_of(execution.leaves.begin(), execution.leaves.end(), is_ordinary)) continue;
      checker.report.prove(obligation("races", "what " + leaf.label + " sees of " + array.name + " in kernel " + execution.kernel_name(leaf.kernel), leaf.where(),
                                      kernel_entry(leaf.kernel, "atoms[" + leaf.statement->statement + "]")),
                           [&]() -> Outcome {
                             for (const Leaf& writer : execution.leaves)
                               if (is_ordinary(writer))
                                 if (Outcome outcome = check_pair(execution, ordering, runs, {&writer, &writer.write}, {&leaf, access})) return outcome;
                             return {};
                           });
    }
  }
}

}  // namespace tileopt::proof
