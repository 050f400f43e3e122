/// Sizes, shapes and argument arrays.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "interpreter/domain_bounds.h"
#include "interpreter/flat_affine.h"
#include "interpreter/interpreter.h"
#include "interpreter/number.h"
#include "support/document.h"
#include "support/text.h"

namespace tileopt {

namespace {
Errors size_error(const SourceLocation& where, std::string message, std::string hint) {
  return Errors(Diagnostic{ErrorCode::invalid_size, where, std::move(message), std::move(hint), ""});
}

SourceLocation file_of(const Program& program) { return {program.file(), 0, 0}; }

std::string sizes_text(const Sizes& sizes) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : sizes) parts.push_back(name + " = " + std::to_string(value));
  return join(parts, ", ");
}

/// "N >= 3": the constraint as isl prints it, without braces and parameter list.
std::string constraint_text(isl_constraint* constraint) {
  const isl::basic_set set = isl::manage(isl_basic_set_from_constraint(constraint));
  std::string text = poly::to_text(set);
  const std::size_t colon = text.find(" : ");
  const std::size_t close = text.rfind('}');
  if (colon == std::string::npos || close == std::string::npos || close < colon + 4) return text;
  return text.substr(colon + 3, close - colon - 4);
}

/// The constraint's value at `sizes` decides whether it holds.
bool constraint_holds(isl_constraint* constraint, const Sizes& sizes) {
  isl::set set = isl::manage(isl_set_from_basic_set(isl_basic_set_from_constraint(isl_constraint_copy(constraint))));
  return !fix_parameters(set, sizes).is_empty();
}

/// Constraints of the context that fail at `sizes`; with several alternatives, those of the first.
std::vector<std::string> failing_constraints(const isl::set& context, const Sizes& sizes) {
  std::vector<std::string> failing;
  bool first = true;
  context.foreach_basic_set([&](isl::basic_set piece) {
    if (!first) return;
    first = false;
    isl_constraint_list* list = isl_basic_set_get_constraint_list(piece.get());
    const int count = isl_constraint_list_size(list);
    for (int i = 0; i < count; ++i) {
      isl_constraint* constraint = isl_constraint_list_get_at(list, i);
      if (constraint_holds(constraint, sizes)) isl_constraint_free(constraint);
      else failing.push_back(constraint_text(constraint));
    }
    isl_constraint_list_free(list);
  });
  return failing;
}

/// Bytes of a dense array; nothing on overflow.
bool total_bytes(const std::vector<std::int64_t>& shape, ElementType type, std::int64_t* bytes) {
  *bytes = size_bytes(type);
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    *bytes = 0;
    return true;
  }
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(*bytes, extent, bytes)) return false;
  return true;
}

void check_names(const Program& program, const Sizes& sizes) {
  const std::string expected = program.parameters().empty() ? "it has no sizes" : "its sizes are " + join(program.parameters(), ", ");
  for (const std::string& parameter : program.parameters())
    if (!sizes.count(parameter))
      throw size_error(file_of(program), "size `" + parameter + "` of `" + program.name() + "` has no value", expected);
  for (const auto& [name, value] : sizes)
    if (!contains(program.parameters(), name))
      throw size_error(file_of(program), "`" + program.name() + "` has no size `" + name + "`", expected);
}

/// Strides are at least 1, and at least the stride times the extent of the next faster dimension, so that no elements overlap.
void check_layout(const Tensor& tensor, const std::vector<std::int64_t>& shape, const Sizes& sizes) {
  if (tensor.layout.strides.empty()) return;
  std::int64_t least = 1, run = 0;
  const std::vector<std::size_t> order = tensor.storage_order();
  for (std::size_t place = order.size(); place-- > 0; least = std::max<std::int64_t>(run, 1)) {
    const std::size_t d = order[place];
    const std::int64_t stride = evaluate_parametric(tensor.layout.strides[d], sizes);
    std::int64_t bytes = 0;
    const bool fits = !__builtin_mul_overflow(stride, shape[d], &run) && !__builtin_mul_overflow(run, size_bytes(tensor.type), &bytes);
    if (fits && stride >= least) continue;
    throw size_error(tensor.where, "stride " + std::to_string(d) + " of `" + tensor.name + "` is " + std::to_string(stride) + " at " + sizes_text(sizes),
                     fits ? "choose at least " + std::to_string(least) + ", so that its elements do not overlap" : "choose smaller sizes");
  }
}

