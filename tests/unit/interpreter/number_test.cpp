#include "interpreter/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "interpreter/host_array.h"

namespace tileopt {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::uint16_t next_up(std::uint16_t positive) { return static_cast<std::uint16_t>(positive + 1); }

TEST(Number, EveryBf16PatternRoundTrips) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float reference = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    const double value = bf16_value(pattern);
    if (std::isnan(reference)) EXPECT_TRUE(std::isnan(value)) << bits;
    else EXPECT_EQ(value, static_cast<double>(reference)) << bits;
    EXPECT_EQ(bf16_bits(value), pattern);
  }
}

TEST(Number, EveryF16PatternRoundTrips) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    EXPECT_EQ(f16_bits(f16_value(pattern)), pattern);
  }
}

#ifdef __FLT16_MAX__
TEST(Number, F16AgreesWithTheCompiler) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const double reference = static_cast<double>(std::bit_cast<_Float16>(pattern));
    if (std::isnan(reference)) EXPECT_TRUE(std::isnan(f16_value(pattern)));
    else EXPECT_EQ(f16_value(pattern), reference) << bits;
  }
  std::uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>((state >> 32 & 0x8fffffff) | 0x30000000));
    EXPECT_EQ(f16_bits(x), std::bit_cast<std::uint16_t>(static_cast<_Float16>(x))) << x;
    const double wide = std::bit_cast<double>((state & 0x800fffffffffffff) | (std::uint64_t(0x3e0 + i % 64) << 52));
    EXPECT_EQ(f16_bits(wide), std::bit_cast<std::uint16_t>(static_cast<_Float16>(wide))) << wide;
  }
}
#endif

/// Between every two neighbours: the midpoint goes to the even one, anything beside it to the nearer one.
void check_midpoints(double (*value)(std::uint16_t), std::uint16_t (*bits)(double), std::uint16_t infinity_bits) {
  for (std::uint16_t low = 0; next_up(low) < infinity_bits; low = next_up(low)) {
    const std::uint16_t high = next_up(low);
    const double middle = (value(low) + value(high)) / 2;
    const std::uint16_t even = low % 2 == 0 ? low : high;
    const std::uint16_t sign = 0x8000;
    ASSERT_EQ(bits(middle), even) << low;
    ASSERT_EQ(bits(-middle), even | sign) << low;
    ASSERT_EQ(bits(std::nextafter(middle, 0.0)), low) << low;
    ASSERT_EQ(bits(std::nextafter(middle, inf)), high) << low;
  }
}
TEST(Number, MidpointsRoundToEven) {
  check_midpoints(bf16_value, bf16_bits, 0x7f80);
  check_midpoints(f16_value, f16_bits, 0x7c00);
}

TEST(Number, OverflowAndUnderflowOf16BitFloats) {
  EXPECT_EQ(f16_value(f16_bits(65519.99)), 65504);
  EXPECT_EQ(f16_bits(65520.0), 0x7c00);
  EXPECT_EQ(f16_bits(-1e300), 0xfc00);
  EXPECT_EQ(f16_bits(inf), 0x7c00);
  EXPECT_EQ(f16_bits(0x1p-25), 0);
  EXPECT_EQ(f16_bits(std::nextafter(0x1p-25, 1.0)), 1);
  EXPECT_EQ(f16_bits(-5e-324), 0x8000);
  EXPECT_EQ(bf16_bits(1e300), 0x7f80);
  EXPECT_EQ(bf16_bits(0x1p-134), 0);
  EXPECT_EQ(bf16_bits(0x1.8p-134), 1);
  EXPECT_TRUE(std::isnan(f16_value(f16_bits(nan))));
  EXPECT_TRUE(std::isnan(bf16_value(bf16_bits(-nan))));
}

TEST(Number, ConversionFromDoubleRoundsOnce) {
  // Through float this would round to the midpoint first and then away to even.
  const double just_above = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(bf16_value(bf16_bits(just_above)), 1.0 + 0x1p-7);
  EXPECT_EQ(bf16_value(bf16_bits(static_cast<double>(static_cast<float>(just_above)))), 1.0);
}

