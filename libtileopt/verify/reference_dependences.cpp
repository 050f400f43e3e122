#include "verify/reference_dependences.h"

#include <set>
#include <vector>

#include "verify/value_facts.h"

namespace tileopt::proof {

bool may_reassociate(const Program& program, const Statement& statement) {
  if (statement.combine == Combine::assign) return false;
  if (statement.combine == Combine::monoid) {
    const Monoid& monoid = program.monoid(statement.monoid);
    return monoid.commutative && (monoid.exact || program.numerics().reassociate);
  }
  return program.numerics().reassociate || !is_float(program.tensor(statement.write.tensor).type);
}

bool order_rounds(const Program& program, const Statement& statement) {
  if (statement.combine == Combine::monoid) return !program.monoid(statement.monoid).exact;
  return is_float(program.tensor(statement.write.tensor).type);
}

namespace {

/// `element`: { [S[..] -> tag[]] -> T[..] }. The tag keeps the accesses of one statement apart: what a reduction reads of
/// itself is free to move, what it reads otherwise is not.
struct TaggedAccess {
  isl::map element;
  bool write = false;
  std::string update;  ///< update_class of the write, or of the own read; empty for ordinary accesses
  bool free = false;                  ///< may move among accesses of the same combine

  bool ordinary() const { return update.empty(); }
  bool commutes_with(const std::string& other) const { return free && update == other; }
};

/// { S[..] -> [S[..] -> tag[]] }
isl::map tag_map(const isl::set& domain, const std::string& tag) {
  const isl::space instances = domain.space();
  const isl::set universe = isl::set::universe(instances);
  isl_space* space = isl_space_set_alloc(domain.ctx().get(), 0, 0);
  space = isl_space_align_params(isl_space_set_tuple_name(space, isl_dim_set, tag.c_str()), instances.copy());
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

  /// Reduction updates are may-sources: they hide no earlier write, so init -> every update and every update -> use stay.
  ReferenceDependences run() const {
    const auto any = [](const TaggedAccess&) { return true; };
    const isl::union_map assigns = all([](const TaggedAccess& a) { return a.write && a.ordinary(); });
    ReferenceDependences result{poly::empty_union_map(program_.ctx()), poly::empty_union_map(program_.ctx()),
                                poly::empty_union_map(program_.ctx())};
    add(result, [](const TaggedAccess& a) { return a.ordinary(); }, any, assigns);
    std::set<std::string> updates;
    for (const TaggedAccess& access : accesses_)
      if (!access.ordinary()) updates.insert(access.update);
    for (const std::string& update : updates)
      for (const bool free : {false, true})
        add(result, [&](const TaggedAccess& a) { return a.update == update && a.free == free; },
            [&](const TaggedAccess& a) { return !free || !a.commutes_with(update); }, assigns);
    return {possible(result.flow), possible(result.anti), possible(result.output)};
  }

 private:
  /// Dependences whose sink is in a class, from the accesses that its sinks may not pass.
  template <class Sink, class Source>
  void add(ReferenceDependences& result, Sink&& sink, Source&& source, const isl::union_map& assigns) const {
    const isl::union_map reads = all([&](const TaggedAccess& a) { return !a.write && sink(a); });
    const isl::union_map writes = all([&](const TaggedAccess& a) { return a.write && sink(a); });
    const isl::union_map updates = all([&](const TaggedAccess& a) { return a.write && !a.ordinary() && source(a); });
    const isl::union_map readers = all([&](const TaggedAccess& a) { return !a.write && source(a); });
    const isl::union_map none;
    result.flow = result.flow.unite(flow(reads, assigns, updates, none));
    result.anti = result.anti.unite(flow(writes, none, readers, assigns));
    result.output = result.output.unite(flow(writes, assigns, updates, none));
  }

  /// Pairs that both may have an effect. Only conditional instances are taken out, which never hide another write.
  isl::union_map possible(const isl::union_map& dependences) const {
    isl::union_map result = poly::empty_union_map(program_.ctx());
    for (const isl::map& pairs : poly::sorted_maps(dependences)) {
      const Statement& source = program_.statement(poly::input_name(pairs));
      const Statement& sink = program_.statement(poly::output_name(pairs));
      const isl::map left = possible_pairs(pairs, conditions_of(program_, source), conditions_of(program_, sink));
      if (!left.is_empty()) result = result.unite(left.to_union_map());
    }
    return result.coalesce();
  }

  void collect(const Statement& statement, const isl::union_map& original) {
    const bool updates = statement.updates();
    const std::string update = updates ? update_class(statement) : "";
    collect(statement, original, statement.write, "write", true, update);
    if (updates) collect(statement, original, statement.write, "own", false, update);
    for (std::size_t r = 0; r < statement.reads.size(); ++r)
      collect(statement, original, statement.reads[r], "read" + std::to_string(r), false, "");
  }

  void collect(const Statement& statement, const isl::union_map& original, const Access& access, const std::string& tag, bool write,
               const std::string& update) {
    const isl::set domain = statement.domain.intersect_params(program_.context());
    const isl::map tags = tag_map(domain, statement.name + "_" + tag);
    const isl::map element = access.index.as_map().intersect_domain(domain).apply_domain(tags);
    if (element.is_empty()) return;
    accesses_.push_back({element, write, update, !update.empty() && may_reassociate(program_, statement)});
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
    if (sink.is_empty()) return poly::empty_union_map(program_.ctx());
    const isl::union_map tagged = poly::compute_flow(sink, must, may, kill, order_).may;
    return isl::manage(isl_union_map_factor_domain(tagged.copy())).coalesce();
  }

  const Program& program_;
  std::vector<TaggedAccess> accesses_;
  isl::union_map order_;
};

/// An access without tag: { S[..] -> T[..] }.
struct PlainAccess {
  const Statement* statement = nullptr;
  isl::map element;
  bool write = false;
  std::string free;  ///< update_class where it may move among accesses of that class
};

std::vector<PlainAccess> plain_accesses(const Program& program) {
  std::vector<PlainAccess> accesses;
  for (const Statement& statement : program.statements()) {
    const isl::set domain = statement.domain.intersect_params(program.context());
    const auto element = [&](const Access& access) { return access.index.as_map().intersect_domain(domain); };
    const std::string free = may_reassociate(program, statement) ? update_class(statement) : "";
    accesses.push_back({&statement, element(statement.write), true, free});
    if (statement.updates()) accesses.push_back({&statement, element(statement.write), false, free});
    for (const Access& read : statement.reads) accesses.push_back({&statement, element(read), false, ""});
  }
  return accesses;
}

}  // namespace

ReferenceDependences find_conflicts(const Program& program) {
  const isl::union_map none = poly::empty_union_map(program.ctx()), order = program.original_order();
  ReferenceDependences result{none, none, none};
  std::map<std::pair<const Statement*, const Statement*>, isl::union_map> before;
  const auto times = [&](const Statement& s) { return order.intersect_domain(s.domain.to_union_set()); };
  const std::vector<PlainAccess> accesses = plain_accesses(program);
  for (const PlainAccess& first : accesses)
    for (const PlainAccess& second : accesses) {
      if (!(first.write || second.write) || poly::output_name(first.element) != poly::output_name(second.element)) continue;
      if (!first.free.empty() && first.free == second.free) continue;
      const auto statements = std::make_pair(first.statement, second.statement);
      auto known = before.find(statements);
      if (known == before.end()) known = before.emplace(statements, poly::lex_lt(times(*first.statement), times(*second.statement))).first;
      const isl::union_map pairs = first.element.apply_range(second.element.reverse()).to_union_map().intersect(known->second);
      isl::union_map& kind = !first.write ? result.anti : second.write ? result.output : result.flow;
      kind = kind.unite(pairs);
    }
  return result;
}

ReferenceDependences find_dependences(const Program& program) { return Analysis(program).run(); }

}  // namespace tileopt::proof
