#include "driver/size_vectors.h"

#include <algorithm>
#include <set>
#include <utility>

#include "interpreter/flat_affine.h"

namespace tileopt {

namespace {

using Covered = std::set<std::pair<std::string, std::int64_t>>;  ///< (parameter, value)

std::int64_t bytes_of(const Program& program, const Sizes& sizes, std::int64_t limit) {
  std::int64_t bytes = 0;
  for (const Tensor& tensor : program.tensors()) {
    std::int64_t elements = size_bytes(tensor.type);
    const std::vector<std::int64_t> shape = evaluate_shape(tensor, sizes);
    for (const std::int64_t extent : shape)
      if (__builtin_mul_overflow(elements, extent, &elements)) return limit + 1;
    // Gaps take memory too; check_sizes has seen that these products fit.
    for (std::size_t d = 0; d < tensor.layout.strides.size(); ++d)
      elements = std::max(elements, size_bytes(tensor.type) * shape[d] * evaluate_parametric(tensor.layout.strides[d], sizes));
    if (__builtin_add_overflow(bytes, elements, &bytes)) return limit + 1;
  }
  return bytes;
}

/// The largest values first, so that a vector shrinks no more than it must.
std::vector<std::int64_t> descending(std::vector<std::int64_t> values) {
  std::sort(values.rbegin(), values.rend());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// `sizes` with all parameters but `anchor` lowered, largest first, until the vector fits; false where none does.
bool shrink_to_fit(const Program& program, const std::string& anchor, const SizeSpread& spread, Sizes* sizes) {
  const std::vector<std::int64_t> steps = descending(spread.values);
  while (!sizes_fit(program, *sizes, spread)) {
    std::string largest;
    for (const auto& [name, value] : *sizes)
      if (name != anchor && value > steps.back() && (largest.empty() || value > (*sizes)[largest])) largest = name;
    if (largest.empty()) return false;
    for (const std::int64_t step : steps) {
      if (step < (*sizes)[largest]) {
        (*sizes)[largest] = step;
        break;
      }
    }
  }
  return true;
}

void add_vector(Sizes sizes, std::vector<Sizes>* vectors, Covered* covered) {
  if (std::find(vectors->begin(), vectors->end(), sizes) != vectors->end()) return;
  for (const auto& entry : sizes) covered->insert(entry);
  vectors->push_back(std::move(sizes));
}

/// Parameter number p takes the value `p * stride` places after the anchor's.
Sizes rotated(const Program& program, const std::vector<std::int64_t>& values, std::size_t start, std::size_t stride) {
  Sizes sizes;
  for (std::size_t p = 0; p < program.parameters().size(); ++p)
    sizes[program.parameters()[p]] = values[(start + p * stride) % values.size()];
  return sizes;
}

}  // namespace

bool sizes_fit(const Program& program, const Sizes& sizes, const SizeSpread& limits) {
  try {
    check_sizes(program, sizes);
  } catch (const Errors&) {
    return false;
  }
  return bytes_of(program, sizes, limits.max_bytes) <= limits.max_bytes && count_instances(program, sizes) <= limits.max_instances;
}

std::vector<Sizes> spread_sizes(const Program& program, const SizeSpread& spread) {
  std::vector<Sizes> vectors;
  Covered covered;
  if (program.parameters().empty()) {
    if (sizes_fit(program, {}, spread)) vectors.emplace_back();
    return vectors;
  }
  const auto try_vector = [&](Sizes sizes, const std::string& anchor) {
    if (vectors.size() < spread.max_vectors && shrink_to_fit(program, anchor, spread, &sizes)) add_vector(std::move(sizes), &vectors, &covered);
  };
  const std::string& first = program.parameters().front();
  for (std::size_t i = 0; i < spread.values.size(); ++i) try_vector(rotated(program, spread.values, i, 5), first);
  for (std::size_t i = 0; i < spread.values.size(); ++i)
    for (const std::string& parameter : program.parameters())
      if (!covered.contains({parameter, spread.values[i]})) try_vector(rotated(program, spread.values, i, 0), parameter);
  return vectors;
}

std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  return text.empty() ? "no sizes" : text;
}

}  // namespace tileopt
