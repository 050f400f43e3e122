#include "interpreter/traced_array.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "interpreter/number.h"
#include "support/error.h"

namespace tileopt {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
}

int lowest_bit(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t mantissa = bits & ((std::uint64_t(1) << 52) - 1);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (mantissa == 0 && exponent == 0) return 4096;
  if (mantissa == 0) return exponent - 1023;
  return std::countr_zero(mantissa) + std::max(exponent, 1) - 1023 - 52;
}

namespace {
/// left or right, left and right: certain where one certain side decides.
TracedValue merge_logical(const TracedValue& left, const TracedValue& right, bool is_or) {
  const bool a = left.integer != 0, b = right.integer != 0;
  TracedValue value = TracedValue::exact_integer(is_or ? a || b : a && b);
  const bool decided = (left.bound == 0 && a == is_or) || (right.bound == 0 && b == is_or);
  if (!decided && (left.bound > 0 || right.bound > 0)) value.bound = 1;
  return value;
}
}  // namespace

TracedArray::TracedArray(const Tensor& tensor, std::vector<std::int64_t> shape, const HostArray* initial, bool has_sums)
    : type_(tuple_components(tensor.type).front()), real_(is_float(type_)), passed_in_(tensor.role == TensorRole::in || tensor.role == TensorRole::inout),
      shape_(std::move(shape)) {
  if (is_tuple(tensor.type)) {
    Tensor component = tensor;
    const std::vector<ElementType> types = tuple_components(tensor.type);
    for (std::size_t i = 1; i < types.size(); ++i) {
      component.type = types[i];
      others_.emplace_back(component, shape_, nullptr, false);
    }
  }
  const std::size_t count = static_cast<std::size_t>(HostArray(ElementType::u8, shape_).elements());
  values_.resize(count);
  written_.assign(count, false);
  if (passed_in_ || initial != nullptr) {
    TILEOPT_CHECK(initial != nullptr, "argument " + tensor.name + " is missing");
    for (std::size_t i = 0; i < count; ++i) {
      const auto offset = static_cast<std::int64_t>(i);
      if (real_) values_[i].real = initial->get(offset);
      else values_[i].integer = initial->get_integer(offset);
    }
  }
  if (tensor.role == TensorRole::in) return;
  bounds_.assign(count, 0.0);
  if (!real_) return;
  shadows_.resize(count);
  for (std::size_t i = 0; i < count; ++i) shadows_[i] = values_[i].real;
  if (!has_sums) return;
  sums_.resize(count);
  for (std::size_t i = 0; i < count; ++i) sums_[i] = {std::fabs(values_[i].real), 0, lowest_bit(values_[i].real)};
}

double TracedArray::sum_bound(const Sum& sum, double terms_bound) const {
  if (sum.terms == 0 || terms_bound == infinity) return terms_bound;
  if (terms_bound == 0 && sum.magnitude <= std::ldexp(1.0, std::min(sum.lowest_bit + significand_digits(type_), 1023)))
    return 0;
  const double reach = sum.magnitude + terms_bound;
  if (!(reach < largest_finite(type_))) return std::isfinite(sum.magnitude) ? infinity : terms_bound;
  return terms_bound + sum.terms * rounding_bound(reach, type_);
}

TracedValue TracedArray::load(std::int64_t offset) const {
  const auto i = static_cast<std::size_t>(offset);
  TracedValue value;
  if (real_) {
    value.real = values_[i].real;
    value.shadow = shadows_.empty() ? value.real : shadows_[i];
  } else {
    value.integer = values_[i].integer;
    value.shadow = 0;
  }
  value.bound = bounds_.empty() ? 0 : bounds_[i];
  if (!sums_.empty()) value.bound = sum_bound(sums_[i], value.bound);
  return value;
}

void TracedArray::set(std::size_t offset, const TracedValue& value) {
  if (real_) {
    values_[offset].real = value.real;
    shadows_[offset] = value.shadow;
  } else {
    values_[offset].integer = value.integer;
  }
  bounds_[offset] = value.bound;
  written_[offset] = true;
}

