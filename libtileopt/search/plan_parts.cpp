#include "search/plan_parts.h"

#include <algorithm>

namespace tileopt {

std::string NameTable::unique(const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; !used_.insert(name).second; ++n) name = wanted + "_" + std::to_string(n);
  return name;
}

std::string digit_name(const std::string& member, char role) {
  if (role == 'i') return member.size() == 1 ? member + member : member + "_i";
  return member.size() == 1 && member[0] != role ? member + role : member + "_" + role;
}

std::string level_of_kind(const Machine& machine, LevelKind kind) {
  const std::string name = machine.level_name(kind);
  return name.empty() ? "serial" : name;
}

KernelPlan join_parts(const Kernel& kernel, const std::string& schedule, const std::vector<PlanPart>& parts) {
  KernelPlan plan;
  plan.name = kernel.name();
  plan.statements = kernel.statements();
  plan.when = kernel.plan().when;
  plan.schedule = schedule;
  std::vector<Tree::Branch> branches;
  for (const PlanPart& part : parts) {
    plan.members.insert(part.members.begin(), part.members.end());
    plan.digits.insert(plan.digits.end(), part.digits.begin(), part.digits.end());
    plan.atoms.insert(part.atoms.begin(), part.atoms.end());
    plan.promotions.insert(plan.promotions.end(), part.promotions.begin(), part.promotions.end());
    plan.pipelines.insert(plan.pipelines.end(), part.pipelines.begin(), part.pipelines.end());
    branches.push_back({part.statements, part.tree});
  }
  plan.tree = branches.size() == 1 ? branches.front().tree : Tree::sequence(std::move(branches));
  return plan;
}

std::optional<std::size_t> choose_thread_loop(const PlanRequest& request, const std::string& statement, const StatementView& view,
                                              const std::vector<std::size_t>& loops, const std::function<double(std::size_t)>& pieces) {
  std::optional<std::size_t> pinned;
  for (const std::size_t m : loops)
    if (request.pins.parallel(statement, view.members[m])) pinned = m;
  if (pinned || request.threads <= 1) return pinned;
  const auto found = std::find_if(loops.begin(), loops.end(), [&](std::size_t m) { return pieces(m) >= 2.0 * request.threads; });
  return found == loops.end() ? std::nullopt : std::optional(*found);
}

}  // namespace tileopt
