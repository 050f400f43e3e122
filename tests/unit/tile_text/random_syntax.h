/// Seeded random syntax trees: every node kind, nested a few levels; well-formed as text, meaning nothing.
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frontends/tile_text/syntax.h"

namespace tileopt::syntax {

class RandomSyntax {
 public:
  explicit RandomSyntax(std::uint32_t seed) : random_(seed) {}

  Module module() {
    Module module;
    const int count = pick(1, 3);
    for (int i = 0; i < count; ++i) module.functions.push_back(function());
    return module;
  }

  ExpressionPtr expression(int depth) {
    if (depth <= 0) return leaf();
    switch (pick(0, 12)) {
      case 0:
        return make(Unary{choose<UnaryOp>({UnaryOp::negate, UnaryOp::bit_not, UnaryOp::logical_not}), expression(depth - 1)});
      case 1:
      case 2:
      case 3:
      case 4:
        return make(Binary{binary_op(), {}, expression(depth - 1), expression(depth - 1)});
      case 5:
        return comparison(depth);
      case 6:
        return make(Conditional{expression(depth - 1), expression(depth - 1), expression(depth - 1)});
      case 7:
        return subscript(depth);
      case 8:
        return call(depth);
      case 9:
        return make(Call{make(Name{name()}), {generator(depth)}, {}});
      case 10:
        return make(Attribute{make(Name{name()}), name()});
      case 11:
        return make(Tuple{{expression(depth - 1), expression(depth - 1)}});
      default:
        return leaf();
    }
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  template <class T>
  T choose(std::vector<T> values) {
    return values[static_cast<std::size_t>(pick(0, static_cast<int>(values.size()) - 1))];
  }
  template <class Node>
  static ExpressionPtr make(Node node) {
    return make_expression({}, std::move(node));
  }
  std::string name() { return choose<std::string>({"A", "b", "acc", "x_1", "_t", "range", "grid", "f32", "i", "out", "N"}); }

  ExpressionPtr leaf() {
    switch (pick(0, 7)) {
      case 0:
        return make(IntegerLiteral{std::uniform_int_distribution<std::uint64_t>()(random_) >> pick(0, 63)});
      case 1:
        return make(RealLiteral{std::ldexp(std::uniform_real_distribution<double>(0, 1)(random_), pick(-300, 300))});
      case 2:
        return make(BoolLiteral{pick(0, 1) == 1});
      case 3:
        return make(StringLiteral{choose<std::string>({"", "block", "it's", "say \"so\"", "a b # c"})});
      case 4:
        return make(NoneLiteral{});
      default:
        return make(Name{name()});
    }
  }
  BinaryOp binary_op() {
    return choose<BinaryOp>({BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::divide, BinaryOp::floor_div,
                             BinaryOp::modulo, BinaryOp::logical_and, BinaryOp::logical_or, BinaryOp::bit_and, BinaryOp::bit_or,
                             BinaryOp::bit_xor, BinaryOp::shift_left, BinaryOp::shift_right});
  }
  ExpressionPtr comparison(int depth) {
    Comparison node{expression(depth - 1), {}};
    const int count = pick(1, 3);
    for (int i = 0; i < count; ++i)
      node.links.push_back(
          {choose<BinaryOp>({BinaryOp::lt, BinaryOp::le, BinaryOp::gt, BinaryOp::ge, BinaryOp::eq, BinaryOp::ne}),
           {},
           expression(depth - 1)});
    return make(std::move(node));
  }
  ExpressionPtr subscript(int depth) {
    Subscript node{make(Name{name()}), {}};
    const int count = pick(1, 3);
    for (int i = 0; i < count; ++i)
      node.indices.push_back(pick(0, 5) > 0 ? expression(depth - 1)
                                            : make(Slice{pick(0, 1) ? expression(depth - 1) : nullptr,
                                                         pick(0, 1) ? expression(depth - 1) : nullptr}));
    return make(std::move(node));
  }
  ExpressionPtr call(int depth) {
    Call node{pick(0, 4) ? make(Name{name()}) : subscript(depth - 1), {}, {}};
    for (int i = pick(0, 3); i > 0; --i) node.arguments.push_back(expression(depth - 1));
    for (int i = pick(0, 2); i > 0; --i) node.keywords.push_back({name(), expression(depth - 1), {}});
    return make(std::move(node));
  }
  ExpressionPtr generator(int depth) {
    Generator node{expression(depth - 1), {}};
    const int count = pick(1, 2);
    for (int i = 0; i < count; ++i) {
      Clause clause{targets(), expression(depth - 1), {}};
      for (int j = pick(0, 2); j > 0; --j) clause.conditions.push_back(expression(depth - 1));
      node.clauses.push_back(std::move(clause));
    }
    return make(std::move(node));
  }
  std::vector<Target> targets() {
    std::vector<Target> result;
    for (int i = pick(1, 3); i > 0; --i) result.push_back({name(), {}});
    return result;
  }

  Block block(int depth) {
    Block result;
    for (int i = pick(1, 3); i > 0; --i) result.push_back(statement(depth));
    return result;
  }
  StatementPtr statement(int depth) {
    const auto wrap = [](auto node) { return std::make_shared<const Statement>(Statement{{}, std::move(node)}); };
    switch (pick(depth > 0 ? 0 : 2, 7)) {
      case 0:
        return wrap(For{targets(), expression(2), block(depth - 1)});
      case 1: {
        If node;
        for (int i = pick(1, 3); i > 0; --i) node.arms.push_back({expression(2), block(depth - 1)});
        if (pick(0, 1)) node.otherwise = block(depth - 1);
        return wrap(std::move(node));
      }
      case 2:
        return wrap(Declare{name(), expression(1), pick(0, 1) ? expression(3) : nullptr});
      case 3:
        return wrap(Pass{});
      case 4:
        return wrap(Evaluate{make(Call{make(Name{name()}), {expression(2)}, {}})});
      default: {
        Assign node{pick(0, 1) ? make(Name{name()}) : subscript(2), std::nullopt, {}, expression(3)};
        if (pick(0, 2) == 0)
          node.op = choose<BinaryOp>({BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::divide, BinaryOp::floor_div,
                                      BinaryOp::modulo, BinaryOp::bit_and, BinaryOp::bit_or, BinaryOp::bit_xor,
                                      BinaryOp::shift_left, BinaryOp::shift_right});
        return wrap(std::move(node));
      }
    }
  }
  Function function() {
    Function result;
    for (int i = pick(0, 2); i > 0; --i) result.decorators.push_back({expression(2), {}});
    result.name = name();
    for (int i = pick(0, 3); i > 0; --i) result.parameters.push_back({name(), expression(2), {}});
    result.body = block(3);
    return result;
  }

  std::mt19937 random_;
};

}  // namespace tileopt::syntax
