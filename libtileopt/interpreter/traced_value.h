/// A scalar in three readings: the declared type's exact result, the same in double (the shadow), and a first-order bound on
/// how far any legal evaluation may lie from the shadow.
///
/// Invariants: bound >= 0; bound == 0 means that every legal evaluation gives this very value, and then the shadow equals the
/// declared value. Integer-valued data in float types therefore keep bound 0 as long as every result is exact.
/// An infinite bound means that nothing can be said (a division whose divisor may be zero, an overflow that rounding decides).
#pragma once

#include <cstdint>

#include "ir/expr.h"
#include "ir/program.h"
#include "ir/types.h"

namespace tileopt {

struct TracedValue {
  union {
    double real;           ///< float types: a value of the type
    std::int64_t integer;  ///< integer types and bool, as in number.h
  };
  double shadow;  ///< float types only
  double bound;   ///< integers: bound on |legal - integer|, nonzero only downstream of a float

  static TracedValue exact_real(double value);
  static TracedValue exact_integer(std::int64_t value);
  static TracedValue unknown(ElementType type);  ///< infinite bound
};

/// What the program grants beyond one rounding per operation.
struct ErrorModel {
  double function_ulp = 4;                         ///< units in the last place that math functions may be off
  std::optional<ElementType> operand_rounding;     ///< operands of products in reductions may be rounded to this type
  bool flush_subnormals = false;                   ///< operands and results below the smallest normal number may be zero
  static ErrorModel of(const Numerics& numerics);
};

/// The value with a bound that covers what flushing subnormal numbers to zero makes of it, and of sums of values like it: differences of
/// larger values are multiples of a normal number.
TracedValue flushed(TracedValue value, ElementType type, const ErrorModel& model);

/// Bound on one rounding of a result of magnitude `magnitude` to `type`, the shadow's own rounding included.
double rounding_bound(double magnitude, ElementType type);

/// Operators on two values of `type`; comparisons give bool. `rounded_operands`: the product of a reduction whose operands may
/// be rounded as the model says.
TracedValue traced_binary(BinaryOp op, const TracedValue& left, const TracedValue& right, ElementType type,
                          const ErrorModel& model, bool rounded_operands);
TracedValue traced_unary(UnaryOp op, const TracedValue& operand, ElementType type);
TracedValue traced_function(Function function, const TracedValue& argument, ElementType type, const ErrorModel& model);
TracedValue traced_cast(const TracedValue& operand, ElementType from, ElementType to);

/// The value of a select whose condition rounding decides: `taken`, with a bound that covers `other` too.
TracedValue traced_merge(const TracedValue& taken, const TracedValue& other, ElementType type);

/// True where a + b is exact in `type`, given exact operands of that type.
bool sum_is_exact(double a, double b, double declared_result);

}  // namespace tileopt
