/// coverage: every instance of every statement runs; a reduction's exactly once; nothing else runs, except padding.
#include "support/text.h"
#include "verify/obligations.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

/// { S[i] } run by leaf `leaf`.
isl::set instances_run(const Leaf& leaf) { return leaf.instance.intersect_domain(leaf.inside).range(); }

Outcome check_missing(const Execution& execution, const Statement& statement, const std::vector<const Leaf*>& leaves) {
  isl::set missing = statement.domain.intersect_params(execution.context);
  for (const Leaf* leaf : leaves) missing = missing.subtract(instances_run(*leaf));
  if (missing.is_empty()) return {};
  return Refutation{"an instance of " + statement.name + " never runs", sample(execution, missing, Tuples::instances).text(), {}};
}

/// Points beyond the domain are padding where a leaf runs its whole box, or beyond its extents along digits that run whole; elsewhere a fault.
Outcome check_outside(const Execution& execution, const Statement& statement, const std::vector<const Leaf*>& leaves) {
  for (const Leaf* leaf : leaves) {
    const bool whole_box = leaf->node->extents.empty() && !leaf->box.empty();
    if (whole_box || leaf->padding.is_empty()) continue;
    const isl::set outside = leaf->moved.subtract(leaf->inside);
    if (outside.is_empty()) continue;
    return Refutation{"a point outside the domain of " + statement.name + " runs", sample(execution, outside).text(), {}};
  }
  return {};
}

/// An instance that reads the element it writes, X[i] = X[i] / L[i, i], finds its own result when it runs again; no dependence
/// says so, since none leads from an instance to itself.
bool reads_what_it_writes(const Statement& statement) {
  for (const Access& read : statement.reads) {
    if (read.tensor != statement.write.tensor) continue;
    if (!read.index.as_map().intersect(statement.write.index.as_map()).intersect_domain(statement.domain).is_empty()) return true;
  }
  return false;
}

Outcome check_repeats(const Execution& execution, const Statement& statement, const std::vector<const Leaf*>& leaves) {
  const std::string reason = "a contribution to " + std::string(statement.combine == Combine::assign ? "" : "reduction ") + statement.name + " is made twice";
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const isl::map runs = leaves[i]->instance.intersect_domain(leaves[i]->inside);
    if (!runs.is_injective()) {
      isl_map* identity = isl_set_identity(leaves[i]->inside.copy());
      const isl::map twice = runs.apply_range(runs.reverse()).subtract(isl::manage(identity));
      return Refutation{reason, sample(execution, twice).text(), {}};
    }
    for (std::size_t j = 0; j < i; ++j) {
      const isl::map other = leaves[j]->instance.intersect_domain(leaves[j]->inside);
      const isl::map twice = runs.apply_range(other.reverse());
      if (!twice.is_empty()) return Refutation{reason, sample(execution, twice).text(), {}};
    }
  }
  return {};
}

}  // namespace

void check_coverage(Checker& checker) {
  const Execution& execution = checker.execution;
  for (const Statement& statement : checker.program().statements()) {
    std::vector<const Leaf*> leaves;
    for (const Leaf& leaf : execution.leaves)
      if (leaf.program == &statement) leaves.push_back(&leaf);
    checker.report.prove(obligation("coverage", statement.name, statement.where, ""), [&]() -> Outcome {
      if (Outcome outcome = check_missing(execution, statement, leaves)) return outcome;
      if (Outcome outcome = check_outside(execution, statement, leaves)) return outcome;
      if (!statement.updates() && !reads_what_it_writes(statement)) return {};
      return check_repeats(execution, statement, leaves);
    });
  }
}

}  // namespace tileopt::proof
