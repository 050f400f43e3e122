/// Which band members and digits the loop names of pins stand for.
#pragma once

#include <string>
#include <vector>

#include "search/pins.h"

namespace tileopt {

/// A member that a loop name may mean.
struct BoundMember {
  std::string member;
  std::string spelled;   ///< "S.i", how to name it without doubt
};

/// Members of the kernel whose map is +-iterator plus outer iterators, in the order of plan.digits.
std::vector<BoundMember> bind_loop(const Program& program, const KernelPlan& plan, const LoopName& loop);

/// Digits of a member, most significant first. The member must be in the plan.
std::vector<Digit>& digits_of(KernelPlan& plan, const std::string& member);
const std::vector<Digit>& digits_of(const KernelPlan& plan, const std::string& member);

/// Extent that one step of the digits on `level` hands inwards; for levels that run as one (lanes, unrolled, atoms) the extent they
/// run over themselves. 0: the member has no digit there, or no bound.
long extent_inside(const Machine& machine, const std::vector<Digit>& digits, const std::string& level);

}  // namespace tileopt
