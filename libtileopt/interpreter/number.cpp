#include "interpreter/number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "support/error.h"

namespace tileopt {

namespace {
constexpr int double_mantissa_bits = 52;
constexpr int double_bias = 1023;

/// Bits of a narrow float: sign, exponent, mantissa. The exponent's bias is 1 - least exponent in all of them.
struct Format {
  explicit Format(ElementType type)
      : mantissa_bits(value_digits(type) - 1), exponent_bits(type == ElementType::tf32 ? 8 : 8 * size_bytes(type) - value_digits(type)),
        bias(1 - least_exponent(type)), infinities(has_infinity(type)), negative_zero(has_negative_zero(type)) {}
  std::uint64_t sign() const { return std::uint64_t(1) << (exponent_bits + mantissa_bits); }
  /// Magnitude of infinity; without infinities of what overflows: NaN in e4m3fn, beyond the last number in the fnuz types.
  std::uint64_t top() const {
    if (infinities) return ((std::uint64_t(1) << exponent_bits) - 1) << mantissa_bits;
    return negative_zero ? sign() - 1 : sign();
  }
  int mantissa_bits, exponent_bits, bias;
  bool infinities, negative_zero;
};

/// `value` >> `shift`, rounded to nearest even; `shift` in [1, 63].
std::uint64_t shift_right_nearest_even(std::uint64_t value, int shift) {
  const std::uint64_t kept = value >> shift;
  const std::uint64_t rest = value & ((std::uint64_t(1) << shift) - 1);
  const std::uint64_t half = std::uint64_t(1) << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
}

/// Bits of a NaN with the sign and the top payload bits of a double's where the type has room for them.
std::uint64_t encode_nan(std::uint64_t sign, std::uint64_t mantissa, const Format& format) {
  if (!format.negative_zero) return format.sign();
  if (!format.infinities) return sign | format.top();
  std::uint64_t payload = mantissa >> (double_mantissa_bits - format.mantissa_bits);
  if (payload == 0) payload = std::uint64_t(1) << (format.mantissa_bits - 1);
  return sign | format.top() | payload;
}

/// Magnitude bits of a finite `value` given its biased double exponent and mantissa, at most `top`. A carry out of the mantissa
/// moves into the exponent by itself, and out of the largest exponent into infinity.
std::uint64_t encode_finite(int exponent, std::uint64_t mantissa, const Format& format) {
  if (exponent == 0) return 0;
  const int target = exponent - double_bias + format.bias;
  if (target >= 1 << format.exponent_bits) return format.top();
  const int shift = double_mantissa_bits - format.mantissa_bits;
  if (target >= 1) {
    const std::uint64_t joined = (std::uint64_t(target) << double_mantissa_bits) | mantissa;
    return std::min(shift_right_nearest_even(joined, shift), format.top());
  }
  const int subnormal_shift = shift + 1 - target;
  if (subnormal_shift > 62) return 0;
  return shift_right_nearest_even((std::uint64_t(1) << double_mantissa_bits) | mantissa, subnormal_shift);
}

std::uint64_t encode(double value, const Format& format) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = bits >> 63 != 0 ? format.sign() : 0;
  const int exponent = static_cast<int>(bits >> double_mantissa_bits & 0x7ff);
  const std::uint64_t mantissa = bits & ((std::uint64_t(1) << double_mantissa_bits) - 1);
  if (exponent == 0x7ff && mantissa != 0) return encode_nan(sign, mantissa, format);
  const std::uint64_t magnitude = exponent == 0x7ff ? format.top() : encode_finite(exponent, mantissa, format);
  if (format.negative_zero) return sign | magnitude;
  return magnitude == 0 ? 0 : magnitude == format.top() ? format.sign() : sign | magnitude;
}

double decode(std::uint64_t bits, const Format& format) {
  const bool negative = (bits & format.sign()) != 0;
  const std::uint64_t magnitude = bits & (format.sign() - 1);
  const std::uint64_t sign = std::uint64_t(negative ? 1 : 0) << 63;
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint64_t mantissa = magnitude & ((std::uint64_t(1) << format.mantissa_bits) - 1);
  const std::uint64_t wide_mantissa = mantissa << (double_mantissa_bits - format.mantissa_bits);
  const std::uint64_t quiet = std::uint64_t(1) << (double_mantissa_bits - 1);
  if (!format.negative_zero && bits == format.sign()) return std::bit_cast<double>(std::uint64_t(0x7ff) << double_mantissa_bits | quiet);
  if (format.infinities ? magnitude >= format.top() : format.negative_zero && magnitude == format.top())
    return std::bit_cast<double>(sign | std::uint64_t(0x7ff) << double_mantissa_bits | (format.infinities ? wide_mantissa : quiet));
  if (exponent == 0) {
    const double value = std::ldexp(static_cast<double>(mantissa), 1 - format.bias - format.mantissa_bits);
    return negative ? -value : value;
  }
  const auto wide_exponent = static_cast<std::uint64_t>(exponent - format.bias + double_bias);
  return std::bit_cast<double>(sign | wide_exponent << double_mantissa_bits | wide_mantissa);
}

template <class Real>
Real apply_arithmetic(BinaryOp op, Real a, Real b) {
  switch (op) {
    case BinaryOp::add: return a + b;
    case BinaryOp::sub: return a - b;
    case BinaryOp::mul: return a * b;
    case BinaryOp::divide: return a / b;
    case BinaryOp::min: return std::isnan(a) ? a : std::isnan(b) ? b : b < a ? b : a;
    case BinaryOp::max: return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? b : a;
    case BinaryOp::floor_div: case BinaryOp::modulo:
    case BinaryOp::lt: case BinaryOp::le: case BinaryOp::gt: case BinaryOp::ge: case BinaryOp::eq: case BinaryOp::ne:
    case BinaryOp::logical_and: case BinaryOp::logical_or:
    case BinaryOp::bit_and: case BinaryOp::bit_or: case BinaryOp::bit_xor:
    case BinaryOp::shift_left: case BinaryOp::shift_right: break;
  }
  TILEOPT_CHECK(false, "operator " + op_name(op) + " on floats");
  return a;
}

/// Half to even without depending on the rounding mode.
template <class Real>
Real round_half_even(Real x) {
  const Real down = std::floor(x);
  const Real rest = x - down;
  if (!(rest == Real(0.5))) return std::copysign(rest < Real(0.5) ? down : std::ceil(x), x);
  return std::copysign(std::fmod(down, Real(2)) == Real(0) ? down : down + 1, x);
}

template <class Real>
Real apply_function(Function function, Real x) {
  switch (function) {
    case Function::exp: return std::exp(x);
    case Function::exp2: return std::exp2(x);
    case Function::log: return std::log(x);
    case Function::sqrt: return std::sqrt(x);
    case Function::rsqrt: return Real(1) / std::sqrt(x);
    case Function::tanh: return std::tanh(x);
    case Function::erf: return std::erf(x);
    case Function::abs: return std::fabs(x);
    case Function::floor: return std::floor(x);
    case Function::ceil: return std::ceil(x);
    case Function::round: return std::isfinite(x) ? round_half_even(x) : x;
  }
  return x;
}

bool fits_unsigned(ElementType type) { return is_integer(type) && !is_signed(type); }

std::int64_t floor_divide(std::int64_t a, std::int64_t b, ElementType type) {
  if (b == 0) return 0;
  if (fits_unsigned(type)) return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) / static_cast<std::uint64_t>(b));
  if (b == -1) return wrap_integer(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a)), type);
  const std::int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

