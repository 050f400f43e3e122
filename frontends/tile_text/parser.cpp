#include "frontends/tile_text/parser.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "frontends/tile_text/advice.h"
#include "frontends/tile_text/constants.h"
#include "frontends/tile_text/expression_parser.h"
#include "support/text.h"

namespace tileopt::tile_text {

using syntax::Block;
using syntax::ExpressionPtr;
using syntax::Position;
using syntax::StatementPtr;

namespace {

constexpr std::array<std::pair<std::string_view, BinaryOp>, 11> assignment_operators = {{
    {"+=", BinaryOp::add},
    {"-=", BinaryOp::sub},
    {"*=", BinaryOp::mul},
    {"/=", BinaryOp::divide},
    {"//=", BinaryOp::floor_div},
    {"%=", BinaryOp::modulo},
    {"&=", BinaryOp::bit_and},
    {"|=", BinaryOp::bit_or},
    {"^=", BinaryOp::bit_xor},
    {"<<=", BinaryOp::shift_left},
    {">>=", BinaryOp::shift_right},
}};

std::optional<BinaryOp> find_assignment(const Token& token) {
  if (token.kind != TokenKind::punctuation) return std::nullopt;
  for (const auto& [spelling, op] : assignment_operators)
    if (spelling == token.text) return op;
  return std::nullopt;
}

template <class Node>
StatementPtr make_statement(Position where, Node node) {
  return std::make_shared<const syntax::Statement>(syntax::Statement{where, std::move(node)});
}

class Parser {
 public:
  explicit Parser(TokenCursor& cursor) : cursor_(cursor), expressions_(cursor) {}

  syntax::Module parse_module() {
    syntax::Module module;
    while (!cursor_.is(TokenKind::end)) {
      if (cursor_.is(TokenKind::dedent) || cursor_.is(TokenKind::newline)) {
        cursor_.next();
        continue;
      }
      broken_ = false;
      syntax::Function function;
      try {
        if (skip_docstring()) continue;
        parse_function(function);
      } catch (const SyntaxAbort&) {
        cursor_.skip_line();
        broken_ = true;
      }
      function.broken = broken_;
      if (!function.name.empty()) module.functions.push_back(std::move(function));
    }
    return module;
  }

  Block parse_lines() {
    Block block;
    parse_statements(block);
    if (!cursor_.is(TokenKind::end)) report_stray();
    return block;
  }

 private:
  bool skip_docstring() {
    if (!cursor_.is(TokenKind::string) || cursor_.peek(1).kind != TokenKind::newline) return false;
    cursor_.next();
    cursor_.next();
    return true;
  }

  void report_stray() {
    try {
      cursor_.fail("expected a statement, found " + cursor_.describe(), "remove it");
    } catch (const SyntaxAbort&) {
    }
  }

  void parse_function(syntax::Function& function) {
    while (cursor_.is_punctuation("@")) {
      try {
        const Position where = cursor_.next().where;
        ExpressionPtr decorator = expressions_.parse();
        function.decorators.push_back({std::move(decorator), cursor_.since(where)});
        expect_line_end("after the decorator");
      } catch (const SyntaxAbort&) {
        broken_ = true;
        cursor_.skip_line();
      }
    }
    if (!cursor_.accept_word("def")) reject_module_statement();
    function.where = cursor_.where();
    function.name = cursor_.expect_name("a function name");
    parse_parameters(function);
    if (cursor_.accept_punctuation("->")) function.returns = expressions_.parse();
    may_return_ = function.returns != nullptr;
    function.body = parse_body(may_return_ ? "the return type" : "the parameters");
  }

  [[noreturn]] void reject_module_statement() {
    if (cursor_.is_word("import") || cursor_.is_word("from"))
      cursor_.fail("imports are not part of the tile language", "remove the line: everything is built in",
                   ErrorCode::unsupported);
    if (cursor_.is_word("class"))
      cursor_.fail("classes are not part of the tile language", "write functions", ErrorCode::unsupported);
    cursor_.fail("expected a function, found " + cursor_.describe(), advice_at_module(cursor_));
  }

