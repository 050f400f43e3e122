#include "interpreter/scalar_code.h"

#include <algorithm>

#include "interpreter/number.h"
#include "support/error.h"

namespace tileopt {

/// Appends the code of an expression and tracks how deep the stack gets.
class ScalarCode::Compiler {
 public:
  Compiler(std::vector<Instruction>& code, std::size_t& deepest) : code_(code), deepest_(deepest) {}

  void compile(const ExprPtr& expr, std::size_t depth) {
    deepest_ = std::max(deepest_, depth + width(expr->type));
    std::visit([&](const auto& node) { append(node, expr->type, depth); }, expr->node);
  }

 private:
  void append(const Literal& n, ElementType type, std::size_t) {
    Instruction& i = emit(Op::literal, type);
    i.literal = is_float(type) ? TracedValue::exact_real(round_to_type(n.real, type))
                               : TracedValue::exact_integer(wrap_integer(n.integer, type));
  }
  void append(const Read& n, ElementType type, std::size_t) {
    const std::vector<ElementType> types = tuple_components(type);
    for (std::size_t c = 0; c < types.size(); ++c) {
      Instruction& i = emit(Op::read, types[c]);
      i.first = static_cast<std::uint32_t>(n.access);
      i.second = static_cast<std::uint32_t>(c);
    }
  }
  void append(const IndexValue& n, ElementType type, std::size_t) {
    emit(Op::index, type).first = static_cast<std::uint32_t>(n.index);
  }
  void append(const Unary& n, ElementType, std::size_t depth) {
    compile(n.operand, depth);
    emit(Op::unary, n.operand->type).detail = static_cast<std::uint8_t>(n.op);
  }
  void append(const Binary& n, ElementType, std::size_t depth) {
    compile(n.left, depth);
    if (n.op == BinaryOp::logical_and || n.op == BinaryOp::logical_or) {
      const std::size_t branch = begin_branch(n.op == BinaryOp::logical_and ? Op::logical_and : Op::logical_or, n.left->type);
      compile(n.right, depth);
      code_[branch].first = static_cast<std::uint32_t>(code_.size() - branch - 1);
      return;
    }
    compile(n.right, depth + 1);
    TILEOPT_CHECK(n.left->type == n.right->type || n.op == BinaryOp::shift_left || n.op == BinaryOp::shift_right,
                  "operands of " + op_name(n.op) + " have different types");
    emit(Op::binary, n.left->type).detail = static_cast<std::uint8_t>(n.op);
  }
  void append(const Select& n, ElementType type, std::size_t depth) {
    compile(n.condition, depth);
    const std::size_t branch = begin_branch(Op::select, type);
    // Where rounding decides, both values are on the stack for a while, whichever is taken.
    compile(n.then_value, depth + width(type));
    code_[branch].first = static_cast<std::uint32_t>(code_.size() - branch - 1);
    const std::size_t other = code_.size();
    compile(n.else_value, depth + width(type));
    code_[branch].second = static_cast<std::uint32_t>(code_.size() - other);
  }
  void append(const Cast& n, ElementType type, std::size_t depth) {
    compile(n.operand, depth);
    emit(Op::cast, type).from = n.operand->type;
  }
  void append(const Call& n, ElementType type, std::size_t depth) {
    TILEOPT_CHECK(n.arguments.size() == 1, "function " + function_name(n.function) + " takes one argument");
    compile(n.arguments.front(), depth);
    emit(Op::call, type).detail = static_cast<std::uint8_t>(n.function);
  }
  void append(const MakeTuple& n, ElementType, std::size_t depth) {
    for (std::size_t c = 0; c < n.components.size(); ++c) compile(n.components[c], depth + c);
  }
  void append(const Component& n, ElementType type, std::size_t depth) {
    compile(n.operand, depth);
    Instruction& i = emit(Op::component, type);
    i.first = static_cast<std::uint32_t>(n.index);
    i.second = static_cast<std::uint32_t>(width(n.operand->type));
  }
  static std::size_t width(ElementType type) { return tuple_components(type).size(); }

  Instruction& emit(Op op, ElementType type) {
    Instruction instruction{};
    instruction.op = op;
    instruction.type = type;
    instruction.from = type;
    code_.push_back(instruction);
    return code_.back();
  }
  std::size_t begin_branch(Op op, ElementType type) {
    emit(op, type);
    return code_.size() - 1;
  }

