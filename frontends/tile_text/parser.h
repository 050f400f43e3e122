/// Tile text -> syntax tree.
#pragma once

#include <string>

#include "frontends/tile_text/diagnostics.h"
#include "frontends/tile_text/syntax.h"

namespace tileopt::tile_text {

/// All functions of a file. Errors go to `diagnostics`, one a logical line; functions with errors are marked broken.
syntax::Module parse_module(const std::string& text, Diagnostics& diagnostics);

/// Statements without a function around them (schedule primitives given by themselves).
syntax::Block parse_lines(const std::string& text, Diagnostics& diagnostics);

}  // namespace tileopt::tile_text
