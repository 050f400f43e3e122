/// races, where agents go on by themselves or what is issued is done later: whoever meets in an element is ordered by
/// happens-before, which is program order, across barriers that join both, and behind the end of what runs asynchronously.
#include <algorithm>

#include "verify/digit_equations.h"
#include "verify/obligations.h"
#include "verify/runs.h"
#include "verify/value_facts.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

struct Touch {
  const Leaf* leaf = nullptr;
  const PointAccess* access = nullptr;
  bool write = false;
};

std::vector<Touch> touches_of(const Leaf& leaf) {
  std::vector<Touch> touches{{&leaf, &leaf.write, true}};
  for (const PointAccess& read : leaf.reads) touches.push_back({&leaf, &read, false});
  return touches;
}

std::string verb(const Touch& touch) { return touch.write ? " writes " : " reads "; }

class HappensBefore {
 public:
  HappensBefore(Checker& checker, std::size_t kernel)
      : checker_(checker), execution_(checker.execution), ordering_(execution_), runs_(execution_), kernel_(kernel) {
    for (std::size_t a = 0; a < execution_.arrays.size(); ++a) touches_.emplace_back();
    for (const Leaf& leaf : execution_.leaves)
      if (leaf.kernel == kernel)
        for (const Touch& touch : touches_of(leaf)) touches_[touch.access->array].push_back(touch);
  }

  void run() {
    check_bindings_read();
    for (std::size_t a = 0; a < execution_.arrays.size(); ++a) {
      if (touches_[a].empty()) continue;
      const ArrayUse& array = execution_.arrays[a];
      const std::string place = array.name + " in kernel " + execution_.kernel_name(kernel_);
      const auto entry = [&](const std::string& subject) {
        return obligation("races", subject + place, {}, kernel_entry(kernel_, "pipeline"));
      };
      if (!array.ring) checker_.report.prove(entry("accesses of "), [&] { return check_array(a); });
      const bool flies =
          std::any_of(touches_[a].begin(), touches_[a].end(), [](const Touch& t) { return t.leaf->pipe != nullptr; });
      if (flies) checker_.report.prove(entry("the end of what is in flight on "), [&] { return check_landed(a); });
    }
  }

 private:
  /// What kind of level owns the array's space; empty: none, or the machine does not say.
  std::optional<LevelKind> owner_of(std::size_t array) const {
    const Array* promoted = execution_.arrays[array].promoted;
    const Space* space = promoted == nullptr ? nullptr : checker_.machine.find_space(promoted->space);
    const Level* level = space == nullptr || space->level.empty() ? nullptr : checker_.machine.find_level(space->level);
    return level == nullptr ? std::nullopt : std::optional(level->kind);
  }

  /// One storage for all lifetimes of the array in a block: a lifetime may start while agents are still in the one before.
  bool is_reused(std::size_t array) const { return owner_of(array) == LevelKind::independent; }

  /// Loops around the lifetime of the array: what happens in other runs of them concerns other elements.
  std::size_t shared_loops(std::size_t array) const {
    const ArrayUse& use = execution_.arrays[array];
    return use.promoted != nullptr && !is_reused(array) ? use.outer_loops : 0;
  }

  /// Registers: every thread has its own part of the array.
  bool is_private(std::size_t array) const {
    const Array* promoted = execution_.arrays[array].promoted;
    return promoted != nullptr && (promoted->space == "register" || owner_of(array) == LevelKind::barrier);
  }

  /// { L[v, b] -> places }: elements, without the loops that tell lifetimes apart where those share their storage.
  isl::map places(std::size_t array, const Touch& touch) const {
    if (!is_reused(array)) return touch.access->element;
    const auto outer = static_cast<unsigned>(execution_.arrays[array].outer_loops);
    return isl::manage(isl_map_project_out(touch.access->element.copy(), isl_dim_out, 0, outer));
  }

  /// Loops over an index from memory read it without being a statement: nothing here may write it.
  void check_bindings_read() const {
    for (const LoopUse& loop : execution_.loops) {
      if (loop.kernel != kernel_ || !loop.node->binding) continue;
      const AstStatement& statement = (*execution_.kernels)[kernel_].statements.at(loop.node->binding->leaf);
      const Obligation entry = obligation("races", "the bound of loop " + loop.node->variable + " in kernel " + execution_.kernel_name(kernel_), {},
                                          kernel_entry(kernel_, "digits[" + loop.node->digit + "]"));
      checker_.report.prove(entry, [&]() -> Outcome {
        for (const auto& [read, subscripts] : loop.node->binding->reads)
          for (const Leaf& leaf : execution_.leaves)
            if (leaf.kernel == kernel_ && leaf.statement->write_array == statement.read_arrays.at(read))
              throw Undecided("agents write " + leaf.statement->write_array + ", from which the bound is read");
        return {};
      });
    }
  }

  Outcome check_array(std::size_t array) {
    for (const Touch& first : touches_[array])
      for (const Touch& second : touches_[array])
        if (first.write || second.write)
          if (Outcome outcome = check_pair(array, first, second)) return outcome;
    return {};
  }

