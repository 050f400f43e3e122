#include "verify/reference_dependences.h"

#include <set>
#include <vector>

namespace tileopt::proof {

bool may_reassociate(const Program& program, const Statement& statement) {
  if (statement.combine == Combine::assign) return false;
  return program.numerics().reassociate || !is_float(program.tensor(statement.write.tensor).type);
}

namespace {

/// `element`: { [S[..] -> tag[]] -> T[..] }. The tag keeps the accesses of one statement apart, so that exactly the pairs of
/// one combine can be taken out.
struct TaggedAccess {
  isl::map element;
  bool write = false;
  Combine combine = Combine::assign;  ///< of the write, or of the own read; `assign` for ordinary accesses
};

/// { S[..] -> [S[..] -> tag[]] }
isl::map tag_map(const isl::set& domain, const std::string& tag) {
  const isl::set universe = isl::set::universe(domain.space());
  isl_space* space = isl_space_set_alloc(domain.ctx().get(), 0, 0);
  space = isl_space_align_params(isl_space_set_tuple_name(space, isl_dim_set, tag.c_str()), domain.space().release());
  isl_map* tags = isl_map_from_domain_and_range(universe.copy(), isl_set_universe(space));
  return isl::manage(isl_map_range_product(isl_set_identity(universe.copy()), tags));
}

class Analysis {
 public:
  explicit Analysis(const Program& program) : program_(program) {
    order_ = poly::empty_union_map(program.ctx());
    const isl::union_map original = program.original_order();
    for (const Statement& statement : program.statements()) collect(statement, original);
  }

  ReferenceDependences run() const {
    const isl::union_map reads = all([](const TaggedAccess& a) { return !a.write; });
    const isl::union_map plain = all([](const TaggedAccess& a) { return !a.write && a.combine == Combine::assign; });
    const isl::union_map assigns = all([](const TaggedAccess& a) { return a.write && a.combine == Combine::assign; });
    const isl::union_map updates = all([](const TaggedAccess& a) { return a.write && a.combine != Combine::assign; });
    const isl::union_map none;
    ReferenceDependences result;
    result.flow = untagged(flow(plain, assigns, updates, none));
    result.anti = untagged(flow(assigns, none, reads, assigns));
    result.output = untagged(flow(assigns, assigns, updates, none));
    result.relaxed = poly::empty_union_map(program_.ctx());
    for (const Combine combine : {Combine::sum, Combine::prod, Combine::min, Combine::max}) {
      const isl::union_map own = all([&](const TaggedAccess& a) { return !a.write && a.combine == combine; });
      const isl::union_map writes = all([&](const TaggedAccess& a) { return a.write && a.combine == combine; });
      if (writes.is_empty()) continue;
      const isl::union_set members = own.domain().unite(writes.domain());
      const isl::union_map same = isl::manage(isl_union_map_from_domain_and_range(members.copy(), members.copy()));
      divide(flow(own, assigns, updates, none), same, result.flow, result.relaxed);
      divide(flow(writes, none, reads, assigns), same, result.anti, result.relaxed);
      divide(flow(writes, assigns, updates, none), same, result.output, result.relaxed);
    }
    return result;
  }

 private:
  void collect(const Statement& statement, const isl::union_map& original) {
    const bool update = statement.combine != Combine::assign;
    add(statement, original, statement.write, "write", true, statement.combine);
    if (update) add(statement, original, statement.write, "own", false, statement.combine);
    for (std::size_t r = 0; r < statement.reads.size(); ++r)
      add(statement, original, statement.reads[r], "read" + std::to_string(r), false, Combine::assign);
  }

  void add(const Statement& statement, const isl::union_map& original, const Access& access, const std::string& tag, bool write,
           Combine combine) {
    const isl::set domain = statement.domain.intersect_params(program_.context());
    const isl::map tags = tag_map(domain, statement.name + "_" + tag);
    const isl::map element = access.index.as_map().intersect_domain(domain).apply_domain(tags);
    if (element.is_empty()) return;
    if (combine != Combine::assign && !may_reassociate(program_, statement)) ordered_.insert(accesses_.size());
    accesses_.push_back({element, write, combine});
    order_ = order_.unite(tags.reverse().to_union_map().apply_range(original));
  }

  template <class Predicate>
  isl::union_map all(Predicate&& wanted) const {
    isl::union_map result = poly::empty_union_map(program_.ctx());
    for (const TaggedAccess& access : accesses_)
      if (wanted(access)) result = result.unite(access.element.to_union_map());
    return result;
  }

  isl::union_map flow(const isl::union_map& sink, const isl::union_map& must, const isl::union_map& may,
                      const isl::union_map& kill) const {
    return poly::compute_flow(sink, must, may, kill, order_).may;
  }

  /// Pairs of two accesses of one combine may be reordered, unless its statements must keep their order.
  void divide(const isl::union_map& found, const isl::union_map& same, isl::union_map& kept, isl::union_map& relaxed) const {
    isl::union_map free = found.intersect(same);
    for (const std::size_t i : ordered_) {
      const isl::union_set fixed = accesses_[i].element.domain().to_union_set();
      const isl::union_map pinned = free.intersect_domain(fixed).unite(free.intersect_range(fixed));
      free = free.subtract(pinned);
    }
    kept = kept.unite(untagged(found.subtract(free))).coalesce();
    relaxed = relaxed.unite(untagged(free)).coalesce();
  }

  static isl::union_map untagged(const isl::union_map& tagged) {
    return isl::manage(isl_union_map_factor_domain(tagged.copy())).coalesce();
  }

  const Program& program_;
  std::vector<TaggedAccess> accesses_;
  std::set<std::size_t> ordered_;
  isl::union_map order_;
};

}  // namespace

ReferenceDependences find_dependences(const Program& program) { return Analysis(program).run(); }

}  // namespace tileopt::proof