  void parse_parameters(syntax::Function& function) {
    cursor_.expect_punctuation("(", "after the function's name");
    while (!cursor_.is_punctuation(")")) {
      const Position where = cursor_.where();
      if (cursor_.is_punctuation("*") || cursor_.is_punctuation("**") || cursor_.is_punctuation("/"))
        cursor_.fail("`" + cursor_.peek().text + "` parameters are not supported", "name every parameter",
                     ErrorCode::unsupported);
      std::string name = cursor_.expect_name("a parameter name");
      if (cursor_.is(TokenKind::name))
        cursor_.fail_at(where, "`" + name + "` stands before the parameter's name", "the type follows the name: `" + cursor_.peek().text + ": " + name + "`");
      if (!cursor_.accept_punctuation(":"))
        cursor_.fail_at(where, "parameter `" + name + "` has no type",
                        "write `" + name + ": f32[N]`, `" + name + ": out[f32[N]]` or `" + name + ": size`");
      const bool role = (cursor_.is_word("out") || cursor_.is_word("inout")) &&
                        cursor_.peek(1).kind == TokenKind::name && !is_keyword(cursor_.peek(1).text);
      if (role) {
        const std::string word = cursor_.next().text;
        cursor_.fail("`" + word + "` is followed by its type in brackets, found " + cursor_.describe(), "write `" + name + ": " + word + "[" + cursor_.peek().text + "[...]]`");
      }
      ExpressionPtr type = expressions_.parse();
      syntax::Parameter parameter{std::move(name), std::move(type), where};
      if (cursor_.is_punctuation("=") && !is_constant(parameter))
        cursor_.fail("only `const` parameters have default values", "pass the value at the call", ErrorCode::unsupported);
      if (cursor_.accept_punctuation("=")) parameter.value = expressions_.parse();
      function.parameters.push_back(std::move(parameter));
      if (!cursor_.accept_punctuation(",")) break;
    }
    cursor_.expect_punctuation(")", "to close the parameters");
  }

  /// `:` and what belongs to it: simple statements on the same line, or an indented block.
  Block parse_body(const std::string& after) {
    if (cursor_.is_punctuation("=")) cursor_.fail("`=` in " + after, "compare with `==`");
    if (cursor_.is_punctuation("{")) cursor_.fail("expected `:` after " + after + ", found `{`", advice_at_line_end(cursor_));
    cursor_.expect_punctuation(":", "after " + after);
    Block block;
    if (!cursor_.is(TokenKind::newline)) {
      if (cursor_.is_word("for") || cursor_.is_word("if") || cursor_.is_word("def") || cursor_.is_word("while") ||
          cursor_.is_word("with"))
        cursor_.fail("`" + cursor_.peek().text + "` cannot follow `:` on the same line", "start a new, indented line");
      parse_simple_line(block);
      return finish_block(std::move(block));
    }
    cursor_.next();
    if (!cursor_.is(TokenKind::indent))
      cursor_.fail("expected an indented block, found " + cursor_.describe(),
                   "indent the lines that belong to the block by four spaces");
    if (depth_ >= largest_depth)
      cursor_.fail("blocks are nested more than 200 deep", "use fewer nested loops", ErrorCode::unsupported);
    cursor_.next();
    ++depth_;
    parse_statements(block);
    --depth_;
    if (cursor_.is(TokenKind::dedent)) cursor_.next();
    return finish_block(std::move(block));
  }

  /// A block of nothing but docstrings does nothing.
  Block finish_block(Block block) {
    if (block.empty()) block.push_back(make_statement(cursor_.where(), syntax::Pass{}));
    return block;
  }

