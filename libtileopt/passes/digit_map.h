/// The map between digits and members that digitize is about; planning asks it the same questions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/plan.h"
#include "poly/isl.h"

namespace tileopt {

/// { S[d0, d1, ...] -> [m0, m1, ...] }, every member the weighted sum of its digits, with the radix bounds of every digit.
/// `table`: member -> digits, most significant first; `dims` receives the names of d0, d1, ...
isl::map digits_to_members(isl::ctx ctx, const std::string& statement, const std::vector<std::string>& members,
                           const std::vector<std::pair<std::string, std::vector<Digit>>>& table, std::vector<std::string>& dims);

}  // namespace tileopt
