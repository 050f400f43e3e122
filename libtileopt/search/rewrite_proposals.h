/// Rewrites that promise to pay, by kind. Whether their conditions hold is the rewrite's own matter.
#pragma once

#include <string>
#include <vector>

#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"
#include "search/resolve_plan.h"

namespace tileopt {

struct Proposal {
  Rewriting rewriting;
  std::string reason;
  std::vector<std::string> touches;  ///< names that it takes away, or gives another meaning: a pin on one of them forbids it
};

struct ProposalKind {
  std::string name;  ///< of the rewrite
  std::vector<Proposal> (*propose)(const Program& program, const Machine& machine, const ResolveOptions& options);
};
/// In the order in which they are tried.
const std::vector<ProposalKind>& proposal_kinds();

}  // namespace tileopt
