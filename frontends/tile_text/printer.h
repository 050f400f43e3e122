/// Syntax tree -> canonical tile text: one statement a line, four spaces a level, no superfluous brackets, no comments.
/// parse(print(tree)) = tree.
#pragma once

#include <string>

#include "frontends/tile_text/syntax.h"

namespace tileopt::tile_text {

std::string print(const syntax::Module& module);
std::string print(const syntax::Function& function);
std::string print(const syntax::Block& block);
std::string print(const syntax::ExpressionPtr& expression);

}  // namespace tileopt::tile_text
