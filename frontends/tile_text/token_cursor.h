/// A place in the token list, with the parser's ways to expect, accept and complain.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontends/tile_text/lexer.h"

namespace tileopt::tile_text {

/// Thrown after an error was reported: the parser skips the rest of the logical line.
struct SyntaxAbort {};

/// True for Python's keywords, which cannot name anything.
bool is_keyword(const std::string& name);

class TokenCursor {
 public:
  TokenCursor(const std::vector<Token>& tokens, Diagnostics& diagnostics) : tokens_(tokens), diagnostics_(diagnostics) {}

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next();
  syntax::Position where() const { return peek().where; }
  /// `start`, extended to the end of the last token taken.
  syntax::Position since(syntax::Position start) const;

  bool is(TokenKind kind) const { return peek().kind == kind; }
  bool is_punctuation(std::string_view text, std::size_t ahead = 0) const;
  bool is_word(std::string_view text) const;
  bool accept_punctuation(std::string_view text);
  bool accept_word(std::string_view text);
  /// @throws SyntaxAbort after reporting what was expected where.
  void expect_punctuation(std::string_view text, const std::string& after);
  std::string expect_name(const std::string& what);

  /// Reports (silently where the lexer already did) and throws.
  [[noreturn]] void fail(const std::string& message, const std::string& hint, ErrorCode code = ErrorCode::syntax);
  [[noreturn]] void fail_at(syntax::Position where, const std::string& message, const std::string& hint,
                            ErrorCode code = ErrorCode::syntax);
  /// The next token in words, for messages.
  std::string describe() const;

  /// Skips to the next logical line, and over the block indented below this one.
  void skip_line();
  Diagnostics& diagnostics() { return diagnostics_; }

 private:
  void skip_block();
  const std::vector<Token>& tokens_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  syntax::Position last_;  ///< of the last token taken
};

}  // namespace tileopt::tile_text
