/// Spaces, points and costs for people and for --json.
#pragma once

#include <string>

#include "explore/rank_quality.h"
#include "frontends/cli/items.h"
#include "space/score.h"

namespace tileopt::cli {

/// "12.30", with so many digits behind the point
std::string fixed(double value, int digits);
/// "1,234,567"; from 10^15 on "1.2e+15".
std::string count_text(double count);
/// "12.30 ms"
std::string milliseconds_text(double seconds);
/// "12.3 ms: compute 80 %, L2 12 %, ..., bound by compute"
std::string cost_text(const Cost& cost, const std::vector<std::string>& memories);

Document cost_document(const Cost& cost, const std::vector<std::string>& memories);
Document features_document(const Features& features);
Document quality_document(const RankQuality& quality);
/// The decisions of a point, its pins as text, and its cost.
Document point_document(const PlanSpace& space, const Point& point, double seconds);
/// Choices, constraints, what is left out, structures that were refused, counts.
Document space_document(const PlanSpace& space, const SpaceCount& count);
std::string space_text(const PlanSpace& space, const SpaceCount& count);

/// Pins of a point that are not in the given ones, one call each: `tile("serial", "C.i", 64)`.
std::vector<std::string> pin_calls(const PlanSpace& space, const Point& point);

/// Where one of several programs writes: `path` itself for a single one, else a file `NAME.extension` in the folder `path`.
std::string output_for(const Item& item, const std::string& path, const std::string& extension);

}  // namespace tileopt::cli
