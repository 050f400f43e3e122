/// Text of AST expressions and its parser: exact inverses, so that dumps re-parse to the same bytes.
#include <cctype>
#include <limits>

#include "ir/ast.h"
#include "support/error.h"

namespace tileopt {

namespace {

using Kind = AstExpr::Kind;

/// C's precedences, weakest first.
enum Precedence { any = 0, logical_or = 1, logical_and = 2, equality = 3, relation = 4, additive = 5, product = 6, unary = 7, atom = 8 };

struct Infix {
  Kind kind;
  const char* spelling;
  int precedence;
};
constexpr Infix infixes[] = {
    {Kind::logical_or, "||", logical_or}, {Kind::logical_and, "&&", logical_and},
    {Kind::eq, "==", equality},           {Kind::ne, "!=", equality},
    {Kind::le, "<=", relation},           {Kind::ge, ">=", relation},
    {Kind::lt, "<", relation},            {Kind::gt, ">", relation},
    {Kind::add, "+", additive},           {Kind::sub, "-", additive},
    {Kind::mul, "*", product},            {Kind::exact_div, "/", product},
};
const Infix* find_infix(Kind kind) {
  for (const Infix& infix : infixes)
    if (infix.kind == kind) return &infix;
  return nullptr;
}

struct CallForm {
  Kind kind;
  const char* name;
};
constexpr CallForm calls[] = {
    {Kind::floor_div, "floord"}, {Kind::modulo, "mod"}, {Kind::min, "min"}, {Kind::max, "max"}};
const CallForm* find_call(Kind kind) {
  for (const CallForm& call : calls)
    if (call.kind == kind) return &call;
  return nullptr;
}

std::string text_of(const AstExprPtr& expr, int context) {
  const AstExpr& e = *expr;
  if (e.kind == Kind::integer) return std::to_string(e.value);
  if (e.kind == Kind::name) return e.name;
  if (e.kind == Kind::select)
    return "(" + text_of(e.arguments[0], logical_or) + " ? " + text_of(e.arguments[1], logical_or) + " : " +
           text_of(e.arguments[2], logical_or) + ")";
  if (e.kind == Kind::negate) {
    // `-5` is the integer; the negation of an integer keeps its parentheses, so that both re-parse to themselves.
    const AstExpr& operand = *e.arguments[0];
    const bool bare = operand.kind == Kind::name || operand.kind == Kind::select || find_call(operand.kind) != nullptr;
    const std::string inner = text_of(e.arguments[0], any);
    const std::string text = bare ? "-" + inner : "-(" + inner + ")";
    return unary < context ? "(" + text + ")" : text;
  }
  if (const CallForm* call = find_call(e.kind))
    return std::string(call->name) + "(" + text_of(e.arguments[0], any) + ", " + text_of(e.arguments[1], any) + ")";
  const Infix* infix = find_infix(e.kind);
  TILEOPT_CHECK(infix != nullptr, "every other kind is infix");
  const std::string text = text_of(e.arguments[0], infix->precedence) + " " + infix->spelling + " " +
                           text_of(e.arguments[1], infix->precedence + 1);
  return infix->precedence < context ? "(" + text + ")" : text;
}

/// Recursive descent; depth is limited so that a hostile dump cannot exhaust the stack.
class Parser {
 public:
  Parser(const std::string& text, const std::string& file) : text_(text), file_(file) {}

  AstExprPtr parse() {
    AstExprPtr expr = parse_infix(logical_or);
    skip_space();
    if (at_ < text_.size()) fail("unexpected `" + text_.substr(at_, 12) + "`");
    return expr;
  }

 private:
  static constexpr int max_depth = 400;
  static constexpr int max_operations = 10000;  // a left-leaning chain is as deep as it is long

