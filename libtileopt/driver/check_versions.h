/// verify reads loops, and what they say of the sizes that they are for; that this is what the Plan decides is compared here.
#pragma once

#include <vector>

#include "ir/ast.h"
#include "ir/certificate.h"
#include "ir/plan.h"
#include "ir/program.h"

namespace tileopt {

/// KernelPlan::when of all versions, each once: what sizes to try must visit. Empty where the Plan has none.
std::vector<isl::set> versions_of(const Program& program, const Plan& plan);

/// Adds the obligation "versions" of the Plan: `asts` are versions for the sizes that it says, kernel by kernel. Nothing where neither has versions.
/// `program`: the rewritten one.
void attest_versions(const Program& program, const Plan& plan, const std::vector<Ast>& asts, Certificate& certificate);

}  // namespace tileopt