void check_tensor(const Tensor& tensor, const Sizes& sizes) {
  std::vector<std::int64_t> shape;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    shape.push_back(evaluate_parametric(tensor.shape[d], sizes));
    if (shape.back() < 0)
      throw size_error(tensor.where,
                       "extent " + std::to_string(d) + " of `" + tensor.name + "` is " + std::to_string(shape.back()) + " at " + sizes_text(sizes),
                       "choose sizes for which every extent is at least 0");
  }
  check_layout(tensor, shape, sizes);
  std::int64_t bytes;
  if (!total_bytes(shape, tensor.type, &bytes))
    throw size_error(tensor.where, "the bytes of `" + tensor.name + "` overflow 64 bits at " + sizes_text(sizes), "choose smaller sizes");
}

/// splitmix64: a bijective mix of a counter, so that every element has its own stream position on every platform.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Stream of one tensor.
class ElementStream {
 public:
  ElementStream(std::uint64_t seed, const std::string& tensor) : key_(mix(seed)) {
    for (const char c : tensor) key_ = mix(key_ ^ static_cast<unsigned char>(c));
  }
  /// Uniform in [low, high].
  std::int64_t integer(std::int64_t offset, std::int64_t low, std::int64_t high) const {
    const std::uint64_t width = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<std::int64_t>((bits(offset) >> 32) * width >> 32);
  }
  /// Uniform in [-1, 1), a multiple of 2^-(digits - 1), so that it is exact in a type of that many digits.
  double real(std::int64_t offset, int digits) const {
    const std::uint64_t whole = bits(offset) >> (64 - digits);
    return std::ldexp(static_cast<double>(whole), 1 - digits) - 1;
  }

 private:
  std::uint64_t bits(std::int64_t offset) const { return mix(key_ ^ mix(static_cast<std::uint64_t>(offset))); }
  std::uint64_t key_;
};

/// Values that the program assumes: in their range, sorted along rows, or all different. Where the range is empty or too small
/// for that, no data can be right: such elements get the range's least value.
void fill_index(HostArray& array, const ElementStream& stream, const ValueFacts& facts, const Sizes& sizes) {
  const std::int64_t count = array.elements();
  std::int64_t least = facts.bounded() ? evaluate_parametric(*facts.least, sizes) : 0;
  std::int64_t most = facts.bounded() ? evaluate_parametric(*facts.most, sizes) : std::max<std::int64_t>(count - 1, 0);
  if (most < least) most = least;
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = stream.integer(i, least, std::min(most, least + (std::int64_t(1) << 31)));
  if (facts.injective && most - least + 1 >= count) {
    // A random shift of a stride that is prime to the range visits every value once.
    const std::int64_t range = most - least + 1;
    std::int64_t stride = stream.integer(count, 1, std::max<std::int64_t>(range - 1, 1));
    while (std::gcd(stride, range) != 1) ++stride;
    const std::int64_t shift = stream.integer(count + 1, 0, range - 1);
    for (std::int64_t i = 0; i < count; ++i)
      values[static_cast<std::size_t>(i)] = least + static_cast<std::int64_t>((static_cast<__int128>(i) * stride + shift) % range);
  }
  if (facts.monotone && !array.shape.empty()) {
    const std::int64_t row = std::max<std::int64_t>(array.shape.back(), 1);
    for (std::int64_t start = 0; start < count; start += row) std::sort(values.begin() + start, values.begin() + start + row);
  }
  for (std::int64_t i = 0; i < count; ++i) array.set_integer(i, values[static_cast<std::size_t>(i)]);
}

