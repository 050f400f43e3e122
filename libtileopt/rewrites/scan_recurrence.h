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

/// The steps of a recurrence whose innermost loop is i.
struct ScanSteps {
  const Statement* start;      ///< y[.., i] = a value that does not move with i, before any term
  isl::set terms, elements;    ///< { [outer, i] }: steps that add a term, which is that of the recurrence's statement; all of them
};

/// Refused: several starts, terms before a start, a first step that adds other terms than the others do.
Candidate<ScanSteps> find_scan_steps(const Program& program, const Rewriting& rewriting, const Statement& statement, const ScanRecurrence& recurrence);

/// [params] -> { [(one more than the largest value of a dimension)] }; 0 where there is none.
isl::pw_aff scan_extent(const isl::set& set, std::size_t dimension);

/// { [iterators] -> tensor }: an access of a statement of the recurrence, also where the statement does not run.
isl::pw_multi_aff scan_access(const Program& program, const Statement& statement, const Access& access);

}  // namespace tileopt
