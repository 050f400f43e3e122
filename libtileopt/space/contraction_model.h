/// What the choices of one packed register tile and the constraints between them are made from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "space/variant_builder.h"

namespace tileopt {

/// A member of the tile: the loops over its blocks and over the tiles of a block, and the atom's own.
struct TileMember {
  std::string member, iterator;
  std::string block, middle, inner;  ///< digits of the shape; "" = there is none
  long planned = 0;                  ///< radix of `middle` (of a summation: `inner`) in the planner's plan; 0: not cut
  double extent = 1;
  bool constant = false;
  std::size_t choice = 0;  ///< of the radix
  std::size_t atom = 0;    ///< of the atom's extent
};

struct Operand {
  std::string tensor;
  std::size_t access = 0;
  std::string space;  ///< of the promotion that packs it; "" = it is not packed
};

/// What the closures of one register tile share.
struct TileModel {
  std::string statement;
  TileMember rows, lanes, depth;
  bool has_depth = false;
  long depth_unit = 1;  ///< products that the atom adds at once: a block of the summation is its radix times this
  double fixed = 1;  ///< values of the summation loops that stay inside, together
  int bytes = 4;
  StatementView view;
  Operand left, right;
  std::vector<std::string> outer;   ///< members of the loops outside the tile loops, outermost first
  std::vector<std::string> blocks;  ///< those of them that are loops over blocks
  std::vector<std::size_t> places;  ///< of the blocks in `outer`
  std::size_t blocks_choice = 0, tiles_choice = 0, parallel_choice = 0;
  bool has_blocks = false, has_tiles = false, has_parallel = false;
  std::vector<std::string> parallel;  ///< member by value
  std::string planned_parallel;
  std::vector<ChoiceValue> block_values, tile_values;
  std::vector<long> row_numbers, lane_numbers, row_radices, lane_radices, depth_radices;
};

/// Registers, caches, stack and sizes that the extents of the tile and of its blocks have to fit. The choices are in `part`
/// already.
void add_contraction_constraints(const KernelPart& part, const std::shared_ptr<const TileModel>& tile);

}  // namespace tileopt
