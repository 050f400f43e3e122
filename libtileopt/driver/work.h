/// How much a program has to do at given sizes, for rates in tables.
#pragma once

#include <string>

#include "interpreter/host_array.h"
#include "ir/program.h"

namespace tileopt {

/// All zero where data decides which instances have an effect: then only the data knows.
struct Work {
  double operations = 0;  ///< arithmetic operations of all instances; a call counts as one
  double bytes = 0;       ///< arguments read and written once each
};
Work count_work(const Program& program, const Sizes& sizes);

/// "103.2 GFLOP/s" where arithmetic dominates, "17.4 GB/s" where moving the arguments does.
std::string rate_text(const Work& work, double seconds);

}  // namespace tileopt
