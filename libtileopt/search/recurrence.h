/// How long an instance waits for the one before it.
#pragma once

#include "ir/program.h"

namespace tileopt {

/// Operations, one after the other, from an element that another instance of the statement wrote at a fixed distance to the value that it
/// writes itself: along the longest such chain. Unit: the latency of an operation on floats; one on integers counts a quarter of it, a call of
/// a function twenty. 0 where nothing is read so, and for reductions, whose order is free.
double recurrence_operations(const Statement& statement);

}  // namespace tileopt
