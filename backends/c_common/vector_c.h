/// Statement bodies on GNU vectors: the same operators as scalar_c, lane by lane. Parts that are equal in all lanes stay scalar.
#pragma once

#include <functional>
#include <string>

#include "backends/c_common/helpers.h"
#include "ir/expr.h"
#include "ir/program.h"

namespace tileopt {

/// C text of the lanes of one subexpression, in its compute type (bf16 and f16: float).
struct VectorValue {
  std::string text;
  bool uniform = false;  ///< a scalar, equal in all lanes
};

struct VectorContext {
  int lanes;
  std::function<VectorValue(std::size_t access)> read;
  std::function<VectorValue(std::size_t index, ElementType type)> index;
  Helpers& helpers;
};

/// True where every operator of the body has a form on vectors. Not: exp and its like of f64, float -> integer, `//`, `%`, shifts, bool values,
/// and selections whose branches read what is not read anyway (an untaken branch may be out of bounds).
bool has_vector_form(const ExprPtr& body);

VectorValue vector_c(const ExprPtr& expr, const VectorContext& context);

/// A vector, also where `value` is uniform.
std::string as_vector_c(const VectorValue& value, ElementType type, const VectorContext& context);
/// element (+) value on vectors; `type` is the tensor's.
std::string combine_vector_c(Combine combine, ElementType type, const std::string& element, const VectorValue& value, const VectorContext& context);
/// Whether lanes of this tensor type can be combined into one: sum, prod, min, max of what is computed as it is stored.
bool has_fold(Combine combine, ElementType type);
/// The lanes of `vector` combined into one scalar.
std::string fold_vector_c(Combine combine, ElementType type, const std::string& vector, const VectorContext& context);
/// What leaves every value as it is, in all lanes.
std::string identity_vector_c(Combine combine, ElementType type, const VectorContext& context);
/// Between the compute types of `from` and `to`, where the conversion is exact.
std::string convert_vector_exactly(ElementType from, ElementType to, const std::string& value, int lanes, Helpers& helpers);

/// Largest element of a value computed anywhere in the body, in bytes.
int widest_element(const ExprPtr& body);

}  // namespace tileopt
