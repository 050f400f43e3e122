#include "ir/types.h"

#include <array>
#include <utility>

namespace tileopt {

namespace {
struct TypeRow {
  ElementType type;
  const char* name;
  int bytes;
  bool floating;
  bool with_sign;
  int digits;  ///< value bits: significand of a float, magnitude bits of an integer
};
constexpr std::array<TypeRow, 13> rows = {{
    {ElementType::f64, "f64", 8, true, true, 53},
    {ElementType::f32, "f32", 4, true, true, 24},
    {ElementType::f16, "f16", 2, true, true, 11},
    {ElementType::bf16, "bf16", 2, true, true, 8},
    {ElementType::i64, "i64", 8, false, true, 63},
    {ElementType::i32, "i32", 4, false, true, 31},
    {ElementType::i16, "i16", 2, false, true, 15},
    {ElementType::i8, "i8", 1, false, true, 7},
    {ElementType::u64, "u64", 8, false, false, 64},
    {ElementType::u32, "u32", 4, false, false, 32},
    {ElementType::u16, "u16", 2, false, false, 16},
    {ElementType::u8, "u8", 1, false, false, 8},
    {ElementType::boolean, "bool", 1, false, false, 1},
}};
const TypeRow& row(ElementType type) { return rows[static_cast<std::size_t>(type)]; }
}  // namespace

std::string type_name(ElementType type) { return row(type).name; }

std::optional<ElementType> parse_type(const std::string& name) {
  for (const TypeRow& r : rows)
    if (name == r.name) return r.type;
  return std::nullopt;
}

int size_bytes(ElementType type) { return row(type).bytes; }
bool is_float(ElementType type) { return row(type).floating; }
bool is_integer(ElementType type) { return !row(type).floating && type != ElementType::boolean; }
bool is_signed(ElementType type) { return row(type).with_sign; }

double unit_roundoff(ElementType type) {
  if (!is_float(type)) return 0;
  double value = 1;
  for (int i = 0; i < row(type).digits; ++i) value /= 2;
  return value;
}

bool widens_exactly(ElementType from, ElementType to) {
  if (from == to) return true;
  if (from == ElementType::boolean) return true;
  if (to == ElementType::boolean) return false;
  if (is_float(from)) {
    if (!is_float(to)) return false;
    const bool smaller_exponent = from != ElementType::bf16 || to != ElementType::f16;
    return row(from).digits <= row(to).digits && smaller_exponent;
  }
  if (is_signed(from) && !is_signed(to)) return false;
  if (to == ElementType::f16) return row(from).digits <= 11;
  return row(from).digits <= row(to).digits;
}

}  // namespace tileopt
