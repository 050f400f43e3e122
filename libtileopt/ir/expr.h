/// Scalar expressions of statement bodies: immutable, typed, closed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/types.h"

namespace tileopt {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

enum class UnaryOp { negate, logical_not, bit_not };
enum class BinaryOp {
  add, sub, mul,
  divide,      ///< floats only
  floor_div,   ///< `//`, Python's floor form, integers
  modulo,      ///< `%`, Python's floor form, integers
  min, max,    ///< propagate NaN as NumPy does
  lt, le, gt, ge, eq, ne,
  logical_and, logical_or,
  bit_and, bit_or, bit_xor, shift_left, shift_right,
};
enum class Function { exp, exp2, log, sqrt, rsqrt, tanh, erf, abs, floor, ceil, round };

/// Source spelling: "+", "min", "exp", ...
std::string op_name(UnaryOp op);
std::string op_name(BinaryOp op);
std::string function_name(Function function);

/// `real` is used when the expression's type is a float, `integer` otherwise (bool: 0 or 1).
struct Literal {
  double real = 0;
  std::int64_t integer = 0;
};
/// The extremes of a scalar type: infinities for floats that have them.
Literal least_value(ElementType type);
Literal largest_value(ElementType type);
/// The value read by access number `access` of the statement's `reads`.
struct Read {
  std::size_t access;
};
/// The value of the affine expression number `index` of the statement's `indices` (an integer of the expression's type).
struct IndexValue {
  std::size_t index;
};
struct Unary {
  UnaryOp op;
  ExprPtr operand;
};
/// Integer arithmetic wraps. Comparisons have type bool, their operands one common type.
struct Binary {
  BinaryOp op;
  ExprPtr left, right;
};
/// `then_value if condition else else_value`: only the taken branch is evaluated.
struct Select {
  ExprPtr condition, then_value, else_value;
};
/// Conversion to the expression's type: round to nearest even between floats, saturating float -> integer with NaN -> 0,
/// wrapping between integers.
struct Cast {
  ExprPtr operand;
};
struct Call {
  Function function;
  std::vector<ExprPtr> arguments;
};
/// A tuple from its components' values, in order.
struct MakeTuple {
  std::vector<ExprPtr> components;
};
/// Component `index` of a tuple.
struct Component {
  ExprPtr operand;
  std::size_t index;
};

/// Subexpressions may be shared: an expression is an acyclic graph, evaluated as if it were a tree.
struct Expr {
  ElementType type;
  std::variant<Literal, Read, IndexValue, Unary, Binary, Select, Cast, Call, MakeTuple, Component> node;
};

template <class Node>
ExprPtr make_expr(ElementType type, Node node) {
  return std::make_shared<const Expr>(Expr{type, std::move(node)});
}

/// Calls `visit` on `expr` and all its subexpressions, parents first.
template <class Visit>
void walk_expr(const ExprPtr& expr, Visit&& visit) {
  visit(*expr);
  struct Children {
    Visit& visit;
    void operator()(const Literal&) const {}
    void operator()(const Read&) const {}
    void operator()(const IndexValue&) const {}
    void operator()(const Unary& n) const { walk_expr(n.operand, visit); }
    void operator()(const Binary& n) const { walk_expr(n.left, visit); walk_expr(n.right, visit); }
    void operator()(const Select& n) const {
      walk_expr(n.condition, visit); walk_expr(n.then_value, visit); walk_expr(n.else_value, visit);
    }
    void operator()(const Cast& n) const { walk_expr(n.operand, visit); }
    void operator()(const Call& n) const { for (const ExprPtr& a : n.arguments) walk_expr(a, visit); }
    void operator()(const MakeTuple& n) const { for (const ExprPtr& c : n.components) walk_expr(c, visit); }
    void operator()(const Component& n) const { walk_expr(n.operand, visit); }
  };
  std::visit(Children{visit}, expr->node);
}

/// The subexpressions directly below `expr`, in order.
std::vector<ExprPtr> operands(const Expr& expr);

/// `expr` rebuilt from its leaves: `change` gets every node with its operands changed already, and returns what stands for it. Shared
/// subexpressions are changed once and stay shared.
ExprPtr rebuild(const ExprPtr& expr, const std::function<ExprPtr(const ExprPtr&)>& change);

/// `expr` with Read{i} replaced by `values[i]`. Shared subexpressions stay shared.
ExprPtr substitute_reads(const ExprPtr& expr, const std::vector<ExprPtr>& values);

/// Nodes of the expression written out as a tree, at most `limit`.
std::size_t tree_size(const ExprPtr& expr, std::size_t limit);

/// Parenthesised text for dumps and messages; reads print as r0, r1, ..., index values as x0, x1, ...
std::string expr_text(const ExprPtr& expr);

}  // namespace tileopt
