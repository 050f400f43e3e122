/// Comparison of a kernel's results with the reference.
#include <cmath>
#include <cstring>

#include "interpreter/interpreter.h"
#include "interpreter/number.h"
#include "support/text.h"

namespace tileopt {

namespace {
std::vector<std::int64_t> index_of(std::int64_t offset, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = offset % shape[d];
    offset /= shape[d];
  }
  return index;
}

bool same_bytes(const HostArray& a, const HostArray& b, std::int64_t offset) {
  const auto width = static_cast<std::size_t>(size_bytes(a.type));
  const std::size_t start = static_cast<std::size_t>(offset) * width;
  return std::memcmp(a.bytes.data() + start, b.bytes.data() + start, width) == 0;
}

/// Distance that decides for a float element; NaN equals NaN, an infinity itself.
bool real_agrees(double got, double expected, double allowed) {
  if (std::isinf(allowed)) return true;
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected);
  if (got == expected) return true;
  return std::fabs(got - expected) <= allowed;
}

bool element_agrees(const InterpreterResult& reference, const HostArray& expected, const HostArray& got, const std::string& tensor,
                    std::int64_t offset) {
  const double allowed = reference.bound.at(tensor)[static_cast<std::size_t>(offset)];
  if (is_float(got.type)) return real_agrees(got.get(offset), reference.shadow.at(tensor)[static_cast<std::size_t>(offset)], allowed);
  if (got.get_integer(offset) == expected.get_integer(offset)) return true;
  return allowed > 0 && std::fabs(got.get(offset) - expected.get(offset)) <= allowed;
}
}  // namespace

std::string Deviation::text() const {
  std::vector<std::string> subscripts;
  for (const std::int64_t i : index) subscripts.push_back(std::to_string(i));
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, " is %.17g, expected %.17g (allowed deviation %.3g)", got, expected, allowed);
  return tensor + "[" + join(subscripts, ", ") + "]" + numbers;
}

std::vector<Deviation> compare(const Program& program, const InterpreterResult& reference, const Arrays& arguments,
                               const Arrays& got, std::size_t limit, std::int64_t* count) {
  std::vector<Deviation> deviations;
  std::int64_t found = 0;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role != TensorRole::out && tensor.role != TensorRole::inout) continue;
    const HostArray& expected = reference.values.at(tensor.name);
    const HostArray& initial = arguments.at(tensor.name);
    const auto result = got.find(tensor.name);
    TILEOPT_CHECK(result != got.end(), "the results lack " + tensor.name);
    TILEOPT_CHECK(result->second.type == expected.type && result->second.shape == expected.shape,
                  "the result " + tensor.name + " has another type or shape than declared");
    const std::vector<bool>& written = reference.written.at(tensor.name);
    const std::int64_t elements = expected.elements();
    for (std::int64_t i = 0; i < elements; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool agrees = written[at] ? element_agrees(reference, expected, result->second, tensor.name, i)
                                      : same_bytes(initial, result->second, i);
      if (agrees) continue;
      ++found;
      if (deviations.size() >= limit) continue;
      deviations.push_back({tensor.name, index_of(i, expected.shape), result->second.get(i),
                            written[at] ? reference.shadow.at(tensor.name)[at] : initial.get(i),
                            written[at] ? reference.bound.at(tensor.name)[at] : 0});
    }
  }
  if (count != nullptr) *count = found;
  return deviations;
}

}  // namespace tileopt
