/// What an engine takes that copies boxes of tensors (CUDA driver API, cuTensorMapEncodeTiled).
#pragma once

namespace tileopt {

inline constexpr long kMostMapDims = 5;    ///< of a tensor
inline constexpr long kMostMapSide = 256;  ///< elements of a box along one dimension
inline constexpr long kMostMapApart = 8;   ///< elements of the tensor, from one of a box to the next

}  // namespace tileopt