std::int64_t floor_modulo(std::int64_t a, std::int64_t b, ElementType type) {
  if (b == 0 || (b == -1 && !fits_unsigned(type))) return 0;
  if (fits_unsigned(type)) return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) % static_cast<std::uint64_t>(b));
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t shift(BinaryOp op, std::int64_t value, std::int64_t count, ElementType type) {
  const bool outside = static_cast<std::uint64_t>(count) >= static_cast<std::uint64_t>(integer_bits(type));
  if (op == BinaryOp::shift_left)
    return outside ? 0 : wrap_integer(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << count), type);
  if (fits_unsigned(type)) return outside ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(value) >> count);
  return outside ? (value < 0 ? -1 : 0) : value >> count;
}
}  // namespace

std::uint32_t narrow_bits(double value, ElementType type) {
  TILEOPT_CHECK(is_narrow_float(type), "bits of " + type_name(type));
  return static_cast<std::uint32_t>(encode(value, Format(type)));
}
double narrow_value(std::uint32_t bits, ElementType type) {
  TILEOPT_CHECK(is_narrow_float(type), "bits of " + type_name(type));
  return decode(bits, Format(type));
}
std::uint16_t bf16_bits(double value) { return static_cast<std::uint16_t>(narrow_bits(value, ElementType::bf16)); }
std::uint16_t f16_bits(double value) { return static_cast<std::uint16_t>(narrow_bits(value, ElementType::f16)); }
double bf16_value(std::uint16_t bits) { return narrow_value(bits, ElementType::bf16); }
double f16_value(std::uint16_t bits) { return narrow_value(bits, ElementType::f16); }