TEST(Number, SixteenBitArithmeticIsCorrectlyRounded) {
  std::uint64_t state = 7;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double a = f16_value(static_cast<std::uint16_t>(state >> 16)), b = f16_value(static_cast<std::uint16_t>(state >> 40));
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    EXPECT_EQ(float_binary(BinaryOp::add, a, b, ElementType::f16), round_to_type(a + b, ElementType::f16));
    EXPECT_EQ(float_binary(BinaryOp::mul, a, b, ElementType::f16), round_to_type(a * b, ElementType::f16));
    if (b == 0) continue;
    EXPECT_EQ(float_binary(BinaryOp::divide, a, b, ElementType::f16), round_to_type(a / b, ElementType::f16));
  }
}

TEST(Number, FourBitIntegersWrapModulo16) {
  for (std::int64_t value = -300; value < 300; ++value) {
    const std::int64_t low = ((value % 16) + 16) % 16;
    EXPECT_EQ(wrap_integer(value, ElementType::u4), low) << value;
    EXPECT_EQ(wrap_integer(value, ElementType::i4), low < 8 ? low : low - 16) << value;
  }
  EXPECT_EQ(saturate_to_integer(7.9, ElementType::i4), 7);
  EXPECT_EQ(saturate_to_integer(8, ElementType::i4), 7);
  EXPECT_EQ(saturate_to_integer(-1e30, ElementType::i4), -8);
  EXPECT_EQ(saturate_to_integer(16, ElementType::u4), 15);
  EXPECT_EQ(saturate_to_integer(-0.5, ElementType::u4), 0);
  EXPECT_EQ(saturate_to_integer(nan, ElementType::u4), 0);
  EXPECT_EQ(integer_binary(BinaryOp::floor_div, -8, -1, ElementType::i4), -8);
  EXPECT_EQ(integer_binary(BinaryOp::shift_left, 3, 2, ElementType::i4), -4);
  EXPECT_EQ(integer_binary(BinaryOp::shift_left, 3, 4, ElementType::u4), 0);
  EXPECT_EQ(integer_binary(BinaryOp::shift_right, -8, 9, ElementType::i4), -1);
  EXPECT_EQ(integer_unary(UnaryOp::bit_not, 5, ElementType::u4), 10);
}

TEST(Number, FloatArithmeticIsSingle) {
  EXPECT_EQ(float_binary(BinaryOp::add, 16777216.0, 1.0, ElementType::f32), 16777216.0);
  EXPECT_EQ(float_binary(BinaryOp::add, 16777216.0, 1.0, ElementType::f64), 16777217.0);
  EXPECT_EQ(float_binary(BinaryOp::add, 256.0, 1.0, ElementType::bf16), 256.0);
}

TEST(Number, MinAndMaxPropagateNan) {
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
    EXPECT_TRUE(std::isnan(float_binary(BinaryOp::min, nan, 1, type)));
    EXPECT_TRUE(std::isnan(float_binary(BinaryOp::max, 1, nan, type)));
    EXPECT_EQ(float_binary(BinaryOp::max, 1, 2, type), 2);
    EXPECT_EQ(float_binary(BinaryOp::min, -inf, 2, type), -inf);
  }
}

TEST(Number, RoundIsHalfToEven) {
  const std::vector<std::pair<double, double>> cases = {{0.5, 0},  {1.5, 2},   {2.5, 2},   {-0.5, 0},  {-1.5, -2}, {-2.5, -2}, {0.49, 0},
                                                        {0.51, 1}, {-0.51, -1}, {3.5, 4}, {1e300, 1e300}, {-inf, -inf}};
  for (const auto& [x, rounded] : cases) {
    EXPECT_EQ(float_function(Function::round, x, ElementType::f64), rounded) << x;
    EXPECT_EQ(float_function(Function::round, x, ElementType::f64), std::nearbyint(x)) << x;
  }
  EXPECT_TRUE(std::signbit(float_function(Function::round, -0.5, ElementType::f64)));
  EXPECT_TRUE(std::isnan(float_function(Function::round, nan, ElementType::f32)));
  for (float x = -4; x < 4; x = std::nextafter(x + 0.00001f, 5.0f))
    ASSERT_EQ(float_function(Function::round, x, ElementType::f32), std::nearbyint(x)) << x;
}

