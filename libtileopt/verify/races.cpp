/// races: iterations of a parallel loop, and the lanes of a vector, never touch the same element unless all only read it.
#include <algorithm>

#include "support/text.h"
#include "verify/obligations.h"
#include "verify/reference_dependences.h"
#include "verify/value_facts.h"
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

/// `omp simd reduction` keeps one accumulator a lane and merges them after the loop. That is right for a register of one
/// element, and for an element that the loop's only leaf keeps in a variable meanwhile.
bool is_lane_reduction(const Execution& execution, const LoopUse& loop, const TouchedElement& first, const TouchedElement& second) {
  const Statement* a = first.leaf->program;
  const Statement* b = second.leaf->program;
  if (!first.write || !second.write || a == nullptr || b == nullptr || a->combine != b->combine) return false;
  if (a->combine == Combine::monoid) return false;  // no printed clause merges the lanes of a monoid
  if (!may_reassociate(*execution.program, *a) || !may_reassociate(*execution.program, *b)) return false;
  const Array* array = execution.array_of(*first.access).promoted;
  const bool one_register = array != nullptr && array->space == "register" && array->elements() == 1;
  return one_register || loop.leaves.size() == 1;
}

/// Its update is one step for all agents that see the element: in memory, or in a copy that the agents of a block share, of the tensor's own type.
bool is_atomic(const Checker& checker, const Leaf& leaf) {
  if (leaf.program == nullptr || !leaf.box.empty()) return false;
  const Atom* atom = checker.machine.find_atom(leaf.statement->atom);
  if (atom == nullptr || atom->body != "atomic_update") return false;
  const Array* copy = checker.execution.array_of(leaf.write).promoted;
  return copy == nullptr || (checker.machine.is_of_block(copy->space) && copy->element == checker.program().tensor(leaf.program->write.tensor).type);
}
}  // namespace

bool meet_atomically(Checker& checker, const Leaf& first, const Leaf& second) {
  if (!is_atomic(checker, first) || !is_atomic(checker, second)) return false;
  const Statement& a = *first.program;
  const Statement& b = *second.program;
  if (a.combine == Combine::assign || a.combine == Combine::monoid || update_class(a) != update_class(b)) return false;
  const Program& program = checker.program();
  const ElementType type = program.tensor(a.write.tensor).type;
  if (type == ElementType::i4 || type == ElementType::u4) return false;  // no instruction wraps at four bits
  if (!may_reassociate(program, a) || !may_reassociate(program, b)) return false;
  for (const Statement* statement : {&a, &b}) {
    const std::string note = "reassociate: " + statement->name;
    if (order_rounds(program, *statement) && !contains(checker.numerics, note)) checker.numerics.push_back(note);
  }
  return true;
}

