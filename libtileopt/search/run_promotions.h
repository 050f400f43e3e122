/// What a thread reads element by element, where it lies side by side: loaded at once.
#pragma once

#include <map>
#include <string>

#include "search/plan_parts.h"

namespace tileopt {

/// Adds promotions to `part`: arguments of which the innermost loop of a statement without an atom reads a short run, as long as the machine's
/// widest access and starting at multiples of it, are copied into the thread's own memory before that loop.
void add_run_promotions(const PlanRequest& request, const std::map<std::string, StatementView>& views, PlanPart& part, NameTable& names);

}  // namespace tileopt
