/// Register tiles and cache blocks of contractions on CPUs (after Low et al. 2016), as plain arithmetic.
#pragma once

#include <optional>
#include <string>

#include "ir/machine.h"

namespace tileopt {

/// rows x lanes elements kept in registers: `rows` scalars of the left operand times `lanes` elements of the right.
struct RegisterTile {
  long rows = 1;
  long lanes = 1;
  double efficiency = 0;  ///< part of the peak that the inner loop can reach, 0..1
  std::string binding;    ///< what limits it: "fma", "latency", "loads", "padding"
};

/// The tile of a contraction with `rows` x `lanes` results of `element_bytes` (the problem's sizes, at least 1).
/// A pinned extent is kept, even where no tile with it fits; other tiles that do not fit the register file are not considered.
/// `masked`: tiles at the edges are not padded but masked, and run slower than whole ones.
RegisterTile choose_register_tile(const Machine& machine, int element_bytes, double rows, double lanes,
                                  std::optional<long> pinned_rows, std::optional<long> pinned_lanes, bool masked = false);

/// Capacity in bytes of cache level 1, 2, 3 of `machine`; where a level is missing, of the next nearer one.
double cache_bytes(const Machine& machine, int level);

/// Elements of the reduction that one block holds, at most 512, each of `rows` x `lanes` products (`depth` of them at once where an atom
/// adds so many). Every block more loads and stores all results once more. A micro-panel of `lanes` right elements streams from L2 where that
/// takes at most half of the time of its products; else it stays within half of L1, or close to L1 where `fixed` > 1 elements of other
/// reduction loops belong to every step.
long choose_reduction_block(const Machine& machine, int element_bytes, long rows, long lanes, long depth, double extent, double fixed);

/// Whether the right operand of such a tile may come from L2.
bool streams_from_l2(const Machine& machine, int element_bytes, long rows, long lanes, long depth);

/// Multiple of `step` below `most` that cuts `extent` into equal blocks, their number a multiple of `share` where that costs little.
long balance_block(double extent, long most, long step, long share);

}  // namespace tileopt
