#include "cost_models/instruction_mix.h"

#include <algorithm>
#include <map>

namespace tileopt {
namespace {

constexpr int kShortExponential = 210;  ///< units in the last place for which an exponential is one product and one instruction
constexpr int kShortTangent = 8192;     ///< and for which a hyperbolic tangent is one instruction

class Counter {
 public:
  Counter(const Program& program, const Statement& statement) : program_(program), statement_(statement) {}

  InstructionMix count() {
    for (const Guard& guard : statement_.guards) add_tree(guard.value);
    add_tree(statement_.predicate);
    if (statement_.combine == Combine::monoid) {
      mix_.chain = add_tree(program_.monoid(statement_.monoid).combine);
      add_tree(statement_.body);
      return mix_;
    }
    const double value = add_tree(statement_.body);
    if (const auto op = combine_operator(statement_.combine)) mix_.chain = add_binary(*op, statement_.body, statement_.body->type);
    else mix_.chain = value;
    return mix_;
  }

 private:
  static bool is_product(const ExprPtr& expr) {
    const auto* binary = expr ? std::get_if<Binary>(&expr->node) : nullptr;
    return binary && binary->op == BinaryOp::mul && is_float(expr->type);
  }

  /// Adds what `expr` and its operands take; the longest chain of instructions in it.
  double add_tree(const ExprPtr& expr) {
    if (!expr) return 0;
    // What is shared is computed once.
    if (const auto known = chains_.find(expr.get()); known != chains_.end()) return known->second;
    double below = 0;
    for (const ExprPtr& operand : operands(*expr)) below = std::max(below, add_tree(operand));
    return chains_[expr.get()] = below + add_node(expr);
  }

  double add_node(const ExprPtr& expr) {
    if (const auto* binary = std::get_if<Binary>(&expr->node)) return add_binary(binary->op, binary->left, expr->type, binary->right);
    if (const auto* unary = std::get_if<Unary>(&expr->node); unary && unary->op == UnaryOp::logical_not) return 0;
    if (std::holds_alternative<Unary>(expr->node) || std::holds_alternative<Select>(expr->node)) return add_integer(expr->type, 1);
    if (const auto* cast = std::get_if<Cast>(&expr->node)) return add_cast(cast->operand->type, expr->type);
    if (const auto* call = std::get_if<Call>(&expr->node)) return add_call(call->function, expr->type);
    return 0;
  }

  double add_integer(ElementType type, double words) {
    const double count = words * (!is_tuple(type) && size_bytes(type) == 8 && !is_float(type) ? 2 : 1);
    mix_.integer += count;
    return count;
  }

  double add_float(ElementType type, double count) {
    (type == ElementType::f64 ? mix_.doubles : mix_.multiply_add) += count;
    return count;
  }

  /// `first`, `second`: operands; a sum of which one is a product is one instruction with it where that is granted.
  double add_binary(BinaryOp op, const ExprPtr& first, ElementType type, const ExprPtr& second = nullptr) {
    const ElementType compared = first->type;
    switch (op) {
      case BinaryOp::add:
      case BinaryOp::sub:
        if (!is_float(type)) return add_integer(type, 1);
        if (program_.numerics().contract && (is_product(first) || is_product(second))) return 0;
        return add_float(type, 1);
      case BinaryOp::mul: return is_float(type) ? add_float(type, 1) : add_integer(type, 2);
      case BinaryOp::divide:
        mix_.special += 1;
        mix_.integer += 2;
        return 3 + add_float(type, type == ElementType::f64 ? 12 : 7);
      case BinaryOp::floor_div:
      case BinaryOp::modulo: return add_integer(type, 20);
      case BinaryOp::min:
      case BinaryOp::max:
        if (type == ElementType::f64) return add_float(type, 2);
        return add_integer(type, 1);
      case BinaryOp::lt:
      case BinaryOp::le:
      case BinaryOp::gt:
      case BinaryOp::ge:
      case BinaryOp::eq:
      case BinaryOp::ne: return compared == ElementType::f64 ? add_float(compared, 1) : add_integer(compared, 1);
      case BinaryOp::logical_and:
      case BinaryOp::logical_or: return 0;  // comparisons take a predicate that they are combined with
      case BinaryOp::bit_and:
      case BinaryOp::bit_or:
      case BinaryOp::bit_xor:
      case BinaryOp::shift_left:
      case BinaryOp::shift_right: return add_integer(type, 1);
    }
    return 0;
  }

  double add_cast(ElementType from, ElementType to) {
    if (from == to || is_tuple(from) || is_tuple(to)) return 0;
    if (from == ElementType::bf16 && to == ElementType::f32) return add_integer(to, 1);  // its bits are moved
    if (!is_float(from) && !is_float(to)) return add_integer(to, 1);
    mix_.convert += 1;
    return 1;
  }

  double add_call(Function function, ElementType type) {
    const bool real = type == ElementType::f64;
    const auto made_of = [&](double polynomial, double integer, double special) {
      add_float(type, real ? 3 * polynomial + 4 : polynomial);
      mix_.integer += integer;
      mix_.special += special;
      return polynomial + integer + special;
    };
    switch (function) {
      case Function::exp: return !real && program_.numerics().approx_ulp >= kShortExponential ? made_of(1, 0, 1) : made_of(4, 1, 1);
      case Function::exp2: return made_of(1, 1, 1);
      case Function::log: return made_of(10, 4, 0);
      case Function::sqrt: return made_of(4, 2, 1);
      case Function::rsqrt: return made_of(1, 1, 1);
      case Function::tanh: return !real && program_.numerics().approx_ulp >= kShortTangent ? made_of(0, 0, 1) : made_of(9, 4, 2);
      case Function::erf: return made_of(10, 4, 1);
      case Function::abs: return add_integer(type, 1);
      case Function::floor:
      case Function::ceil:
      case Function::round: mix_.convert += 1; return 1;
    }
    return 0;
  }

  const Program& program_;
  const Statement& statement_;
  InstructionMix mix_;
  std::map<const Expr*, double> chains_;
};

}  // namespace

InstructionMix count_instructions(const Program& program, const Statement& statement) { return Counter(program, statement).count(); }

}  // namespace tileopt
