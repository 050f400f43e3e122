// What a faithful printer would report of any loops, also of those that the backend refuses.
#pragma once

#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt::mutation {

PrintFacts faithful_facts(const Program& program, const Ast& ast, const Machine& machine);

}  // namespace tileopt::mutation
