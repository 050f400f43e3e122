/// The analytic cost of points and Plans, from coefficients that are made once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cost_models/shape_cost.h"
#include "search/statement_view.h"
#include "space/space.h"

namespace tileopt {

/// Scores points of one space without making their Plans: tens of thousands a second. Not for several threads at once.
class PointScorer {
 public:
  /// Referenced objects outlive the scorer.
  PointScorer(const PlanSpace& space, const Machine& machine, int threads);

  Cost score(const Point& point);
  double seconds(const Point& point) { return score(point).seconds; }
  /// The counts that features are made of, over all kernels.
  Cost score(const Point& point, CostCounts& counts);
  const std::vector<std::string>& memory_names() const { return model_.memory_names(); }

 private:
  void apply(const Point& point);
  Cost evaluate(std::size_t variant, CostCounts* counts);

  const PlanSpace& space_;
  ShapeCostModel model_;
  std::vector<std::vector<KernelShape>> shapes_;  ///< by variant; edited in place
};

/// Version of the names and meanings of features.
inline constexpr int features_version = 1;

/// Named numbers about a Plan, in a fixed order: logarithms of counts, ratios, and the parts of its cost (docs/search.md).
using Features = std::vector<std::pair<std::string, double>>;
Features features_of(const Cost& cost, const CostCounts& counts, const std::vector<KernelShape>& shapes, const Machine& machine,
                     int threads);

struct PlanScore {
  Cost cost;
  Features features;
};
/// The same for a resolved Plan of `program`. @throws Errors(invalid_plan).
PlanScore score_plan(const Program& program, const Plan& plan, const Machine& machine, const TypicalSizes& sizes, int threads);

/// Features of a point.
PlanScore score_point(PointScorer& scorer, const PlanSpace& space, const Point& point, const Machine& machine, int threads);

}  // namespace tileopt
