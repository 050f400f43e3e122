/// Tile text -> the same program, laid out: for writers, so comments, docstrings and paragraphs stay (the printer's canonical
/// text has none of them).
#pragma once

#include <string>

namespace tileopt {

/// Four spaces a level, one statement a line, one space around operators and after commas, none where calls and subscripts open;
/// double quotes; comments two spaces behind code; two empty lines between functions, at most one inside. Line breaks inside
/// brackets are the writer's; what follows them is aligned with the bracket, or indented by four where nothing follows it.
///
/// format(format(x)) = format(x), and both have the canonical text of x.
/// @throws Errors where the text does not parse: nothing is guessed.
std::string format_tile_text(const std::string& text, const std::string& file);

}  // namespace tileopt
