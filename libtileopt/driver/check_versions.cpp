#include "driver/check_versions.h"

#include <algorithm>
#include <set>

namespace tileopt {

namespace {

/// The first kernel whose loops are for other sizes than the Plan says: reason and witness, or nothing.
std::optional<std::pair<std::string, std::string>> find_difference(const Program& program, const Plan& plan, const std::vector<Ast>& asts) {
  if (plan.kernels.size() != asts.size()) return {{"the plan has " + std::to_string(plan.kernels.size()) + " kernels, and there are loops of " + std::to_string(asts.size()), ""}};
  for (std::size_t k = 0; k < asts.size(); ++k) {
    const std::string &planned = plan.kernels[k].when, &built = asts[k].when;
    if (planned == built) continue;
    const isl::set first = program.context().intersect(read_when(program, planned, plan.kernels[k].name)), second = program.context().intersect(read_when(program, built, asts[k].kernel));
    const isl::set apart = first.subtract(second).unite(second.subtract(first));
    if (!apart.is_empty())
      return {{"kernel " + plan.kernels[k].name + " is planned for " + (planned.empty() ? "all sizes" : planned) + ", and its loops are for " + (built.empty() ? "all sizes" : built), poly::sample_text(apart)}};
  }
  return std::nullopt;
}

}  // namespace

std::vector<isl::set> versions_of(const Program& program, const Plan& plan) {
  std::set<std::string> seen;
  std::vector<isl::set> versions;
  for (const KernelPlan& kernel : plan.kernels)
    if (!kernel.when.empty() && seen.insert(kernel.when).second) versions.push_back(read_when(program, kernel.when, kernel.name));
  return versions;
}

void attest_versions(const Program& program, const Plan& plan, const std::vector<Ast>& asts, Certificate& certificate) {
  const auto is_version = [](const auto& kernel) { return !kernel.when.empty(); };
  if (std::none_of(plan.kernels.begin(), plan.kernels.end(), is_version) && std::none_of(asts.begin(), asts.end(), is_version)) return;
  Obligation obligation;
  obligation.name = "versions";
  obligation.subject = "the plan";
  obligation.plan_entry = "kernels";
  obligation.verdict = Verdict::proved;
  try {
    if (const auto found = find_difference(program, plan, asts)) {
      obligation.verdict = Verdict::refuted;
      obligation.reason = found->first;
      obligation.witness = found->second;
    }
  } catch (const Errors& errors) {
    obligation.verdict = Verdict::refuted;
    obligation.reason = errors.diagnostics().front().message;
  }
  certificate.obligations.push_back(std::move(obligation));
}

}  // namespace tileopt
