/// What the blocks of a launch touch of each tensor, as boxes that move with the loops over blocks, and what of it comes from beyond the cache
/// that all cores share.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tileopt {

/// Smallest box around what is touched; nothing yet where `last` is empty. Subscripts of the tensor, the contiguous one last.
struct TouchedBox {
  std::vector<long> first, last;
  void add(const std::vector<long>& low, const std::vector<long>& high);
};

/// One tensor of a launch.
struct TensorFootprint {
  long element_bytes = 4;
  std::vector<double> extents;  ///< of the tensor
  bool read = false, written = false;
  bool scattered = false;       ///< subscripts are values from memory: the box says nothing
  bool by_engine = false;       ///< copied past the nearest cache
  TouchedBox block;             ///< of a typical block
  std::vector<TouchedBox> moved;  ///< by loop over blocks: the same with the next value of the loop; empty boxes: there is none
  double asked_bytes = 0;       ///< by all blocks, in sectors
};

/// The loops over blocks, outermost first.
struct BlockGrid {
  std::vector<double> trips;
  double together = 1;  ///< blocks that run at a time, about
};

/// Whether the box is another one at the next value of the loop over blocks.
bool moves_with(const TensorFootprint& tensor, std::size_t loop);

/// Bytes of the union of the boxes while the loops run over `values` values each, in whole sectors.
double union_bytes(const TensorFootprint& tensor, const std::vector<double>& values);

struct DeepTraffic {
  double read = 0, written = 0;
};
/// Bytes from and to beyond a cache of `capacity`: what stays in it from one block to the next, and what blocks that run at a time share, comes once.
DeepTraffic traffic_beyond(const std::map<std::string, TensorFootprint>& tensors, const BlockGrid& grid, double capacity);

}  // namespace tileopt
