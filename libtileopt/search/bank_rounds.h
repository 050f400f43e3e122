/// How often the banks of shared memory must be asked for what the threads of a warp touch at once, and the padding of rows for which that is least.
#pragma once

#include <functional>
#include <vector>

#include "ir/machine.h"

namespace tileopt {

/// Rounds of one access by the lanes of a warp: `addresses` in bytes, by lane; `bytes` each, aligned. Lanes of wide accesses take turns; in one
/// turn a bank gives one word, to any number of lanes.
long count_bank_rounds(const std::vector<long>& addresses, long bytes, const Multiprocessor& multiprocessor);

/// One kind of access to a padded array: lane -> element for a given row length (padding included), and the elements of one access.
struct SharedAccess {
  std::function<long(long lane, long row)> element;
  long elements = 1;
  long times = 1;  ///< such accesses, beside one of the others
};

/// The padding, in elements, of rows of `row` elements with the fewest rounds, and one more for every access; the least one among equals. Wide accesses need rows of a whole
/// number of them, and are element by element where padding breaks that.
long choose_padding(const std::vector<SharedAccess>& accesses, long row, long element_bytes, const Multiprocessor& multiprocessor);

}  // namespace tileopt
