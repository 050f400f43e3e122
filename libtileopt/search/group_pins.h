/// Which statements form a kernel: one kernel per top-level nest, unless fuse pins merge neighbours.
#pragma once

#include <vector>

#include "search/pins.h"

namespace tileopt {

/// Kernel plans that hold names and statements only, in launch order.
Candidate<std::vector<KernelPlan>> group_statements(const Program& program, const PinTable& pins);

}  // namespace tileopt
