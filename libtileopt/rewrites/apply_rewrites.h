/// 05. Algebra that the polyhedral model cannot see: Program -> Program, each rewrite named in the Plan.
#pragma once

#include <memory>

#include "ir/plan.h"
#include "ir/program.h"

namespace tileopt {

/// Applies the rewrites of the Plan in order. A Plan of format 1 has no field that asks for one, so the program comes back
/// as it is: the same object, and what `verify` proves is proved of the source.
std::shared_ptr<const Program> apply_rewrites(std::shared_ptr<const Program> program, const Plan& plan);

}  // namespace tileopt