double round_to_type(double value, ElementType type) {
  TILEOPT_CHECK(is_float(type), "rounding to " + type_name(type));
  if (type == ElementType::f64) return value;
  if (type == ElementType::f32) return static_cast<double>(static_cast<float>(value));
  const Format format(type);
  return decode(encode(value, format), format);
}

double smallest_normal(ElementType type) {
  TILEOPT_CHECK(is_float(type), "smallest normal value of " + type_name(type));
  return std::ldexp(1.0, least_exponent(type));
}

int significand_digits(ElementType type) {
  TILEOPT_CHECK(is_float(type), "significand of " + type_name(type));
  return value_digits(type);
}

std::int64_t wrap_integer(std::int64_t value, ElementType type) {
  switch (type) {
    case ElementType::i64: case ElementType::u64: return value;
    case ElementType::i32: return static_cast<std::int32_t>(value);
    case ElementType::i16: return static_cast<std::int16_t>(value);
    case ElementType::i8: return static_cast<std::int8_t>(value);
    case ElementType::u32: return static_cast<std::uint32_t>(value);
    case ElementType::u16: return static_cast<std::uint16_t>(value);
    case ElementType::u8: return static_cast<std::uint8_t>(value);
    case ElementType::boolean: return value != 0;
    case ElementType::i4: return static_cast<std::int8_t>(static_cast<std::uint8_t>(value << 4)) >> 4;
    case ElementType::u4: return value & 15;
    case ElementType::f64: case ElementType::f32: case ElementType::f16: case ElementType::bf16: case ElementType::tf32:
    case ElementType::e4m3fn: case ElementType::e5m2: case ElementType::e4m3fnuz: case ElementType::e5m2fnuz: break;
  }
  TILEOPT_CHECK(false, "wrapping to " + type_name(type));
  return value;
}

std::int64_t saturate_to_integer(double value, ElementType type) {
  if (type == ElementType::boolean) return value != 0;
  if (std::isnan(value)) return 0;
  const int bits = integer_bits(type);
  const double whole = std::trunc(value);
  if (fits_unsigned(type)) {
    if (whole <= 0) return 0;
    if (whole >= std::ldexp(1.0, bits)) return static_cast<std::int64_t>(~std::uint64_t(0) >> (64 - bits));
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(whole));
  }
  const double limit = std::ldexp(1.0, bits - 1);
  const std::int64_t top = static_cast<std::int64_t>(~std::uint64_t(0) >> (65 - bits));
  if (whole >= limit) return top;
  if (whole < -limit) return -top - 1;
  return static_cast<std::int64_t>(whole);
}

double integer_as_double(std::int64_t value, ElementType from) {
  return from == ElementType::u64 ? static_cast<double>(static_cast<std::uint64_t>(value)) : static_cast<double>(value);
}

double integer_to_float(std::int64_t value, ElementType from, ElementType to) {
  if (to == ElementType::f32)
    return from == ElementType::u64 ? static_cast<float>(static_cast<std::uint64_t>(value)) : static_cast<float>(value);
  // Beyond 2^53 a sticky bit replaces the low bits, so that rounding through double equals one rounding (to f16, bf16).
  const bool negative = from != ElementType::u64 && value < 0;
  const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  if (to == ElementType::f64 || magnitude < std::uint64_t(1) << 53) return round_to_type(integer_as_double(value, from), to);
  const std::uint64_t sticky = (magnitude & 0xfff) != 0 ? 0x1000 : 0;
  const double odd = static_cast<double>((magnitude & ~std::uint64_t(0xfff)) | sticky);
  return round_to_type(negative ? -odd : odd, to);
}

double float_binary(BinaryOp op, double left, double right, ElementType type) {
  if (type == ElementType::f64) return apply_arithmetic(op, left, right);
  const float result = apply_arithmetic(op, static_cast<float>(left), static_cast<float>(right));
  return type == ElementType::f32 ? static_cast<double>(result) : round_to_type(static_cast<double>(result), type);
}

