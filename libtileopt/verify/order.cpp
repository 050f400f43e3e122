/// order: every dependence of the Program goes forward in the time of the printed kernels.
#include "support/text.h"
#include "verify/obligations.h"
#include "verify/reference_dependences.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

std::vector<const Leaf*> leaves_of(const Execution& execution, const std::string& statement) {
  std::vector<const Leaf*> found;
  for (const Leaf& leaf : execution.leaves)
    if (leaf.program != nullptr && leaf.program->name == statement) found.push_back(&leaf);
  return found;
}

isl::map runs(const Leaf& leaf) { return leaf.instance.intersect_domain(leaf.inside); }

/// { L[..] -> R[..] : the instances depend, and L does not run first }
isl::map reversed(const isl::map& dependence, const Leaf& source, const Leaf& sink) {
  const isl::map pairs = runs(source).apply_range(dependence).apply_range(runs(sink).reverse());
  return pairs.intersect(not_before(source, sink));
}

/// A pure instance may run several times; then a reader needs one run of its source before it.
bool some_source_first(const isl::map& dependence, const std::vector<const Leaf*>& sources, const Leaf& sink) {
  isl::map unmet = dependence.apply_range(runs(sink).reverse());
  for (const Leaf* source : sources)
    unmet = unmet.subtract(runs(*source).reverse().apply_range(before(*source, sink)).intersect_range(sink.inside));
  return unmet.is_empty();
}

Outcome check_forward(const Execution& execution, const isl::map& dependence, const std::string& kind, bool repeats_help) {
  const std::vector<const Leaf*> sources = leaves_of(execution, poly::input_name(dependence));
  const std::vector<const Leaf*> sinks = leaves_of(execution, poly::output_name(dependence));
  for (const Leaf* source : sources)
    for (const Leaf* sink : sinks) {
      const isl::map wrong = reversed(dependence, *source, *sink);
      if (wrong.is_empty()) continue;
      if (repeats_help && !source->program->updates() && some_source_first(dependence, sources, *sink)) continue;
      return Refutation{kind + " dependence of " + sink->program->name + " on " + source->program->name + " is reversed",
                        sample(execution, wrong).text(), sink->program->where};
    }
  return {};
}

Outcome check_all_forward(const Execution& execution, const isl::union_map& dependences, const std::string& kind, bool repeats_help) {
  for (const isl::map& dependence : poly::sorted_maps(dependences))
    if (Outcome outcome = check_forward(execution, dependence, kind, repeats_help)) return outcome;
  return {};
}

/// { S[..] -> T[..] } updates of one element by two statements of one reduction, in the original order.
isl::map update_pairs(const Program& program, const Statement& first, const Statement& second) {
  const auto elements = [&](const Statement& s) {
    return s.write.index.as_map().intersect_domain(s.domain).intersect_params(program.context());
  };
  const isl::union_map order = program.original_order();
  const isl::union_map pairs = elements(first).apply_range(elements(second).reverse()).to_union_map();
  const auto times = [&](const Statement& s) { return order.intersect_domain(s.domain.to_union_set()); };
  isl::map found = isl::map::empty(elements(first).apply_range(elements(second).reverse()).space());
  for (const isl::map& piece : poly::sorted_maps(pairs.intersect(poly::lex_lt(times(first), times(second))))) found = found.unite(piece);
  return found;
}

/// Notes reductions whose updates do not run in index order: the permission that this uses belongs into the certificate.
void note_reassociation(Checker& checker) {
  const Program& program = checker.program();
  for (const Statement& first : program.statements())
    for (const Statement& second : program.statements()) {
      const bool one_reduction = first.combine != Combine::assign && update_class(first) == update_class(second) &&
                                 first.write.tensor == second.write.tensor;
      const std::string note = "reassociate: " + second.name;
      if (!one_reduction || !order_rounds(program, first) || contains(checker.numerics, note)) continue;
      const isl::map pairs = update_pairs(program, first, second);
      bool moved = false;
      for (const Leaf* source : leaves_of(checker.execution, first.name))
        for (const Leaf* sink : leaves_of(checker.execution, second.name))
          moved = moved || !reversed(pairs, *source, *sink).is_empty();
      if (moved) checker.numerics.push_back(note);
    }
}

}  // namespace

void check_order(Checker& checker) {
  const Execution& execution = checker.execution;
  std::optional<ReferenceDependences> found;
  const auto dependences = [&]() -> const ReferenceDependences& {
    if (!found) found = find_dependences(checker.program());
    return *found;
  };
  std::optional<ReferenceDependences> pairs;
  using Kind = isl::union_map ReferenceDependences::*;
  // Most orders keep even the pairs that other writes hide, and those need no flow analysis.
  const auto check = [&](Kind kind, const std::string& name, bool repeats_help) -> Outcome {
    if (!pairs) pairs = find_conflicts(checker.program());
    if (!check_all_forward(execution, (*pairs).*kind, name, repeats_help)) return {};
    return check_all_forward(execution, dependences().*kind, name, repeats_help);
  };
  const auto entry = [&](const std::string& kind) { return obligation("order", kind + " dependences", {}, ""); };
  checker.report.prove(entry("flow"), [&] { return check(&ReferenceDependences::flow, "flow", true); });
  checker.report.prove(entry("anti"), [&] { return check(&ReferenceDependences::anti, "anti", false); });
  checker.report.prove(entry("output"), [&]() -> Outcome {
    Outcome outcome = check(&ReferenceDependences::output, "output", false);
    if (!outcome) note_reassociation(checker);
    return outcome;
  });
}

}  // namespace tileopt::proof
