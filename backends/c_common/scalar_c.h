/// Scalar typed expressions of statement bodies as C with the tile language's semantics (interpreter/number.h defines them).
/// Values of narrow floats are held in float and rounded after every operation; tuples are structs (see Helpers::tuple).
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "backends/c_common/helpers.h"
#include "ir/expr.h"
#include "ir/program.h"

namespace tileopt {

/// Where an expression's leaves come from; both give C text that is safe as an operand.
struct ScalarContext {
  std::function<std::string(std::size_t access)> read;                     ///< in the compute type of the access's element
  std::function<std::string(std::size_t index, ElementType type)> index;   ///< as `type`
  Helpers& helpers;
  const std::unordered_map<const Expr*, std::string>* bound = nullptr;  ///< subexpressions that C variables hold already
};
std::string scalar_c(const ExprPtr& expr, const ScalarContext& context);

/// The operators on C text, for printers that compute uniform parts of vector code.
std::string literal_c(const Literal& literal, ElementType type);
std::string unary_c(UnaryOp op, ElementType type, const std::string& operand, Helpers& helpers);
/// `type`: of the operands (for comparisons and logical operators too).
std::string binary_c(BinaryOp op, ElementType type, const std::string& left, const std::string& right, Helpers& helpers);
std::string convert_c(ElementType from, ElementType to, const std::string& value, Helpers& helpers);
std::string call_c(Function function, ElementType type, const std::string& argument, Helpers& helpers);
/// element (+) value by a built-in combine; assign gives `value`.
std::string combine_c(Combine combine, ElementType type, const std::string& element, const std::string& value, Helpers& helpers);

/// Storage to compute type and back; `value` of load_c is an lvalue.
std::string load_c(ElementType type, const std::string& value, Helpers& helpers);
std::string store_c(ElementType type, const std::string& value, Helpers& helpers);

bool is_comparison(BinaryOp op);
/// Removes one pair of parentheses that encloses all of `text`.
std::string without_parentheses(const std::string& text);
/// (operand type of a comparison) the type of an expression's left operand.
ElementType operand_type(const Binary& binary);

}  // namespace tileopt
