/// How a search walks a space: which points to try next, given how the ones before did.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "space/score.h"

namespace tileopt {

/// "random", "beam", "evolutionary".
const std::vector<std::string>& strategy_names();

/// Proposes points that it has not proposed before. All that it does follows from its seed and from what it is told: the same
/// answers, the same proposals.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Up to `count` points; none: it knows of no other.
  virtual std::vector<Point> propose(std::size_t count) = 0;
  /// How a proposed point did. Nothing: it has no Plan, or its kernel failed.
  virtual void learn(const Point& point, std::optional<double> seconds) = 0;
};

/// The planner's own point comes first, whatever the strategy. `scorer` and `space` outlive it.
/// - random: uniform over the space.
/// - beam: the neighbours of the best points, those first that the analytic cost expects most of.
/// - evolutionary: descendants of good points by steps, jumps and crossing, thinned out by the analytic cost; one in four is
/// spared that.
std::unique_ptr<Strategy> make_strategy(const std::string& name, const PlanSpace& space, PointScorer& scorer,
                                        std::uint64_t seed);

}  // namespace tileopt
