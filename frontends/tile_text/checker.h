/// One function -> one Program: names, types, shapes, bounds, initialisation; every statement lowered.
#pragma once

#include <optional>

#include "frontends/tile_text/diagnostics.h"
#include "ir/program.h"

namespace tileopt::tile_text {

/// nullopt when errors were reported to `diagnostics`. The Program's text is the canonical text of the function.
std::optional<Program> check_function(isl::ctx ctx, const syntax::Function& function, Diagnostics& diagnostics);

}  // namespace tileopt::tile_text
