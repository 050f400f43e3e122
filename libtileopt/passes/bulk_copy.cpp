#include "passes/bulk_copy.h"

namespace tileopt {

std::optional<BoxObstacle> find_box_obstacle(const Program& program, const Tensor& tensor, long bytes) {
  const auto always = [&](const std::string& reason) { return BoxObstacle{tensor.name + " " + reason}; };
  if (tensor.role == TensorRole::local) return always("is no argument");
  if (tensor.shape.size() < 2 || tensor.shape.size() > kMostMapDims)
    return always("has " + std::to_string(tensor.shape.size()) + " dimensions, and boxes are copied from tensors of 2 to " + std::to_string(kMostMapDims));
  if (!tensor.layout.order.empty() || !tensor.layout.strides.empty() || tensor.layout.packed) return always("does not lie row by row");
  const long elements = bytes / size_bytes(tensor.type);
  const isl::pw_aff rest = tensor.shape.back().mod(isl::val(program.ctx(), elements));
  const isl::set free = isl::manage(isl_pw_aff_zero_set(rest.copy()));
  if (program.context().is_subset(free)) return std::nullopt;
  BoxObstacle obstacle{"rows of " + tensor.name + " may start between multiples of " + std::to_string(bytes) + " bytes"};
  if (!program.context().is_disjoint(free)) obstacle.excess = rest;
  return obstacle;
}

}  // namespace tileopt
