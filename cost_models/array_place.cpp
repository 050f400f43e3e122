#include "cost_models/array_place.h"

#include <algorithm>
#include <numeric>

#include "interpreter/flat_affine.h"

namespace tileopt {
namespace {

ArrayPlace place_tensor(const Tensor& tensor, const Sizes& sizes) {
  ArrayPlace place;
  place.tensor = tensor.name;
  place.space = "global";
  place.element_bytes = size_bytes(tensor.type);
  for (const isl::pw_aff& extent : tensor.shape) place.extents.push_back(std::max(0L, long(evaluate_parametric(extent, sizes))));
  place.order = tensor.storage_order();
  place.strides.assign(place.extents.size(), 1);
  long next = 1;
  for (std::size_t i = place.order.size(); i-- > 0;) {
    const std::size_t d = place.order[i];
    place.strides[d] = tensor.layout.strides.empty() ? next : long(evaluate_parametric(tensor.layout.strides[d], sizes));
    next *= std::max(1L, place.extents[d]);
  }
  return place;
}

ArrayPlace place_promoted(const Array& array) {
  ArrayPlace place;
  place.space = array.space;
  place.element_bytes = size_bytes(array.element);
  place.agent_dims = static_cast<std::size_t>(std::max(0, array.agent_dims));
  place.ring = !array.ring.empty();
  place.slots = std::max(1L, array.slots);
  place.slot_elements = array.stored_elements();
  place.swizzle = array.swizzle;
  for (std::size_t d = place.agent_dims; d < array.extents.size(); ++d) place.extents.push_back(array.extents[d]);
  place.order.resize(place.extents.size());
  std::iota(place.order.begin(), place.order.end(), std::size_t{0});
  place.strides.assign(place.extents.size(), 1);
  long next = 1;
  for (std::size_t d = place.extents.size(); d-- > 0;) {
    place.strides[d] = d < array.strides.size() && array.strides.size() == place.extents.size() ? array.strides[d] : next;
    next *= place.extents[d];
  }
  return place;
}

}  // namespace

long ArrayPlace::address(const std::vector<long>& subscripts) const {
  const std::size_t front = (ring ? 1 : 0) + agent_dims;
  long at = ring && !subscripts.empty() ? subscripts[0] % slots * slot_elements : 0;
  for (std::size_t d = 0; d < extents.size() && front + d < subscripts.size(); ++d) {
    long subscript = subscripts[front + d];
    if (int(d) == swizzle.along && swizzle.by >= 0 && extents[d] > 0) subscript ^= subscripts[front + std::size_t(swizzle.by)] % extents[d];
    at += subscript * strides[d];
  }
  return at * element_bytes;
}

std::map<std::string, ArrayPlace> place_arrays(const Program& program, const Ast& ast, const Sizes& sizes) {
  std::map<std::string, ArrayPlace> places;
  for (const Array& array : ast.arrays) places[array.name] = place_promoted(array);
  const auto add = [&](const std::string& name) {
    if (!name.empty() && !places.contains(name) && program.has_tensor(name)) places[name] = place_tensor(program.tensor(name), sizes);
  };
  for (const auto& [key, statement] : ast.statements) {
    add(statement.write_array);
    for (const std::string& name : statement.read_arrays) add(name);
  }
  return places;
}

}  // namespace tileopt
