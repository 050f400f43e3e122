/// values: every read of every instance gets the value that it has in the Program, and so does every element at the end.
///
/// The *intended* run executes the Program's instances in the time of the printed kernels, each on the Program's own
/// elements; `order` proves that it computes what the Program computes. Here the printed run, with its copies and promoted
/// arrays, is proved to move the same values: for every read, the last writer of the element it touches, followed through
/// copies back to a computation (or to an initial element), is the last writer in the intended run.
#include <functional>
#include <set>

#include "support/text.h"
#include "verify/obligations.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

/// One read of a compute leaf: of its `reads`, or the own read of a reduction.
struct Slot {
  std::size_t leaf = 0;
  std::size_t number = 0;           ///< LastWriters::own_read for own reads
  const Access* access = nullptr;   ///< in the Program
  const PointAccess* point = nullptr;
  isl::map intended;                ///< { L[v, b] -> T[x] } for the points whose value matters
};

isl::map intended_elements(const Leaf& leaf, const Access& access) {
  return leaf.instance.intersect_domain(leaf.inside).apply_range(access.index.as_map());
}

class ValueChecker {
 public:
  explicit ValueChecker(Checker& checker) : checker_(checker), execution_(checker.execution) {}

  void run() {
    for (std::size_t i = 0; i < execution_.leaves.size(); ++i) check_body(execution_.leaves[i]);
    for (std::size_t t = 0; t < checker_.program().tensors().size(); ++t) check_tensor(t);
  }

 private:
  const Tensor& tensor(std::size_t index) const { return checker_.program().tensors()[index]; }

