/// Products of matrices by atoms that agents run together (wgmma): tiles of both factors in memory of the block, laid out as the
/// instruction finds them and copied ahead; the result in the agents' registers; what is made of the result at once, by way of the block's memory.
#pragma once

#include <string>
#include <vector>

#include "search/contraction.h"

namespace tileopt {

/// The statement of the kernel that alone reads the result, element by element, and makes an element of another tensor of each; "" = none.
std::string find_epilogue(const PlanRequest& request, const Contraction& contraction);

/// Their instances have the same loops, their results lie alike: where one epilogue takes both, one tile computes both.
bool run_alike(const Program& program, const Contraction& first, const Contraction& second);

/// Options, best first; empty (with the reason) where the machine has no such atom for the factors, or no part of the problem is large enough.
/// The part holds the products (of which any two run_alike), their initialisations and their epilogue: what find_epilogue has found for each.
/// `wanted`: facts about the sizes that would give an option where there is none (PlanPart::excess).
std::vector<PartOption> plan_collective(const PlanRequest& request, const std::vector<Contraction>& products, const std::string& epilogue, std::string& why_not, std::vector<isl::pw_aff>& wanted);

}  // namespace tileopt
