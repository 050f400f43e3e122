/// races: iterations of a parallel loop, and the lanes of a vector, never touch the same element unless all only read it.
#include "support/text.h"
#include "verify/obligations.h"
#include "verify/reference_dependences.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

struct TouchedElement {
  const Leaf* leaf = nullptr;
  const PointAccess* access = nullptr;
  bool write = false;
};

std::vector<TouchedElement> touches_of(const Leaf& leaf) {
  std::vector<TouchedElement> touches{{&leaf, &leaf.write, true}};
  for (const PointAccess& read : leaf.reads) touches.push_back({&leaf, &read, false});
  return touches;
}

/// { L[..] -> R[..] : same element }
isl::map meeting(const TouchedElement& first, const TouchedElement& second) {
  return first.access->element.apply_range(second.access->element.reverse());
}

/// Pairs in two different iterations of `loop` under the same outer iterations; the first runs in the lower one.
isl::map different_iterations(const LoopUse& loop, const Leaf& first, const Leaf& second) {
  isl_map* pairs = equal_prefix(first.points.space(), second.points.space(), loop.depth).release();
  const auto position = static_cast<int>(loop.depth);
  return isl::manage(isl_map_order_lt(pairs, isl_dim_in, position, isl_dim_out, position));
}

/// An accumulator of one element per lane (`omp simd reduction`) is merged after the loop.
bool is_lane_reduction(const Execution& execution, const TouchedElement& first, const TouchedElement& second) {
  const ArrayUse& array = execution.array_of(*first.access);
  if (array.promoted == nullptr || array.promoted->space != "register" || array.promoted->elements() != 1) return false;
  const Statement* a = first.leaf->program;
  const Statement* b = second.leaf->program;
  return first.write && second.write && a != nullptr && b != nullptr && a->combine == b->combine &&
         may_reassociate(*execution.program, *a) && may_reassociate(*execution.program, *b);
}

std::string pair_text(const TouchedElement& first, const TouchedElement& second, const ArrayUse& array) {
  const auto verb = [](const TouchedElement& t) { return std::string(t.write ? " writes" : " reads"); };
  return first.leaf->label + verb(first) + " and " + second.leaf->label + verb(second) + " the same element of " + array.name;
}

SourceLocation location(const TouchedElement& first, const TouchedElement& second) {
  return first.leaf->program != nullptr ? first.leaf->where() : second.leaf->where();
}

Outcome check_pair(Checker& checker, const LoopUse& loop, const TouchedElement& first, const TouchedElement& second) {
  if (first.access->array != second.access->array || !(first.write || second.write)) return {};
  const isl::map shared = meeting(first, second).intersect(different_iterations(loop, *first.leaf, *second.leaf));
  if (shared.is_empty()) return {};
  if (loop.kind == LevelKind::lockstep && is_lane_reduction(checker.execution, first, second)) {
    const std::string note = "reassociate: " + first.leaf->program->name;
    const Tensor& target = checker.program().tensor(first.leaf->program->write.tensor);
    if (is_float(target.type) && !contains(checker.numerics, note)) checker.numerics.push_back(note);
    return {};
  }
  return Refutation{"two iterations of loop " + loop.node->variable + ": " +
                        pair_text(first, second, checker.execution.array_of(*first.access)),
                    sample(checker.execution, shared).text(), location(first, second)};
}

Outcome check_loop(Checker& checker, const LoopUse& loop) {
  std::vector<TouchedElement> touches;
  for (const std::size_t leaf : loop.leaves)
    for (const TouchedElement& touch : touches_of(checker.execution.leaves[leaf])) touches.push_back(touch);
  for (const TouchedElement& first : touches)
    for (const TouchedElement& second : touches)
      if (Outcome outcome = check_pair(checker, loop, first, second)) return outcome;
  return {};
}

/// A box is straight-line vector code: it may read all operands before it writes a result.
Outcome check_lanes(const Execution& execution, const Leaf& leaf) {
  const isl::map others = other_box_points(leaf);
  const TouchedElement write{&leaf, &leaf.write, true};
  for (const TouchedElement& touch : touches_of(leaf)) {
    if (touch.access->array != leaf.write.array) continue;
    const isl::map shared = meeting(write, touch).intersect(others);
    if (shared.is_empty()) continue;
    return Refutation{"two box points: " + pair_text(write, touch, execution.array_of(leaf.write)), sample(execution, shared).text(),
                      leaf.where()};
  }
  return {};
}

}  // namespace

void check_races(Checker& checker) {
  const Execution& execution = checker.execution;
  for (const LoopUse& loop : execution.loops) {
    const Obligation entry = obligation("races", "loop " + loop.node->variable + " in kernel " + execution.kernel_name(loop.kernel), {},
                                        kernel_entry(loop.kernel, "digits[" + loop.node->digit + "]"));
    if (!loop.kind) {
      checker.report.skip(entry, "machine " + checker.machine.name + " has no level " + loop.node->level);
      continue;
    }
    switch (*loop.kind) {
      case LevelKind::independent:
      case LevelKind::lockstep:
      case LevelKind::barrier: checker.report.prove(entry, [&] { return check_loop(checker, loop); }); break;
      case LevelKind::sequential:
      case LevelKind::unrolled:
      case LevelKind::atom: break;
    }
  }
  for (const Leaf& leaf : execution.leaves) {
    if (leaf.box.empty()) continue;
    checker.report.prove(obligation("races", "box of " + leaf.label + " in kernel " + execution.kernel_name(leaf.kernel), leaf.where(),
                                    kernel_entry(leaf.kernel, leaf.is_copy() ? "promotions[" + execution.array_of(leaf.write).name + "]"
                                                                             : "atoms[" + leaf.program->name + "]")),
                         [&] { return check_lanes(execution, leaf); });
  }
}

}  // namespace tileopt::proof
