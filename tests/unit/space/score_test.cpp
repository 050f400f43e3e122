/// Costs of points: footprints are isl's, no cost beats the roofline, and tens of thousands are found a second.
#include "space/score.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "cost_models/data_volume.h"
#include "space/plan_shape.h"
#include "tests/unit/space/space_case.h"

namespace tileopt {
namespace {

/// The smallest value of every iterator, and how many there are, with every size 64.
std::vector<std::pair<long, long>> iterator_ranges(const Statement& statement) {
  isl_set* domain = statement.domain.copy();
  const auto parameters = static_cast<unsigned>(isl_set_dim(domain, isl_dim_param));
  for (unsigned p = 0; p < parameters; ++p) domain = isl_set_fix_si(domain, isl_dim_param, p, 64);
  std::vector<std::pair<long, long>> ranges;
  for (std::size_t i = 0; i < statement.iterators.size(); ++i) {
    const isl::val low = isl::manage(isl_set_dim_min_val(isl_set_copy(domain), static_cast<int>(i)));
    const isl::val high = isl::manage(isl_set_dim_max_val(isl_set_copy(domain), static_cast<int>(i)));
    ranges.emplace_back(isl_val_get_num_si(low.get()), isl_val_get_num_si(high.get()) - isl_val_get_num_si(low.get()) + 1);
  }
  isl_set_free(domain);
  return ranges;
}

/// Elements along every subscript of what an access touches while the iterators run over boxes of `spans` values: isl's count.
std::vector<double> isl_extents(const Statement& statement, const Access& access,
                                const std::vector<std::pair<long, long>>& ranges, const std::vector<long>& spans) {
  isl_set* points = isl_set_universe(isl_set_get_space(statement.domain.get()));
  for (std::size_t i = 0; i < spans.size(); ++i) {
    points = isl_set_lower_bound_si(points, isl_dim_set, static_cast<unsigned>(i), static_cast<int>(ranges[i].first));
    points =
        isl_set_upper_bound_si(points, isl_dim_set, static_cast<unsigned>(i), static_cast<int>(ranges[i].first + spans[i] - 1));
  }
  const isl::map map = isl::manage(isl_map_from_pw_multi_aff(access.index.copy()));
  const isl::set image = isl::manage(isl_set_apply(points, map.copy()));
  std::vector<double> extents;
  const auto dims = static_cast<int>(isl_set_dim(image.get(), isl_dim_set));
  for (int d = 0; d < dims; ++d) {
    const isl::val high = isl::manage(isl_set_dim_max_val(image.copy(), d)),
                   low = isl::manage(isl_set_dim_min_val(image.copy(), d));
    extents.push_back(double(isl_val_get_num_si(high.get()) - isl_val_get_num_si(low.get()) + 1));
  }
  return extents;
}

TEST(Footprints, AreIslsAtFixedTiles) {
  std::mt19937 random(11);
  int compared = 0;
  for (const char* name : {"gemm", "conv2d", "dilated_conv2d", "depthwise_conv2d", "jacobi_2d", "transpose", "softmax"}) {
    const PlanCase c(kernel_file(name));
    for (const Statement& statement : c.program().statements()) {
      if (statement.iterators.empty()) continue;
      const StatementView view =
          view_statement(c.program(), statement.name, iterator_members(statement), complete_sizes(c.program(), {}));
      const auto ranges = iterator_ranges(statement);
      for (int round = 0; round < 4; ++round) {
        std::vector<long> spans;
        for (const auto& [low, values] : ranges) spans.push_back(1 + long(random()) % std::min(values, 17L));
        const std::vector<double> wide(spans.begin(), spans.end());
        for (std::size_t a = 0; a < view.accesses.size(); ++a) {
          if (!view.accesses[a].affine) continue;
          const Access& access = a == 0 ? statement.write : statement.reads[a - 1];
          const std::vector<double> expected = isl_extents(statement, access, ranges, spans);
          for (std::size_t d = 0; d < expected.size(); ++d) {
            ++compared;
            EXPECT_EQ(subscript_extent(view.accesses[a].coefficients[d], wide), expected[d])
                << name << ": " << statement.name << " reads " << access.tensor;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 150);
}

TEST(Score, NoCostBeatsTheRoofline) {
  for (const char* name : {"gemm", "transpose", "softmax"}) {
    const SpaceCase c(kernel_file(name), "zen4");
    PointScorer scorer(c.space(), c.machine(), 1);
    std::mt19937_64 random(3);
    for (int i = 0; i < 200; ++i) {
      const auto point = c.space().sample(random);
      ASSERT_TRUE(point);
      CostCounts counts;
      const Cost cost = scorer.score(*point, counts);
      const double peak = c.machine().frequency * c.machine().fma_per_cycle * 2 * c.machine().vector_bytes / 4;
      EXPECT_TRUE(std::isfinite(cost.seconds));
      if (counts.register_tile > 0) {
        EXPECT_GE(cost.seconds * 1.0001, counts.operations / peak) << name << ": " << c.space().text(*point);
      }
      for (const auto& [part, seconds] : breakdown(cost, scorer.memory_names()))
        EXPECT_GE(cost.seconds * 1.0001, seconds) << part;
    }
  }
}

TEST(Score, OrdersWhatIsPlain) {
  const SpaceCase c(kernel_file("gemm"), "zen4");
  PointScorer scorer(c.space(), c.machine(), 1);
  const Point planned = c.space().planned_points().front();
  const auto& choices = c.space().variants().front().choices;
  Point tiny = planned;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].name.find("in atom") != std::string::npos) tiny.values[i] = 0;
  }
  EXPECT_GT(scorer.seconds(tiny), 3 * scorer.seconds(planned)) << "a register tile of one row hides no latency";
  for (const Point& other : c.space().planned_points()) {
    if (other.variant > 0) {
      EXPECT_GT(scorer.seconds(other), 1.5 * scorer.seconds(planned)) << c.space().text(other);
    }
  }
}

// Fails only where scoring asks isl or allocates its way through: the figure itself is measured by `score --rate`.
TEST(Score, NeedsMicroseconds) {
  const SpaceCase c(kernel_file("gemm"), "zen4");
  PointScorer scorer(c.space(), c.machine(), 1);
  std::mt19937_64 random(1);
  std::vector<Point> points;
  for (int i = 0; i < 2000; ++i) points.push_back(*c.space().sample(random));
  double sum = 0;
  const auto start = std::chrono::steady_clock::now();
  for (const Point& point : points) sum += scorer.seconds(point);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GT(sum, 0);
  EXPECT_GT(double(points.size()) / seconds, 5000) << seconds;
  RecordProperty("points_per_second", std::to_string(double(points.size()) / seconds));
}

TEST(Features, AreNamedFiniteAndTellPlansApart) {
  const SpaceCase c(kernel_file("gemm"), "zen4");
  PointScorer scorer(c.space(), c.machine(), 1);
  const Point planned = c.space().planned_points().front();
  const PlanScore of_point = score_point(scorer, c.space(), planned, c.machine(), 1);
  const PlanScore of_plan = score_plan(c.program(), c.space().variants().front().planned, c.machine(), {}, 1);
  ASSERT_EQ(of_point.features.size(), of_plan.features.size());
  std::set<std::string> names;
  for (std::size_t f = 0; f < of_point.features.size(); ++f) {
    EXPECT_TRUE(names.insert(of_point.features[f].first).second) << of_point.features[f].first;
    EXPECT_EQ(of_point.features[f].first, of_plan.features[f].first);
    EXPECT_TRUE(std::isfinite(of_point.features[f].second));
    EXPECT_NEAR(of_point.features[f].second, of_plan.features[f].second, 0.3 + 0.05 * std::abs(of_plan.features[f].second))
        << of_point.features[f].first;
  }
  const Point near = c.space().neighbours(planned).front();
  EXPECT_NE(score_point(scorer, c.space(), near, c.machine(), 1).features, of_point.features);
}

}  // namespace
}  // namespace tileopt
