#include "frontends/tile_text/expression_parser.h"

#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace tileopt::tile_text {

using syntax::ExpressionPtr;
using syntax::Position;

namespace {

struct BinaryRow {
  std::string_view spelling;
  BinaryOp op;
  int level;
};
/// Levels: 1 or, 2 and, 3 not, 4 comparisons, 5 |, 6 ^, 7 &, 8 shifts, 9 sums, 10 products.
constexpr int not_level = 3;
constexpr int comparison_level = 4;
constexpr int tightest_level = 10;
constexpr std::array<BinaryRow, 12> binary_rows = {{
    {"or", BinaryOp::logical_or, 1},
    {"and", BinaryOp::logical_and, 2},
    {"|", BinaryOp::bit_or, 5},
    {"^", BinaryOp::bit_xor, 6},
    {"&", BinaryOp::bit_and, 7},
    {"<<", BinaryOp::shift_left, 8},
    {">>", BinaryOp::shift_right, 8},
    {"+", BinaryOp::add, 9},
    {"-", BinaryOp::sub, 9},
    {"*", BinaryOp::mul, 10},
    {"/", BinaryOp::divide, 10},
    {"//", BinaryOp::floor_div, 10},
}};
constexpr std::array<std::pair<std::string_view, BinaryOp>, 6> comparison_rows = {{
    {"<", BinaryOp::lt},
    {"<=", BinaryOp::le},
    {">", BinaryOp::gt},
    {">=", BinaryOp::ge},
    {"==", BinaryOp::eq},
    {"!=", BinaryOp::ne},
}};

std::optional<BinaryRow> find_binary(const Token& token, int level) {
  if (token.kind != TokenKind::punctuation && token.kind != TokenKind::name) return std::nullopt;
  if (token.text == "%" && level == tightest_level) return BinaryRow{"%", BinaryOp::modulo, tightest_level};
  for (const BinaryRow& row : binary_rows)
    if (row.level == level && row.spelling == token.text) return row;
  return std::nullopt;
}
std::optional<BinaryOp> find_comparison(const Token& token) {
  if (token.kind != TokenKind::punctuation) return std::nullopt;
  for (const auto& [spelling, op] : comparison_rows)
    if (spelling == token.text) return op;
  return std::nullopt;
}

}  // namespace

class ExpressionParser::DepthGuard {
 public:
  explicit DepthGuard(ExpressionParser& parser) : parser_(parser) {
    if (++parser_.depth_ <= largest_depth) return;
    --parser_.depth_;
    parser_.cursor_.fail("this expression is nested more than 200 deep", "split it into several statements",
                         ErrorCode::unsupported);
  }
  ~DepthGuard() { --parser_.depth_; }

 private:
  ExpressionParser& parser_;
};

template <class Node>
ExpressionPtr ExpressionParser::build(Position where, Node node) {
  ExpressionPtr expression = syntax::make_expression(cursor_.since(where), std::move(node));
  if (expression->height > largest_depth)
    cursor_.fail("this expression has more than 200 levels of operators", "split it into several statements",
                 ErrorCode::unsupported);
  return expression;
}

ExpressionPtr ExpressionParser::parse() {
  const DepthGuard guard(*this);
  const Position where = cursor_.where();
  ExpressionPtr value = parse_binary(1);
  if (!cursor_.accept_word("if")) return value;
  ExpressionPtr condition = parse_binary(1);
  if (!cursor_.accept_word("else"))
    cursor_.fail("expected `else` after the condition, found " + cursor_.describe(),
                 cursor_.is_punctuation("=") ? "compare with `==`" : "write `value if condition else other`");
  ExpressionPtr other = parse();
  return build(where, syntax::Conditional{std::move(value), std::move(condition), std::move(other)});
}