bool float_compare(BinaryOp op, double left, double right) {
  switch (op) {
    case BinaryOp::lt: return left < right;
    case BinaryOp::le: return left <= right;
    case BinaryOp::gt: return left > right;
    case BinaryOp::ge: return left >= right;
    case BinaryOp::eq: return left == right;
    case BinaryOp::ne: return left != right;
    case BinaryOp::add: case BinaryOp::sub: case BinaryOp::mul: case BinaryOp::divide:
    case BinaryOp::floor_div: case BinaryOp::modulo: case BinaryOp::min: case BinaryOp::max:
    case BinaryOp::logical_and: case BinaryOp::logical_or:
    case BinaryOp::bit_and: case BinaryOp::bit_or: case BinaryOp::bit_xor:
    case BinaryOp::shift_left: case BinaryOp::shift_right: break;
  }
  TILEOPT_CHECK(false, "operator " + op_name(op) + " is no comparison");
  return false;
}

double float_function(Function function, double argument, ElementType type) {
  if (type == ElementType::f64) return apply_function(function, argument);
  return round_to_type(static_cast<double>(apply_function(function, static_cast<float>(argument))), type);
}

std::int64_t integer_binary(BinaryOp op, std::int64_t left, std::int64_t right, ElementType type) {
  const auto a = static_cast<std::uint64_t>(left);
  const auto b = static_cast<std::uint64_t>(right);
  const auto wrap = [type](std::uint64_t value) { return wrap_integer(static_cast<std::int64_t>(value), type); };
  switch (op) {
    case BinaryOp::add: return wrap(a + b);
    case BinaryOp::sub: return wrap(a - b);
    case BinaryOp::mul: return wrap(a * b);
    case BinaryOp::floor_div: return floor_divide(left, right, type);
    case BinaryOp::modulo: return floor_modulo(left, right, type);
    case BinaryOp::min: return integer_compare(BinaryOp::lt, right, left, type) ? right : left;
    case BinaryOp::max: return integer_compare(BinaryOp::lt, left, right, type) ? right : left;
    case BinaryOp::logical_and: return left != 0 && right != 0;
    case BinaryOp::logical_or: return left != 0 || right != 0;
    case BinaryOp::bit_and: return left & right;
    case BinaryOp::bit_or: return left | right;
    case BinaryOp::bit_xor: return left ^ right;
    case BinaryOp::shift_left:
    case BinaryOp::shift_right: return shift(op, left, right, type);
    case BinaryOp::divide:
    case BinaryOp::lt: case BinaryOp::le: case BinaryOp::gt: case BinaryOp::ge: case BinaryOp::eq: case BinaryOp::ne: break;
  }
  TILEOPT_CHECK(false, "operator " + op_name(op) + " on " + type_name(type));
  return 0;
}

bool integer_compare(BinaryOp op, std::int64_t left, std::int64_t right, ElementType type) {
  const bool as_unsigned = type == ElementType::u64;
  const bool less = as_unsigned ? static_cast<std::uint64_t>(left) < static_cast<std::uint64_t>(right) : left < right;
  switch (op) {
    case BinaryOp::lt: return less;
    case BinaryOp::le: return less || left == right;
    case BinaryOp::gt: return !less && left != right;
    case BinaryOp::ge: return !less;
    case BinaryOp::eq: return left == right;
    case BinaryOp::ne: return left != right;
    case BinaryOp::add: case BinaryOp::sub: case BinaryOp::mul: case BinaryOp::divide:
    case BinaryOp::floor_div: case BinaryOp::modulo: case BinaryOp::min: case BinaryOp::max:
    case BinaryOp::logical_and: case BinaryOp::logical_or:
    case BinaryOp::bit_and: case BinaryOp::bit_or: case BinaryOp::bit_xor:
    case BinaryOp::shift_left: case BinaryOp::shift_right: break;
  }
  TILEOPT_CHECK(false, "operator " + op_name(op) + " is no comparison");
  return false;
}

std::int64_t integer_function(Function function, std::int64_t argument, ElementType type) {
  switch (function) {
    case Function::abs:
      if (fits_unsigned(type) || argument >= 0) return argument;
      return wrap_integer(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(argument)), type);
    case Function::floor: case Function::ceil: case Function::round: return argument;
    case Function::exp: case Function::exp2: case Function::log: case Function::sqrt: case Function::rsqrt:
    case Function::tanh: case Function::erf: break;
  }
  TILEOPT_CHECK(false, "function " + function_name(function) + " on " + type_name(type));
  return 0;
}

std::int64_t integer_unary(UnaryOp op, std::int64_t operand, ElementType type) {
  switch (op) {
    case UnaryOp::negate: return wrap_integer(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(operand)), type);
    case UnaryOp::logical_not: return operand == 0;
    case UnaryOp::bit_not: return type == ElementType::boolean ? operand == 0 : wrap_integer(~operand, type);
  }
  return operand;
}

}  // namespace tileopt
