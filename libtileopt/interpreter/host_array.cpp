#include "interpreter/host_array.h"

#include <cstring>

#include "interpreter/number.h"
#include "support/error.h"

namespace tileopt {

namespace {
template <class T>
T load(const std::vector<std::byte>& bytes, std::int64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(offset) * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void store(std::vector<std::byte>& bytes, std::int64_t offset, T value) {
  std::memcpy(bytes.data() + static_cast<std::size_t>(offset) * sizeof(T), &value, sizeof(T));
}

void check_offset(const HostArray& array, std::int64_t offset) {
  const std::size_t width = static_cast<std::size_t>(size_bytes(array.type));
  TILEOPT_CHECK(offset >= 0 && static_cast<std::size_t>(offset) < array.bytes.size() / width, "element offset outside the array");
}

/// Value of a float element.
double load_real(const HostArray& a, std::int64_t offset) {
  switch (a.type) {
    case ElementType::f64: return load<double>(a.bytes, offset);
    case ElementType::f32: return static_cast<double>(load<float>(a.bytes, offset));
    case ElementType::f16: return f16_value(load<std::uint16_t>(a.bytes, offset));
    case ElementType::bf16: return bf16_value(load<std::uint16_t>(a.bytes, offset));
    case ElementType::tf32: return round_to_type(static_cast<double>(load<float>(a.bytes, offset)), a.type);
    case ElementType::e4m3fn: case ElementType::e5m2: case ElementType::e4m3fnuz: case ElementType::e5m2fnuz:
      return narrow_value(load<std::uint8_t>(a.bytes, offset), a.type);
    case ElementType::i64: case ElementType::i32: case ElementType::i16: case ElementType::i8:
    case ElementType::u64: case ElementType::u32: case ElementType::u16: case ElementType::u8:
    case ElementType::boolean: case ElementType::i4: case ElementType::u4: break;
  }
  TILEOPT_CHECK(false, "real value of an array of " + type_name(a.type));
  return 0;
}

/// Value of an integer or bool element; u64 as its bit pattern.
std::int64_t load_integer(const HostArray& a, std::int64_t offset) {
  switch (a.type) {
    case ElementType::i64: case ElementType::u64: return load<std::int64_t>(a.bytes, offset);
    case ElementType::i32: return load<std::int32_t>(a.bytes, offset);
    case ElementType::i16: return load<std::int16_t>(a.bytes, offset);
    case ElementType::i8: return load<std::int8_t>(a.bytes, offset);
    case ElementType::u32: return load<std::uint32_t>(a.bytes, offset);
    case ElementType::u16: return load<std::uint16_t>(a.bytes, offset);
    case ElementType::u8: return load<std::uint8_t>(a.bytes, offset);
    case ElementType::boolean: return load<std::uint8_t>(a.bytes, offset) != 0;
    case ElementType::i4: case ElementType::u4: return wrap_integer(load<std::int8_t>(a.bytes, offset), a.type);
    case ElementType::f64: case ElementType::f32: case ElementType::f16: case ElementType::bf16: case ElementType::tf32:
    case ElementType::e4m3fn: case ElementType::e5m2: case ElementType::e4m3fnuz: case ElementType::e5m2fnuz: break;
  }
  TILEOPT_CHECK(false, "integer value of an array of " + type_name(a.type));
  return 0;
}

void store_real(HostArray& a, std::int64_t offset, double value) {
  switch (a.type) {
    case ElementType::f64: return store(a.bytes, offset, value);
    case ElementType::f32: return store(a.bytes, offset, static_cast<float>(value));
    case ElementType::f16: return store(a.bytes, offset, f16_bits(value));
    case ElementType::bf16: return store(a.bytes, offset, bf16_bits(value));
    case ElementType::tf32: return store(a.bytes, offset, static_cast<float>(round_to_type(value, a.type)));
    case ElementType::e4m3fn: case ElementType::e5m2: case ElementType::e4m3fnuz: case ElementType::e5m2fnuz:
      return store(a.bytes, offset, static_cast<std::uint8_t>(narrow_bits(value, a.type)));
    case ElementType::i64: case ElementType::i32: case ElementType::i16: case ElementType::i8:
    case ElementType::u64: case ElementType::u32: case ElementType::u16: case ElementType::u8:
    case ElementType::boolean: case ElementType::i4: case ElementType::u4: break;
  }
  TILEOPT_CHECK(false, "real value into an array of " + type_name(a.type));
}

/// `value` already wrapped to the type.
void store_integer(HostArray& a, std::int64_t offset, std::int64_t value) {
  switch (size_bytes(a.type)) {
    case 8: return store(a.bytes, offset, value);
    case 4: return store(a.bytes, offset, static_cast<std::int32_t>(value));
    case 2: return store(a.bytes, offset, static_cast<std::int16_t>(value));
    case 1: return store(a.bytes, offset, static_cast<std::int8_t>(value));
  }
  TILEOPT_CHECK(false, "an integer type of an unknown size");
}
}  // namespace

HostArray::HostArray(ElementType element_type, std::vector<std::int64_t> extents) : type(element_type), shape(std::move(extents)) {
  std::int64_t total = size_bytes(type);
  for (const std::int64_t extent : shape) {
    TILEOPT_CHECK(extent >= 0, "an array extent is negative");
    if (extent == 0) return;
  }
  for (const std::int64_t extent : shape)
    TILEOPT_CHECK(!__builtin_mul_overflow(total, extent, &total), "the size of an array overflows");
  bytes.resize(static_cast<std::size_t>(total));
}

std::int64_t HostArray::elements() const {
  return static_cast<std::int64_t>(bytes.size()) / size_bytes(type);
}

double HostArray::get(std::int64_t offset) const {
  check_offset(*this, offset);
  return is_float(type) ? load_real(*this, offset) : integer_as_double(load_integer(*this, offset), type);
}

std::int64_t HostArray::get_integer(std::int64_t offset) const {
  check_offset(*this, offset);
  return is_float(type) ? saturate_to_integer(load_real(*this, offset), ElementType::i64) : load_integer(*this, offset);
}

void HostArray::set(std::int64_t offset, double value) {
  check_offset(*this, offset);
  if (is_float(type)) store_real(*this, offset, value);
  else store_integer(*this, offset, saturate_to_integer(value, type));
}

void HostArray::set_integer(std::int64_t offset, std::int64_t value) {
  check_offset(*this, offset);
  if (is_float(type)) store_real(*this, offset, integer_to_float(value, ElementType::i64, type));
  else store_integer(*this, offset, wrap_integer(value, type));
}

}  // namespace tileopt
