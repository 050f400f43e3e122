/// compile(): the driver is the architecture diagram.
#pragma once

#include <memory>

#include "backends/backend.h"
#include "driver/resume.h"
#include "driver/trace.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt {

/// Decides nothing: `plan` is resolved (see resolve_plan), so the same inputs give the same bytes.
/// `edited` replaces the Ast of a kernel (resume from 60-ast); it is printed and verified like any other.
/// @throws Errors(invalid_plan) where `plan` is for another program, machine or version.
Candidate<Module> compile(std::shared_ptr<const Program> source, const Plan& plan, const Machine& machine,
                          const Backend& backend, Trace& trace, const EditedAsts& edited = {});

}  // namespace tileopt
