#include "explore/rank_quality.h"

#include <algorithm>
#include <cmath>

namespace tileopt {

double kendall_tau(const std::vector<Prediction>& predictions) {
  double agree = 0, differ = 0, only_predicted = 0, only_measured = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    for (std::size_t j = i + 1; j < predictions.size(); ++j) {
      const double p = predictions[i].predicted - predictions[j].predicted,
                   m = predictions[i].measured - predictions[j].measured;
      if (p == 0 && m == 0) continue;
      if (p == 0)
        only_measured += 1;
      else if (m == 0)
        only_predicted += 1;
      else
        (p > 0) == (m > 0) ? agree += 1 : differ += 1;
    }
  }
  const double norm = std::sqrt((agree + differ + only_predicted) * (agree + differ + only_measured));
  return norm > 0 ? (agree - differ) / norm : 0;
}

RankQuality rank_quality(std::vector<Prediction> predictions) {
  RankQuality quality;
  quality.plans = predictions.size();
  if (predictions.empty()) return quality;
  quality.tau = kendall_tau(predictions);
  const auto picked = std::min_element(predictions.begin(), predictions.end(),
                                       [](const Prediction& a, const Prediction& b) { return a.predicted < b.predicted; });
  const double time_of_picked = picked->measured;
  std::sort(predictions.begin(), predictions.end(),
            [](const Prediction& a, const Prediction& b) { return a.measured < b.measured; });
  quality.top_one = time_of_picked > 0 ? predictions.front().measured / time_of_picked : 0;
  predictions.resize((predictions.size() + 3) / 4);
  quality.tau_fastest = kendall_tau(predictions);
  return quality;
}

}  // namespace tileopt
