#include "frontends/tile_text/literals.h"

#include <cmath>
#include <limits>

namespace tileopt::tile_text {

namespace {
struct Format {
  int significand;       ///< bits, hidden one included
  int largest_exponent;  ///< of the leading bit
};
Format format_of(ElementType type) {
  if (type == ElementType::f16) return {11, 15};
  if (type == ElementType::bf16) return {8, 127};
  if (type == ElementType::f32) return {24, 127};
  return {53, 1023};
}
}  // namespace

std::optional<double> round_real(double value, ElementType type) {
  if (type == ElementType::f64 || value == 0) return value;
  const Format format = format_of(type);
  int exponent = 0;
  std::frexp(value, &exponent);
  const int least_exponent = 1 - format.largest_exponent;
  const int unit = std::max(exponent - 1, least_exponent) - (format.significand - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  const double limit = std::ldexp(2.0 - std::ldexp(1.0, 1 - format.significand), format.largest_exponent);
  if (std::fabs(rounded) > limit) return std::nullopt;
  return rounded;
}

std::optional<Literal> integer_literal(std::uint64_t value, bool negative, ElementType type) {
  if (is_float(type)) {
    const std::optional<double> real = round_real(static_cast<double>(value), type);
    if (!real) return std::nullopt;
    return Literal{negative ? -*real : *real, 0};
  }
  const int bits = 8 * size_bytes(type);
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (is_signed(type) ? 1 : 0));
  if (negative) {
    const std::uint64_t limit = is_signed(type) ? largest + 1 : 0;
    if (value > limit) return std::nullopt;
    return Literal{0, static_cast<std::int64_t>(~value + 1)};
  }
  if (value > largest) return std::nullopt;
  return Literal{0, static_cast<std::int64_t>(value)};
}

Literal extreme_literal(Extreme extreme, ElementType type) {
  const bool least = extreme == Extreme::least;
  if (is_float(type)) return {least ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity(), 0};
  const int bits = 8 * size_bytes(type);
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (is_signed(type) ? 1 : 0));
  if (!least) return {0, static_cast<std::int64_t>(largest)};
  return {0, is_signed(type) ? -static_cast<std::int64_t>(largest) - 1 : 0};
}

}  // namespace tileopt::tile_text
