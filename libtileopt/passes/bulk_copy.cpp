#include "passes/bulk_copy.h"

namespace tileopt {

std::string why_not_boxes(const Program& program, const Tensor& tensor, long bytes) {
  if (tensor.role == TensorRole::local) return tensor.name + " is no argument";
  if (tensor.shape.size() < 2 || tensor.shape.size() > kMostMapDims) return tensor.name + " has " + std::to_string(tensor.shape.size()) + " dimensions, and boxes are copied from tensors of 2 to " + std::to_string(kMostMapDims);
  if (!tensor.layout.order.empty() || !tensor.layout.strides.empty() || tensor.layout.packed) return tensor.name + " does not lie row by row";
  const long elements = bytes / size_bytes(tensor.type);
  const isl::pw_aff rest = tensor.shape.back().mod(isl::val(program.ctx(), elements));
  if (program.context().is_subset(isl::manage(isl_pw_aff_zero_set(rest.copy())))) return "";
  return "rows of " + tensor.name + " may start between multiples of " + std::to_string(bytes) + " bytes; where they never do, say so: assume(... % " + std::to_string(elements) + " == 0)";
}

}  // namespace tileopt
