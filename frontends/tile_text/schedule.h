/// `@schedule` functions and single schedule primitives <-> Pins.
#pragma once

#include "frontends/tile_text/diagnostics.h"
#include "ir/plan.h"

namespace tileopt::tile_text {

/// True for a function under `@schedule(...)`.
bool is_schedule(const syntax::Function& function);

/// The pins of a `@schedule` function. Checks the shape of every primitive; what names mean is resolve_plan's matter.
Pins read_schedule(const syntax::Function& function, Diagnostics& diagnostics);

/// Appends the primitives of a block to `pins`.
void read_primitives(const syntax::Block& block, Pins& pins, Diagnostics& diagnostics);

/// A `@schedule` function, or primitives alone where the pins name no function, program or machine.
std::string print_schedule(const Pins& pins);

}  // namespace tileopt::tile_text
