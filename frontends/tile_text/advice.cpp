#include "frontends/tile_text/advice.h"

#include <array>
#include <map>
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

namespace {
using Advice = std::map<std::string, std::string>;
std::string look_up(const Advice& table, const std::string& name) {
  const auto found = table.find(name);
  return found == table.end() ? "" : found->second;
}
}  // namespace

std::string advice_for_function(const std::string& name) {
  static const Advice table = {
      {"pow", "multiply; or write exp(log(x) * y) for positive x"},
      {"square", "write `x * x`"},
      {"len", "sizes are the names in extents: `A: f32[N]` has `N` elements"},
      {"zeros", "declare a local, `x: f32[N]`, and assign to its elements in a loop"},
      {"ones", "declare a local, `x: f32[N]`, and assign to its elements in a loop"},
      {"empty", "declare a local: `x: f32[N]`"},
      {"array", "declare a local, `x: f32[N]`, and assign to its elements in a loop"},
      {"float", "cast with the type: `f32(x)` or `f64(x)`"},
      {"double", "cast with the type: `f64(x)`"},
      {"int", "cast with the type: `i32(x)` or `i64(x)`"},
      {"fabs", "write `abs(x)`"},
      {"fmax", "write `max(a, b)`"},
      {"fmin", "write `min(a, b)`"},
      {"maximum", "write `max(a, b)`"},
      {"minimum", "write `min(a, b)`"},
      {"where", "write `x if condition else y`"},
      {"select", "write `x if condition else y`"},
      {"clamp", "write `min(max(x, low), high)`"},
      {"clip", "write `min(max(x, low), high)`"},
      {"relu", "write `max(x, 0)`"},
      {"sigmoid", "write `1 / (1 + exp(-x))`"},
      {"silu", "write `x / (1 + exp(-x))`"},
      {"mean", "write `sum(A[k] for k in range(K)) / f32(K)`"},
      {"dot", "write `sum(a[k] * b[k] for k in range(K))`"},
      {"matmul", "write `sum(A[i, k] * B[k, j] for k in range(K))`"},
      {"print", "programs print nothing: write the value to an `out` parameter"},
  };
  return look_up(table, name);
}

std::string advice_for_type(const std::string& name) {
  static const Advice table = {
      {"float", "write `f32`, or `f64` for double precision"}, {"double", "write `f64`"}, {"float64", "write `f64`"}, {"float32", "write `f32`"},
      {"single", "write `f32`"}, {"float16", "write `f16`"}, {"half", "write `f16`"}, {"bfloat16", "write `bf16`"},
      {"int", "write `i32` or `i64`; a size that loops run over is `size`"}, {"int64", "write `i64`"}, {"long", "write `i64`"},
      {"int32", "write `i32`"}, {"int16", "write `i16`"}, {"short", "write `i16`"}, {"int8", "write `i8`"}, {"char", "write `i8` or `u8`"},
      {"uint64", "write `u64`"}, {"uint32", "write `u32`"}, {"unsigned", "write `u32`"}, {"uint16", "write `u16`"}, {"uint8", "write `u8`"},
      {"byte", "write `u8`"}, {"size_t", "write `u64`; a size that loops run over is `size`"},
  };
  return look_up(table, name);
}

std::string advice_for_value(const std::string& name) {
  static const Advice table = {
      {"true", "write `True`"}, {"false", "write `False`"}, {"TRUE", "write `True`"}, {"FALSE", "write `False`"},
      {"pi", "write the number: 3.141592653589793"},
  };
  return look_up(table, name);
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
