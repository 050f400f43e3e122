// Element types: packing of tuples, names, layout, and which conversions are exact (tried on all values of the narrow types).
#include "ir/types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/program.h"

namespace tileopt {
namespace {

TEST(Types, TuplesArePlainValues) {
  const std::vector<ElementType> components = {ElementType::boolean, ElementType::f64, ElementType::i8};
  const ElementType type = tuple_type(components);
  EXPECT_TRUE(is_tuple(type));
  EXPECT_EQ(tuple_components(type), components);
  EXPECT_EQ(type_name(type), "tuple[bool, f64, i8]");
  EXPECT_EQ(parse_type("tuple[bool, f64, i8]"), type);
  EXPECT_EQ(parse_type("tuple[bool,f64,i8]"), type);
  EXPECT_NE(tuple_type({ElementType::f64, ElementType::f64}), tuple_type({ElementType::f64, ElementType::f64, ElementType::f64}));
  EXPECT_FALSE(is_float(type) || is_integer(type) || is_signed(type) || is_narrow_float(type));
  for (const char* wrong : {"tuple[f32]", "tuple[]", "tuple[f32, ]", "tuple[f32, x]", "tuple[f32, tuple[f32, f32]]", "tuple", "tuple[f32, f32"})
    EXPECT_FALSE(parse_type(wrong)) << wrong;
  EXPECT_FALSE(parse_type("tuple[u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8]"));
  EXPECT_TRUE(parse_type("tuple[u8, u8, u8, u8, u8, u8, u8, u8, u8, u8]"));
}

TEST(Types, TuplesLieInMemoryAsStructs) {
  struct Mixed { unsigned char a; double b; signed char c; };
  struct Pair { float a; long long b; };
  struct Small { short a; char b; };
  EXPECT_EQ(size_bytes(tuple_type({ElementType::boolean, ElementType::f64, ElementType::i8})), static_cast<int>(sizeof(Mixed)));
  EXPECT_EQ(size_bytes(tuple_type({ElementType::f32, ElementType::i64})), static_cast<int>(sizeof(Pair)));
  EXPECT_EQ(alignment_bytes(tuple_type({ElementType::f32, ElementType::i64})), static_cast<int>(alignof(Pair)));
  EXPECT_EQ(size_bytes(tuple_type({ElementType::f16, ElementType::e5m2})), static_cast<int>(sizeof(Small)));
}

TEST(Types, ExtremesAreValuesOfTheType) {
  EXPECT_EQ(largest_value(ElementType::u64).integer, -1) << "the bit pattern of 2^64 - 1";
  EXPECT_EQ(least_value(ElementType::u64).integer, 0);
  EXPECT_EQ(largest_value(ElementType::i64).integer, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(least_value(ElementType::i64).integer, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(least_value(ElementType::i8).integer, -128);
  EXPECT_EQ(largest_value(ElementType::u8).integer, 255);
  EXPECT_EQ(largest_value(ElementType::boolean).integer, 1);
  EXPECT_EQ(largest_value(ElementType::e4m3fn).real, 448) << "it has no infinities";
  EXPECT_TRUE(std::isinf(least_value(ElementType::e5m2).real));
  EXPECT_EQ(combine_identity(Combine::min, ElementType::u64).integer, -1);
  EXPECT_EQ(combine_identity(Combine::max, ElementType::e4m3fnuz).real, -240);
}

TEST(Types, EveryScalarHasItsRow) {
  for (const ElementType type : scalar_types()) {
    EXPECT_EQ(parse_type(type_name(type)), type);
    EXPECT_TRUE(widens_exactly(type, type));
    EXPECT_TRUE(widens_exactly(ElementType::boolean, type));
    EXPECT_FALSE(is_tuple(type));
    EXPECT_EQ(tuple_components(type), std::vector<ElementType>{type});
  }
}

TEST(Types, FourBitIntegers) {
  EXPECT_EQ(integer_bits(ElementType::i4), 4);
  EXPECT_EQ(integer_bits(ElementType::u4), 4);
  EXPECT_EQ(integer_bits(ElementType::i8), 8);
  EXPECT_EQ(integer_bits(ElementType::u64), 64);
  EXPECT_EQ(integer_bits(ElementType::boolean), 1);
  EXPECT_EQ(largest_integer(ElementType::i4), 7u);
  EXPECT_EQ(largest_integer(ElementType::u4), 15u);
  EXPECT_EQ(size_bytes(ElementType::i4), 1);
  EXPECT_EQ(size_bytes(tuple_type({ElementType::i4, ElementType::u4})), 2);
}

TEST(Types, WideningIsAboutEveryValue) {
  const auto widens = [](const char* from, const char* to) { return widens_exactly(*parse_type(from), *parse_type(to)); };
  EXPECT_TRUE(widens("e4m3fn", "f16") && widens("e5m2", "f16") && widens("e4m3fn", "bf16") && widens("f16", "tf32") && widens("bf16", "tf32"));
  EXPECT_TRUE(widens("tf32", "f32") && widens("e4m3fnuz", "f16") && widens("e5m2fnuz", "bf16") && widens("e4m3fnuz", "bf16"));
  EXPECT_FALSE(widens("bf16", "f16")) << "exponents";
  EXPECT_FALSE(widens("e5m2", "e4m3fn")) << "range";
  EXPECT_FALSE(widens("e5m2", "e5m2fnuz")) << "infinities and -0";
  EXPECT_TRUE(widens("e5m2fnuz", "f16")) << "the smallest is 2^-17";
  EXPECT_TRUE(widens("i8", "f16") && widens("u8", "bf16") && widens("i16", "f32") && widens("i32", "f64"));
  EXPECT_FALSE(widens("u16", "f16") || widens("i32", "f32") || widens("i8", "e4m3fn") || widens("i64", "f64"));
  EXPECT_TRUE(widens("i4", "i8") && widens("u4", "i8") && widens("u4", "e4m3fn") && widens("i4", "e5m2") && widens("bool", "u4"));
  EXPECT_FALSE(widens("i4", "u8") || widens("u4", "i4") || widens("i8", "i4") || widens("u4", "e5m2"));
  EXPECT_FALSE(widens("f32", "tuple[f32, f32]") || widens("bool", "tuple[bool, bool]"));
}

}  // namespace
}  // namespace tileopt
