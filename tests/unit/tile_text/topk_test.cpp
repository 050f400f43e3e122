/// `best: tuple[T, I][K] = topk(...)`: the definition, by sorting.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontends/tile_text/tile_text.h"
#include "interpreter/interpreter.h"

namespace tileopt {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

class Topk : public ::testing::Test {
 protected:
  Program parse(const std::string& text) { return parse_tile_file(context_.get(), text, "test.tile").programs.front(); }

  std::string search(const std::string& type, const std::string& index, const std::string& range, const std::string& condition = "") {
    return "def f(X: " + type + "[N], V: out[" + type + "[K]], I: out[" + index + "[K]]):\n    best: tuple[" + type + ", " + index +
           "][K] = topk(X[j] for j in " + range + condition + ")\n    for t in range(K):\n        V[t] = best[t][0]\n        I[t] = best[t][1]\n";
  }

  /// `order`: the iterator's values in the order in which the loop meets them.
  void expect_sorted(const Program& p, const std::vector<double>& x, const std::vector<std::int64_t>& order, std::int64_t kept, double least) {
    const Sizes sizes = {{"N", static_cast<std::int64_t>(x.size())}, {"K", kept}};
    Arrays arguments = make_arguments(p, sizes, 1, Fill::uniform);
    for (std::size_t i = 0; i < x.size(); ++i) arguments.at("X").set(static_cast<std::int64_t>(i), x[i]);
    const InterpreterResult result = interpret(p, sizes, arguments);
    std::vector<std::int64_t> expected = order;
    const auto value = [&](std::int64_t j) { return x[static_cast<std::size_t>(j)]; };
    std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
      return !std::isnan(value(b)) && (std::isnan(value(a)) || value(a) > value(b));
    });
    for (std::int64_t t = 0; t < kept; ++t) {
      const bool found = t < static_cast<std::int64_t>(expected.size());
      EXPECT_EQ(result.values.at("I").get_integer(t), found ? expected[static_cast<std::size_t>(t)] : -1) << "at " << t << " of " << kept;
      const double got = result.values.at("V").get(t), wanted = found ? value(expected[static_cast<std::size_t>(t)]) : least;
      EXPECT_TRUE(got == wanted || (std::isnan(got) && std::isnan(wanted))) << got << " is not " << wanted;
    }
  }

  poly::Context context_;
};

TEST_F(Topk, TiesInfinitiesAndNansAscendAndDescend) {
  const std::vector<double> x = {3, -inf, 3, nan, 7, -inf, nan, inf, 7};
  const Program ascending = parse(search("f32", "i64", "range(N)")), descending = parse(search("f16", "i32", "range(N - 1, -1, -1)"));
  for (const std::int64_t kept : {0, 1, 4, 9, 12}) {
    expect_sorted(ascending, x, {0, 1, 2, 3, 4, 5, 6, 7, 8}, kept, -inf);
    expect_sorted(descending, x, {8, 7, 6, 5, 4, 3, 2, 1, 0}, kept, -inf);
  }
  expect_sorted(ascending, {}, {}, 3, -inf);
}

TEST_F(Topk, IntegersHoldTheirLeastValueWhereNothingIsLeft) {
  expect_sorted(parse(search("i8", "i32", "range(N)")), {-128, 5, 5, -128}, {0, 1, 2, 3}, 6, -128);
  expect_sorted(parse(search("u8", "i64", "range(N)")), {0, 200, 0}, {0, 1, 2}, 4, 0);
}

TEST_F(Topk, PartsOfARange) {
  expect_sorted(parse(search("f32", "i64", "range(1, N, 2)")), {9, 1, 8, 5, 7}, {1, 3}, 3, -inf);
  expect_sorted(parse(search("f32", "i64", "range(N)", " if j != 2")), {1, 2, 9, 4}, {0, 1, 3}, 4, -inf);
  expect_sorted(parse(search("f32", "i64", "range(N)", " if X[j] < 5")), {1, 2, 9, 4}, {0, 1, 3}, 4, -inf);
  expect_sorted(parse(search("f64", "i32", "range(N - 1, 0, -2)")), {9, 5, 8, 5, 7}, {4, 2}, 5, -inf);
}

TEST_F(Topk, BecomesOneSearchForEachRank) {
  const Program p = parse(
      "def f(X: f32[R, N], V: out[f32[R, 2]]):\n    for r in range(R):\n        best: tuple[f32, i64][2] = topk(X[r, j] for j in range(N))\n"
      "        for t in range(2):\n            V[r, t] = best[t][0]\n");
  EXPECT_EQ(p.order().write(), "r > (best_topk1_init, best_topk1, best: best_rank > (best_topk1_init ; best_topk1: j ; best) ; V: t)");
}

}  // namespace
}  // namespace tileopt
