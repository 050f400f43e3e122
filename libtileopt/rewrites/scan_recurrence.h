/// The recurrence that `scan` leaves, as the rewrites that cut it into blocks see it.
#pragma once

#include <string>
#include <vector>

#include "rewrites/rewrite.h"

namespace tileopt {

struct ScanRecurrence {
  const Statement* carry;          ///< y[.., i, ..] = y[.., i - 1, ..]
  std::size_t along;               ///< position of i among its iterators
  std::vector<std::string> group;  ///< all statements that write y
};

/// The recurrence in which `statement` adds the terms. Refused: other writers or readers in its loop, more than one term a step, what data
/// decides, a loop with values below 0, a regrouping that the numerics forbid.
Candidate<ScanRecurrence> find_scan_recurrence(const Program& program, const Rewriting& rewriting, const Statement& statement);

}  // namespace tileopt
