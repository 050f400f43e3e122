/// Where the elements of arrays lie that instructions find by themselves: rows of so many bytes, whose pieces are swapped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verify/execution.h"
#include "verify/report.h"

namespace tileopt::proof {

struct Checker;

inline constexpr long kPieceBytes = 16;  ///< that are swapped

/// Elements from neighbour to neighbour, one a dimension that says where an element lies.
std::vector<long> steps_of(const Array& array);

/// { L[v, b] -> [(units from the start of one copy of the array, without swizzling)] }; an element has `unit` units.
isl::pw_aff place_in_copy(const Execution& execution, const Leaf& leaf, const PointAccess& access, const Array& array, long unit);

/// Rows of `bytes` follow each other, pieces of a row are swapped by the low bits of its number, and all copies start where the pattern does.
/// What is otherwise; "" where it is so.
std::string why_not_swizzled(const Checker& checker, std::size_t kernel, const ArrayUse& use, long bytes, const std::string& reader);

}  // namespace tileopt::proof
