/// The tokens of tile text with what the lexer leaves out: their spelling, comments, empty lines, block depth.
#pragma once

#include <string>
#include <vector>

#include "frontends/tile_text/lexer.h"

namespace tileopt::tile_text {

struct Comment {
  std::string text;     ///< from `#`, without blanks at its end
  int column = 1;       ///< where it starts in the source
  int empty_lines = 0;  ///< above it
};

/// What stands between two tokens.
struct Gap {
  std::string trailing;            ///< comment behind the token before, "" where there is none
  std::vector<Comment> comments;   ///< on lines of their own
  int empty_lines = 0;             ///< after the last comment
  bool breaks = false;             ///< holds an end of line
};

struct LayoutToken {
  TokenKind kind = TokenKind::end;
  std::string text;          ///< as spelt
  Gap gap;                   ///< before it
  bool starts_line = false;  ///< of a logical line
  int depth = 0;             ///< of its block
  int column = 1;            ///< in the source
};

/// Visible tokens, then `end` (which carries the comments behind the last one).
std::vector<LayoutToken> layout_tokens(const std::string& text, const std::vector<Token>& tokens);

}  // namespace tileopt::tile_text
