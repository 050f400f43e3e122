/// Dependences with tagged accesses; the writes of a reduction are may-sources, so that the initialisation before and the use
/// after it stay ordered against every instance.
///
///   edge     sink                        must-source   may-source         kill
///   flow     ordinary reads, own reads   assigns       reduction writes
///   anti     assigns, reduction writes                 all reads          assigns
///   output   assigns, reduction writes   assigns       reduction writes
#include "passes/passes.h"

namespace tileopt {

namespace {
/// Accesses { [S[i] -> tag[]] -> A[x] }, one class each.
struct TaggedAccesses {
  isl::union_map assigns, updates, reads, own_reads;
  isl::union_map order;  ///< { [S[i] -> tag[]] -> [time] }
};

/// { [S[i] -> tag[]] -> S[i] }
isl::map tag_map(const isl::set& domain, const std::string& tag) {
  isl_space* space = isl_space_set_alloc(domain.ctx().get(), 0, 0);
  space = isl_space_set_tuple_name(space, isl_dim_set, tag.c_str());
  const isl::set tag_set = isl::manage(isl_set_universe(space));
  return isl::manage(isl_map_domain_map(isl_set_unwrap(isl_set_product(domain.copy(), tag_set.copy()))));
}

std::string write_tag(const Statement& s) { return s.name + "_w_" + combine_name(s.combine); }
std::string own_read_tag(const Statement& s) { return s.name + "_o_" + combine_name(s.combine); }

TaggedAccesses tag_accesses(const Program& program) {
  const isl::ctx ctx = program.ctx();
  TaggedAccesses t{poly::empty_union_map(ctx), poly::empty_union_map(ctx), poly::empty_union_map(ctx), poly::empty_union_map(ctx),
                   poly::empty_union_map(ctx)};
  const isl::union_map order = program.original_order();
  const auto add = [&](isl::union_map& to, const Statement& s, const Access& access, const std::string& tag) {
    const isl::set domain = s.domain.intersect_params(program.context());
    const isl::map tagged = tag_map(domain, tag);
    to = to.unite(isl::union_map(tagged.apply_range(access.index.as_map().intersect_domain(domain))));
    t.order = t.order.unite(isl::union_map(tagged).apply_range(order));
  };
  for (const Statement& s : program.statements()) {
    if (s.combine == Combine::assign) add(t.assigns, s, s.write, write_tag(s));
    if (s.combine != Combine::assign) {
      add(t.updates, s, s.write, write_tag(s));
      add(t.own_reads, s, s.write, own_read_tag(s));
    }
    for (std::size_t r = 0; r < s.reads.size(); ++r) add(t.reads, s, s.reads[r], s.name + "_r" + std::to_string(r));
  }
  return t;
}

/// All pairs { [S -> tag] -> [T -> tag] } whose two tags are accesses of reductions with the same combine: relaxed.
isl::union_map same_reduction_pairs(const Program& program) {
  isl::union_map pairs = poly::empty_union_map(program.ctx());
  for (Combine combine : {Combine::sum, Combine::prod, Combine::min, Combine::max}) {
    isl::union_set members = poly::empty_union_set(program.ctx());
    for (const Statement& s : program.statements()) {
      if (s.combine != combine) continue;
      for (const std::string& tag : {write_tag(s), own_read_tag(s)})
        members = members.unite(isl::union_set(tag_map(isl::set::universe(s.domain.space()), tag).domain()));
    }
    pairs = pairs.unite(isl::manage(isl_union_map_from_domain_and_range(members.copy(), members.copy())));
  }
  return pairs;
}
}  // namespace

isl::union_map Dependences::validity() const { return flow.unite(anti).unite(output).coalesce(); }
isl::union_map Dependences::all() const { return validity().unite(relaxed).coalesce(); }

Dependences analyze_dependences(const Program& program) {
  const TaggedAccesses t = tag_accesses(program);
  const isl::union_map none;
  const isl::union_map writes = t.assigns.unite(t.updates);
  const isl::union_map reads = t.reads.unite(t.own_reads);
  const poly::Flow flow = poly::compute_flow(reads, t.assigns, t.updates, none, t.order);
  const poly::Flow anti = poly::compute_flow(writes, none, reads, t.assigns, t.order);
  const poly::Flow output = poly::compute_flow(writes, t.assigns, t.updates, none, t.order);

  const isl::union_map relax = program.numerics().reassociate ? same_reduction_pairs(program) : poly::empty_union_map(program.ctx());
  const auto untag = [](const isl::union_map& tagged) { return isl::manage(isl_union_map_factor_domain(tagged.copy())).coalesce(); };
  Dependences d;
  d.flow = untag(flow.may.subtract(relax));
  d.anti = untag(anti.may.subtract(relax));
  d.output = untag(output.may.subtract(relax));
  d.relaxed = untag(flow.may.unite(anti.may).unite(output.may).intersect(relax));
  d.live_in = isl::manage(isl_union_map_domain_factor_domain(flow.no_source.copy())).coalesce();
  return d;
}

}  // namespace tileopt