  std::vector<Slot> slots_of(const std::string& tensor) const {
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < execution_.leaves.size(); ++i) {
      const Leaf& leaf = execution_.leaves[i];
      if (leaf.is_copy()) continue;
      const Statement& statement = *leaf.program;
      for (std::size_t r = 0; r < statement.reads.size(); ++r)
        if (statement.reads[r].tensor == tensor)
          slots.push_back({i, r, &statement.reads[r], &leaf.reads[r], intended_elements(leaf, statement.reads[r])});
      if (statement.updates() && statement.write.tensor == tensor && !replaces_content(leaf))
        slots.push_back({i, LastWriters::own_read, &statement.write, &leaf.write, intended_elements(leaf, statement.write)});
    }
    return slots;
  }

  /// A guarded assignment to an array that lives inside the bound loops that settle its guards: where it has no effect, that array
  /// is never opened, so it has no old content to keep.
  bool replaces_content(const Leaf& leaf) const {
    const ArrayUse& array = execution_.array_of(leaf.write);
    return leaf.program->combine == Combine::assign && array.promoted != nullptr && guards_settled_outside(execution_, leaf, array.outer_loops);
  }

  std::string slot_name(const Slot& slot) const {
    const Leaf& leaf = execution_.leaves[slot.leaf];
    const ArrayUse& array = execution_.array_of(*slot.point);
    const std::string verb = slot.number == LastWriters::own_read ? " updates " : " reads ";
    return leaf.label + verb + slot.access->tensor + (array.promoted != nullptr ? " in " + array.name : "");
  }

  // ---- types and index values of a leaf

  bool keeps_values(ElementType from, ElementType to) const { return from == to || widens_exactly(from, to); }
  ElementType type_of(const PointAccess& access) const {
    const ArrayUse& array = execution_.array_of(access);
    return array.promoted != nullptr ? array.promoted->element : array.tensor->type;
  }

  Outcome check_type(const Leaf& leaf, const PointAccess& access, ElementType needed) const {
    if (keeps_values(needed, type_of(access))) return {};
    return Refutation{leaf.label + " keeps " + type_name(needed) + " values in " + execution_.array_of(access).name + " of type " +
                          type_name(type_of(access)),
                      execution_.array_of(access).name + ": " + type_name(type_of(access)), {}};
  }

  Outcome check_copy_types(const Leaf& leaf) const {
    const ElementType from = type_of(leaf.reads[0]), to = type_of(leaf.write);
    const bool exact = leaf.kind == LeafKind::copy_in ? keeps_values(from, to) : keeps_values(to, from);
    if (exact) return {};
    return Refutation{leaf.label + " copies " + type_name(from) + " to " + type_name(to),
                      execution_.array_of(leaf.reads[0]).name + " -> " + execution_.array_of(leaf.write).name, {}};
  }

  Outcome check_indices(const Leaf& leaf) const {
    for (std::size_t x = 0; x < leaf.indices.size(); ++x) {
      const isl::map printed = leaf.indices[x].as_map().intersect_domain(leaf.inside);
      const isl::map wanted = leaf.instance.intersect_domain(leaf.inside).apply_range(leaf.program->indices[x].as_map());
      const isl::map wrong = printed.subtract(wanted);
      if (!wrong.is_empty())
        return Refutation{"index value " + std::to_string(x) + " of " + leaf.label + " is wrong", sample(execution_, wrong).text(), {}};
    }
    return {};
  }

  void check_body(const Leaf& leaf) {
    checker_.report.prove(obligation("values", "types and index values of " + leaf.label + " in kernel " +
                                                   execution_.kernel_name(leaf.kernel),
                                     leaf.where(), kernel_entry(leaf.kernel, "")),
                          [&]() -> Outcome {
                            if (leaf.is_copy()) return check_copy_types(leaf);
                            const Program& program = checker_.program();
                            if (Outcome o = check_type(leaf, leaf.write, program.tensor(leaf.program->write.tensor).type)) return o;
                            for (std::size_t r = 0; r < leaf.reads.size(); ++r)
                              if (Outcome o = check_type(leaf, leaf.reads[r], program.tensor(leaf.program->reads[r].tensor).type))
                                return o;
                            return check_indices(leaf);
                          });
  }

  // ---- one tensor

  void check_tensor(std::size_t index) {
    const Tensor& subject = tensor(index);
    const std::vector<Slot> slots = slots_of(subject.name);
    std::optional<bool> in_place;
    checker_.report.prove(entry(subject.name + " in place", subject.where), [&]() -> Outcome {
      if (Outcome outcome = check_written(index)) return outcome;
      if (Outcome outcome = check_initialised(index)) return outcome;
      in_place = is_in_place(index);
      if (!*in_place) return {};
      for (const Slot& slot : slots)
        if (slot.point->array == index)
          if (Outcome outcome = check_direct(slot)) return outcome;
      return {};
    });
    if (!in_place) return;
    for (const Slot& slot : slots)
      if (!*in_place || slot.point->array != index)
        checker_.report.prove(entry(slot_name(slot), slot.access->where), [&] { return check_slot(index, slot); });
    const bool visible = subject.role == TensorRole::out || subject.role == TensorRole::inout;
    if (visible && !*in_place)
      check_finals(index);
  }

  /// What a version stores has an obligation of its own: the limits are of one kernel's work.
  void check_finals(std::size_t index) {
    const std::string what = "final content of " + tensor(index).name;
    const auto is_version = [&](std::size_t kernel) { return !(*execution_.kernels)[kernel].when.empty(); };
    checker_.report.prove(entry(what, tensor(index).where), [&]() -> Outcome {
      if (Outcome outcome = check_all_stored(index)) return outcome;
      return check_stored(index, [&](std::size_t kernel) { return !is_version(kernel); });
    });
    std::set<std::size_t> versions;
    for (const std::size_t store : checker_.writers.leaves_writing(index))
      if (is_version(execution_.leaves[store].kernel)) versions.insert(execution_.leaves[store].kernel);
    for (const std::size_t version : versions)
      checker_.report.prove(entry(what + " in kernel " + execution_.kernel_name(version), tensor(index).where), [&] { return check_stored(index, [&](std::size_t kernel) { return kernel == version; }); });
  }

  static Obligation entry(const std::string& subject, const SourceLocation& where) { return obligation("values", subject, where, ""); }

  /// { T[x] } that the Program writes.
  isl::set intended_writes(const std::string& name) const {
    isl::set elements = isl::set::empty(checker_.program().tensor(name).elements(checker_.program().ctx()).space());
    for (const Statement& statement : checker_.program().statements())
      if (statement.write.tensor == name)
        elements = elements.unite(statement.write.index.as_map().intersect_domain(statement.domain).intersect_params(execution_.context).range());
    return elements;
  }

  /// Copies may write back only elements that the Program writes.
  Outcome check_written(std::size_t index) const {
    const Tensor& subject = tensor(index);
    for (const Leaf& leaf : execution_.leaves) {
      if (leaf.write.array != index || leaf.points.is_empty()) continue;
      if (subject.role == TensorRole::in)
        return Refutation{leaf.label + " writes the input " + subject.name, sample(execution_, leaf.write.element).text(), leaf.where()};
      if (!leaf.is_copy()) continue;
      const isl::set extra = leaf.write.element.range().subtract(intended_writes(subject.name));
      if (extra.is_empty()) continue;
      return Refutation{leaf.label + " writes an element of " + subject.name + " that the program does not write",
                        sample(execution_, leaf.write.element.intersect_range(extra)).text(), {}};
    }
    return {};
  }

  /// What the Program reads of `out` and local tensors has been written before (in the Program's own order).
  Outcome check_initialised(std::size_t index) const {
    const Tensor& subject = tensor(index);
    if (subject.role == TensorRole::in || subject.role == TensorRole::inout) return {};
    // Whether a conditional write happens only a run can tell.
    for (const Statement& statement : checker_.program().statements())
      if (statement.write.tensor == subject.name && statement.conditional()) return {};
    isl::union_map writes = poly::empty_union_map(checker_.program().ctx()), reads = writes;
    for (const Statement& statement : checker_.program().statements()) {
      const isl::set domain = statement.domain.intersect_params(execution_.context);
      const auto relation = [&](const Access& access) { return access.index.as_map().intersect_domain(domain).to_union_map(); };
      const bool target = statement.write.tensor == subject.name;
      if (target) writes = writes.unite(relation(statement.write));
      if (target && statement.combine != Combine::assign) reads = reads.unite(relation(statement.write));
      for (const Access& read : statement.reads)
        if (read.tensor == subject.name) reads = reads.unite(relation(read));
    }
    if (reads.is_empty()) return {};
    const isl::union_map unset =
        poly::compute_flow(reads, writes, isl::union_map(), isl::union_map(), checker_.program().original_order()).no_source;
    if (unset.is_empty()) return {};
    return Refutation{"the program reads an element of " + subject.name + " that it never wrote", sample(execution_, unset).text(), {}};
  }

  /// True where the tensor itself always holds what it holds in the intended run: every statement that writes it writes it
  /// directly, at the right element, and nobody else does.
  bool is_in_place(std::size_t index) const {
    for (const Leaf& leaf : execution_.leaves) {
      const bool writes = leaf.write.array == index;
      const bool should = leaf.program != nullptr && leaf.program->write.tensor == tensor(index).name;
      if (writes != should && !leaf.points.is_empty()) return false;
      if (!should) continue;
      if (!leaf.padding.is_empty()) return false;
      if (!leaf.write.element.is_subset(intended_elements(leaf, leaf.program->write))) return false;
    }
    return true;
  }

  Outcome check_direct(const Slot& slot) const {
    const isl::map wrong = slot.point->element.intersect_domain(slot.intended.domain()).subtract(slot.intended);
    if (wrong.is_empty()) return {};
    return Refutation{slot_name(slot) + ": another element than the program's",
                      difference(execution_, wrong.to_union_map(), slot.intended.to_union_map(), Tuples::elements), slot.access->where};
  }

  // ---- through copies

  isl::union_map initial(const isl::map& unwritten) const {
    return isl::manage(isl_map_set_tuple_name(unwritten.copy(), isl_dim_out, initial_name(poly::output_name(unwritten)).c_str()))
        .to_union_map();
  }

  bool is_tensor(const isl::map& elements) const { return checker_.program().has_tensor(poly::output_name(elements)); }

  isl::union_map with_initial(const Origin& origin) const {
    return is_tensor(origin.unwritten) ? origin.writers.unite(initial(origin.unwritten)) : origin.writers;
  }

  /// { copy[v, b] -> whoever made the value that it copies }
  const isl::union_map& copied_from(std::size_t leaf) {
    const auto known = copied_.find(leaf);
    if (known != copied_.end()) return known->second;
    const Leaf& copy = execution_.leaves[leaf];
    isl::union_map from = with_initial(checker_.writers.of_read(leaf, 0));
    if (!copy.zeroed.is_empty()) {
      isl_space* zero = isl_space_set_alloc(execution_.context.ctx().get(), 0, 0);
      zero = isl_space_align_params(isl_space_set_tuple_name(zero, isl_dim_set, zero_name), copy.points.space().release());
      from = from.unite(isl::manage(isl_map_from_domain_and_range(copy.zeroed.copy(), isl_set_universe(zero))).to_union_map());
    }
    return copied_.emplace(leaf, from).first->second;
  }

  std::size_t copy_leaf(const std::string& key) const {
    for (std::size_t i = 0; i < execution_.leaves.size(); ++i)
      if (execution_.leaves[i].key == key && execution_.leaves[i].is_copy()) return i;
    return execution_.leaves.size();
  }

  /// Where values come from, as far as it was found: of some readers the copies may have no end.
  struct Chased {
    isl::union_map sources;
    bool complete = true;

    /// What was found is right; without the rest that decides nothing.
    Outcome settle() const {
      if (!complete) throw Undecided("a value passes through more copies than there are promoted arrays");
      return {};
    }
  };

  /// Follows copies back until only computations, initial elements and zeros are left. A value passes every promoted array at
  /// most once on its way from a computation to a read, and once more on its way through the tensor.
  Chased chase(isl::union_map pending) {
    isl::union_map settled = poly::empty_union_map(execution_.context.ctx());
    const std::size_t rounds = 2 * (execution_.arrays.size() - checker_.program().tensors().size() + 1);
    for (std::size_t round = 0; round <= rounds; ++round) {
      isl::union_map next = poly::empty_union_map(execution_.context.ctx());
      for (const isl::map& step : poly::sorted_maps(pending)) {
        const std::size_t copy = copy_leaf(poly::output_name(step));
        if (copy == execution_.leaves.size()) settled = settled.unite(step.to_union_map());
        else next = next.unite(step.to_union_map().apply_range(copied_from(copy)));
      }
      if (next.is_empty()) return {settled, true};
      pending = next;
    }
    return {settled, false};
  }

  /// In kernels that run where kernel `reader` does.
  std::vector<TimedAccess> intended_writers(std::size_t index, std::size_t reader) const {
    std::vector<TimedAccess> writers;
    for (const Leaf& leaf : execution_.leaves)
      if (leaf.program != nullptr && leaf.program->write.tensor == tensor(index).name && !execution_.apart(leaf.kernel, reader))
        writers.push_back({&leaf, intended_elements(leaf, leaf.program->write)});
    return writers;
  }

  /// { point of a compute leaf -> S[i] }, initial elements and zeros to themselves.
  isl::union_map to_instances(const isl::union_map& sources) const {
    isl::union_map result = poly::empty_union_map(execution_.context.ctx());
    for (const isl::map& piece : poly::sorted_maps(sources)) {
      const Leaf* writer = nullptr;
      for (const Leaf& leaf : execution_.leaves)
        if (leaf.key == poly::output_name(piece)) writer = &leaf;
      result = result.unite((writer == nullptr ? piece : piece.apply_range(writer->instance)).to_union_map());
    }
    return result;
  }

  Outcome compare(const isl::set& readers, const Chased& chased, const isl::union_map& intended, const SourceLocation& where) const {
    const isl::union_map& actual = chased.sources;
    const isl::union_set unset = readers.to_union_set().subtract(actual.domain());
    if (chased.complete && !unset.is_empty()) return Refutation{"nobody wrote the value", sample(execution_, unset.as_set()).text(), where};
    if (actual.is_subset(intended)) return chased.settle();
    const isl::union_map wrong = to_instances(actual).subtract(to_instances(intended));
    if (wrong.is_empty()) return chased.settle();
    return Refutation{"the value comes from elsewhere", difference(execution_, wrong, to_instances(intended), Tuples::instances), where};
  }

  Outcome check_slot(std::size_t index, const Slot& slot) {
    const Leaf& leaf = execution_.leaves[slot.leaf];
    const isl::set readers = slot.intended.domain().intersect(slot.point->element.domain());
    const Origin& origin = checker_.writers.of_read(slot.leaf, slot.number);
    const Chased actual = chase(with_initial(origin).intersect_domain(readers.to_union_set()));
    return compare(readers, actual, with_initial(find_last_writers({&leaf, slot.intended}, intended_writers(index, leaf.kernel))), slot.access->where);
  }

  // ---- the end of the program

  /// { L[v, b] } whose write to the tensor no later write replaces.
  isl::set lasting(const Leaf& store, const std::vector<std::size_t>& stores) const {
    isl::set points = store.write.element.domain();
    for (const std::size_t i : stores) {
      const Leaf& other = execution_.leaves[i];
      if (execution_.apart(store.kernel, other.kernel)) continue;
      const isl::map replaced = same_element(store.write.element, other.write.element).intersect(before(store, other));
      points = points.subtract(replaced.domain().coalesce());
    }
    return points.coalesce();
  }

  /// Sources of the values that last: each computes the element that it ends up in, and no later instance computes it again.
  Outcome check_lasting(std::size_t index, const Leaf& store, const isl::map& value) const {
    const std::vector<TimedAccess> writers = intended_writers(index, store.kernel);
    for (const TimedAccess& writer : writers) {
      if (writer.leaf->key != poly::output_name(value)) continue;
      const isl::map reached = isl::manage(isl_map_subtract_range(value.copy(), writer.leaf->inside.copy()));
      if (!reached.is_empty()) return Refutation{"the value comes from outside the program's domain", sample(execution_, reached).text(), {}};
      const isl::map elsewhere = value.apply_range(writer.element).subtract(store.write.element);
      if (!elsewhere.is_empty())
        return Refutation{"a value is stored to another element", sample(execution_, value.intersect_domain(elsewhere.domain())).text(), {}};
      for (const TimedAccess& later : writers)
        if (Outcome outcome = check_not_final(value, writer, later)) return outcome;
      return {};
    }
    return Refutation{"the value does not come from the program's writer", sample(execution_, value).text(), {}};
  }

  Outcome check_not_final(const isl::map& value, const TimedAccess& writer, const TimedAccess& later) const {
    isl::map lost = same_element(writer.element.intersect_domain(value.range()), later.element).intersect(before(*writer.leaf, *later.leaf));
    if (lost.is_empty()) return {};
    // The same instance, run again, computes the same value.
    if (writer.leaf->program == later.leaf->program) lost = lost.subtract(writer.leaf->instance.apply_range(later.leaf->instance.reverse()));
    if (lost.is_empty()) return {};
    return Refutation{"a later value is lost", sample(execution_, lost).text(), {}};
  }

  Outcome check_all_stored(std::size_t index) {
    const std::vector<std::size_t> stores = checker_.writers.leaves_writing(index);
    isl::set unstored = intended_writes(tensor(index).name);
    for (const std::size_t i : stores) unstored = unstored.subtract(execution_.leaves[i].write.element.range());
    if (!unstored.is_empty())
      return Refutation{"an element of " + tensor(index).name + " is never stored", sample(execution_, unstored).text(), {}};
    return {};
  }

  /// What the stores of some kernels leave behind.
  Outcome check_stored(std::size_t index, const std::function<bool(std::size_t)>& of_kernel) {
    const std::vector<std::size_t> stores = checker_.writers.leaves_writing(index);
    for (const std::size_t i : stores) {
      const Leaf& store = execution_.leaves[i];
      if (!of_kernel(store.kernel)) continue;
      const isl::set points = lasting(store, stores);
      isl_map* identity = isl_set_identity(points.copy());
      const Chased values = chase(isl::manage(identity).to_union_map());
      const isl::union_set unset = points.to_union_set().subtract(values.sources.domain());
      if (values.complete && !unset.is_empty())
        return Refutation{"nobody wrote the value", sample(execution_, unset.as_set()).text(), {}};
      for (const isl::map& value : poly::sorted_maps(values.sources))
        if (Outcome outcome = check_lasting(index, store, value)) return outcome;
      if (Outcome outcome = values.settle()) return outcome;
    }
    return {};
  }

  Checker& checker_;
  const Execution& execution_;
  std::map<std::size_t, isl::union_map> copied_;
};

}  // namespace

void check_values(Checker& checker) { ValueChecker(checker).run(); }

}  // namespace tileopt::proof
