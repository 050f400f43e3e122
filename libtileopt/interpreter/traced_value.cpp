#include "interpreter/traced_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "interpreter/number.h"
#include "support/error.h"

namespace tileopt {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double shadow_roundoff = 0x1p-53;
/// Room for a backend that rounds twice on the way to a narrow type (f64 -> f32 -> bf16).
constexpr double double_rounding_slack = 1 + 0x1p-6;

/// Constants of a float type with `digits` significand digits and smallest normal number `normal`.
struct FloatTraits {
  double roundoff;
  double relative;  ///< one rounding, the shadow's included
  double absolute;  ///< one rounding near and below the smallest normal number
  double small;     ///< below this magnitude the absolute part is added
  double largest;
};
constexpr FloatTraits make_traits(double roundoff, double normal, double largest) {
  return {roundoff, roundoff * double_rounding_slack + shadow_roundoff, 2 * roundoff * normal, 4 * normal, largest};
}
/// By enum order (a test compares them with types.h and number.h).
constexpr FloatTraits float_traits[9] = {
    make_traits(0x1p-53, std::numeric_limits<double>::min(), std::numeric_limits<double>::max()),
    make_traits(0x1p-24, std::numeric_limits<float>::min(), std::numeric_limits<float>::max()),
    make_traits(0x1p-11, 0x1p-14, 65504.0), make_traits(0x1p-8, 0x1p-126, 0x1.fep127),
    make_traits(0x1p-11, 0x1p-126, 0x1.ffcp127), make_traits(0x1p-4, 0x1p-6, 448.0), make_traits(0x1p-3, 0x1p-14, 57344.0),
    make_traits(0x1p-4, 0x1p-7, 240.0), make_traits(0x1p-3, 0x1p-15, 57344.0)};
static_assert(static_cast<int>(ElementType::f64) == 0 && static_cast<int>(ElementType::f32) == 1 &&
              static_cast<int>(ElementType::f16) == 2 && static_cast<int>(ElementType::e5m2fnuz) == 8);
inline bool real_type(ElementType type) { return static_cast<std::size_t>(type) < 9; }
inline const FloatTraits& traits(ElementType type) { return float_traits[static_cast<std::size_t>(type)]; }

inline double declared_sum(double a, double b, ElementType type) {
  if (type == ElementType::f32) return static_cast<double>(static_cast<float>(a) + static_cast<float>(b));
  return type == ElementType::f64 ? a + b : float_binary(BinaryOp::add, a, b, type);
}
inline double declared_product(double a, double b, ElementType type) {
  if (type == ElementType::f32) return static_cast<double>(static_cast<float>(a) * static_cast<float>(b));
  return type == ElementType::f64 ? a * b : float_binary(BinaryOp::mul, a, b, type);
}

/// Decides what holds when the result, or what rounding may make of it, leaves the finite range. A NaN or an infinity that is
/// certain has bound 0; where rounding decides whether it appears, nothing can be said.
TracedValue settle_special(double real, double shadow, double propagated, double bound, ElementType type) {
  TracedValue value{{real}, shadow, infinity};
  if (propagated == infinity) return value;
  if (std::isnan(real) && std::isnan(shadow)) value.bound = 0;
  if (std::isinf(real) && real == shadow) value.bound = 0;
  if (std::isinf(real) && std::isfinite(shadow) && std::fabs(shadow) - bound >= traits(type).largest * (1 + traits(type).roundoff)) {
    value.shadow = real;
    value.bound = 0;
  }
  return value;
}

inline double one_rounding(double magnitude, ElementType type) {
  const FloatTraits& t = traits(type);
  return t.relative * magnitude + (magnitude < t.small ? t.absolute : 0);
}

/// `propagated`: bound that comes from the operands; `roundings`: roundings (to nearest) that the operation adds.
TracedValue settle(double real, double shadow, double propagated, double roundings, ElementType type) {
  const double bound = propagated + roundings * one_rounding(std::fabs(shadow) + propagated, type);
  if (std::fabs(shadow) + bound < traits(type).largest && std::isfinite(real)) [[likely]]
    return TracedValue{{real}, shadow, bound};
  return settle_special(real, shadow, propagated, bound, type);
}

/// Propagated bound of an operation whose operands may be special: a NaN from inf * 0 in a bound means "cannot say" only when
/// the value itself is finite.
double tame(double bound) { return std::isnan(bound) ? 0 : bound; }

bool product_is_exact(double a, double b, double result, ElementType type) {
  if (type == ElementType::f64) return std::fma(a, b, -result) == 0;
  return a * b == result;
}

/// a + sign * b.
TracedValue traced_sum(const TracedValue& a, const TracedValue& b, double sign, ElementType type) {
  const double addend = sign * b.real;
  const double real = declared_sum(a.real, addend, type);
  const double shadow = a.shadow + sign * b.shadow;
  const double propagated = a.bound + b.bound;
  if (propagated == 0 && sum_is_exact(a.real, addend, real)) return TracedValue{{real}, real, 0};
  return settle(real, shadow, propagated, 1, type);
}

TracedValue traced_product(const TracedValue& a, const TracedValue& b, ElementType type, const ErrorModel& model,
                           bool rounded_operands) {
  const double real = declared_product(a.real, b.real, type);
  const double shadow = a.shadow * b.shadow;
  if (a.bound == 0 && b.bound == 0) {
    const bool operands_kept =
        !rounded_operands || (round_to_type(a.real, *model.operand_rounding) == a.real && round_to_type(b.real, *model.operand_rounding) == b.real);
    if (operands_kept && product_is_exact(a.real, b.real, real, type)) return TracedValue{{real}, real, 0};
  }
  if ((std::isinf(a.shadow) && b.bound > 0 && std::fabs(b.shadow) <= b.bound) ||
      (std::isinf(b.shadow) && a.bound > 0 && std::fabs(a.shadow) <= a.bound))
    return TracedValue{{real}, shadow, infinity};
  double propagated = tame(a.bound * std::fabs(b.shadow)) + tame(b.bound * std::fabs(a.shadow)) + a.bound * b.bound;
  if (std::isinf(shadow) && a.bound != infinity && b.bound != infinity) propagated = 0;
  if (rounded_operands) propagated += 2 * unit_roundoff(*model.operand_rounding) * double_rounding_slack * (std::fabs(shadow) + propagated);
  return settle(real, shadow, propagated, 1, type);
}

TracedValue traced_quotient(const TracedValue& a, const TracedValue& b, ElementType type) {
  const double real = float_binary(BinaryOp::divide, a.real, b.real, type);
  const double shadow = a.shadow / b.shadow;
  if (a.bound == 0 && b.bound == 0 && std::isfinite(real) && product_is_exact(real, b.real, a.real, type))
    return TracedValue{{real}, real, 0};
  const double divisor = std::fabs(b.shadow) - b.bound;
  if ((b.bound > 0 && !(divisor > 0)) || (b.shadow == 0 && a.bound > 0)) return TracedValue{{real}, shadow, infinity};
  double propagated = tame((a.bound + tame(std::fabs(shadow) * b.bound)) / divisor);
  if (std::isinf(shadow) && a.bound != infinity) propagated = 0;
  return settle(real, shadow, propagated, 1, type);
}

TracedValue traced_extreme(BinaryOp op, const TracedValue& a, const TracedValue& b, ElementType type) {
  const double real = float_binary(op, a.real, b.real, type);
  const double shadow = float_binary(op, a.shadow, b.shadow, ElementType::f64);
  return TracedValue{{real}, shadow, std::max(a.bound, b.bound)};
}

TracedValue traced_comparison(BinaryOp op, const TracedValue& a, const TracedValue& b, ElementType type) {
  TracedValue value = TracedValue::exact_integer(0);
  const double tolerance = a.bound + b.bound;
  double distance;
  if (real_type(type)) {
    value.integer = float_compare(op, a.real, b.real);
    distance = std::fabs(a.shadow - b.shadow);
  } else {
    value.integer = integer_compare(op, a.integer, b.integer, type);
    distance = std::fabs(integer_as_double(a.integer, type) - integer_as_double(b.integer, type));
  }
  if (tolerance > 0 && !(distance > tolerance)) value.bound = 1;
  return value;
}

/// Bound of an integer operation whose operands carry bounds.
double integer_bound(BinaryOp op, const TracedValue& a, const TracedValue& b, const TracedValue& result, ElementType type) {
  if (type == ElementType::boolean) return 1;
  const double wrap_limit = std::ldexp(1.0, integer_bits(type) - (is_signed(type) ? 1 : 0));
  const double left = std::fabs(integer_as_double(a.integer, type)), right = std::fabs(integer_as_double(b.integer, type));
  double bound = infinity;
  double reach = infinity;
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub: bound = a.bound + b.bound; reach = left + right + bound; break;
    case BinaryOp::mul:
      bound = a.bound * right + b.bound * left + a.bound * b.bound;
      reach = left * right + bound;
      break;
    case BinaryOp::min:
    case BinaryOp::max: return std::max(a.bound, b.bound);
    case BinaryOp::divide: case BinaryOp::floor_div: case BinaryOp::modulo:
    case BinaryOp::lt: case BinaryOp::le: case BinaryOp::gt: case BinaryOp::ge: case BinaryOp::eq: case BinaryOp::ne:
    case BinaryOp::logical_and: case BinaryOp::logical_or:
    case BinaryOp::bit_and: case BinaryOp::bit_or: case BinaryOp::bit_xor:
    case BinaryOp::shift_left: case BinaryOp::shift_right: break;
  }
  const bool below_zero = !is_signed(type) && integer_as_double(result.integer, type) < bound;
  return reach < wrap_limit && !below_zero ? bound : infinity;
}

