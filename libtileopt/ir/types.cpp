#include "ir/types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "support/error.h"

namespace tileopt {

namespace {
struct TypeRow {
  ElementType type;
  const char* name;
  int bytes;
  bool floating;
  bool with_sign;
  int digits;  ///< value bits: significand of a float, magnitude bits of an integer
  int least_exponent = 0;
  int largest_exponent = 0;
  bool infinities = false;
  bool negative_zero = false;
};
constexpr std::array<TypeRow, 20> rows = {{
    {ElementType::f64, "f64", 8, true, true, 53, -1022, 1023, true, true},
    {ElementType::f32, "f32", 4, true, true, 24, -126, 127, true, true},
    {ElementType::f16, "f16", 2, true, true, 11, -14, 15, true, true},
    {ElementType::bf16, "bf16", 2, true, true, 8, -126, 127, true, true},
    {ElementType::tf32, "tf32", 4, true, true, 11, -126, 127, true, true},
    {ElementType::e4m3fn, "e4m3fn", 1, true, true, 4, -6, 8, false, true},
    {ElementType::e5m2, "e5m2", 1, true, true, 3, -14, 15, true, true},
    {ElementType::e4m3fnuz, "e4m3fnuz", 1, true, true, 4, -7, 7, false, false},
    {ElementType::e5m2fnuz, "e5m2fnuz", 1, true, true, 3, -15, 15, false, false},
    {ElementType::i64, "i64", 8, false, true, 63},
    {ElementType::i32, "i32", 4, false, true, 31},
    {ElementType::i16, "i16", 2, false, true, 15},
    {ElementType::i8, "i8", 1, false, true, 7},
    {ElementType::u64, "u64", 8, false, false, 64},
    {ElementType::u32, "u32", 4, false, false, 32},
    {ElementType::u16, "u16", 2, false, false, 16},
    {ElementType::u8, "u8", 1, false, false, 8},
    {ElementType::boolean, "bool", 1, false, false, 1},
    {ElementType::i4, "i4", 1, false, true, 3},
    {ElementType::u4, "u4", 1, false, false, 4},
}};
const TypeRow& row(ElementType type) {
  TILEOPT_CHECK(static_cast<std::size_t>(type) < rows.size(), "a tuple where a scalar type is needed");
  return rows[static_cast<std::size_t>(type)];
}

constexpr int code_bits = 6;
constexpr int count_shift = 60;

/// "a, b" of "tuple[a, b]"; nothing where a component is no scalar type.
std::optional<ElementType> parse_components(const std::string& list) {
  std::vector<ElementType> components;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    const std::size_t first = list.find_first_not_of(' ', at);
    if (first == std::string::npos || first >= comma) return std::nullopt;
    const std::optional<ElementType> component = parse_type(list.substr(first, comma - first));
    if (!component || is_tuple(*component)) return std::nullopt;
    components.push_back(*component);
    at = comma + 1;
  }
  if (components.size() < 2 || components.size() > most_tuple_components) return std::nullopt;
  return tuple_type(components);
}
}  // namespace

std::string type_name(ElementType type) {
  if (!is_tuple(type)) return row(type).name;
  std::string text;
  for (const ElementType component : tuple_components(type)) text += (text.empty() ? "" : ", ") + type_name(component);
  return "tuple[" + text + "]";
}

std::optional<ElementType> parse_type(const std::string& name) {
  for (const TypeRow& r : rows)
    if (name == r.name) return r.type;
  if (name.starts_with("tuple[") && name.back() == ']') return parse_components(name.substr(6, name.size() - 7));
  return std::nullopt;
}

const std::vector<ElementType>& scalar_types() {
  static const std::vector<ElementType> all = [] {
    std::vector<ElementType> types;
    for (const TypeRow& r : rows) types.push_back(r.type);
    return types;
  }();
  return all;
}

