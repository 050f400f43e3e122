/// What one access of a warp asks of memory: sectors of it, lines of the nearest cache, rounds of the banks of shared memory.
#pragma once

#include <vector>

#include "ir/machine.h"

namespace tileopt {

/// Rounds of one access by the lanes of a warp: `addresses` in bytes, by lane; `bytes` each, aligned. Lanes of wide accesses take turns; in one
/// turn a bank gives one word, to any number of lanes.
long count_bank_rounds(const std::vector<long>& addresses, long bytes, const Multiprocessor& multiprocessor);

/// Rounds of one atomic update by each lane: lanes that meet in a bank take turns, also those that update one element.
long count_bank_turns(const std::vector<long>& addresses, const Multiprocessor& multiprocessor);

/// Pieces of `piece` bytes, aligned to as much, that hold a part of what is touched: `bytes` from each of the `addresses` on.
long count_pieces(const std::vector<long>& addresses, long bytes, long piece);

inline constexpr long kSectorBytes = 32;  ///< least that a GPU's caches move

}  // namespace tileopt
