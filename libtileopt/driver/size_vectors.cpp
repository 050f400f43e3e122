#include "driver/size_vectors.h"

#include <algorithm>
#include <optional>
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

/// The least sizes of `version` from `sizes` up.
std::optional<Sizes> lifted(const Program& program, const isl::set& version, const Sizes& sizes) {
  const auto count = static_cast<unsigned>(program.parameters().size());
  isl_space* space = isl_space_params_alloc(version.ctx().get(), count);
  for (unsigned p = 0; p < count; ++p) space = isl_space_set_dim_name(space, isl_dim_param, p, program.parameters()[p].c_str());
  isl_set* all = isl_set_align_params(isl_set_universe(isl_space_copy(space)), space);
  all = isl_set_intersect(isl_set_intersect(all, program.context().copy()), version.copy());
  all = isl_set_move_dims(isl_set_from_params(all), isl_dim_set, 0, isl_dim_param, 0, count);
  for (unsigned p = 0; p < count; ++p) all = isl_set_lower_bound_si(all, isl_dim_set, p, static_cast<int>(sizes.at(program.parameters()[p])));
  const isl::set least = isl::manage(isl_set_lexmin(all));
  if (least.is_empty()) return std::nullopt;
  const isl::point point = isl::manage(isl_set_sample_point(least.copy()));
  Sizes found;
  for (unsigned p = 0; p < count; ++p) found[program.parameters()[p]] = isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(p))).num_si();
  return found;
}

/// Vectors of each version with sizes beyond those that hardly run a loop.
void visit_versions(const Program& program, const SizeSpread& spread, const std::vector<isl::set>& versions, std::vector<Sizes>& vectors) {
  constexpr std::size_t wanted = 3;
  constexpr std::int64_t large = 30;
  for (const isl::set& version : versions) {
    const auto visits = [&](const Sizes& sizes) {
      const bool all = std::all_of(sizes.begin(), sizes.end(), [](const auto& size) { return size.second >= large; });
      return all && !fix_parameters(version, sizes).is_empty();
    };
    auto found = static_cast<std::size_t>(std::count_if(vectors.begin(), vectors.end(), visits));
    for (std::size_t i = 0; i < spread.values.size() && found < wanted; ++i) {
      Sizes base = rotated(program, spread.values, i, 5);
      for (auto& [name, value] : base) value = std::max(value, large);
      const std::optional<Sizes> sizes = lifted(program, version, base);
      if (!sizes || !sizes_fit(program, *sizes, spread) || std::find(vectors.begin(), vectors.end(), *sizes) != vectors.end()) continue;
      vectors.push_back(*sizes);
      ++found;
    }
  }
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

std::vector<Sizes> spread_sizes(const Program& program, const SizeSpread& spread, const std::vector<isl::set>& versions) {
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
  visit_versions(program, spread, versions, vectors);
  return vectors;
}

std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  return text.empty() ? "no sizes" : text;
}

}  // namespace tileopt
