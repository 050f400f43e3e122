/// Element types of the tile language and their properties.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tileopt {

/// A scalar type, or a tuple of up to ten of them. A tuple's value packs its components' codes, six bits each, below their
/// count in the top four bits, so that types stay plain values that need no table (see tuple_type).
enum class ElementType : std::uint64_t {
  f64, f32, f16, bf16,
  tf32,                  ///< four bytes, an f32 whose significand is rounded to 11 digits
  e4m3fn, e5m2,          ///< OCP 8-bit floats; e4m3fn has no infinities
  e4m3fnuz, e5m2fnuz,    ///< their variants without infinities and without -0
  i64, i32, i16, i8, u64, u32, u16, u8, boolean,
  i4, u4                 ///< -8..7 and 0..15: a byte each, but in packed arguments (Layout)
};

/// Name in the tile language: "f64", ..., "bool", "tuple[f32, i64]".
std::string type_name(ElementType type);
std::optional<ElementType> parse_type(const std::string& name);
/// All scalar types, in enum order.
const std::vector<ElementType>& scalar_types();

constexpr std::size_t most_tuple_components = 10;
constexpr bool is_tuple(ElementType type) { return static_cast<std::uint64_t>(type) >> 60 != 0; }
/// `components`: 2 to most_tuple_components scalar types.
ElementType tuple_type(const std::vector<ElementType>& components);
/// The components of a tuple; of a scalar type, the type itself.
std::vector<ElementType> tuple_components(ElementType type);

/// A tuple lies in memory as a C struct of its components does.
int size_bytes(ElementType type);
int alignment_bytes(ElementType type);
bool is_float(ElementType type);    ///< false for tuples, as are the next two
bool is_integer(ElementType type);  ///< bool is neither a float nor an integer
bool is_signed(ElementType type);   ///< true for floats and signed integers
/// A float of 16 or 8 bits, or tf32: arithmetic converts to f32 and rounds back.
bool is_narrow_float(ElementType type);

/// Unit roundoff: half the distance between 1 and the next number (2^-53, 2^-24, 2^-11, 2^-8, ...); 0 for integers. IEEE 754.
double unit_roundoff(ElementType type);
/// Significand digits of a float type, the hidden one included; value bits of an integer type.
int value_digits(ElementType type);
std::uint64_t largest_integer(ElementType type);  ///< of an integer type or bool
/// Bits of an integer type, the sign included: wrapping is modulo 2^bits, shifts by as many shift everything out. bool: 1.
int integer_bits(ElementType type);
/// Exponents of the smallest normal and of the largest number of a float type (as in 1.xxx * 2^exponent).
int least_exponent(ElementType type);
int largest_exponent(ElementType type);
double largest_finite(ElementType type);   ///< of float types
bool has_infinity(ElementType type);       ///< of float types; without one, overflow gives NaN
bool has_negative_zero(ElementType type);  ///< of float types

/// True when every value of `from` is a value of `to` (bf16 -> f32, i8 -> i32, ...), so the conversion is exact.
bool widens_exactly(ElementType from, ElementType to);

}  // namespace tileopt
