/// Runs the agents of a kernel at concrete sizes, event by event: threads, barriers with phases and bytes, engines that finish
/// some time after they were told to start. No isl, no code of the checker: barriers have one parity bit, slots are storage,
/// and who is ordered after whom is kept by vector clocks. What goes wrong in one schedule is found in (nearly) every other one
/// too, since clocks see what is *not ordered*, not what happens to collide.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>

#include "ir/ast.h"
#include "ir/machine.h"

namespace tileopt::test {

/// Order in which whoever can go on does.
enum class Schedule { random, engines_first, engines_last, first_thread_first, last_thread_first };

struct EventFault {
  std::string kind;  ///< "race", "deadlock", "barrier", "never awaited", "endless"
  std::string text;
};

/// One block runs all iterations of the loops around roles, in order. Nothing: no fault in this schedule.
std::optional<EventFault> simulate_events(const Ast& ast, const Machine& machine, const std::map<std::string, long>& sizes,
                                          Schedule schedule, std::mt19937_64& random);

}  // namespace tileopt::test
