/// A statement's body as flat postfix code over traced values. A tuple is as many values, its first component lowest on the stack.
#pragma once

#include <cstdint>
#include <vector>

#include "interpreter/traced_value.h"
#include "ir/expr.h"

namespace tileopt {

/// What the code reads at one instance.
class OperandSource {
 public:
  virtual ~OperandSource() = default;
  /// Value of read access `access`, of its component `component` where it is a tuple. `speculative`: the branch is not taken in the declared types; where the access is not
  /// performed or not initialised the answer is "unknown" instead of an error.
  virtual TracedValue read(std::size_t access, std::size_t component, bool speculative) = 0;
  /// Value of the affine expression `index`.
  virtual std::int64_t index_value(std::size_t index, bool speculative) = 0;
};

/// The two states that a monoid's operation merges.
class StateOperands : public OperandSource {
 public:
  std::vector<TracedValue> left, right;  ///< components
  TracedValue read(std::size_t access, std::size_t component, bool) override { return (access == 0 ? left : right)[component]; }
  std::int64_t index_value(std::size_t, bool) override { return 0; }
};

/// Postfix code. Branches are code ranges, so that only the taken one runs; where rounding decides a condition, both run and the
/// result's bound covers both.
class ScalarCode {
 public:
  /// `rounded_operands`: products are those of a declared sum (see ErrorModel::operand_rounding).
  ScalarCode(const ExprPtr& body, const ErrorModel& model, bool rounded_operands);

  ElementType type() const { return type_; }
  /// The value; of a tuple, its components in a row. Valid until the next evaluation.
  const TracedValue* evaluate(OperandSource& source);

 private:
  enum class Op { literal, read, index, unary, binary, select, logical_and, logical_or, cast, call, component };
  struct Instruction {
    Op op;
    ElementType type;               ///< of the result; of the operands for `binary`
    ElementType from;               ///< of the operand of `cast`
    std::uint8_t detail = 0;        ///< UnaryOp, BinaryOp or Function
    std::uint32_t first = 0;        ///< access or index number; length of the first branch; which component
    std::uint32_t second = 0;       ///< length of the second branch; component read; of how many
    TracedValue literal{};
  };
  class Compiler;

  void run(std::size_t begin, std::size_t end, OperandSource& source);
  /// Leaves the branch's values on the stack.
  void run_branch(std::size_t begin, std::size_t end, OperandSource& source, bool speculative);
  TracedValue pop();
  void push(const TracedValue& value);
  void select(const Instruction& instruction, std::size_t begin, OperandSource& source);
  void connect(const Instruction& instruction, std::size_t begin, OperandSource& source);

  ElementType type_;
  ErrorModel model_;
  bool rounded_operands_;
  bool speculative_ = false;
  std::vector<Instruction> code_;
  std::vector<TracedValue> stack_;
  std::size_t top_ = 0;
};

}  // namespace tileopt