  void parse_statements(Block& block) {
    while (!cursor_.is(TokenKind::dedent) && !cursor_.is(TokenKind::end)) {
      try {
        parse_statement(block);
      } catch (const SyntaxAbort&) {
        broken_ = true;
        cursor_.skip_line();
      }
    }
  }

  void parse_statement(Block& block) {
    if (cursor_.is(TokenKind::newline)) {
      cursor_.next();
    } else if (cursor_.is(TokenKind::indent)) {
      cursor_.fail("unexpected indentation", "align the line with the line above it");
    } else if (cursor_.is_word("for")) {
      block.push_back(parse_for());
    } else if (cursor_.is_word("if")) {
      block.push_back(parse_if());
    } else if (cursor_.is_word("elif") || cursor_.is_word("else")) {
      cursor_.fail("`" + cursor_.peek().text + "` without an `if` before it",
                   cursor_.peek(1).text == "if" ? "write `elif`, aligned with its `if`" : "align it with its `if`");
    } else if (cursor_.is_word("def") || cursor_.is_punctuation("@")) {
      cursor_.fail("functions cannot be defined inside functions", "move it to the top level of the file",
                   ErrorCode::unsupported);
    } else {
      parse_simple_line(block);
    }
  }

  StatementPtr parse_for() {
    const Position where = cursor_.next().where;
    syntax::For loop;
    loop.targets = expressions_.parse_targets();
    if (!cursor_.accept_word("in"))
      cursor_.fail("expected `in` after the iterators, found " + cursor_.describe(), "write `for i in range(N):`");
    loop.iterable = expressions_.parse();
    if (cursor_.is_punctuation(":") && !syntax::as<syntax::Call>(loop.iterable) && cursor_.peek(1).kind != TokenKind::newline)
      cursor_.fail_at(loop.iterable->where, "a loop runs over a `range` or a `grid`", "write `range(a, b)` for the numbers from a to b - 1");
    loop.body = parse_body("the range");
    if (cursor_.is_word("else"))
      cursor_.fail("a loop has no `else`", "write the statements after the loop", ErrorCode::unsupported);
    return make_statement(where, std::move(loop));
  }

  StatementPtr parse_if() {
    const Position where = cursor_.where();
    syntax::If branch;
    while (cursor_.is_word(branch.arms.empty() ? "if" : "elif")) {
      cursor_.next();
      ExpressionPtr condition = expressions_.parse();
      Block body = parse_body("the condition");
      branch.arms.push_back({std::move(condition), std::move(body)});
    }
    if (cursor_.is_word("else") && cursor_.peek(1).text == "if") cursor_.fail("`else if` is not part of the tile language", "write `elif`");
    if (cursor_.accept_word("else")) branch.otherwise = parse_body("`else`");
    return make_statement(where, std::move(branch));
  }

  void parse_simple_line(Block& block) {
    do {
      if (cursor_.is(TokenKind::newline)) break;
      parse_simple(block);
    } while (cursor_.accept_punctuation(";"));
    expect_line_end("after the statement");
  }

  void expect_line_end(const std::string& after) {
    if (cursor_.is(TokenKind::end)) return;
    if (!cursor_.is(TokenKind::newline))
      cursor_.fail("expected the end of the line " + after + ", found " + cursor_.describe(), advice_at_line_end(cursor_));
    cursor_.next();
  }

  StatementPtr parse_return(Position where) {
    ExpressionPtr value = expressions_.parse();
    if (cursor_.is_punctuation(",")) cursor_.fail("the values of a tuple need brackets", "write `return (a, b)`");
    return make_statement(where, syntax::Return{std::move(value)});
  }

