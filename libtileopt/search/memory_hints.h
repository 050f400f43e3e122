/// Stores past the caches and fetches ahead: what the planner adds to atoms once loops and promotions are settled. Neither changes a result.
#pragma once

#include <map>
#include <string>

#include "search/plan_parts.h"

namespace tileopt {

/// stream: a tensor that nothing reads and that is larger than half of the last cache would only push out what is still needed, and be read
/// in before it is overwritten. prefetch: where several loops in a row read the same row, the first waits for memory and the others do not
/// use it: the last one fetches the row of the next iteration around them.
void add_memory_hints(const PlanRequest& request, const std::map<std::string, StatementView>& views, PlanPart& part);

/// Bytes of the elements that an access touches at the typical sizes.
double touched_bytes(const StatementView& view, const AccessView& access);
/// The access touches more than the last cache holds.
bool beyond_caches(const PlanRequest& request, const StatementView& view, const AccessView& access);
/// The tensor is an argument that no statement reads, and larger than half of the last cache.
bool worth_streaming(const PlanRequest& request, const StatementView& view);

}  // namespace tileopt