namespace {

void note_lane_reduction(Checker& checker, std::size_t loop, const TouchedElement& touch) {
  const Statement& statement = *touch.leaf->program;
  const LaneReduction found{loop, touch.access->array, statement.combine};
  auto& known = checker.lane_reductions;
  if (std::find(known.begin(), known.end(), found) == known.end()) known.push_back(found);
  const std::string note = "reassociate: " + statement.name;
  const bool rounds = order_rounds(checker.program(), statement);
  if (rounds && !contains(checker.numerics, note)) checker.numerics.push_back(note);
}

std::string pair_text(const TouchedElement& first, const TouchedElement& second, const ArrayUse& array) {
  const auto verb = [](const TouchedElement& t) { return std::string(t.write ? " writes" : " reads"); };
  return first.leaf->label + verb(first) + " and " + second.leaf->label + verb(second) + " the same element of " + array.name;
}

SourceLocation location(const TouchedElement& first, const TouchedElement& second) {
  return first.leaf->program != nullptr ? first.leaf->where() : second.leaf->where();
}

Outcome check_pair(Checker& checker, std::size_t index, const TouchedElement& first, const TouchedElement& second) {
  const LoopUse& loop = checker.execution.loops[index];
  if (first.access->array != second.access->array || !(first.write || second.write)) return {};
  isl::map shared = meeting(first, second).intersect(different_iterations(loop, *first.leaf, *second.leaf));
  if (shared.is_empty()) return {};
  shared = possible_pairs(shared, conditions_of(checker.execution, *first.leaf), conditions_of(checker.execution, *second.leaf));
  if (shared.is_empty()) return {};
  if (loop.kind == LevelKind::independent && first.write && second.write && meet_atomically(checker, *first.leaf, *second.leaf)) return {};
  if (loop.kind == LevelKind::lockstep && is_lane_reduction(checker.execution, loop, first, second)) {
    note_lane_reduction(checker, index, first);
    return {};
  }
  return Refutation{"two iterations of loop " + loop.node->variable + ": " +
                        pair_text(first, second, checker.execution.array_of(*first.access)),
                    sample(checker.execution, shared).text(), location(first, second)};
}

/// The workspace is one block of memory: an array that lives there has one storage, whichever loop it is allocated in.
Outcome check_workspace(const Execution& execution, std::size_t index) {
  const LoopUse& loop = execution.loops[index];
  if (loop.kind != LevelKind::independent) return {};
  for (const std::size_t leaf : loop.leaves)
    for (const TouchedElement& touch : touches_of(execution.leaves[leaf])) {
      const ArrayUse& array = execution.array_of(*touch.access);
      if (array.promoted == nullptr || array.promoted->space != "workspace" || array.outer_loops <= loop.depth) continue;
      return Refutation{"workspace array " + array.name + " is allocated inside parallel loop " + loop.node->variable +
                            ", so all threads share it",
                        sample(execution, touch.access->element).text(), {}};
    }
  return {};
}

Outcome check_loop(Checker& checker, std::size_t index) {
  if (Outcome outcome = check_workspace(checker.execution, index)) return outcome;
  const LoopUse& loop = checker.execution.loops[index];
  std::vector<TouchedElement> touches;
  for (const std::size_t leaf : loop.leaves)
    for (const TouchedElement& touch : touches_of(checker.execution.leaves[leaf])) touches.push_back(touch);
  for (const TouchedElement& first : touches)
    for (const TouchedElement& second : touches)
      if (Outcome outcome = check_pair(checker, index, first, second)) return outcome;
  return {};
}

/// An atom that combines its lanes, or adds up its products, reads, combines and writes the element that they share once.
bool is_reduced(Checker& checker, const Leaf& leaf) {
  const Atom* atom = leaf.program == nullptr ? nullptr : checker.machine.find_atom(leaf.statement->atom);
  if (atom == nullptr) return false;
  const Combine combine = leaf.program->combine;
  const bool of_lanes = combine == Combine::sum || combine == Combine::prod || combine == Combine::min || combine == Combine::max;
  const bool in_turn = checker.machine.vector_bytes == 0 && combine == Combine::monoid;  // by one thread, point after point
  const bool combines = (atom->body == "reduce" && (of_lanes || in_turn)) || (atom->body == "dot" && combine == Combine::sum);
  if (!combines || !may_reassociate(checker.program(), *leaf.program)) return false;
  const std::string note = "reassociate: " + leaf.program->name;
  if (order_rounds(checker.program(), *leaf.program) && !contains(checker.numerics, note)) checker.numerics.push_back(note);
  return true;
}

/// A box is straight-line vector code: it may read all operands before it writes a result.
Outcome check_lanes(Checker& checker, const Leaf& leaf) {
  const Execution& execution = checker.execution;
  const isl::map others = other_box_points(leaf);
  const TouchedElement write{&leaf, &leaf.write, true};
  for (const TouchedElement& touch : touches_of(leaf)) {
    if (touch.access->array != leaf.write.array) continue;
    const isl::map shared = meeting(write, touch).intersect(others);
    if (shared.is_empty() || (touch.write && is_reduced(checker, leaf))) continue;
    return Refutation{"two box points: " + pair_text(write, touch, execution.array_of(leaf.write)), sample(execution, shared).text(),
                      leaf.where()};
  }
  return {};
}

}  // namespace

void check_races(Checker& checker) {
  const Execution& execution = checker.execution;
  for (std::size_t i = 0; i < execution.loops.size(); ++i) {
    const LoopUse& loop = execution.loops[i];
    const Obligation entry = obligation("races", "loop " + loop.node->variable + " in kernel " + execution.kernel_name(loop.kernel), {},
                                        kernel_entry(loop.kernel, "digits[" + loop.node->digit + "]"));
    if (!loop.kind) {
      checker.report.skip(entry, "machine " + checker.machine.name + " has no level " + loop.node->level);
      continue;
    }
    switch (*loop.kind) {
      case LevelKind::independent:
      case LevelKind::lockstep: checker.report.prove(entry, [&] { return check_loop(checker, i); }); break;
      case LevelKind::barrier:  // agents that meet at barriers: check_happens_before
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
                         [&] { return check_lanes(checker, leaf); });
  }
}

}  // namespace tileopt::proof
