/// Loops that hold statements which never alternate are split, one for each group.
///   r > s > (O_init: cc ; O: cc)   ->   (O_init: cc ; O: r > s > cc)      where O_init runs before all of O
/// The order of execution stays what it is; conditions such as `if (r == 0 && s == 0)` leave the loops.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/plan.h"
#include "ir/program.h"

namespace tileopt {

/// `tree` over the digits of `table`, split as above. Loops over an index from memory stay whole: what is below one is run for
/// one value of it.
Tree distribute_loops(const Program& program, const std::map<std::string, StatementMembers>& members,
                      const std::vector<std::pair<std::string, std::vector<Digit>>>& table, const Tree& tree,
                      const std::vector<std::string>& statements);

}  // namespace tileopt
