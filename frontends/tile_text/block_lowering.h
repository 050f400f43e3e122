/// Statements of a function body -> statements of the Program and their order.
#pragma once

#include "frontends/tile_text/value_lowering.h"

namespace tileopt::tile_text {

/// Lowers the whole body; the branch holds all statements kept and their order tree.
Tree::Branch lower_body(Lowering& lowering, const syntax::Block& body);

}  // namespace tileopt::tile_text