TracedValue traced_integer_binary(BinaryOp op, const TracedValue& a, const TracedValue& b, ElementType type) {
  TracedValue value = TracedValue::exact_integer(integer_binary(op, a.integer, b.integer, type));
  if (a.bound > 0 || b.bound > 0) value.bound = integer_bound(op, a, b, value, type);
  return value;
}

bool is_comparison(BinaryOp op) {
  switch (op) {
    case BinaryOp::lt: case BinaryOp::le: case BinaryOp::gt: case BinaryOp::ge: case BinaryOp::eq: case BinaryOp::ne: return true;
    case BinaryOp::add: case BinaryOp::sub: case BinaryOp::mul: case BinaryOp::divide:
    case BinaryOp::floor_div: case BinaryOp::modulo: case BinaryOp::min: case BinaryOp::max:
    case BinaryOp::logical_and: case BinaryOp::logical_or:
    case BinaryOp::bit_and: case BinaryOp::bit_or: case BinaryOp::bit_xor:
    case BinaryOp::shift_left: case BinaryOp::shift_right: return false;
  }
  return false;
}

/// |f(x) - f(shadow)| for x within `bound` of `shadow`, rounding of f itself apart.
double propagate_function(Function function, double shadow, double result, double bound) {
  if (bound == 0) return 0;
  if (bound == infinity) return infinity;
  switch (function) {
    case Function::exp: return std::fabs(result) * std::expm1(bound);
    case Function::exp2: return std::fabs(result) * std::expm1(bound * 0.6931471805599454);
    case Function::log: return shadow > bound ? bound / (shadow - bound) : infinity;
    case Function::sqrt: return shadow > bound ? bound / (result + std::sqrt(shadow - bound)) : std::sqrt(2 * bound);
    case Function::rsqrt: return shadow > bound ? 1 / std::sqrt(shadow - bound) - result : infinity;
    case Function::tanh: return bound;
    case Function::erf: return 1.1283791670955126 * bound;
    case Function::abs: return bound;
    case Function::floor:
    case Function::ceil:
    case Function::round: {
      const double low = float_function(function, shadow - bound, ElementType::f64);
      const double high = float_function(function, shadow + bound, ElementType::f64);
      return std::max(result - low, high - result);
    }
  }
  return infinity;
}

