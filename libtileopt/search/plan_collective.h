/// Products of matrices by atoms that agents run together (wgmma): tiles of both factors in memory of the block, laid out as the
/// instruction finds them and copied ahead; the result in the agents' registers; what is made of the result at once, by way of the block's memory.
#pragma once

#include <string>
#include <vector>

#include "search/contraction.h"

namespace tileopt {

/// The statement of the kernel that alone reads the result, element by element, and makes an element of another tensor of each; "" = none.
std::string find_epilogue(const PlanRequest& request, const Contraction& contraction);

/// Options, best first; empty (with the reason) where the machine has no such atom for the factors, or no part of the problem is large enough.
/// The part holds the statement, its initialisation and its epilogue: what find_epilogue has found.
std::vector<PartOption> plan_collective(const PlanRequest& request, const Contraction& contraction, const std::string& epilogue, std::string& why_not);

}  // namespace tileopt
