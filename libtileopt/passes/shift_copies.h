/// Loops whose copies run ahead, from loops in the order of one iteration:
///
///   for (kb) allocate(A, B) { fetch_A(kb); copy_A(kb); copy_B(kb); C(kb) }
///   ->
///   allocate(A, B; kb_ring) {
///     for (a = 0 .. d - 1) { if (a <= last) { fetch_A(a); copy_A(a); copy_B(a) } commit }
///     for (kb <= w) {                                                    what is whole: without a test
///       await(kb); meet
///       fetch_A(kb + d); copy_B(kb + d); commit                           copies of iteration kb + d, into the slot of iteration kb - 1,
///       C(kb)                                                             which all have left when they meet
///       copy_A(kb + d)                                                    what was fetched into registers
///     }
///     for (kb > w) { the same behind tests: what is cut, and the last d, which have nothing to copy }
///   }
#pragma once

#include <optional>
#include <set>
#include <string>

#include "ir/ast.h"
#include "ir/stages.h"

namespace tileopt {

/// Shifts the copies of all pipelines, and places what awaits and joins them. Before agents get their barriers. `whole`: texts of the conditions of
/// branches whose two sides do the same, the first one for blocks that are whole.
std::optional<Infeasible> shift_copies(const SynchronizedSchedule& synchronized, const std::set<std::string>& whole, Ast& ast);

}  // namespace tileopt