bool function_is_exact(Function function) {
  return function == Function::abs || function == Function::floor || function == Function::ceil || function == Function::round;
}

TracedValue cast_from_float(const TracedValue& operand, ElementType from, ElementType to) {
  if (real_type(to)) {
    const double real = round_to_type(operand.real, to);
    if (operand.bound == 0 && (real == operand.real || std::isnan(real))) return TracedValue{{real}, real, 0};
    return settle(real, operand.shadow, operand.bound, widens_exactly(from, to) ? 0 : 1, to);
  }
  TracedValue value = TracedValue::exact_integer(saturate_to_integer(operand.real, to));
  if (operand.bound == 0) return value;
  if (operand.bound == infinity) return TracedValue{{.integer = value.integer}, 0, infinity};
  const double middle = integer_as_double(value.integer, to);
  const double low = integer_as_double(saturate_to_integer(operand.shadow - operand.bound, to), to);
  const double high = integer_as_double(saturate_to_integer(operand.shadow + operand.bound, to), to);
  value.bound = std::max({0.0, middle - low, high - middle});
  if (to == ElementType::boolean && std::fabs(operand.shadow) <= operand.bound) value.bound = 1;
  return value;
}

TracedValue cast_from_integer(const TracedValue& operand, ElementType from, ElementType to) {
  if (!real_type(to)) {
    TracedValue value = TracedValue::exact_integer(wrap_integer(operand.integer, to));
    if (operand.bound > 0) value.bound = widens_exactly(from, to) ? operand.bound : infinity;
    return value;
  }
  const double real = integer_to_float(operand.integer, from, to);
  const double shadow = integer_as_double(operand.integer, from);
  const bool converted_back = std::fabs(real) < 0x1p53 && real == shadow;
  if (operand.bound == 0 && (converted_back || (std::fabs(real) < 0x1p63 && saturate_to_integer(real, ElementType::i64) == operand.integer)))
    return TracedValue{{real}, real, 0};
  return settle(real, shadow, operand.bound, 1, to);
}
}  // namespace

