#include "frontends/tile_text/token_cursor.h"

#include <algorithm>
#include <array>

namespace tileopt::tile_text {

namespace {
constexpr std::array<std::string_view, 35> keywords = {
    "False",  "None",     "True", "and",    "as",      "assert", "async",  "await",  "break", "class",  "continue", "def",
    "del",    "elif",     "else", "except", "finally", "for",    "from",   "global", "if",    "import", "in",       "is",
    "lambda", "nonlocal", "not",  "or",     "pass",    "raise",  "return", "try",    "while", "with",   "yield"};
}  // namespace

bool is_keyword(const std::string& name) { return std::find(keywords.begin(), keywords.end(), name) != keywords.end(); }

const Token& TokenCursor::next() {
  const Token& token = peek();
  if (token.where.end_line > 0) last_ = token.where;
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

syntax::Position TokenCursor::since(syntax::Position start) const {
  if (last_ < start) return start;
  return {start.line, start.column, last_.end_line, last_.end_column};
}

bool TokenCursor::is_punctuation(std::string_view text, std::size_t ahead) const {
  return peek(ahead).kind == TokenKind::punctuation && peek(ahead).text == text;
}
bool TokenCursor::is_word(std::string_view text) const { return is(TokenKind::name) && peek().text == text; }

bool TokenCursor::accept_punctuation(std::string_view text) {
  if (!is_punctuation(text)) return false;
  next();
  return true;
}
bool TokenCursor::accept_word(std::string_view text) {
  if (!is_word(text)) return false;
  next();
  return true;
}

void TokenCursor::expect_punctuation(std::string_view text, const std::string& after) {
  if (accept_punctuation(text)) return;
  fail("expected `" + std::string(text) + "` " + after + ", found " + describe(), "write `" + std::string(text) + "` here");
}

std::string TokenCursor::expect_name(const std::string& what) {
  if (!is(TokenKind::name)) fail("expected " + what + ", found " + describe(), "write a name: letters, digits and `_`");
  if (is_keyword(peek().text)) fail("`" + peek().text + "` is a keyword and cannot be " + what, "choose another name");
  return next().text;
}

void TokenCursor::fail(const std::string& message, const std::string& hint, ErrorCode code) {
  fail_at(where(), message, hint, code);
}

void TokenCursor::fail_at(syntax::Position where, const std::string& message, const std::string& hint, ErrorCode code) {
  if (!is(TokenKind::error)) diagnostics_.add(code, where, message, hint);
  throw SyntaxAbort{};
}

std::string TokenCursor::describe() const {
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::name:
    case TokenKind::integer:
    case TokenKind::real:
    case TokenKind::punctuation:
      return "`" + token.text + "`";
    case TokenKind::string:
      return "a string";
    case TokenKind::newline:
      return "the end of the line";
    case TokenKind::indent:
      return "a deeper indentation";
    case TokenKind::dedent:
      return "the end of the block";
    case TokenKind::error:
      return "an error";
    case TokenKind::end:
      return "the end of the file";
  }
  return "something else";
}

void TokenCursor::skip_line() {
  while (!is(TokenKind::newline) && !is(TokenKind::end) && !is(TokenKind::indent) && !is(TokenKind::dedent)) next();
  if (is(TokenKind::newline)) next();
  if (is(TokenKind::indent)) skip_block();
}

void TokenCursor::skip_block() {
  std::size_t depth = 0;
  do {
    if (is(TokenKind::end)) return;
    if (is(TokenKind::indent)) ++depth;
    if (is(TokenKind::dedent)) --depth;
    next();
  } while (depth > 0);
}

}  // namespace tileopt::tile_text
