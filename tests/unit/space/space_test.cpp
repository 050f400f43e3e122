/// What a space answers, on spaces that are written by hand and small enough to be listed.
#include "space/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tileopt {
namespace {

Choice tile(const std::string& name, const std::vector<long>& numbers) {
  Choice choice{name, ChoiceKind::tile, {}, 0};
  for (const long number : numbers) choice.values.push_back({std::to_string(number), number, {}});
  return choice;
}

Choice order(const std::string& name) {
  Choice choice{name, ChoiceKind::order, {}, 0};
  for (const std::vector<int>& p : {std::vector<int>{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    choice.values.push_back({std::to_string(p[0]) + std::to_string(p[1]) + std::to_string(p[2]), 0, p});
  }
  return choice;
}

Variant variant(const std::string& name, std::vector<Choice> choices, std::vector<Constraint> constraints) {
  Variant result;
  result.name = name;
  for (const Choice& choice : choices) result.edits.emplace_back(choice.values.size());
  result.choices = std::move(choices);
  result.constraints = std::move(constraints);
  return result;
}

/// Three variants: tiles with a bound on their product and on a pair, beside an order that nothing restricts and a tile with a
/// bound of its own; a single point; a plain tile.
PlanSpace sample_space() {
  const auto number = [](std::size_t v) { return v + 1; };
  Constraint product{ConstraintKind::capacity, "product", "a x b <= 12", {0, 2}, [=](const auto& v) {
                       return number(v[0]) * number(v[2]) <= 12;
                     }};
  Constraint pair{ConstraintKind::size, "pair", "c <= b", {2, 3}, [=](const auto& v) { return v[3] <= v[2]; }};
  Constraint apart{ConstraintKind::legality, "apart", "d != 2", {4}, [=](const auto& v) { return v[4] != 1; }};
  return PlanSpace(
      "p",
      {variant("first",
               {tile("a", {1, 2, 3, 4, 5}), order("o"), tile("b", {1, 2, 3, 4}), tile("c", {1, 2, 3, 4}), tile("e", {1, 2, 3})},
               {product, pair, apart}),
       variant("second", {}, {}), variant("third", {tile("d", {8, 16, 32})}, {})},
      {});
}

std::vector<Point> brute_force(const PlanSpace& space) {
  std::vector<Point> points;
  for (std::size_t v = 0; v < space.variants().size(); ++v) {
    const auto& choices = space.variants()[v].choices;
    std::size_t total = 1;
    for (const Choice& choice : choices) total *= choice.values.size();
    for (std::size_t n = 0; n < total; ++n) {
      Point point{v, std::vector<std::size_t>(choices.size())};
      std::size_t rest = n;
      for (std::size_t c = choices.size(); c-- > 0; rest /= choices[c].values.size())
        point.values[c] = rest % choices[c].values.size();
      const auto& constraints = space.variants()[v].constraints;
      if (std::all_of(constraints.begin(), constraints.end(), [&](const Constraint& k) { return k.allows(point.values); }))
        points.push_back(std::move(point));
    }
  }
  return points;
}

TEST(PlanSpace, CountsWhatItEnumerates) {
  const PlanSpace space = sample_space();
  const std::vector<Point> expected = brute_force(space);
  std::vector<Point> listed;
  for (auto point = space.first(); point; point = space.next(*point)) listed.push_back(*point);
  EXPECT_EQ(listed, expected);
  EXPECT_TRUE(std::is_sorted(listed.begin(), listed.end()));
  const SpaceCount count = space.count();
  EXPECT_TRUE(count.exact);
  EXPECT_EQ(count.points, double(expected.size()));
  EXPECT_EQ(count.raw, 5 * 6 * 4 * 4 * 3 + 1 + 3);
  double pruned = 0;
  for (const auto& [title, points] : count.pruned) pruned += points;
  EXPECT_EQ(pruned, count.raw - count.points) << "every point that is left out has one reason";
  EXPECT_EQ(count.pruned.count("capacity: product"), 1u);
  EXPECT_EQ(count.pruned.count("size: pair"), 1u);
}

TEST(PlanSpace, ABoundIsSaidToBeOne) {
  const SpaceCount count = sample_space().count(10);
  EXPECT_FALSE(count.exact);
  EXPECT_GE(count.points, double(brute_force(sample_space()).size()));
}

TEST(PlanSpace, NeighboursDifferInOneStepAndAreMutual) {
  const PlanSpace space = sample_space();
  int edges = 0;
  for (const Point& point : brute_force(space)) {
    const std::vector<Point> near = space.neighbours(point);
    EXPECT_EQ(std::set<Point>(near.begin(), near.end()).size(), near.size());
    for (const Point& other : near) {
      ++edges;
      EXPECT_EQ(space.violated(other), nullptr);
      EXPECT_EQ(other.variant, point.variant);
      int different = 0;
      for (std::size_t c = 0; c < point.values.size(); ++c) different += point.values[c] != other.values[c] ? 1 : 0;
      EXPECT_EQ(different, 1);
      const std::vector<Point> back = space.neighbours(other);
      EXPECT_NE(std::find(back.begin(), back.end(), point), back.end()) << space.text(point) << " and " << space.text(other);
    }
  }
  EXPECT_GT(edges, 1000);
}

TEST(PlanSpace, OrdersStepByOneExchange) {
  const Choice choice = order("o");
  for (std::size_t v = 0; v < choice.values.size(); ++v) EXPECT_EQ(near_values(choice, v).size(), 2u);
  EXPECT_EQ(near_values(tile("t", {1, 2, 3}), 0), (std::vector<std::size_t>{1}));
  EXPECT_EQ(near_values(tile("t", {1, 2, 3}), 1), (std::vector<std::size_t>{0, 2}));
}

// 20,000 draws over n points: the statistic has mean n - 1 and variance 2 (n - 1); five deviations are allowed.
TEST(PlanSpace, SamplesAreUniform) {
  const PlanSpace space = sample_space();
  const std::vector<Point> all = brute_force(space);
  std::map<Point, int> seen;
  std::mt19937_64 random(7);
  const int draws = 20000;
  for (int i = 0; i < draws; ++i) {
    const auto point = space.sample(random);
    ASSERT_TRUE(point);
    ASSERT_EQ(space.violated(*point), nullptr);
    ++seen[*point];
  }
  const double expected = double(draws) / double(all.size());
  double statistic = 0;
  for (const Point& point : all) statistic += (seen[point] - expected) * (seen[point] - expected) / expected;
  const double freedom = double(all.size()) - 1;
  EXPECT_LT(std::abs(statistic - freedom), 5 * std::sqrt(2 * freedom))
      << statistic << " for " << freedom << " degrees of freedom";
}

TEST(PlanSpace, SamplesFollowTheSeed) {
  const PlanSpace space = sample_space();
  std::mt19937_64 a(3), b(3), c(4);
  std::vector<Point> first, second, third;
  for (int i = 0; i < 50; ++i) {
    first.push_back(*space.sample(a));
    second.push_back(*space.sample(b));
    third.push_back(*space.sample(c));
  }
  EXPECT_EQ(first, second);
  EXPECT_NE(first, third);
}

TEST(PlanSpace, AnEmptySpaceHasNoPoints) {
  const Constraint never{ConstraintKind::machine, "never", "nothing fits", {0}, [](const auto&) { return false; }};
  const PlanSpace space("p", {variant("none", {tile("a", {1, 2})}, {never})}, {});
  std::mt19937_64 random(1);
  EXPECT_EQ(space.count().points, 0);
  EXPECT_EQ(space.first(), std::nullopt);
  EXPECT_EQ(space.sample(random), std::nullopt);
  EXPECT_EQ(space.violated({0, {1}})->reason, "nothing fits");
}

TEST(PlanSpace, KeysTellPointsApart) {
  const PlanSpace space = sample_space();
  std::set<std::string> keys;
  for (const Point& point : brute_force(space)) keys.insert(space.key(point));
  EXPECT_EQ(keys.size(), brute_force(space).size());
}

}  // namespace
}  // namespace tileopt