ElementType tuple_type(const std::vector<ElementType>& components) {
  TILEOPT_CHECK(components.size() >= 2 && components.size() <= most_tuple_components, "a tuple has 2 to 10 components");
  std::uint64_t code = static_cast<std::uint64_t>(components.size()) << count_shift;
  for (std::size_t i = 0; i < components.size(); ++i) {
    TILEOPT_CHECK(!is_tuple(components[i]), "a tuple inside a tuple");
    code |= static_cast<std::uint64_t>(components[i]) << (code_bits * static_cast<int>(i));
  }
  return static_cast<ElementType>(code);
}

std::vector<ElementType> tuple_components(ElementType type) {
  if (!is_tuple(type)) return {type};
  const auto code = static_cast<std::uint64_t>(type);
  std::vector<ElementType> components;
  for (std::uint64_t i = 0; i < code >> count_shift; ++i)
    components.push_back(static_cast<ElementType>(code >> (code_bits * i) & ((1u << code_bits) - 1)));
  return components;
}

int size_bytes(ElementType type) {
  if (!is_tuple(type)) return row(type).bytes;
  const auto padded = [](int bytes, int alignment) { return (bytes + alignment - 1) / alignment * alignment; };
  int bytes = 0;
  for (const ElementType component : tuple_components(type))
    bytes = padded(bytes, alignment_bytes(component)) + size_bytes(component);
  return padded(bytes, alignment_bytes(type));
}
int alignment_bytes(ElementType type) {
  int alignment = 1;
  for (const ElementType component : tuple_components(type)) alignment = std::max(alignment, row(component).bytes);
  return alignment;
}
bool is_float(ElementType type) { return !is_tuple(type) && row(type).floating; }
bool is_integer(ElementType type) { return !is_tuple(type) && !row(type).floating && type != ElementType::boolean; }
bool is_signed(ElementType type) { return !is_tuple(type) && row(type).with_sign; }
bool is_narrow_float(ElementType type) { return is_float(type) && type != ElementType::f64 && type != ElementType::f32; }

double unit_roundoff(ElementType type) {
  if (!is_float(type)) return 0;
  double value = 1;
  for (int i = 0; i < row(type).digits; ++i) value /= 2;
  return value;
}
int value_digits(ElementType type) { return row(type).digits; }
std::uint64_t largest_integer(ElementType type) { return std::numeric_limits<std::uint64_t>::max() >> (64 - value_digits(type)); }
int integer_bits(ElementType type) {
  TILEOPT_CHECK(!is_float(type), "integer bits of " + type_name(type));
  return row(type).digits + (row(type).with_sign ? 1 : 0);
}
int least_exponent(ElementType type) { return row(type).least_exponent; }
int largest_exponent(ElementType type) { return row(type).largest_exponent; }
double largest_finite(ElementType type) {
  // In e4m3fn the significand of all ones in the last binade is NaN.
  const double unit = std::ldexp(1.0, 1 - value_digits(type));
  const double significand = type == ElementType::e4m3fn ? 2 - 2 * unit : 2 - unit;
  return std::ldexp(significand, largest_exponent(type));
}
bool has_infinity(ElementType type) { return row(type).infinities; }
bool has_negative_zero(ElementType type) { return row(type).negative_zero; }

bool widens_exactly(ElementType from, ElementType to) {
  if (from == to) return true;
  if (is_tuple(from) || is_tuple(to)) return false;
  if (from == ElementType::boolean) return true;
  if (to == ElementType::boolean) return false;
  const TypeRow &a = row(from), &b = row(to);
  if (a.digits > b.digits) return false;
  if (is_float(from)) {
    if (!is_float(to)) return false;
    const bool specials = (b.infinities || !a.infinities) && (b.negative_zero || !a.negative_zero);
    const bool tiny = a.least_exponent - a.digits >= b.least_exponent - b.digits;
    return specials && tiny && a.largest_exponent <= b.largest_exponent;
  }
  if (is_float(to)) return a.digits <= b.largest_exponent;
  return is_signed(to) || !is_signed(from);
}

}  // namespace tileopt
