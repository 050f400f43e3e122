#include "search/group_pins.h"

#include <algorithm>
#include <set>

#include "passes/passes.h"
#include "support/text.h"

namespace tileopt {
namespace {

std::size_t group_of(const std::vector<std::vector<std::string>>& groups, const std::string& statement) {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return contains(group, statement); });
  return static_cast<std::size_t>(found - groups.begin());
}

}  // namespace

Candidate<std::vector<KernelPlan>> group_statements(const Program& program, const PinTable& pins) {
  std::vector<std::vector<std::string>> groups = default_groups(program);
  for (const FusePin& fuse : pins.fuses) {
    std::set<std::size_t> merged;
    for (const std::string& statement : fuse.statements) merged.insert(group_of(groups, statement));
    const std::size_t first = *merged.begin(), last = *merged.rbegin();
    if (merged.size() < 2) {
      return Infeasible{"pin", "resolve_plan", "", "kernels", pin_text(*fuse.pin) + ": the statements are in one kernel already",
                        fuse.pin->where, "", "drop the pin"};
    }
    if (last - first + 1 != merged.size()) {
      return Infeasible{"pin", "resolve_plan", "", "kernels",
                        pin_text(*fuse.pin) + ": the loop nests of the statements are not neighbours",
                        fuse.pin->where, "", "name the statements between them too, e.g. " + groups[first + 1].front()};
    }
    for (std::size_t g = last; g > first; --g) {
      groups[first].insert(groups[first].end(), groups[first + 1].begin(), groups[first + 1].end());
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    }
  }
  std::vector<KernelPlan> kernels;
  std::set<std::string> names;
  for (const std::vector<std::string>& group : groups) {
    KernelPlan kernel;
    kernel.name = program.name();
    if (groups.size() > 1) kernel.name += "_" + program.statement(group.back()).write.tensor;
    const std::string base = kernel.name;
    for (int n = 2; !names.insert(kernel.name).second; ++n) kernel.name = base + "_" + std::to_string(n);
    for (const Statement& statement : program.statements()) {
      if (contains(group, statement.name)) kernel.statements.push_back(statement.name);
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace tileopt
