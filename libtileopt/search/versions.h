/// Versions of a kernel: where a better one needs a fact about the sizes, a Plan has it for the sizes that grant the fact, and another one for
/// the rest (docs/decisions/031). Nothing here knows what the fact is good for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/plan.h"
#include "ir/program.h"
#include "search/statement_view.h"

namespace tileopt {

/// A fact about the sizes, and its opposite: KernelPlan::when of two versions.
struct SizeSplit {
  std::string holds, fails;
};

/// `excess`: { [params] -> [(K mod 8)] }, never negative; the fact is that all are 0. Nothing where it holds for none of the program's
/// sizes, or for all.
std::optional<SizeSplit> split_sizes(const Program& program, const std::vector<isl::pw_aff>& excess);

/// The Plan without the kernels that do not run at `sizes`: what a cost is of, and what a search explores. `rewritten`: what the Plan's kernels
/// are about; `sizes`: of all its parameters.
Plan running_at(const Plan& plan, const Program& rewritten, const TypicalSizes& sizes);

}  // namespace tileopt
