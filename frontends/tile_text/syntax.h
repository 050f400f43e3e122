/// The syntax tree of tile text: what was written, with positions, before names or types mean anything.
///
/// Nodes are immutable and shared. Every expression knows its height, which the parser bounds, so that recursive walks
/// (printer, checker, destructors, later passes, C compilers) cannot run out of stack on hostile input.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/expr.h"

namespace tileopt::syntax {

/// Line and column count from 1; a column is a character, not a byte. The piece ends before `end_line:end_column` (0: unknown).
/// Positions compare by where they start.
struct Position {
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;
  friend bool operator==(const Position& a, const Position& b) { return a.line == b.line && a.column == b.column; }
  friend auto operator<=>(const Position& a, const Position& b) {
    return a.line != b.line ? a.line <=> b.line : a.column <=> b.column;
  }
};

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

struct IntegerLiteral {
  std::uint64_t value;
  std::string name = {};  ///< of the `const` parameter that it stands for; it is printed so
};
struct RealLiteral {
  double value;
};
struct BoolLiteral {
  bool value;
};
struct NoneLiteral {};
struct StringLiteral {
  std::string value;  ///< printable ASCII
};
struct Name {
  std::string name;
};
struct Attribute {
  ExpressionPtr base;
  std::string name;
};
/// `lower:upper` inside a subscript; absent bounds are null.
struct Slice {
  ExpressionPtr lower, upper;
};
struct Subscript {
  ExpressionPtr base;
  std::vector<ExpressionPtr> indices;  ///< at least one
};
struct Keyword {
  std::string name;
  ExpressionPtr value;
  Position where;
};
struct Call {
  ExpressionPtr callee;
  std::vector<ExpressionPtr> arguments;
  std::vector<Keyword> keywords;
};
struct Target {
  std::string name;
  Position where;
};
/// `for targets in iterable if condition if condition`
struct Clause {
  std::vector<Target> targets;
  ExpressionPtr iterable;
  std::vector<ExpressionPtr> conditions;
};
/// `element for ... for ...`: only as the sole argument of a call.
struct Generator {
  ExpressionPtr element;
  std::vector<Clause> clauses;
};
/// `(a, b, ...)`: at least two values
struct Tuple {
  std::vector<ExpressionPtr> elements;
};
struct Unary {
  UnaryOp op;
  ExpressionPtr operand;
};
/// Arithmetic, bit operations, `and`, `or`; comparisons are chains of their own.
struct Binary {
  BinaryOp op;
  Position op_where;
  ExpressionPtr left, right;
};
struct ComparisonLink {
  BinaryOp op;
  Position op_where;
  ExpressionPtr operand;
};
/// `first op operand op operand ...`
struct Comparison {
  ExpressionPtr first;
  std::vector<ComparisonLink> links;  ///< at least one
};
/// `then_value if condition else else_value`
struct Conditional {
  ExpressionPtr then_value, condition, else_value;
};

struct Expression {
  Position where;  ///< the whole expression
  int height = 1;
  std::variant<IntegerLiteral, RealLiteral, BoolLiteral, NoneLiteral, StringLiteral, Name, Attribute, Slice, Subscript, Call,
               Generator, Tuple, Unary, Binary, Comparison, Conditional>
      node;
};

template <class Node>
ExpressionPtr make_expression(Position where, Node node);

struct Statement;
using StatementPtr = std::shared_ptr<const Statement>;
using Block = std::vector<StatementPtr>;

struct For {
  std::vector<Target> targets;
  ExpressionPtr iterable;
  Block body;
};
struct If {
  struct Arm {
    ExpressionPtr condition;
    Block body;
  };
  std::vector<Arm> arms;  ///< `if`, then every `elif`
  std::optional<Block> otherwise;
};
/// `target = value`, or `target op= value`
struct Assign {
  ExpressionPtr target;
  std::optional<BinaryOp> op;
  Position op_where;
  ExpressionPtr value;
};
/// `name: type`, `name: type = value`
struct Declare {
  std::string name;
  ExpressionPtr type;
  ExpressionPtr value;  ///< null where absent
};
/// An expression as a statement: `assume(...)`, a schedule primitive.
struct Evaluate {
  ExpressionPtr expression;
};
/// The value of a function that has a return type: its last statement.
struct Return {
  ExpressionPtr value;
};
struct Pass {};

struct Statement {
  Position where;
  std::variant<For, If, Assign, Declare, Evaluate, Return, Pass> node;
};

struct Parameter {
  std::string name;
  ExpressionPtr type;
  Position where;
  ExpressionPtr value = nullptr;  ///< default of a `const` parameter; null where absent
};
struct Decorator {
  ExpressionPtr expression;
  Position where;  ///< of the `@`
};
struct Function {
  std::vector<Decorator> decorators;
  std::string name;
  Position where;  ///< of the name
  std::vector<Parameter> parameters;
  ExpressionPtr returns;  ///< null for programs and schedules
  Block body;           ///< at least one statement
  bool broken = false;  ///< a syntax error was reported inside; the rest is incomplete
};
struct Module {
  std::vector<Function> functions;
};

/// Equality of trees; positions do not count.
bool equal(const ExpressionPtr& a, const ExpressionPtr& b);
bool equal(const Block& a, const Block& b);
bool equal(const Module& a, const Module& b);

/// True when `name` occurs anywhere in `expression`.
bool mentions(const ExpressionPtr& expression, const std::string& name);

/// True when an `x if c else y` occurs anywhere in `expression`.
bool has_conditional(const ExpressionPtr& expression);

/// Direct subexpressions, in source order (absent ones left out).
std::vector<ExpressionPtr> children(const Expression& expression);

/// The node of type T, or null.
template <class T>
const T* as(const ExpressionPtr& expression) {
  return expression ? std::get_if<T>(&expression->node) : nullptr;
}

template <class Node>
ExpressionPtr make_expression(Position where, Node node) {
  Expression expression{where, 1, std::move(node)};
  for (const ExpressionPtr& child : children(expression)) expression.height = std::max(expression.height, child->height + 1);
  return std::make_shared<const Expression>(std::move(expression));
}

}  // namespace tileopt::syntax
