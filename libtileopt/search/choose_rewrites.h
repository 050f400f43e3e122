/// The rewrites of a Plan: those that pins ask for, in the order of the pins, then those that are worth taking without being asked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rewrites/apply_rewrites.h"
#include "search/resolve_plan.h"

namespace tileopt {

/// One line of `reasons` for each rewrite that was taken. A pin `rewrite("none")` leaves only those that other pins ask for,
/// `rewrite("none", "inline")` leaves out one kind. A pin whose conditions fail gives Infeasible with the pin's position.
/// @throws Errors(invalid_pin) where a pin names what the program, as rewritten so far, does not have.
Candidate<RewrittenProgram> choose_rewrites(std::shared_ptr<const Program> source, const Pins& pins, const Machine& machine,
                                            const ResolveOptions& options, std::vector<std::string>& reasons);

}  // namespace tileopt
