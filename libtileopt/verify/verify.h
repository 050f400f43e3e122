/// The independent checker. Reads the source Program, the Asts of all kernels in launch order and what the printer used;
/// includes poly/isl and ir readers only, never a pass.
#pragma once

#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt {

/// Proves or refutes every obligation. Never throws for what it cannot prove: that is `not_attempted` with the reason.
Certificate verify(const Program& program, const std::vector<Ast>& kernels, const std::vector<PrintFacts>& facts,
                   const Machine& machine, const std::string& version);

}  // namespace tileopt
