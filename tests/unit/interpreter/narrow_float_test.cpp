// The 8-bit floats and tf32: every encoding against the formats' definition, every rounding against the nearest of all values.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "interpreter/host_array.h"
#include "interpreter/number.h"

namespace tileopt {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The definitions, written out apart from the code under test.
struct Definition {
  ElementType type;
  int exponent_bits, mantissa_bits, bias;
};
const std::vector<Definition> definitions = {{ElementType::e4m3fn, 4, 3, 7},
                                             {ElementType::e5m2, 5, 2, 15},
                                             {ElementType::e4m3fnuz, 4, 3, 8},
                                             {ElementType::e5m2fnuz, 5, 2, 16}};

double defined_value(const Definition& d, int bits) {
  const int exponent = bits >> d.mantissa_bits & ((1 << d.exponent_bits) - 1), mantissa = bits & ((1 << d.mantissa_bits) - 1);
  const double sign = bits & 0x80 ? -1 : 1;
  if (d.type == ElementType::e4m3fn && (bits & 0x7f) == 0x7f) return nan;
  if (d.type == ElementType::e5m2 && exponent == 31) return mantissa == 0 ? sign * inf : nan;
  if ((d.type == ElementType::e4m3fnuz || d.type == ElementType::e5m2fnuz) && bits == 0x80) return nan;
  const double fraction = mantissa / std::pow(2.0, d.mantissa_bits);
  return exponent == 0 ? sign * fraction * std::pow(2.0, 1 - d.bias) : sign * (1 + fraction) * std::pow(2.0, exponent - d.bias);
}

TEST(NarrowFloat, EveryEncodingHasItsValue) {
  for (const Definition& d : definitions)
    for (int bits = 0; bits < 256; ++bits) {
      const double value = narrow_value(static_cast<std::uint32_t>(bits), d.type), expected = defined_value(d, bits);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(value)) << type_name(d.type) << " " << bits;
        EXPECT_TRUE(std::isnan(narrow_value(narrow_bits(value, d.type), d.type)));
        continue;
      }
      EXPECT_EQ(value, expected) << type_name(d.type) << " " << bits;
      EXPECT_EQ(std::signbit(value), std::signbit(expected));
      EXPECT_EQ(narrow_bits(value, d.type), static_cast<std::uint32_t>(bits));
    }
}

TEST(NarrowFloat, RoundingGoesToTheNearestEven) {
  for (const Definition& d : definitions) {
    double largest = 0;
    for (int bits = 0; bits < 0x7f; ++bits) {
      const double low = defined_value(d, bits), high = defined_value(d, bits + 1);
      if (!std::isfinite(high)) {
        if (std::isfinite(low)) largest = std::max(largest, low);
        continue;
      }
      largest = std::max(largest, high);
      const double middle = (low + high) / 2;
      const double even = bits % 2 == 0 ? low : high;
      for (const double sign : {1.0, -1.0}) {
        EXPECT_EQ(round_to_type(sign * middle, d.type), sign * even) << type_name(d.type) << " " << bits;
        EXPECT_EQ(round_to_type(sign * std::nextafter(middle, 0), d.type), sign * low);
        EXPECT_EQ(round_to_type(sign * std::nextafter(middle, inf), d.type), sign * high);
      }
    }
    EXPECT_EQ(largest, largest_finite(d.type));
    EXPECT_EQ(smallest_normal(d.type), std::pow(2.0, 1 - d.bias));
    const double unit = std::ldexp(1.0, std::ilogb(largest) - d.mantissa_bits);
    const bool tie_stays = d.type == ElementType::e4m3fn;  // the number above is odd only there
    EXPECT_EQ(round_to_type(std::nextafter(largest + unit / 2, 0), d.type), largest);
    const double tie = round_to_type(largest + unit / 2, d.type), beyond = round_to_type(largest + unit, d.type);
    if (tie_stays) EXPECT_EQ(tie, largest);
    else EXPECT_FALSE(std::isfinite(tie)) << type_name(d.type);
    for (const double overflow : {beyond, round_to_type(1e30, d.type), round_to_type(inf, d.type)}) {
      if (d.type == ElementType::e5m2) EXPECT_EQ(overflow, inf);
      else EXPECT_TRUE(std::isnan(overflow)) << type_name(d.type);
    }
    const bool negative_zero = d.type == ElementType::e4m3fn || d.type == ElementType::e5m2;
    EXPECT_EQ(std::signbit(round_to_type(-0.0, d.type)), negative_zero);
    EXPECT_EQ(std::signbit(round_to_type(-1e-30, d.type)), negative_zero);
  }
}

TEST(NarrowFloat, Tf32KeepsElevenDigits) {
  const ElementType tf32 = ElementType::tf32;
  const double unit = std::ldexp(1.0, -10);
  EXPECT_EQ(round_to_type(1 + unit, tf32), 1 + unit);
  EXPECT_EQ(round_to_type(1 + unit / 2, tf32), 1);
  EXPECT_EQ(round_to_type(1 + 3 * unit / 2, tf32), 1 + 2 * unit);
  EXPECT_EQ(round_to_type(std::nextafter(1 + unit / 2, 2), tf32), 1 + unit);
  EXPECT_EQ(round_to_type(3.5e38, tf32), inf);
  EXPECT_EQ(round_to_type(std::ldexp(1.0, -136), tf32), std::ldexp(1.0, -136));
  EXPECT_EQ(round_to_type(std::ldexp(1.0, -138), tf32), 0);
  EXPECT_TRUE(std::isnan(round_to_type(nan, tf32)));
  HostArray array(tf32, {1});
  EXPECT_EQ(array.bytes.size(), 4u);
  array.set(0, 1.2345);
  EXPECT_EQ(array.get(0), round_to_type(1.2345, tf32));
}

}  // namespace
}  // namespace tileopt
