/// Exact arithmetic and conversions of the tile language's element types. Every other engine (the printed C, later the GPU
/// kernels) is measured against these definitions, so they use no platform float formats beyond IEEE f32 and f64.
///
/// A value of a float type is held in a `double` that is exactly a value of that type; a value of an integer type or bool is
/// held in an `int64_t`: sign-extended, zero-extended, or for u64 the 64-bit pattern.
///
/// Arithmetic: f64 in double, f32 in float; narrower floats convert to float, operate, and round back. For + - * / and sqrt this
/// equals one correct rounding, because float has at least 2p + 2 digits of each of them.
#pragma once

#include <cstdint>

#include "ir/expr.h"
#include "ir/types.h"

namespace tileopt {

/// Bits of `value` in bf16 or f16, rounded once to nearest even from double. NaN stays NaN (top payload bits are kept).
std::uint16_t bf16_bits(double value);
std::uint16_t f16_bits(double value);
/// Exact value of the bits.
double bf16_value(std::uint16_t bits);
double f16_value(std::uint16_t bits);
/// The same for any narrow float type; tf32 in the 19 bits that it has, without the zeros below them.
std::uint32_t narrow_bits(double value, ElementType type);
double narrow_value(std::uint32_t bits, ElementType type);

/// `value` rounded once, to nearest even, to float type `type`; overflow goes to infinity, or to NaN where there is none.
double round_to_type(double value, ElementType type);

/// Smallest positive normal value of a float type.
double smallest_normal(ElementType type);
/// Significand digits of a float type, the hidden one included: 53, 24, 11, 8, ...
int significand_digits(ElementType type);

/// Wraps modulo 2^n into integer type `type` (bool: nonzero).
std::int64_t wrap_integer(std::int64_t value, ElementType type);
/// Float to integer: truncates toward zero and saturates, NaN gives 0 (bool: nonzero, so NaN gives 1).
std::int64_t saturate_to_integer(double value, ElementType type);
/// Integer of type `from` to float type `to`, rounded once to nearest even.
double integer_to_float(std::int64_t value, ElementType from, ElementType to);
/// Integer of type `from` as a double (rounded to nearest even beyond 2^53).
double integer_as_double(std::int64_t value, ElementType from);

/// Arithmetic, min and max of float type `type`; min and max propagate NaN. Comparisons and integer-only operators are a bug.
double float_binary(BinaryOp op, double left, double right, ElementType type);
/// Comparison of floats (false on NaN, but `ne`).
bool float_compare(BinaryOp op, double left, double right);
/// Functions of float type `type`; `round` is half to even.
double float_function(Function function, double argument, ElementType type);

/// Integer and bool operators but comparisons; results wrap. `//` and `%` are Python's floor forms; a zero divisor gives 0 for
/// both, as NumPy does. Shift counts outside [0, bits) shift everything out: 0, or the sign for `>>` of a negative value.
std::int64_t integer_binary(BinaryOp op, std::int64_t left, std::int64_t right, ElementType type);
bool integer_compare(BinaryOp op, std::int64_t left, std::int64_t right, ElementType type);
/// `abs` wraps on the lowest value; `floor`, `ceil` and `round` return their argument; others are a bug.
std::int64_t integer_function(Function function, std::int64_t argument, ElementType type);
std::int64_t integer_unary(UnaryOp op, std::int64_t operand, ElementType type);

/// Floor division and its remainder for index arithmetic, `divisor` > 0.
inline std::int64_t floor_quotient(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor;
  return quotient - (value % divisor < 0 ? 1 : 0);
}

}  // namespace tileopt