  std::vector<Instruction>& code_;
  std::size_t& deepest_;
};

ScalarCode::ScalarCode(const ExprPtr& body, const ErrorModel& model, bool rounded_operands)
    : type_(body->type), model_(model), rounded_operands_(rounded_operands) {
  std::size_t deepest = 0;
  Compiler(code_, deepest).compile(body, 0);
  stack_.resize(deepest + 1);
}

const TracedValue* ScalarCode::evaluate(OperandSource& source) {
  top_ = 0;
  speculative_ = false;
  run(0, code_.size(), source);
  return stack_.data();
}

TracedValue ScalarCode::pop() { return stack_[--top_]; }
void ScalarCode::push(const TracedValue& value) { stack_[top_++] = value; }

void ScalarCode::run(std::size_t begin, std::size_t end, OperandSource& source) {
  for (std::size_t pc = begin; pc < end; ++pc) {
    const Instruction& i = code_[pc];
    switch (i.op) {
      case Op::literal: push(i.literal); break;
      case Op::read: push(source.read(i.first, i.second, speculative_)); break;
      case Op::index: {
        const std::int64_t value = source.index_value(i.first, speculative_);
        push(is_float(i.type) ? TracedValue::exact_real(integer_to_float(value, ElementType::i64, i.type))
                              : TracedValue::exact_integer(wrap_integer(value, i.type)));
        break;
      }
      case Op::unary: stack_[top_ - 1] = traced_unary(static_cast<UnaryOp>(i.detail), stack_[top_ - 1], i.type); break;
      case Op::binary: {
        const TracedValue right = pop();
        TracedValue& left = stack_[top_ - 1];
        left = traced_binary(static_cast<BinaryOp>(i.detail), left, right, i.type, model_, rounded_operands_);
        break;
      }
      case Op::select:
        select(i, pc + 1, source);
        pc += i.first + i.second;
        break;
      case Op::logical_and:
      case Op::logical_or:
        connect(i, pc + 1, source);
        pc += i.first;
        break;
      case Op::cast: stack_[top_ - 1] = traced_cast(stack_[top_ - 1], i.from, i.type); break;
      case Op::call:
        stack_[top_ - 1] = traced_function(static_cast<Function>(i.detail), stack_[top_ - 1], i.type, model_);
        break;
      case Op::component: {
        top_ -= i.second;
        push(stack_[top_ + i.first]);
        break;
      }
    }
  }
}

void ScalarCode::run_branch(std::size_t begin, std::size_t end, OperandSource& source, bool speculative) {
  const bool outer = speculative_;
  speculative_ = outer || speculative;
  run(begin, end, source);
  speculative_ = outer;
}

void ScalarCode::select(const Instruction& instruction, std::size_t begin, OperandSource& source) {
  const TracedValue condition = pop();
  const std::size_t middle = begin + instruction.first;
  const std::size_t end = middle + instruction.second;
  const bool first = condition.integer != 0;
  const std::size_t value = top_;
  run_branch(first ? begin : middle, first ? middle : end, source, false);
  if (condition.bound == 0) return;
  const std::size_t other = top_;
  run_branch(first ? middle : begin, first ? end : middle, source, true);
  const std::vector<ElementType> types = tuple_components(instruction.type);
  for (std::size_t c = 0; c < types.size(); ++c) stack_[value + c] = traced_merge(stack_[value + c], stack_[other + c], types[c]);
  top_ = other;
}

void ScalarCode::connect(const Instruction& instruction, std::size_t begin, OperandSource& source) {
  const TracedValue left = pop();
  const bool decides = (left.integer != 0) == (instruction.op == Op::logical_or);
  if (decides && left.bound == 0) return push(left);
  run_branch(begin, begin + instruction.first, source, decides);
  const TracedValue right = pop();
  TracedValue value = TracedValue::exact_integer(decides ? left.integer : right.integer);
  const bool right_decides = right.bound == 0 && (right.integer != 0) == (instruction.op == Op::logical_or);
  if ((left.bound > 0 || right.bound > 0) && !right_decides) value.bound = 1;
  push(value);
}

}  // namespace tileopt
