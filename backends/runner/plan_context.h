/// From a printed line of a GPU kernel back to what was planned: the kernel of the Plan, and the leaf that the line is of.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"

namespace tileopt {

/// `kernel`: printed name, "tileopt_kernel_<position>_<launch>_<name>"; `line`: the printed line. "kernels[2] of the Plan, statement C",
/// without the statement where the line assigns to no leaf's array; "" where the kernel's name is another one.
std::string plan_context(const std::string& kernel, const std::string& line, const std::vector<PrintFacts>& facts);

}  // namespace tileopt
