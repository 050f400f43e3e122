/// One function -> one Program: names, types, shapes, bounds, initialisation; every statement lowered.
#pragma once

#include <optional>

#include "frontends/tile_text/pure_functions.h"
#include "ir/program.h"

namespace tileopt::tile_text {

/// nullopt when errors were reported to `diagnostics`. The Program's text is the canonical text of the function and of those
/// of `functions` that it calls.
std::optional<Program> check_function(isl::ctx ctx, const syntax::Function& function, PureFunctions& functions,
                                      Diagnostics& diagnostics);

}  // namespace tileopt::tile_text
