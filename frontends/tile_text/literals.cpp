#include "frontends/tile_text/literals.h"

#include <cmath>

namespace tileopt::tile_text {

std::optional<double> round_real(double value, ElementType type) {
  if (type == ElementType::f64 || value == 0) return value;
  if (!std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - 1, least_exponent(type)) - (value_digits(type) - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  if (std::fabs(rounded) > largest_finite(type)) return std::nullopt;
  return rounded == 0 && !has_negative_zero(type) ? 0 : rounded;
}

std::optional<Literal> integer_literal(std::uint64_t value, bool negative, ElementType type) {
  if (is_float(type)) {
    const std::optional<double> real = round_real(static_cast<double>(value), type);
    if (!real) return std::nullopt;
    return Literal{negative ? -*real : *real, 0};
  }
  const std::uint64_t largest = largest_integer(type);
  if (negative) {
    const std::uint64_t limit = is_signed(type) ? largest + 1 : 0;
    if (value > limit) return std::nullopt;
    return Literal{0, static_cast<std::int64_t>(~value + 1)};
  }
  if (value > largest) return std::nullopt;
  return Literal{0, static_cast<std::int64_t>(value)};
}

}  // namespace tileopt::tile_text
