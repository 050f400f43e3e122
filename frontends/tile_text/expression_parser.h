/// Expressions of tile text: Python's operators, precedences and calls.
#pragma once

#include "frontends/tile_text/token_cursor.h"

namespace tileopt::tile_text {

/// Deepest nesting of brackets, operators and blocks; also the largest height of an expression tree.
constexpr int largest_depth = 200;

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenCursor& cursor) : cursor_(cursor) {}

  /// `then if condition else other`, and all that binds tighter. @throws SyntaxAbort.
  syntax::ExpressionPtr parse();
  /// `i, j` of a `for`.
  std::vector<syntax::Target> parse_targets();

 private:
  class DepthGuard;
  syntax::ExpressionPtr parse_binary(int lowest);
  syntax::ExpressionPtr parse_comparison();
  syntax::ExpressionPtr parse_operand(int level);
  syntax::ExpressionPtr parse_unary();
  syntax::ExpressionPtr parse_postfix();
  syntax::ExpressionPtr parse_call(syntax::ExpressionPtr callee);
  syntax::ExpressionPtr parse_subscript(syntax::ExpressionPtr base);
  syntax::ExpressionPtr parse_index();
  syntax::ExpressionPtr parse_generator(syntax::ExpressionPtr element);
  syntax::ExpressionPtr parse_atom();
  syntax::ExpressionPtr parse_tuple(syntax::Position where, syntax::ExpressionPtr first);
  syntax::ExpressionPtr parse_word();
  void reject_foreign_operator();

  template <class Node>
  syntax::ExpressionPtr build(syntax::Position where, Node node);

  TokenCursor& cursor_;
  int depth_ = 0;
};

}  // namespace tileopt::tile_text
