/// Tile text -> tokens, indentation-aware, with exact positions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/tile_text/diagnostics.h"

namespace tileopt::tile_text {

enum class TokenKind {
  name,         ///< identifiers and keywords
  integer,      ///< value in `integer`
  real,         ///< value in `real`
  string,       ///< value in `text`
  punctuation,  ///< operators and brackets, spelling in `text`
  newline,      ///< end of a logical line that held tokens
  indent,
  dedent,
  error,  ///< something already reported; the parser skips the line silently
  end,
};

struct Token {
  TokenKind kind;
  std::string text;
  syntax::Position where;
  std::uint64_t integer = 0;
  double real = 0;
};

/// Python's rules for logical lines (brackets and `\` join lines, comments and blank lines vanish) and indentation
/// (spaces only). Errors go to `diagnostics`. The last token is `end`, after the dedents that close all blocks.
std::vector<Token> tokenize(const std::string& text, Diagnostics& diagnostics);

}  // namespace tileopt::tile_text