  [[noreturn]] void fail(const std::string& message) const {
    throw Errors(Diagnostic{ErrorCode::invalid_dump, SourceLocation{file_, 0, 0},
                            "expression `" + text_ + "`, column " + std::to_string(at_ + 1) + ": " + message,
                            "write integers, names, + - * /, comparisons, && ||, floord(a, n), mod(a, n), min(a, b), "
                            "max(a, b) or (c ? a : b)",
                            ""});
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool peek(const std::string& token) {
    skip_space();
    return text_.compare(at_, token.size(), token) == 0;
  }
  bool accept(const std::string& token) {
    if (!peek(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(const std::string& token) {
    if (!accept(token)) fail("expected `" + token + "`");
  }

  const Infix* accept_infix(int precedence) {
    for (const Infix& infix : infixes)
      if (infix.precedence == precedence && accept(infix.spelling)) return &infix;
    return nullptr;
  }
  AstExprPtr parse_infix(int precedence) {
    if (precedence == unary) return parse_unary();
    AstExprPtr left = parse_infix(precedence + 1);
    while (const Infix* infix = accept_infix(precedence)) {
      if (++operations_ > max_operations) fail("too long");
      left = ast_operation(infix->kind, {left, parse_infix(precedence + 1)});
    }
    return left;
  }
  AstExprPtr parse_unary() {
    struct Depth {
      int& depth;
      explicit Depth(int& d) : depth(d) { ++depth; }
      ~Depth() { --depth; }
    } depth(depth_);
    if (depth_ > max_depth) fail("nested too deeply");
    if (accept("-")) {
      skip_space();
      if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return parse_integer(true);
      return ast_operation(Kind::negate, {parse_unary()});
    }
    return parse_atom();
  }
  AstExprPtr parse_integer(bool negative) {
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::uint64_t limit = negative ? largest + 1 : largest;
    std::uint64_t value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (value > (limit - digit) / 10) fail("integer beyond 64 bits");
      value = value * 10 + digit;
      ++at_;
    }
    return ast_integer(negative ? static_cast<std::int64_t>(~value + 1) : static_cast<std::int64_t>(value));
  }
  AstExprPtr parse_atom() {
    skip_space();
    if (at_ >= text_.size()) fail("expected an expression");
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (std::isdigit(c)) return parse_integer(false);
    if (c == '(') return parse_parenthesised();
    if (std::isalpha(c) || c == '_') return parse_name_or_call();
    fail("expected an expression");
  }
  AstExprPtr parse_parenthesised() {
    expect("(");
    AstExprPtr inner = parse_infix(logical_or);
    if (accept("?")) {
      AstExprPtr then_value = parse_infix(logical_or);
      expect(":");
      inner = ast_operation(Kind::select, {inner, then_value, parse_infix(logical_or)});
    }
    expect(")");
    return inner;
  }
  AstExprPtr parse_name_or_call() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    const std::string word = text_.substr(start, at_ - start);
    if (!peek("(")) return ast_name(word);
    for (const CallForm& call : calls) {
      if (word != call.name) continue;
      expect("(");
      AstExprPtr first = parse_infix(logical_or);
      expect(",");
      AstExprPtr second = parse_infix(logical_or);
      const bool divides = call.kind == Kind::floor_div || call.kind == Kind::modulo;
      if (divides && (second->kind != Kind::integer || second->value <= 0))
        fail("the divisor of " + word + " must be a positive integer");
      expect(")");
      return ast_operation(call.kind, {first, second});
    }
    fail("unknown function `" + word + "`");
  }

  const std::string& text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int operations_ = 0;
};

}  // namespace

AstExprPtr ast_integer(std::int64_t value) {
  auto expr = std::make_shared<AstExpr>();
  expr->kind = Kind::integer;
  expr->value = value;
  return expr;
}

AstExprPtr ast_name(std::string name) {
  TILEOPT_CHECK(!name.empty(), "a name has letters");
  auto expr = std::make_shared<AstExpr>();
  expr->kind = Kind::name;
  expr->name = std::move(name);
  return expr;
}

void collect_names(const AstExprPtr& expr, std::set<std::string>& names) {
  if (expr->kind == AstExpr::Kind::name) names.insert(expr->name);
  for (const AstExprPtr& argument : expr->arguments) collect_names(argument, names);
}

std::optional<std::int64_t> constant_step(const AstExprPtr& expr, const std::string& name) {
  std::set<std::string> names;
  collect_names(expr, names);
  if (names.count(name) == 0) return 0;
  const auto part = [&](std::size_t argument) { return constant_step(expr->arguments[argument], name); };
  if (expr->kind == Kind::name) return 1;
  if (expr->kind == Kind::negate) return part(0) ? std::optional(-*part(0)) : std::nullopt;
  if (expr->kind == Kind::add || expr->kind == Kind::sub) {
    const auto a = part(0), b = part(1);
    return a && b ? std::optional(expr->kind == Kind::add ? *a + *b : *a - *b) : std::nullopt;
  }
  if (expr->kind != Kind::mul) return std::nullopt;
  for (const std::size_t factor : {std::size_t{0}, std::size_t{1}})
    if (expr->arguments[factor]->kind == Kind::integer)
      if (const auto step = part(1 - factor)) return expr->arguments[factor]->value * *step;
  return std::nullopt;
}

AstExprPtr ast_operation(AstExpr::Kind kind, std::vector<AstExprPtr> arguments) {
  const std::size_t arity = kind == Kind::negate ? 1 : kind == Kind::select ? 3 : 2;
  TILEOPT_CHECK(kind != Kind::integer && kind != Kind::name, "integers and names have their own constructors");
  TILEOPT_CHECK(arguments.size() == arity, "arity of an operation");
  for (const AstExprPtr& argument : arguments) TILEOPT_CHECK(argument != nullptr, "operand");
  auto expr = std::make_shared<AstExpr>();
  expr->kind = kind;
  expr->arguments = std::move(arguments);
  return expr;
}

std::string ast_expr_text(const AstExprPtr& expr) { return text_of(expr, any); }

AstExprPtr parse_ast_expr(const std::string& text, const std::string& file) { return Parser(text, file).parse(); }

}  // namespace tileopt
