/// Plans as numbers for the cost model and the features.
#pragma once

#include <vector>

#include "cost_models/kernel_shape.h"
#include "ir/plan.h"
#include "ir/program.h"
#include "search/statement_view.h"

namespace tileopt {

/// The shape of one kernel of a Plan. `program`: as the Plan's rewrites leave it. Asks isl once for coefficients and extents.
KernelShape shape_of_kernel(const Program& program, const KernelPlan& plan, const Machine& machine, const TypicalSizes& sizes);

/// Shapes of all kernels, in launch order. @throws Errors(invalid_plan) where a rewrite of the Plan does not fit the program.
std::vector<KernelShape> shapes_of_plan(const Program& source, const Plan& plan, const Machine& machine,
                                        const TypicalSizes& sizes);

}  // namespace tileopt