void TracedArray::assign(std::int64_t offset, const TracedValue& value) {
  const auto i = static_cast<std::size_t>(offset);
  set(i, value);
  if (!sums_.empty()) sums_[i] = {std::fabs(value.shadow) + value.bound, 0, lowest_bit(value.shadow)};
}

void TracedArray::copy(std::int64_t offset, const TracedArray& from, std::int64_t source) {
  assign(offset, from.load(source));
  if (sums_.empty() || from.sums_.empty() || type_ != from.type_) return;
  const Sum sum = from.sums_[static_cast<std::size_t>(source)];
  bounds_[static_cast<std::size_t>(offset)] = from.bounds_[static_cast<std::size_t>(source)];
  sums_[static_cast<std::size_t>(offset)] = sum;
}

void TracedArray::add_term(std::size_t offset, const TracedValue& value, const ErrorModel& model) {
  const TracedValue partial = traced_binary(BinaryOp::add, TracedValue{{values_[offset].real}, shadows_[offset], bounds_[offset]},
                                            value, type_, model, false);
  Sum& sum = sums_[offset];
  sum.magnitude += std::fabs(value.shadow) + value.bound;
  sum.terms += 1;
  sum.lowest_bit = std::min(sum.lowest_bit, lowest_bit(value.shadow));
  values_[offset].real = partial.real;
  shadows_[offset] = partial.shadow;
  bounds_[offset] += value.bound;
  written_[offset] = true;
  if (std::isfinite(partial.real) && std::isfinite(partial.shadow)) [[likely]] return;
  // A NaN or an infinity is certain when a certain term brings it in; an overflow on the way to it is not.
  const bool certain = partial.bound == 0 && !std::isfinite(sum.magnitude);
  bounds_[offset] = certain ? 0 : infinity;
  if (certain) sum.terms = 0;
}

void TracedArray::combine(std::int64_t offset, Combine how, const TracedValue& value, const ErrorModel& model, bool any_order) {
  const auto i = static_cast<std::size_t>(offset);
  const auto with = [&](BinaryOp op) { return traced_binary(op, load(offset), value, type_, model, false); };
  switch (how) {
    case Combine::assign: return assign(offset, value);
    case Combine::sum:
      if (real_ && any_order && !sums_.empty()) return add_term(i, flushed(value, type_, model), model);
      return assign(offset, with(BinaryOp::add));
    case Combine::any: case Combine::all: return assign(offset, merge_logical(load(offset), value, how == Combine::any));
    case Combine::prod: case Combine::min: case Combine::max: case Combine::bit_and: case Combine::bit_or: case Combine::bit_xor:
      return assign(offset, with(*combine_operator(how)));
    case Combine::monoid: break;
  }
  TILEOPT_CHECK(false, "a monoid combined as a built-in operation");
}

void TracedArray::copy_written(HostArray& array) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!written_[i]) continue;
    const auto offset = static_cast<std::int64_t>(i);
    if (real_) array.set(offset, values_[i].real);
    else array.set_integer(offset, values_[i].integer);
  }
}

std::vector<double> TracedArray::shadow() const {
  std::vector<double> result(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!real_) result[i] = integer_as_double(values_[i].integer, type_);
    else result[i] = shadows_.empty() ? values_[i].real : shadows_[i];
  }
  return result;
}

std::vector<double> TracedArray::bound() const {
  std::vector<double> result(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) result[i] = load(static_cast<std::int64_t>(i)).bound;
  return result;
}

double TracedArray::largest_error() const {
  double error = 0, magnitude = 0;
  for (std::size_t i = 0; i < values_.size() && !shadows_.empty(); ++i) {
    if (!written_[i] || !std::isfinite(values_[i].real) || !std::isfinite(shadows_[i])) continue;
    error = std::max(error, std::fabs(values_[i].real - shadows_[i]));
    magnitude = std::max(magnitude, std::fabs(shadows_[i]));
  }
  if (magnitude == 0) return 0;
  return error / std::ldexp(2 * unit_roundoff(type_), std::ilogb(magnitude));
}

}  // namespace tileopt
