/// Where elements of a tile lie in a promoted array: the digits of every dimension, and the element that they count from.
#include <algorithm>

#include "passes/passes.h"
#include "passes/promotion_builder.h"

namespace tileopt {

long steps_over(const Promotion& promotion, std::size_t dim) {
  long least = 0;
  for (const BufferDim& digit : promotion.layout) {
    if (digit.tensor_dim != static_cast<int>(dim)) continue;
    if (digit.weight == 0) return 0;
    least = least == 0 ? digit.weight : std::min(least, digit.weight);
  }
  return least;
}

void PromotionBuilder::tighten(const std::string& tensor, const std::vector<DigitStatement*>& group, const Scope& scope, std::size_t dim, Tile& tile) const {
  std::optional<long> first, last;
  const auto note = [&](const DigitStatement& s, const DigitAccess& access) {
    if (access.array != tensor) return;
    const isl::pw_multi_aff prefix = poly::as_function(keep_dims(s.digits->domain.space(), s.digits->dims, scope.prefix, "tile"));
    const isl::pw_multi_aff relative = access.function.sub(isl::manage(isl_pw_multi_aff_from_multi_aff(tile.corner.copy())).pullback(prefix));
    const isl::set image = relative.as_map().intersect_domain(s.executed).range();
    const isl::val low = isl::manage(isl_set_dim_min_val(image.copy(), static_cast<int>(dim))), high = isl::manage(isl_set_dim_max_val(image.copy(), static_cast<int>(dim)));
    if (!low.is_int() || !high.is_int()) return;
    first = std::min(first.value_or(low.num_si()), low.num_si());
    last = std::max(last.value_or(high.num_si()), high.num_si());
  };
  for (const DigitStatement* s : group) {
    for (const DigitAccess& read : s->reads) note(*s, read);
    note(*s, s->write);
  }
  if (!first) return;
  isl_aff* corner = isl_multi_aff_get_aff(tile.corner.get(), static_cast<int>(dim));
  corner = isl_aff_add_constant_si(corner, static_cast<int>(*first));
  tile.corner = isl::manage(isl_multi_aff_set_aff(tile.corner.copy(), static_cast<int>(dim), corner));
  tile.size[dim] = *last - *first + 1;
}

std::optional<Infeasible> PromotionBuilder::lay_out(const Promotion& promotion, Tile& tile) const {
  const std::string entry = promotion_entry(promotion);
  tile.extents.assign(promotion.layout.size(), 0);
  tile.weights.assign(promotion.layout.size(), 1);
  for (std::size_t d = 0; d < tile.size.size(); ++d) {
    std::vector<std::size_t> dims;
    for (std::size_t i = 0; i < promotion.layout.size(); ++i)
      if (promotion.layout[i].tensor_dim == static_cast<int>(d)) dims.push_back(i);
    // Places in memory follow the layout, significance the weights.
    std::stable_sort(dims.begin(), dims.end(), [&](std::size_t a, std::size_t b) { return promotion.layout[a].weight > promotion.layout[b].weight; });
    if (dims.empty() && tile.size[d] != 1)
      return refuse("pin", entry, "the layout leaves out dimension " + std::to_string(d) + " of size " + std::to_string(tile.size[d]));
    long weight = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
      const long radix = promotion.layout[dims[i]].radix;
      // The least significant digit may step over elements that nobody touches.
      if (const long apart = promotion.layout[dims[i]].weight; i + 1 == dims.size() && apart > 1) weight = apart;
      tile.weights[dims[i]] = weight;
      if (const long given = promotion.layout[dims[i]].weight; given != 0 && given != weight)
        return refuse("pin", entry, "layout dimension " + promotion.layout[dims[i]].name + " has weight " + std::to_string(given) + ", and the digits below it make " + std::to_string(weight));
      if (i > 0) {
        if (radix == 0) return refuse("pin", entry, "only the most significant digit of a dimension may have radix 0");
        tile.extents[dims[i]] = radix;
        weight *= radix;
      } else {
        const long rest = (tile.size[d] + weight - 1) / weight;
        if (radix != 0 && radix < rest) return refuse("capacity", entry, "digit " + promotion.layout[dims[i]].name + " of radix " + std::to_string(radix) + " cannot hold " + std::to_string(rest));
        tile.extents[dims[i]] = radix == 0 ? rest : radix;
      }
    }
  }
  double elements = 1;
  for (long e : tile.extents) elements *= static_cast<double>(e);
  if (elements > 1e10) return refuse("capacity", entry, "the array would hold more than 10^10 elements");
  return std::nullopt;
}

}  // namespace tileopt