TracedValue TracedValue::exact_real(double value) { return TracedValue{{value}, value, 0}; }
TracedValue TracedValue::exact_integer(std::int64_t value) { return TracedValue{{.integer = value}, 0, 0}; }
TracedValue TracedValue::unknown(ElementType type) {
  if (!real_type(type)) return TracedValue{{.integer = 0}, 0, infinity};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return TracedValue{{nan}, nan, infinity};
}

ErrorModel ErrorModel::of(const Numerics& numerics) {
  ErrorModel model;
  model.function_ulp = 4 + numerics.approx_ulp;
  model.operand_rounding = numerics.operand_rounding;
  model.flush_subnormals = numerics.flush_subnormals;
  return model;
}

TracedValue flushed(TracedValue value, ElementType type, const ErrorModel& model) {
  if (!model.flush_subnormals || (value.shadow == 0 && value.bound == 0)) return value;
  const FloatTraits& t = traits(type);
  const double normal = t.absolute / (2 * t.roundoff);
  if (std::fabs(value.shadow) - value.bound >= normal / t.roundoff) return value;
  value.bound += normal;
  return value;
}

double rounding_bound(double magnitude, ElementType type) { return one_rounding(magnitude, type); }

bool sum_is_exact(double a, double b, double declared_result) {
  const double sum = a + b;
  if (!(sum == declared_result)) return false;
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part) == 0;
}

