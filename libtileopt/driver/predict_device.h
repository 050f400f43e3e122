/// The predicted time of a program's kernels on a GPU: the passes and the printer are run, nothing is proved or compiled.
#pragma once

#include <memory>

#include "backends/backend.h"
#include "cost_models/device_cost.h"
#include "ir/module.h"
#include "search/statement_view.h"

namespace tileopt {

/// Of a module of a machine with agents (Machine::has_agents). `sizes`: those that are left out are the typical ones; only the kernels that run at
/// these are counted. @throws Errors(invalid_plan) where a rewrite of the Plan does not fit the program.
DeviceCost predict_module(const Program& source, const Module& module, const Machine& machine, const TypicalSizes& sizes);

/// The same for a resolved Plan, whose stages are made for it.
Candidate<DeviceCost> predict_plan(const std::shared_ptr<const Program>& source, const Plan& plan, const Machine& machine, const Backend& backend,
                                   const TypicalSizes& sizes);

}  // namespace tileopt