  /// What check_pair shows of points, of their runs: a quick way to "yes".
  bool is_ordered_by_runs(std::size_t array, const Touch& first, const Touch& second, const isl::map& meeting) {
    const Leaf &a = runs_.of(*first.leaf, *second.leaf), &b = runs_.of(*second.leaf, *first.leaf);
    const std::size_t shared = std::max(shared_loops(array), block_prefix(execution_, a, b));
    const isl::map earlier = Runs::of_pairs(meeting, a, b).intersect(before(a, b, shared));
    if (earlier.is_empty()) return true;
    const bool own = is_private(array);
    if (own && first.write && has_threads(execution_, b) && !has_threads(execution_, a)) return false;
    if (own && !earlier.is_subset(equal_agents(execution_, a, b))) return false;
    isl::map ordered = ordering_.done_before(a, b, shared, own);
    if (one_ordered_pipe(first, second)) ordered = ordered.unite(program_order(execution_, a, b, shared));
    return earlier.is_subset(ordered);
  }

  Outcome check_pair(std::size_t array, const Touch& first, const Touch& second) {
    isl::map meeting = places(array, first).apply_range(places(array, second).reverse());
    if (meeting.is_empty()) return {};
    const bool one_role = first.leaf->role == second.leaf->role || !first.leaf->role || !second.leaf->role;
    if (one_role && is_ordered_by_runs(array, first, second, in_one_block(execution_, *first.leaf, *second.leaf, split_equations(meeting)))) return {};
    meeting = in_one_block(execution_, *first.leaf, *second.leaf, meeting);
    const isl::map earlier = meeting.intersect(before(*first.leaf, *second.leaf));
    if (!one_role) return unordered(array, first, second, meeting);
    if (earlier.is_empty()) return {};
    if (is_private(array)) {
      if (first.write && has_threads(execution_, *second.leaf) && !has_threads(execution_, *first.leaf))
        return Refutation{second.leaf->label + verb(second) + execution_.arrays[array].name + " in all agents, where " + first.leaf->label + verb(first) +
                              "it in some",
                          sample(execution_, earlier).text(), second.leaf->where()};
      const isl::map elsewhere = earlier.subtract(same_agent(execution_, *first.leaf, *second.leaf));
      if (!elsewhere.is_empty())
        return Refutation{second.leaf->label + verb(second) + execution_.arrays[array].name +
                              " in registers of another agent, where " + first.leaf->label + " is",
                          sample(execution_, elsewhere).text(), second.leaf->where()};
    }
    isl::map ordered = ordering_.done_before(*first.leaf, *second.leaf, shared_loops(array), is_private(array));
    if (one_ordered_pipe(first, second))
      ordered = ordered.unite(program_order(execution_, *first.leaf, *second.leaf, shared_loops(array)));
    isl::map wrong = earlier.subtract(ordered);
    if (wrong.is_empty()) return {};
    wrong = possible_pairs(wrong, conditions_of(execution_, *first.leaf), conditions_of(execution_, *second.leaf));
    if (wrong.is_empty()) return {};
    if (first.write && second.write && meet_atomically(checker_, *first.leaf, *second.leaf)) return {};
    return unordered(array, first, second, wrong);
  }

  /// An engine that takes what it is given in order needs no wait between two of its own.
  static bool one_ordered_pipe(const Touch& first, const Touch& second) {
    return first.leaf->pipe != nullptr && first.leaf->pipe == second.leaf->pipe && first.leaf->pipe->ordered;
  }

  Outcome unordered(std::size_t array, const Touch& first, const Touch& second, const isl::map& pairs) const {
    const std::string name = execution_.arrays[array].name;
    const std::string what = first.leaf->pipe != nullptr
                                 ? " before " + first.leaf->label + ", which" + verb(first) + "it, is done"
                                 : " with nothing that orders it after " + first.leaf->label + ", which" + verb(first) + "it";
    const Leaf& where = first.leaf->program != nullptr ? *first.leaf : *second.leaf;
    return Refutation{second.leaf->label + verb(second) + name + what, sample(execution_, pairs).text(), where.where()};
  }

  /// Loops around the leaf down to the blocks of its launch: no thread of another block waits for what this one has issued.
  std::size_t block_loops(const Leaf& leaf) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < leaf.loop_ids.size(); ++i) {
      const LoopUse& loop = execution_.loops[leaf.loop_ids[i]];
      if (loop.kind == LevelKind::independent && !loop.node->persistent) count = i + 1;
    }
    return count;
  }

  /// Storage is used again when a lifetime ends: until then, all that was issued is done.
  Outcome check_landed(std::size_t array) const {
    for (const Touch& touch : touches_[array]) {
      if (touch.leaf->pipe == nullptr) continue;
      const isl::set open = touch.access->element.domain().subtract(ordering_.completed(*touch.leaf, std::max(shared_loops(array), block_loops(*touch.leaf))));
      if (open.is_empty()) continue;
      return Refutation{touch.leaf->label + verb(touch) + execution_.arrays[array].name + " and nobody waits until it is done",
                        sample(execution_, open).text(), touch.leaf->where()};
    }
    return {};
  }

  Checker& checker_;
  const Execution& execution_;
  Ordering ordering_;
  Runs runs_;
  std::size_t kernel_;
  std::vector<std::vector<Touch>> touches_;  ///< by array
};

}  // namespace

void check_happens_before(Checker& checker) {
  for (std::size_t k = 0; k < checker.execution.kernels->size(); ++k)
    if (checker.execution.is_asynchronous(k)) HappensBefore(checker, k).run();
}

}  // namespace tileopt::proof