  void reject_foreign_statement() {
    static const std::vector<std::string> foreign = {"while",  "return", "import",   "from",  "class",  "with",
                                                     "try",    "break",  "continue", "raise", "assert", "del",
                                                     "global", "async",  "nonlocal", "yield"};
    if (!cursor_.is(TokenKind::name) || !contains(foreign, cursor_.peek().text)) return;
    const std::string word = cursor_.peek().text;
    const std::string hint = word == "while"                         ? "write `for i in range(N):`"
                             : word == "return"                      ? "write results to `out` parameters, or give a helper function its type: `-> f32`"
                             : word == "assert"                      ? "write `assume(...)` for facts about sizes"
                             : word == "break" || word == "continue" ? "restrict the range, or use an affine `if`"
                                                                     : "use loops, affine `if`s and assignments";
    cursor_.fail("`" + word + "` is not part of the tile language", hint, ErrorCode::unsupported);
  }

  void parse_simple(Block& block) {
    const Position where = cursor_.where();
    if (may_return_ && cursor_.accept_word("return")) return block.push_back(parse_return(where));
    reject_foreign_statement();
    if (cursor_.accept_word("pass")) return block.push_back(make_statement(where, syntax::Pass{}));
    ExpressionPtr left = expressions_.parse();
    if (cursor_.is_punctuation(","))
      cursor_.fail("tuples are not supported", "assign one value a statement", ErrorCode::unsupported);
    if (cursor_.is_punctuation(":")) return block.push_back(parse_declaration(where, left));
    const auto op = find_assignment(cursor_.peek());
    if (op || cursor_.is_punctuation("=")) return block.push_back(parse_assignment(left, op));
    if (cursor_.is_punctuation("@=") || cursor_.is_punctuation("**="))
      cursor_.fail("`" + cursor_.peek().text + "` is not supported", "write the assignment in full", ErrorCode::unsupported);
    if (syntax::as<syntax::StringLiteral>(left)) return;
    block.push_back(make_statement(cursor_.since(where), syntax::Evaluate{std::move(left)}));
  }

  StatementPtr parse_declaration(Position where, const ExpressionPtr& left) {
    const auto* name = syntax::as<syntax::Name>(left);
    if (name == nullptr) cursor_.fail_at(where, "only a name can be declared", "write `name: f32[N]`");
    cursor_.next();
    ExpressionPtr type = expressions_.parse();
    ExpressionPtr value;
    if (cursor_.accept_punctuation("=")) value = expressions_.parse();
    return make_statement(where, syntax::Declare{name->name, std::move(type), std::move(value)});
  }

  StatementPtr parse_assignment(const ExpressionPtr& left, std::optional<BinaryOp> op) {
    if (!syntax::as<syntax::Name>(left) && !syntax::as<syntax::Subscript>(left))
      cursor_.fail_at(left->where, "only a name or an element can be assigned to",
                      syntax::as<syntax::Call>(left) ? "elements are written in square brackets: `name[i] = ...`" : "write `name = ...` or `name[i] = ...`");
    const Position op_where = cursor_.next().where;
    ExpressionPtr value = expressions_.parse();
    if (cursor_.is_punctuation("="))
      cursor_.fail("chained assignments are not supported", "write one assignment a line", ErrorCode::unsupported);
    if (cursor_.is_punctuation(","))
      cursor_.fail("tuples are not supported", "assign one value a statement", ErrorCode::unsupported);
    return make_statement(left->where, syntax::Assign{left, op, op_where, std::move(value)});
  }

  TokenCursor& cursor_;
  ExpressionParser expressions_;
  int depth_ = 0;
  bool broken_ = false;
  bool may_return_ = false;  ///< the function has a return type
};

}  // namespace

syntax::Module parse_module(const std::string& text, Diagnostics& diagnostics) {
  const std::vector<Token> tokens = tokenize(text, diagnostics);
  TokenCursor cursor(tokens, diagnostics);
  return Parser(cursor).parse_module();
}

syntax::Block parse_lines(const std::string& text, Diagnostics& diagnostics) {
  const std::vector<Token> tokens = tokenize(text, diagnostics);
  TokenCursor cursor(tokens, diagnostics);
  return Parser(cursor).parse_lines();
}

}  // namespace tileopt::tile_text
