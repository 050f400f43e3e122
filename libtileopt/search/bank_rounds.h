/// The padding of rows of shared memory for which its banks are asked least often for what the threads of a warp touch at once.
#pragma once

#include <functional>
#include <vector>

#include "cost_models/lane_access.h"
#include "ir/machine.h"

namespace tileopt {

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
