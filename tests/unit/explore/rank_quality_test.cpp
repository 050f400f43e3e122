#include "explore/rank_quality.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tileopt {
namespace {

TEST(KendallTau, OfKnownOrders) {
  EXPECT_EQ(kendall_tau({{1, 10}, {2, 20}, {3, 30}}), 1);
  EXPECT_EQ(kendall_tau({{1, 30}, {2, 20}, {3, 10}}), -1);
  EXPECT_NEAR(kendall_tau({{1, 10}, {2, 30}, {3, 20}}), 1.0 / 3, 1e-12);
  EXPECT_EQ(kendall_tau({{1, 10}, {1, 20}}), 0) << "a model that sees no difference orders nothing";
  EXPECT_EQ(kendall_tau({}), 0);
  // Tau-b by hand: 4 pairs agree, 1 is tied in the prediction, 1 differs: (4 - 1) / sqrt(6 * 5).
  EXPECT_NEAR(kendall_tau({{1, 1}, {2, 3}, {2, 2}, {3, 2.5}}), (4 - 1) / std::sqrt(6.0 * 5.0), 1e-12);
}

TEST(RankQuality, TopOneAndTheFastestQuarter) {
  const RankQuality quality = rank_quality({{3, 1}, {1, 2}, {4, 4}, {5, 8}, {6, 16}, {7, 32}, {8, 64}, {9, 128}});
  EXPECT_EQ(quality.plans, 8u);
  EXPECT_EQ(quality.top_one, 0.5) << "the model's pick takes twice the least time";
  EXPECT_EQ(quality.tau_fastest, -1) << "of the two fastest the model prefers the slower one";
  EXPECT_NEAR(quality.tau, (27.0 - 1) / 28, 1e-12);
}

}  // namespace
}  // namespace tileopt
