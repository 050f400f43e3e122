/// compile(): the driver is the architecture diagram.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "driver/trace.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt {

/// Decides nothing: `plan` is resolved (see resolve_plan), so the same inputs give the same bytes.
Candidate<Module> compile(std::shared_ptr<const Program> program, const Plan& plan, const Machine& machine,
                          const Backend& backend, Trace& trace);

}  // namespace tileopt