ExpressionPtr ExpressionParser::parse_binary(int level) {
  const Position where = cursor_.where();
  ExpressionPtr left = parse_operand(level);
  while (const auto row = find_binary(cursor_.peek(), level)) {
    const Position op_where = cursor_.next().where;
    ExpressionPtr right = parse_operand(level);
    left = build(where, syntax::Binary{row->op, op_where, std::move(left), std::move(right)});
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_operand(int level) {
  if (level == tightest_level) return parse_unary();
  if (level + 1 == not_level) {
    if (!cursor_.is_word("not")) return parse_comparison();
    const DepthGuard guard(*this);
    const Position where = cursor_.next().where;
    return build(where, syntax::Unary{UnaryOp::logical_not, parse_operand(level)});
  }
  return parse_binary(level + 1);
}

ExpressionPtr ExpressionParser::parse_comparison() {
  const Position where = cursor_.where();
  ExpressionPtr first = parse_binary(comparison_level + 1);
  std::vector<syntax::ComparisonLink> links;
  while (const auto op = find_comparison(cursor_.peek())) {
    const Position op_where = cursor_.next().where;
    links.push_back({*op, op_where, parse_binary(comparison_level + 1)});
  }
  reject_foreign_operator();
  if (links.empty()) return first;
  return build(where, syntax::Comparison{std::move(first), std::move(links)});
}

void ExpressionParser::reject_foreign_operator() {
  const Token& token = cursor_.peek();
  if (token.kind == TokenKind::name && (token.text == "is" || token.text == "in"))
    cursor_.fail("`" + token.text + "` is not an operator of the tile language", "compare with `==`", ErrorCode::unsupported);
  if (token.kind != TokenKind::punctuation) return;
  if (token.text == "&&") cursor_.fail("`&&` is not an operator of the tile language", "write `and`");
  if (token.text == "||") cursor_.fail("`||` is not an operator of the tile language", "write `or`");
  if (token.text == "!") cursor_.fail("`!` is not an operator of the tile language", "write `not`");
  if (token.text == "<>") cursor_.fail("`<>` is not an operator of the tile language", "write `!=`");
  if (token.text == "**") cursor_.fail("`**` is not supported", "multiply, or use exp, exp2 or sqrt", ErrorCode::unsupported);
  if (token.text == "@")
    cursor_.fail("`@` is not supported", "write the product as sum(a * b for k in range(K))", ErrorCode::unsupported);
  if (token.text == ":=") cursor_.fail("`:=` is not supported", "write `=`, in a statement of its own", ErrorCode::unsupported);
}

ExpressionPtr ExpressionParser::parse_unary() {
  const bool minus = cursor_.is_punctuation("-"), plus = cursor_.is_punctuation("+"), tilde = cursor_.is_punctuation("~");
  if (!minus && !plus && !tilde) return parse_postfix();
  const DepthGuard guard(*this);
  const Position where = cursor_.next().where;
  if (!tilde && cursor_.is(TokenKind::newline)) {
    const std::string sign = minus ? "-" : "+";
    cursor_.fail("expected a value after `" + sign + "`, found the end of the line", "`" + sign + sign + "` is no operator: write `" + sign + "= 1`");
  }
  ExpressionPtr operand = parse_unary();
  if (plus) return operand;
  return build(where, syntax::Unary{minus ? UnaryOp::negate : UnaryOp::bit_not, std::move(operand)});
}

ExpressionPtr ExpressionParser::parse_postfix() {
  ExpressionPtr value = parse_atom();
  for (;;) {
    if (cursor_.is_punctuation("(")) {
      value = parse_call(std::move(value));
    } else if (cursor_.is_punctuation("[")) {
      value = parse_subscript(std::move(value));
    } else if (cursor_.is_punctuation(".")) {
      const Position where = value->where;
      cursor_.next();
      std::string name = cursor_.expect_name("a name after `.`");
      value = build(where, syntax::Attribute{std::move(value), std::move(name)});
    } else {
      break;
    }
  }
  if (cursor_.is_punctuation("**")) reject_foreign_operator();
  return value;
}

ExpressionPtr ExpressionParser::parse_call(ExpressionPtr callee) {
  const Position where = callee->where;
  cursor_.expect_punctuation("(", "to open the arguments");
  syntax::Call call{std::move(callee), {}, {}};
  while (!cursor_.is_punctuation(")")) {
    if (cursor_.is_punctuation("*") || cursor_.is_punctuation("**"))
      cursor_.fail("unpacked arguments are not supported", "write the arguments one by one", ErrorCode::unsupported);
    if (cursor_.is(TokenKind::name) && cursor_.is_punctuation("=", 1)) {
      const Position keyword_where = cursor_.where();
      std::string name = cursor_.expect_name("an argument name");
      cursor_.next();
      call.keywords.push_back({std::move(name), parse(), keyword_where});
    } else {
      if (!call.keywords.empty())
        cursor_.fail("a positional argument follows a keyword argument", "write positional arguments first");
      call.arguments.push_back(parse());
      if (cursor_.is_word("for")) {
        if (call.arguments.size() > 1)
          cursor_.fail("a `for` in arguments must be the only argument", "write f(value for i in range(N))");
        call.arguments.back() = parse_generator(std::move(call.arguments.back()));
        if (cursor_.is_punctuation(","))
          cursor_.fail("a `for` in arguments must be the only argument", "remove what follows it");
        break;
      }
    }
    if (!cursor_.accept_punctuation(",")) break;
  }
  cursor_.expect_punctuation(")", "to close the arguments");
  return build(where, std::move(call));
}

ExpressionPtr ExpressionParser::parse_generator(ExpressionPtr element) {
  const Position where = element->where;
  syntax::Generator generator{std::move(element), {}};
  while (cursor_.accept_word("for")) {
    syntax::Clause clause;
    clause.targets = parse_targets();
    if (!cursor_.accept_word("in"))
      cursor_.fail("expected `in` after the iterators, found " + cursor_.describe(), "write `for i in range(N)`");
    clause.iterable = parse_binary(1);
    while (cursor_.accept_word("if")) clause.conditions.push_back(parse_binary(1));
    generator.clauses.push_back(std::move(clause));
  }
  return build(where, std::move(generator));
}

std::vector<syntax::Target> ExpressionParser::parse_targets() {
  std::vector<syntax::Target> targets;
  do {
    const Position where = cursor_.where();
    if (cursor_.is_punctuation("(")) cursor_.fail("iterators are not bracketed", "write `for i, j in grid(M, N)`");
    targets.push_back({cursor_.expect_name("an iterator"), where});
  } while (cursor_.accept_punctuation(","));
  return targets;
}

ExpressionPtr ExpressionParser::parse_subscript(ExpressionPtr base) {
  const Position where = base->where;
  cursor_.expect_punctuation("[", "to open the subscripts");
  syntax::Subscript subscript{std::move(base), {}};
  do subscript.indices.push_back(parse_index());
  while (cursor_.accept_punctuation(","));
  cursor_.expect_punctuation("]", "to close the subscripts");
  return build(where, std::move(subscript));
}

ExpressionPtr ExpressionParser::parse_index() {
  const Position where = cursor_.where();
  ExpressionPtr lower;
  if (!cursor_.is_punctuation(":")) lower = parse();
  if (!cursor_.accept_punctuation(":")) return lower;
  ExpressionPtr upper;
  if (!cursor_.is_punctuation("]") && !cursor_.is_punctuation(",") && !cursor_.is_punctuation(":")) upper = parse();
  if (cursor_.is_punctuation(":")) cursor_.fail("slices with a step are not supported", "write a loop", ErrorCode::unsupported);
  return build(where, syntax::Slice{std::move(lower), std::move(upper)});
}

ExpressionPtr ExpressionParser::parse_atom() {
  const Token& token = cursor_.peek();
  const Position where = token.where;
  if (token.kind == TokenKind::name) return parse_word();
  if (token.kind == TokenKind::integer) return build(where, syntax::IntegerLiteral{cursor_.next().integer});
  if (token.kind == TokenKind::real) return build(where, syntax::RealLiteral{cursor_.next().real});
  if (token.kind == TokenKind::string) return build(where, syntax::StringLiteral{cursor_.next().text});
  if (cursor_.is_punctuation("[") || cursor_.is_punctuation("{"))
    cursor_.fail("lists, sets and dictionaries are not supported",
                 "declare an array and assign to its elements; reductions take no list: sum(A[k] for k in range(K))", ErrorCode::unsupported);
  if (!cursor_.is_punctuation("(")) {
    reject_foreign_operator();
    if (cursor_.is_punctuation("]"))
      cursor_.fail("expected a value, found `]`", "write a subscript or an extent; a scalar has neither brackets nor extents: `x: f32`");
    cursor_.fail("expected a value, found " + cursor_.describe(), "write a number, a name, a call or a bracketed expression");
  }
  cursor_.next();
  if (cursor_.is_punctuation(")")) cursor_.fail("an empty pair of brackets is no value", "write a value between them");
  ExpressionPtr value = parse();
  if (cursor_.is_punctuation(",")) return parse_tuple(where, std::move(value));
  if (cursor_.is_word("for"))
    cursor_.fail("a `for` is allowed only in the arguments of a reduction", "write sum(...), prod(...), min(...) or max(...)",
                 ErrorCode::unsupported);
  cursor_.expect_punctuation(")", "to close the bracket");
  return value;
}

/// After the first element.
ExpressionPtr ExpressionParser::parse_tuple(Position where, ExpressionPtr first) {
  syntax::Tuple tuple{{std::move(first)}};
  while (cursor_.accept_punctuation(",") && !cursor_.is_punctuation(")")) tuple.elements.push_back(parse());
  cursor_.expect_punctuation(")", "to close the tuple");
  if (tuple.elements.size() < 2) cursor_.fail_at(where, "a tuple has at least two values", "write the value without the comma");
  return build(where, std::move(tuple));
}

ExpressionPtr ExpressionParser::parse_word() {
  const Position where = cursor_.where();
  if (cursor_.accept_word("True")) return build(where, syntax::BoolLiteral{true});
  if (cursor_.accept_word("False")) return build(where, syntax::BoolLiteral{false});
  if (cursor_.accept_word("inf")) return build(where, syntax::RealLiteral{std::numeric_limits<double>::infinity()});
  if (cursor_.accept_word("nan")) return build(where, syntax::RealLiteral{std::numeric_limits<double>::quiet_NaN()});
  if (cursor_.accept_word("None")) return build(where, syntax::NoneLiteral{});
  if (cursor_.is_word("lambda") || cursor_.is_word("await") || cursor_.is_word("yield"))
    cursor_.fail("`" + cursor_.peek().text + "` is not part of the tile language", "write the value itself",
                 ErrorCode::unsupported);
  if (is_keyword(cursor_.peek().text))
    cursor_.fail("expected a value, found the keyword " + cursor_.describe(),
                 "write a number, a name, a call or a bracketed expression");
  return build(where, syntax::Name{cursor_.next().text});
}

}  // namespace tileopt::tile_text