TEST(Number, FloatToIntegerSaturatesAndNanIsZero) {
  EXPECT_EQ(saturate_to_integer(nan, ElementType::i32), 0);
  EXPECT_EQ(saturate_to_integer(-1.9, ElementType::i32), -1);
  EXPECT_EQ(saturate_to_integer(1e10, ElementType::i32), 2147483647);
  EXPECT_EQ(saturate_to_integer(-inf, ElementType::i32), -2147483648LL);
  EXPECT_EQ(saturate_to_integer(127.9, ElementType::i8), 127);
  EXPECT_EQ(saturate_to_integer(128, ElementType::i8), 127);
  EXPECT_EQ(saturate_to_integer(-128.9, ElementType::i8), -128);
  EXPECT_EQ(saturate_to_integer(-3, ElementType::u8), 0);
  EXPECT_EQ(saturate_to_integer(300, ElementType::u8), 255);
  EXPECT_EQ(saturate_to_integer(1e30, ElementType::i64), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(saturate_to_integer(-1e30, ElementType::i64), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(saturate_to_integer(0x1p63, ElementType::u64), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(static_cast<std::uint64_t>(saturate_to_integer(inf, ElementType::u64)), std::numeric_limits<std::uint64_t>::max());
}

TEST(Number, IntegersWrap) {
  EXPECT_EQ(integer_binary(BinaryOp::add, 2147483647, 1, ElementType::i32), -2147483648LL);
  EXPECT_EQ(integer_binary(BinaryOp::mul, 16, 16, ElementType::i8), 0);
  EXPECT_EQ(integer_binary(BinaryOp::sub, 0, 1, ElementType::u8), 255);
  EXPECT_EQ(integer_binary(BinaryOp::sub, 0, 1, ElementType::u32), 4294967295LL);
  EXPECT_EQ(integer_binary(BinaryOp::mul, std::int64_t(1) << 62, 4, ElementType::i64), 0);
  EXPECT_EQ(integer_unary(UnaryOp::negate, -128, ElementType::i8), -128);
  EXPECT_EQ(integer_unary(UnaryOp::bit_not, 0, ElementType::u16), 65535);
  EXPECT_EQ(integer_function(Function::abs, -32768, ElementType::i16), -32768);
  EXPECT_TRUE(integer_compare(BinaryOp::gt, -1, 1, ElementType::u64));
  EXPECT_FALSE(integer_compare(BinaryOp::gt, -1, 1, ElementType::i64));
}

TEST(Number, FloorDivisionIsPythons) {
  const std::vector<std::vector<std::int64_t>> cases = {{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1},
                                                        {-6, 2, -3, 0}, {0, 5, 0, 0}, {5, 0, 0, 0}};
  for (const auto& c : cases) {
    EXPECT_EQ(integer_binary(BinaryOp::floor_div, c[0], c[1], ElementType::i32), c[2]) << c[0] << " // " << c[1];
    EXPECT_EQ(integer_binary(BinaryOp::modulo, c[0], c[1], ElementType::i32), c[3]) << c[0] << " % " << c[1];
  }
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(integer_binary(BinaryOp::floor_div, lowest, -1, ElementType::i64), lowest);
  EXPECT_EQ(integer_binary(BinaryOp::modulo, lowest, -1, ElementType::i64), 0);
  EXPECT_EQ(integer_binary(BinaryOp::floor_div, -1, 2, ElementType::u64), std::numeric_limits<std::int64_t>::max());
}

TEST(Number, ShiftsBeyondTheWidth) {
  EXPECT_EQ(integer_binary(BinaryOp::shift_left, 1, 31, ElementType::i32), -2147483648LL);
  EXPECT_EQ(integer_binary(BinaryOp::shift_left, 1, 32, ElementType::i32), 0);
  EXPECT_EQ(integer_binary(BinaryOp::shift_right, -5, 1, ElementType::i32), -3);
  EXPECT_EQ(integer_binary(BinaryOp::shift_right, -5, 99, ElementType::i32), -1);
  EXPECT_EQ(integer_binary(BinaryOp::shift_right, 5, -1, ElementType::u8), 0);
}

TEST(Number, IntegerToFloatRoundsOnce) {
  EXPECT_EQ(integer_to_float(16777217, ElementType::i32, ElementType::f32), 16777216.0);
  // 2^60 + 2^52 + 1: the midpoint of two bf16 neighbours plus one.
  const std::int64_t above_middle = (std::int64_t(1) << 60) + (std::int64_t(1) << 52) + 1;
  EXPECT_EQ(integer_to_float(above_middle, ElementType::i64, ElementType::bf16), 0x1p60 + 0x1p53);
  EXPECT_EQ(integer_to_float(-above_middle, ElementType::i64, ElementType::bf16), -(0x1p60 + 0x1p53));
  EXPECT_EQ(integer_to_float(-1, ElementType::u64, ElementType::f64), 0x1p64);
  EXPECT_EQ(integer_to_float(70000, ElementType::i32, ElementType::f16), inf);
}

TEST(HostArray, StoresEveryType) {
  const std::vector<ElementType> types = {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i64,
                                          ElementType::i32, ElementType::i16, ElementType::i8,  ElementType::u64,  ElementType::u32,
                                          ElementType::u16, ElementType::u8};
  for (const ElementType type : types) {
    HostArray array(type, {2, 3});
    EXPECT_EQ(array.elements(), 6);
    EXPECT_EQ(array.bytes.size(), 6u * static_cast<std::size_t>(size_bytes(type)));
    EXPECT_EQ(array.get(5), 0);
    array.set(4, 5);
    array.set_integer(5, 7);
    EXPECT_EQ(array.get(4), 5) << type_name(type);
    EXPECT_EQ(array.get_integer(5), 7) << type_name(type);
    EXPECT_EQ(array.get(3), 0);
  }
}

TEST(HostArray, ConvertsAsCastsDo) {
  HostArray bytes(ElementType::i8, {3});
  bytes.set(0, 1000);
  bytes.set_integer(1, 1000);
  bytes.set(2, nan);
  EXPECT_EQ(bytes.get_integer(0), 127);
  EXPECT_EQ(bytes.get_integer(1), -24);
  EXPECT_EQ(bytes.get_integer(2), 0);
  HostArray flags(ElementType::boolean, {2});
  flags.set_integer(0, 42);
  flags.set(1, 0.5);
  EXPECT_EQ(flags.get_integer(0), 1);
  EXPECT_EQ(flags.get_integer(1), 1);
  HostArray half(ElementType::bf16, {});
  half.set(0, 1.0 + 0x1p-8);
  EXPECT_EQ(half.elements(), 1);
  EXPECT_EQ(half.get(0), 1.0);
}

TEST(HostArray, EmptyAndRefused) {
  EXPECT_EQ(HostArray(ElementType::f64, {std::int64_t(1) << 62, 0, 5}).elements(), 0);
  EXPECT_THROW(HostArray(ElementType::f64, {std::int64_t(1) << 40, std::int64_t(1) << 40}), std::logic_error);
  EXPECT_THROW(HostArray(ElementType::f64, {-1}), std::logic_error);
  EXPECT_THROW(HostArray(ElementType::f64, {2}).get(2), std::logic_error);
}

}  // namespace
}  // namespace tileopt
