/// Which copies of a loop may run ahead of their use, how they do so, and with how many slots.
#pragma once

#include <optional>
#include <string>

#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"

namespace tileopt {

/// Of what `plan` promotes below the band `after`: the arrays of a block that nothing in the kernel writes. Copied asynchronously where the
/// machine has an atom for it and neighbours lie side by side on both sides, else through registers. Nothing where there is none.
std::optional<Pipelining> propose_pipeline(const Program& program, const Machine& machine, const KernelPlan& plan, const std::string& after);

/// The same of promotions that are no part of a plan yet, in a kernel of these statements.
std::optional<Pipelining> propose_pipeline(const Program& program, const Machine& machine, const std::vector<std::string>& statements,
                                           const std::vector<Promotion>& promotions, const std::string& after);

/// Gives the loop so many slots and iterations ahead (nothing: as proposed); one slot: nothing runs ahead. False where nothing can.
bool set_pipeline(const Program& program, const Machine& machine, KernelPlan& plan, const std::string& after, std::optional<long> slots, std::optional<long> distance);

/// Leaves out copies of arrays that are promoted no more, or below another loop.
void drop_stale_pipelines(KernelPlan& plan);

}  // namespace tileopt
