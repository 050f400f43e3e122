#include "verify/matrix_storage.h"

#include "ir/types.h"
#include "verify/obligations.h"

namespace tileopt::proof {

std::vector<long> steps_of(const Array& array) {
  if (!array.strides.empty()) return array.strides;
  std::vector<long> steps(array.extents.size() - static_cast<std::size_t>(array.agent_dims), 1);
  for (std::size_t d = steps.size(); d-- > 1;) steps[d - 1] = steps[d] * array.extents[d + static_cast<std::size_t>(array.agent_dims)];
  return steps;
}

isl::pw_aff place_in_copy(const Execution& execution, const Leaf& leaf, const PointAccess& access, const Array& array, long unit) {
  const ArrayUse& use = execution.array_of(access);
  const std::size_t first = use.outer_loops + (use.ring ? 1 : 0) + static_cast<std::size_t>(array.agent_dims);
  const isl::pw_multi_aff element = poly::as_function(access.element);
  const std::vector<long> steps = steps_of(array);
  isl_local_space* local = isl_local_space_from_space(isl_set_get_space(leaf.points.get()));
  isl::pw_aff sum = isl::manage(isl_pw_aff_from_aff(isl_aff_zero_on_domain(local)));
  for (std::size_t d = 0; d < steps.size(); ++d) {
    const isl::pw_aff subscript = isl::manage(isl_pw_multi_aff_get_pw_aff(element.get(), static_cast<int>(first + d)));
    sum = sum.add(subscript.scale(isl::val(sum.ctx(), steps[d] * unit)));
  }
  return sum;
}

std::string why_not_swizzled(const Checker& checker, std::size_t kernel, const ArrayUse& use, long bytes, const std::string& reader) {
  const Array& array = *use.promoted;
  const std::string what = "array " + use.name;
  const long element = size_bytes(array.element), pieces = bytes / kPieceBytes;
  if (array.swizzle.empty() || array.agent_dims != 0) return what + " is not swizzled as " + reader + " takes it";
  const std::vector<long> steps = steps_of(array);
  const auto along = static_cast<std::size_t>(array.swizzle.along), by = static_cast<std::size_t>(array.swizzle.by);
  if (along >= steps.size() || by >= steps.size() || array.extents[along] != pieces || steps[along] * element != kPieceBytes || steps[by] * element != bytes || array.extents[by] % pieces != 0)
    return "the swizzled dimensions of " + what + " are not pieces and rows of " + std::to_string(bytes) + " bytes";
  long inside = 1;  // elements of a piece
  for (std::size_t d = 0; d < steps.size(); ++d) {
    if (d == along || d == by) continue;
    if (steps[d] * element < kPieceBytes) inside *= array.extents[d];
    else if (steps[d] * element % (bytes * pieces) != 0) return "dimension " + std::to_string(d) + " of " + what + " moves by less than " + std::to_string(pieces) + " rows";
  }
  if (inside * element != kPieceBytes) return "pieces of " + what + " have " + std::to_string(inside * element) + " bytes";
  if (array.slots > 1 && array.stored_elements() * element % (bytes * pieces) != 0) return "slots of " + what + " start at other rows";
  for (const PrintFacts::Buffer& buffer : checker.facts.at(kernel).buffers)
    if (buffer.array == array.name && (buffer.alignment % (bytes * pieces) != 0 || buffer.alignment == 0))
      return what + " starts at a multiple of " + std::to_string(buffer.alignment) + " bytes, and its pattern is " + std::to_string(bytes * pieces) + " bytes long";
  return "";
}

}  // namespace tileopt::proof
