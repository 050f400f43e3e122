/// Host arrays as the bytes that a kernel is called with: permuted, with gaps, or packed, as the argument's layout says.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/c_common/signature.h"
#include "interpreter/host_array.h"

namespace tileopt {

/// From the first to the last element; gaps hold a pattern. `array` has the argument's type and shape.
std::vector<std::byte> lay_out(const TensorArgument& argument, const HostArray& array, const Sizes& sizes);

/// The elements of a packed argument's bytes, two a byte, the even one in the low bits. `array` has the argument's type and shape.
void unpack(const TensorArgument& argument, const std::byte* bytes, const Sizes& sizes, HostArray& array);

/// Stores the elements back; false where a gap does not hold its pattern any more.
bool take_back(const TensorArgument& argument, const std::vector<std::byte>& bytes, const Sizes& sizes, HostArray& array);

}  // namespace tileopt
