#include "search/pin_binding.h"

#include <algorithm>

#include "support/text.h"

namespace tileopt {

std::vector<BoundMember> bind_loop(const Program& program, const KernelPlan& plan, const LoopName& loop) {
  std::vector<BoundMember> bound;
  for (const auto& [member, digits] : plan.digits) {
    for (const std::string& statement : plan.statements) {
      if (!loop.statement.empty() && loop.statement != statement) continue;
      const StatementMembers& members = plan.members.at(statement);
      const auto at = std::find(members.members.begin(), members.members.end(), member);
      if (at == members.members.end()) continue;
      const auto position = static_cast<std::size_t>(at - members.members.begin());
      if (bound_iterator(program, statement, members, position) != loop.name) continue;
      bound.push_back({member, statement + "." + loop.name});
      break;
    }
  }
  return bound;
}

const std::vector<Digit>& digits_of(const KernelPlan& plan, const std::string& member) {
  const auto found = std::find_if(plan.digits.begin(), plan.digits.end(), [&](const auto& entry) { return entry.first == member; });
  TILEOPT_CHECK(found != plan.digits.end(), "member " + member + " has no digits");
  return found->second;
}

std::vector<Digit>& digits_of(KernelPlan& plan, const std::string& member) {
  return const_cast<std::vector<Digit>&>(digits_of(static_cast<const KernelPlan&>(plan), member));
}

long extent_inside(const Machine& machine, const std::vector<Digit>& digits, const std::string& level) {
  const auto first = std::find_if(digits.begin(), digits.end(), [&](const Digit& digit) { return digit.level == level; });
  if (first == digits.end()) return 0;
  bool inclusive = false;
  switch (machine.find_level(level)->kind) {
    case LevelKind::independent:
    case LevelKind::barrier:
    case LevelKind::sequential: break;
    case LevelKind::lockstep:
    case LevelKind::unrolled:
    case LevelKind::atom: inclusive = true; break;
  }
  long extent = 1;
  for (auto digit = inclusive ? first : first + 1; digit != digits.end(); ++digit) extent *= digit->radix;
  return extent;
}

}  // namespace tileopt
