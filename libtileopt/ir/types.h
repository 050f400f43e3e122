/// Element types of the tile language and their properties.
#pragma once

#include <optional>
#include <string>

namespace tileopt {

enum class ElementType { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

/// Name in the tile language: "f64", ..., "bool".
std::string type_name(ElementType type);
std::optional<ElementType> parse_type(const std::string& name);

int size_bytes(ElementType type);
bool is_float(ElementType type);
bool is_integer(ElementType type);  ///< bool is neither a float nor an integer
bool is_signed(ElementType type);   ///< true for floats and signed integers

/// Unit roundoff: half the distance between 1 and the next number (2^-53, 2^-24, 2^-11, 2^-8); 0 for integers. IEEE 754.
double unit_roundoff(ElementType type);

/// True when every value of `from` is a value of `to` (bf16 -> f32, i8 -> i32, ...), so the conversion is exact.
bool widens_exactly(ElementType from, ElementType to);

}  // namespace tileopt
