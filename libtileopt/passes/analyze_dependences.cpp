/// Dependences with tagged accesses; the writes of a reduction are may-sources, so that the initialisation before and the use
/// after it stay ordered against every instance.
///
///   edge     sink                        must-source   may-source         kill
///   flow     ordinary reads, own reads   assigns       reduction writes
///   anti     assigns, reduction writes                 all reads          assigns
///   output   assigns, reduction writes   assigns       reduction writes
///
/// A conditional assignment may leave what was there, so it counts as an update of its own kind: a may-source with an own
/// read, never relaxed.
/// Where reductions may be reassociated, the accesses of one combine are no sources of each other: these pairs are relaxed.
/// They are not computed by flow analysis (it would spend most of its time on them) but as all pairs on one element.
///
/// Pairs of conditional instances that no data lets both have an effect are taken out at the end (effective_pairs). That loses
/// nothing: conditional instances hide no other, so no pair is left out on account of one.
#include <map>
#include <optional>
#include <set>

#include "passes/effective_pairs.h"
#include "passes/passes.h"

namespace tileopt {

namespace {
/// Accesses { [S[i] -> tag[]] -> A[x] }.
struct TaggedAccesses {
  isl::union_map assigns, reads;
  std::map<std::string, isl::union_map> updates, own_reads;  ///< of reductions, by update_class
  isl::union_map order;                                  ///< { [S[i] -> tag[]] -> [time] }
};

/// { [S[i] -> tag[]] -> S[i] }
isl::map tag_map(const isl::set& domain, const std::string& tag) {
  isl_space* space = isl_space_set_alloc(domain.ctx().get(), 0, 0);
  space = isl_space_set_tuple_name(space, isl_dim_set, tag.c_str());
  const isl::set tag_set = isl::manage(isl_set_universe(space));
  return isl::manage(isl_map_domain_map(isl_set_unwrap(isl_set_product(domain.copy(), tag_set.copy()))));
}

TaggedAccesses tag_accesses(const Program& program) {
  const isl::union_map none = poly::empty_union_map(program.ctx());
  TaggedAccesses t{none, none, {}, {}, none};
  const isl::union_map order = program.original_order();
  const auto add = [&](isl::union_map& to, const Statement& s, const Access& access, const std::string& tag) {
    const isl::set domain = s.domain.intersect_params(program.context());
    const isl::map tagged = tag_map(domain, tag);
    to = to.unite(isl::union_map(tagged.apply_range(access.index.as_map().intersect_domain(domain))));
    t.order = t.order.unite(isl::union_map(tagged).apply_range(order));
  };
  for (const Statement& s : program.statements()) {
    if (!s.updates()) continue;
    t.updates.emplace(update_class(s), none);
    t.own_reads.emplace(update_class(s), none);
  }
  for (const Statement& s : program.statements()) {
    if (!s.updates()) add(t.assigns, s, s.write, s.name + "_w");
    else {
      add(t.updates.at(update_class(s)), s, s.write, s.name + "_w");
      add(t.own_reads.at(update_class(s)), s, s.write, s.name + "_o");
    }
    for (std::size_t r = 0; r < s.reads.size(); ++r) add(t.reads, s, s.reads[r], s.name + "_r" + std::to_string(r));
  }
  return t;
}

/// Whether the updates of a class may run in any order.
bool is_relaxed(const Program& program, const Statement& statement) {
  if (statement.combine != Combine::monoid) return program.numerics().reassociate;
  const Monoid& monoid = program.monoid(statement.monoid);
  return monoid.commutative && (monoid.exact || program.numerics().reassociate);
}

std::set<std::string> relaxed_classes(const Program& program) {
  std::set<std::string> classes;
  for (const Statement& s : program.statements())
    if (s.combine != Combine::assign && is_relaxed(program, s)) classes.insert(update_class(s));
  return classes;
}

/// Union over the classes, leaving out `except`.
isl::union_map others(const std::map<std::string, isl::union_map>& accesses, std::optional<std::string> except, const isl::union_map& none) {
  isl::union_map all = none;
  for (const auto& [update, relation] : accesses)
    if (update != except) all = all.unite(relation);
  return all;
}

/// { S -> T } over { [S -> tag] -> [T -> tag] }
isl::union_map untag(const isl::union_map& tagged) { return isl::manage(isl_union_map_factor_domain(tagged.copy())).coalesce(); }

/// Pairs of distinct instances of one relaxed class on one element: any order, but they race.
isl::union_map relaxed_pairs(const Program& program, const std::set<std::string>& relaxed) {
  isl::union_map pairs = poly::empty_union_map(program.ctx());
  for (const std::string& update : relaxed) {
    isl::union_map writes = poly::empty_union_map(program.ctx());
    for (const Statement& s : program.statements())
      if (s.combine != Combine::assign && update_class(s) == update) writes = writes.unite(isl::union_map(s.write.index.as_map().intersect_domain(s.domain.intersect_params(program.context()))));
    pairs = pairs.unite(writes.apply_range(writes.reverse()));
  }
  const isl::union_map order = program.original_order();
  return pairs.intersect(poly::lex_lt(order, order)).coalesce();
}
}  // namespace

isl::union_map Dependences::validity() const { return flow.unite(anti).unite(output).coalesce(); }
isl::union_map Dependences::all() const { return validity().unite(relaxed).coalesce(); }

namespace {
/// isl operations that flow analysis may take: ten seconds. Kernels of the benchmarks take a hundredth.
constexpr unsigned long operation_limit = 20'000'000;

Dependences analyze(const Program& program) {
  const TaggedAccesses t = tag_accesses(program);
  const isl::union_map none = poly::empty_union_map(program.ctx());
  const isl::union_map absent;
  const isl::union_map all_updates = others(t.updates, std::nullopt, none);
  const isl::union_map all_reads = t.reads.unite(others(t.own_reads, std::nullopt, none));
  const std::set<std::string> relaxed = relaxed_classes(program);

  const poly::Flow flow = poly::compute_flow(t.reads, t.assigns, all_updates, absent, t.order);
  const poly::Flow anti = poly::compute_flow(t.assigns, absent, all_reads, t.assigns, t.order);
  const poly::Flow output = poly::compute_flow(t.assigns, t.assigns, all_updates, absent, t.order);
  isl::union_map flow_pairs = flow.may, anti_pairs = anti.may, output_pairs = output.may, no_source = flow.no_source;
  for (const auto& [update, updates] : t.updates) {
    const isl::union_map& own_reads = t.own_reads.at(update);
    if (updates.is_empty()) continue;
    const std::optional<std::string> skipped = relaxed.contains(update) ? std::optional(update) : std::nullopt;
    const isl::union_map other_updates = others(t.updates, skipped, none);
    const isl::union_map other_reads = t.reads.unite(others(t.own_reads, skipped, none));
    const poly::Flow own = poly::compute_flow(own_reads, t.assigns, other_updates, absent, t.order);
    flow_pairs = flow_pairs.unite(own.may);
    no_source = no_source.unite(own.no_source);
    anti_pairs = anti_pairs.unite(poly::compute_flow(updates, absent, other_reads, t.assigns, t.order).may);
    output_pairs = output_pairs.unite(poly::compute_flow(updates, t.assigns, other_updates, absent, t.order).may);
  }
  Dependences d;
  d.flow = effective_pairs(program, untag(flow_pairs));
  d.anti = effective_pairs(program, untag(anti_pairs));
  d.output = effective_pairs(program, untag(output_pairs));
  d.relaxed = relaxed.empty() ? none : effective_pairs(program, relaxed_pairs(program, relaxed));
  d.live_in = isl::manage(isl_union_map_domain_factor_domain(no_source.copy())).coalesce();
  return d;
}
}  // namespace

Dependences analyze_dependences(const Program& program) {
  const poly::QuotaGuard quota(program.ctx(), operation_limit);
  try {
    return analyze(program);
  } catch (const isl::exception&) {
    if (!poly::quota_exceeded(program.ctx())) throw;
  }
  throw Errors(Diagnostic{ErrorCode::unsupported, {program.file(), 0, 0},
                          "the dependences of `" + program.name() + "` are too many, or too involved, to be found",
                          "split it into several functions, or simplify its subscripts and conditions", ""});
}

}  // namespace tileopt