TracedValue traced_binary(BinaryOp op, const TracedValue& left, const TracedValue& right, ElementType type,
                          const ErrorModel& model, bool rounded_operands) {
  if (model.flush_subnormals && real_type(type)) [[unlikely]] {
    ErrorModel gradual = model;
    gradual.flush_subnormals = false;
    const TracedValue result = traced_binary(op, flushed(left, type, model), flushed(right, type, model), type, gradual, rounded_operands);
    return is_comparison(op) ? result : flushed(result, type, model);
  }
  if (is_comparison(op)) return traced_comparison(op, left, right, type);
  if (!real_type(type)) return traced_integer_binary(op, left, right, type);
  switch (op) {
    case BinaryOp::add: return traced_sum(left, right, 1, type);
    case BinaryOp::sub: return traced_sum(left, right, -1, type);
    case BinaryOp::mul:
      return traced_product(left, right, type, model, rounded_operands && model.operand_rounding.has_value());
    case BinaryOp::divide: return traced_quotient(left, right, type);
    case BinaryOp::min:
    case BinaryOp::max: return traced_extreme(op, left, right, type);
    case BinaryOp::floor_div: case BinaryOp::modulo:
    case BinaryOp::lt: case BinaryOp::le: case BinaryOp::gt: case BinaryOp::ge: case BinaryOp::eq: case BinaryOp::ne:
    case BinaryOp::logical_and: case BinaryOp::logical_or:
    case BinaryOp::bit_and: case BinaryOp::bit_or: case BinaryOp::bit_xor:
    case BinaryOp::shift_left: case BinaryOp::shift_right: break;
  }
  TILEOPT_CHECK(false, "operator " + op_name(op) + " on " + type_name(type));
  return left;
}

TracedValue traced_unary(UnaryOp op, const TracedValue& operand, ElementType type) {
  if (real_type(type)) {
    TILEOPT_CHECK(op == UnaryOp::negate, "operator " + op_name(op) + " on " + type_name(type));
    const bool zero = operand.real == 0 && !has_negative_zero(type);
    return TracedValue{{zero ? 0 : -operand.real}, zero && operand.shadow == 0 ? 0 : -operand.shadow, operand.bound};
  }
  TracedValue value = TracedValue::exact_integer(integer_unary(op, operand.integer, type));
  value.bound = operand.bound;
  if (op == UnaryOp::negate && !is_signed(type) && operand.bound > 0) value.bound = infinity;
  return value;
}

TracedValue traced_function(Function function, const TracedValue& argument, ElementType type, const ErrorModel& model) {
  if (!real_type(type)) {
    TracedValue value = TracedValue::exact_integer(integer_function(function, argument.integer, type));
    value.bound = argument.bound;
    return value;
  }
  if (model.flush_subnormals) [[unlikely]] {
    ErrorModel gradual = model;
    gradual.flush_subnormals = false;
    return flushed(traced_function(function, flushed(argument, type, model), type, gradual), type, model);
  }
  const double real = float_function(function, argument.real, type);
  if (argument.bound == 0 && function_is_exact(function)) return TracedValue{{real}, real, 0};
  const double shadow = float_function(function, argument.shadow, ElementType::f64);
  const double propagated = propagate_function(function, argument.shadow, shadow, argument.bound);
  if (function_is_exact(function)) return settle(real, shadow, propagated, 0, type);
  const double ulps = function == Function::sqrt ? model.function_ulp - 4 : model.function_ulp;
  if (function == Function::sqrt && ulps == 0 && argument.bound == 0 && product_is_exact(real, real, argument.real, type)) return TracedValue{{real}, real, 0};
  return settle(real, shadow, propagated, 1 + 2 * ulps, type);
}

TracedValue traced_cast(const TracedValue& operand, ElementType from, ElementType to) {
  if (from == to) return operand;
  return real_type(from) ? cast_from_float(operand, from, to) : cast_from_integer(operand, from, to);
}

TracedValue traced_merge(const TracedValue& taken, const TracedValue& other, ElementType type) {
  TracedValue value = taken;
  if (real_type(type)) {
    const bool same = taken.shadow == other.shadow || (std::isnan(taken.shadow) && std::isnan(other.shadow));
    const double distance = same ? 0 : std::fabs(taken.shadow - other.shadow);
    value.bound = std::isnan(distance) ? infinity : std::max(taken.bound, distance + other.bound);
  } else {
    const double distance = std::fabs(integer_as_double(taken.integer, type) - integer_as_double(other.integer, type));
    value.bound = std::max(taken.bound, distance + other.bound);
  }
  return value;
}

}  // namespace tileopt
