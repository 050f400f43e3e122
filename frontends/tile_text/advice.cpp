#include "frontends/tile_text/advice.h"

#include <array>
#include <utility>

#include "support/text.h"

namespace tileopt::tile_text {

std::string ascii_lookalike(const std::string& character) {
  static const std::array<std::pair<const char*, const char*>, 24> table = {{
      {"\u00D7", "*"},  {"\u22C5", "*"}, {"\u00B7", "*"},  {"\u00F7", "/"},  {"\u2212", "-"},  {"\u2013", "-"}, {"\u2014", "-"}, {"\u2264", "<="},
      {"\u2265", ">="}, {"\u2260", "!="}, {"\u201C", "\""}, {"\u201D", "\""}, {"\u2018", "'"},  {"\u2019", "'"}, {"\u00AB", "\""}, {"\u00BB", "\""},
      {"\uFF08", "("},  {"\uFF09", ")"}, {"\uFF0C", ","},  {"\uFF1A", ":"},  {"\u2044", "/"},  {"\u2227", "and"}, {"\u2228", "or"}, {"\u00A0", "a blank"},
  }};
  for (const auto& [from, to] : table)
    if (character == from) return to;
  return "";
}

std::string advice_at_line_end(const TokenCursor& cursor) {
  const Token& token = cursor.peek();
  if (cursor.is_punctuation("{") || cursor.is_punctuation("}")) return "blocks have no braces: write `:` and indent what belongs to it";
  if (cursor.is_punctuation("?")) return "write `value if condition else other`";
  if (cursor.is_punctuation("=")) return "compare with `==`";
  const bool value = token.kind == TokenKind::integer || token.kind == TokenKind::real || token.kind == TokenKind::string ||
                     (token.kind == TokenKind::name && !is_keyword(token.text));
  return value ? "put an operator such as `*` before it, or start a new line" : "start a new line";
}

std::string advice_at_module(const TokenCursor& cursor) {
  static const std::vector<std::string> definers = {"function", "func", "fn", "fun", "void", "Def", "DEF", "define", "defn", "sub", "proc"};
  const Token& token = cursor.peek();
  if (token.kind == TokenKind::name && contains(definers, token.text)) return "functions start with `def`: write `def name(...):`";
  return "statements belong into a function: start one with `def name(...):` and indent its lines";
}

}  // namespace tileopt::tile_text
