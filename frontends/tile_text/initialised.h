/// Locals and `out` tensors are not read before they are written.
#pragma once

#include "frontends/tile_text/statement_list.h"

namespace tileopt::tile_text {

/// Reports every read of a local or `out` element that no earlier write reaches, with a witness. `order` is the order tree.
void check_initialised(Scope& scope, const StatementList& statements, const Tree& order);

}  // namespace tileopt::tile_text
