/// How well a cost model orders Plans, against times that were measured.
#pragma once

#include <vector>

namespace tileopt {

struct Prediction {
  double predicted = 0, measured = 0;  ///< seconds
};

struct RankQuality {
  std::size_t plans = 0;
  double tau = 0;          ///< Kendall's tau-b over all Plans: 1 the same order, 0 none, -1 the opposite
  double tau_fastest = 0;  ///< within the quarter that was measured fastest
  double top_one = 0;  ///< time of the fastest over the time of the one with the least cost: 1 where the model picks the best
};

/// 0 where there are fewer than two values, or all of one side are equal. O(n^2).
double kendall_tau(const std::vector<Prediction>& predictions);
RankQuality rank_quality(std::vector<Prediction> predictions);

}  // namespace tileopt
