/// lifetimes: arrays that share bytes of a region are not alive at the same time, in one kernel or across the kernels of a
/// module.
#include <algorithm>

#include "verify/obligations.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

/// Storage that a printer gave to a promoted array of a kernel, or to a local tensor of the module.
struct Stored {
  std::size_t kernel = 0;
  const PrintFacts::Buffer* buffer = nullptr;
  bool tensor = false;

  /// A local tensor, whose bytes depend on the sizes, has the rest of its region.
  bool before(const Stored& other) const { return !tensor && buffer->offset + buffer->bytes <= other.buffer->offset; }
  std::string name(const Execution& execution) const {
    return buffer->array + (tensor ? "" : " of kernel " + execution.kernel_name(kernel));
  }
};

bool overlap(const Stored& first, const Stored& second) {
  return first.buffer->region == second.buffer->region && !first.before(second) && !second.before(first);
}

struct Touch {
  const Leaf* leaf = nullptr;
  isl::map element;  ///< { L[v, b] -> X[o, x] }
  std::size_t array = 0;
};

std::vector<Touch> touches_of(const Execution& execution, const Stored& stored) {
  std::vector<Touch> touches;
  const auto add = [&](const Leaf& leaf, const PointAccess& access) {
    const ArrayUse& array = execution.array_of(access);
    if (array.name != stored.buffer->array || stored.tensor != (array.promoted == nullptr)) return;
    if (stored.tensor || array.kernel == stored.kernel) touches.push_back({&leaf, access.element, access.array});
  };
  for (const Leaf& leaf : execution.leaves) {
    add(leaf, leaf.write);
    for (const PointAccess& read : leaf.reads) add(leaf, read);
  }
  return touches;
}

/// { A -> A' : the two touch one lifetime of the array }: the loops around its allocation have equal values.
isl::map one_lifetime(const Execution& execution, const Touch& first, const Touch& second) {
  if (first.array != second.array)
    return isl::map::empty(equal_prefix(first.leaf->points.space(), second.leaf->points.space(), 0).space());
  return equal_prefix(first.leaf->points.space(), second.leaf->points.space(), execution.arrays[first.array].outer_loops)
      .intersect_domain(first.element.domain())
      .intersect_range(second.element.domain());
}

/// A point of `other` between two points of one lifetime of `kept`: what lies there is lost.
Outcome check_kept(const Execution& execution, const Stored& kept, const Stored& other) {
  const std::vector<Touch> mine = touches_of(execution, kept), theirs = touches_of(execution, other);
  for (const Touch& first : mine)
    for (const Touch& last : mine) {
      const isl::map lifetime = one_lifetime(execution, first, last);
      if (lifetime.is_empty()) continue;
      for (const Touch& between : theirs) {
        const isl::map after =
            before(*first.leaf, *between.leaf).intersect_domain(lifetime.domain()).intersect_range(between.element.domain());
        if (after.is_empty()) continue;
        const isl::map inside = after.apply_range(before(*between.leaf, *last.leaf)).intersect(lifetime);
        if (inside.is_empty()) continue;
        const isl::map reached = after.intersect_domain(inside.domain());
        return Refutation{other.name(execution) + " lies on bytes of " + kept.name(execution) + " while that is alive",
                          sample(execution, reached).text() + " | then " + last.leaf->label, between.leaf->where()};
      }
    }
  return {};
}

/// Time says nothing where iterations run at once: two arrays that both outlive a parallel loop and are used in it are alive
/// together.
Outcome check_parallel(const Execution& execution, const Stored& first, const Stored& second) {
  for (const Touch& a : touches_of(execution, first))
    for (const Touch& b : touches_of(execution, second))
      for (std::size_t depth = 0; depth < a.leaf->loop_ids.size() && depth < b.leaf->loop_ids.size(); ++depth) {
        const LoopUse& use = execution.loops[a.leaf->loop_ids[depth]];
        const bool at_once = use.kind != LevelKind::sequential && use.kind != LevelKind::unrolled;
        const bool outlive = execution.arrays[a.array].outer_loops <= depth && execution.arrays[b.array].outer_loops <= depth;
        if (a.leaf->loop_ids[depth] != b.leaf->loop_ids[depth] || !at_once || !outlive) continue;
        return Refutation{first.buffer->array + " and " + second.buffer->array + " share bytes below loop " +
                              use.node->variable + ", whose iterations run at once",
                          a.leaf->label + " | " + b.leaf->label,
                          {}};
      }
  return {};
}

/// In the memory of a block, whose agents go on by themselves: the order of the loops says nothing of what they use at once.
bool of_a_block(const Checker& checker, const Stored& stored) {
  const Space* space = checker.machine.find_space(stored.buffer->space);
  const Level* owner = space == nullptr ? nullptr : checker.machine.find_level(space->level);
  return owner != nullptr && owner->kind == LevelKind::independent;
}

std::vector<Stored> stored_arrays(const Checker& checker) {
  std::vector<Stored> all;
  for (std::size_t k = 0; k < checker.facts.size() && k < checker.execution.kernels->size(); ++k)
    for (const PrintFacts::Buffer& buffer : checker.facts[k].buffers) {
      const bool tensor = checker.program().has_tensor(buffer.array);
      const bool again = std::any_of(all.begin(), all.end(), [&](const Stored& s) {
        return (tensor || s.kernel == k) && s.tensor == tensor && s.buffer->array == buffer.array &&
               s.buffer->region == buffer.region && s.buffer->offset == buffer.offset;
      });
      if (!buffer.region.empty() && !again) all.push_back({k, &buffer, tensor});
    }
  return all;
}

}  // namespace

void check_lifetimes(Checker& checker) {
  const Execution& execution = checker.execution;
  const std::vector<Stored> stored = stored_arrays(checker);
  for (std::size_t i = 0; i < stored.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (!overlap(stored[i], stored[j])) continue;
      const std::string subject = stored[j].name(execution) + " and " + stored[i].name(execution);
      checker.report.prove(
          obligation("lifetimes", subject, {}, kernel_entry(stored[i].kernel, "promotions[" + stored[i].buffer->array + "]")),
          [&]() -> Outcome {
            if (stored[i].kernel == stored[j].kernel && execution.is_asynchronous(stored[i].kernel))
              throw Undecided("they are used in one kernel whose agents go on by themselves");
            if (of_a_block(checker, stored[i])) throw Undecided("they are used in one block, whose agents go on by themselves");
            if (Outcome outcome = check_kept(execution, stored[j], stored[i])) return outcome;
            if (Outcome outcome = check_kept(execution, stored[i], stored[j])) return outcome;
            return check_parallel(execution, stored[j], stored[i]);
          });
    }
}

}  // namespace tileopt::proof
