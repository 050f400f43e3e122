/// Padding points that change nothing: sums to which they add a product of zeros.
#pragma once

#include "verify/last_writers.h"

namespace tileopt::proof {

/// The write stays in place along some digit of the box: one run of the leaf sums several points into an element.
bool sums_in_box(const Leaf& leaf);

/// { L[v, b] } padding points of leaf number `leaf` whose update leaves the element as it is: a sum of products of two reads, one of which
/// (integers) or both of which (floats, where @numerics grants reassociation, so that a zero may be added anywhere) read what a copy's zero
/// fill wrote. Of elements alone that hold a sum of the Program. Looks through one copy only: what it does not see through is not neutral.
isl::set neutral_points(const Execution& execution, LastWriters& writers, std::size_t leaf);

}  // namespace tileopt::proof