void fill(HostArray& array, const ElementStream& stream, Fill fill) {
  const std::int64_t count = array.elements();
  const bool narrow = is_narrow_float(array.type);
  const std::int64_t largest = array.type == ElementType::i4 ? 7 : array.type == ElementType::u4 ? 15 : 8;
  for (std::int64_t i = 0; i < count; ++i) {
    if (array.type == ElementType::boolean) array.set_integer(i, stream.integer(i, 0, 1));
    else if (!is_float(array.type)) array.set_integer(i, stream.integer(i, is_signed(array.type) ? -8 : 0, largest));
    else if (fill == Fill::integers) array.set(i, static_cast<double>(narrow ? stream.integer(i, -4, 4) : stream.integer(i, -8, 8)));
    else array.set(i, stream.real(i, significand_digits(array.type)));
  }
}

/// NaN in float types, the pattern 0x5a.. in integer types, true in bool.
void poison(HostArray& array) {
  const std::int64_t count = array.elements();
  if (is_float(array.type)) {
    for (std::int64_t i = 0; i < count; ++i) array.set(i, std::bit_cast<double>(std::uint64_t(0x7ff8000000000000)));
    return;
  }
  const std::byte pattern{static_cast<unsigned char>(array.type == ElementType::boolean ? 1 : 0x5a)};
  std::fill(array.bytes.begin(), array.bytes.end(), pattern);
}
}  // namespace

void check_sizes(const Program& program, const Sizes& sizes) {
  check_names(program, sizes);
  if (fix_parameters(program.context(), sizes).is_empty()) {
    const std::vector<std::string> failing = failing_constraints(program.context(), sizes);
    const std::string what = failing.empty() ? poly::to_text(program.context()) : join(failing, " and ");
    throw size_error(file_of(program), "`" + program.name() + "` requires " + what + ", which does not hold at " + sizes_text(sizes),
                     "choose sizes for which " + what);
  }
  for (const Tensor& tensor : program.tensors()) check_tensor(tensor, sizes);
}

std::vector<std::int64_t> evaluate_shape(const Tensor& tensor, const Sizes& sizes) {
  std::vector<std::int64_t> shape;
  for (const isl::pw_aff& extent : tensor.shape) shape.push_back(evaluate_parametric(extent, sizes));
  return shape;
}

namespace {
/// One of the values of a guarded iterator has an effect.
isl::set without_guarded(const Statement& statement, isl::set domain) {
  std::vector<std::size_t> guarded;
  for (const Guard& guard : statement.guards) guarded.push_back(guard.iterator);
  std::sort(guarded.rbegin(), guarded.rend());
  for (const std::size_t iterator : guarded) domain = isl::manage(isl_set_project_out(domain.release(), isl_dim_set, static_cast<unsigned>(iterator), 1));
  return domain;
}
}  // namespace

std::int64_t count_instances(const Program& program, const Sizes& sizes) {
  std::int64_t total = 0;
  for (const Statement& statement : program.statements())
    if (__builtin_add_overflow(total, count_points(without_guarded(statement, fix_parameters(statement.domain, sizes))), &total))
      return std::numeric_limits<std::int64_t>::max();
  return total;
}

Arrays make_arguments(const Program& program, const Sizes& sizes, std::uint64_t seed, Fill how) {
  check_sizes(program, sizes);
  Arrays arrays;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role == TensorRole::local) continue;
    HostArray array(tensor.type, evaluate_shape(tensor, sizes));
    if (tensor.role == TensorRole::out) poison(array);
    else if (is_integer(tensor.type) && (tensor.facts.bounded() || tensor.facts.monotone || tensor.facts.injective))
      fill_index(array, ElementStream(seed, tensor.name), tensor.facts, sizes);
    else fill(array, ElementStream(seed, tensor.name), how);
    arrays.emplace(tensor.name, std::move(array));
  }
  return arrays;
}

}  // namespace tileopt
