/// Which tensors of a loop nest deserve nearer storage: accumulators go to registers, locals that live inside one scope shrink to it.
#pragma once

#include <map>
#include <string>

#include "search/plan_parts.h"

namespace tileopt {

/// Adds promotions to `part`, outer scopes first. `views` are over the members before renaming, in the order of part.members.
void add_generic_promotions(const PlanRequest& request, const std::map<std::string, StatementView>& views, PlanPart& part, NameTable& names);

/// Gathers the result of `statement` in a stack tile below the band `after`.
void add_staged_result(const PlanRequest& request, const std::string& statement, const std::string& after, PlanPart& part, NameTable& names);

/// Bands and sequence branches ("#0", "#1", ...) from the root to a statement.
std::vector<std::string> path_steps(const Tree& tree, const std::string& statement);

}  // namespace tileopt
