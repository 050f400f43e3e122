/// versions: a kernel that is a version runs for the sizes that its `when` says, and no others; of all versions of a statement one runs,
/// whatever the sizes.
#include <algorithm>
#include <map>

#include "verify/obligations.h"

namespace tileopt::proof {

namespace {

/// [params] -> { : .. } inside the context.
isl::set said_sizes(const Execution& execution, std::size_t kernel) {
  const std::string& when = (*execution.kernels)[kernel].when;
  if (when.empty()) return execution.context;
  const isl::set sizes(execution.context.ctx(), when);
  if (isl_set_is_params(sizes.get()) != isl_bool_true) throw Undecided("`" + when + "` is no set of sizes");
  const auto& known = execution.program->parameters();
  for (const std::string& name : poly::parameters(sizes))
    if (std::count(known.begin(), known.end(), name) == 0) throw Undecided("`" + when + "` names " + name + ", which is no size");
  return execution.context.intersect(sizes);
}

/// The test that was built is the one that was decided.
Outcome check_test(const Execution& execution, std::size_t kernel) {
  const isl::set said = said_sizes(execution, kernel), tested = execution.sizes[kernel];
  const std::string name = execution.kernel_name(kernel);
  if (const isl::set more = tested.subtract(said); !more.is_empty()) return Refutation{"kernel " + name + " runs for sizes that are not its own: " + (*execution.kernels)[kernel].when, poly::sample_text(more), {}};
  if (const isl::set less = said.subtract(tested); !less.is_empty()) return Refutation{"kernel " + name + " does not run for sizes that are its own: " + (*execution.kernels)[kernel].when, poly::sample_text(less), {}};
  return {};
}

Outcome check_choice(const Execution& execution, const Statement& statement, const std::vector<std::size_t>& holders) {
  isl::set left = statement.domain.intersect_params(execution.context).params();
  for (std::size_t i = 0; i < holders.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const isl::set both = execution.sizes[holders[i]].intersect(execution.sizes[holders[j]]);
      if (!both.is_empty()) return Refutation{"kernels " + execution.kernel_name(holders[j]) + " and " + execution.kernel_name(holders[i]) + " both run " + statement.name + " for some sizes", poly::sample_text(both), {}};
    }
    left = left.subtract(execution.sizes[holders[i]]);
  }
  if (left.is_empty()) return {};
  return Refutation{"no version of " + statement.name + " runs for some sizes", poly::sample_text(left), {}};
}

}  // namespace

void check_versions(Checker& checker) {
  const Execution& execution = checker.execution;
  const std::vector<Ast>& kernels = *execution.kernels;
  if (std::all_of(kernels.begin(), kernels.end(), [](const Ast& ast) { return ast.when.empty(); })) return;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (!kernels[k].when.empty())
      checker.report.prove(obligation("versions", "kernel " + kernels[k].kernel, {}, kernel_entry(k, "when")), [&] { return check_test(execution, k); });
  std::map<const Statement*, std::vector<std::size_t>> holders;
  for (const Leaf& leaf : execution.leaves)
    if (leaf.program != nullptr && (holders[leaf.program].empty() || holders[leaf.program].back() != leaf.kernel)) holders[leaf.program].push_back(leaf.kernel);
  for (const Statement& statement : checker.program().statements()) {
    const std::vector<std::size_t>& held = holders[&statement];
    if (std::none_of(held.begin(), held.end(), [&](std::size_t k) { return !kernels[k].when.empty(); })) continue;
    checker.report.prove(obligation("versions", statement.name, statement.where, ""), [&] { return check_choice(execution, statement, held); });
  }
}

}  // namespace tileopt::proof
