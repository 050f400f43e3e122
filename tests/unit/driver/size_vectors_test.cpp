#include "driver/size_vectors.h"

#include <gtest/gtest.h>

#include <set>

#include "frontends/tile_text/tile_text.h"

namespace tileopt {
namespace {

class SizeVectors : public ::testing::Test {
 protected:
  Program parse(const std::string& text) { return parse_tile_file(context_.get(), text, "test.tile").programs.at(0); }
  poly::Context context_;
};

const char* const gemm = R"(def gemm(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))
)";

TEST_F(SizeVectors, EveryParameterTakesEveryValueThatFits) {
  const Program program = parse(gemm);
  const SizeSpread spread{{0, 1, 2, 3, 7, 31, 33, 64, 100}};
  const std::vector<Sizes> vectors = spread_sizes(program, spread);
  std::map<std::string, std::set<std::int64_t>> seen;
  bool unequal = false;
  for (const Sizes& sizes : vectors) {
    EXPECT_TRUE(sizes_fit(program, sizes, spread));
    for (const auto& [name, value] : sizes) seen[name].insert(value);
    unequal |= sizes.at("M") != sizes.at("N") && sizes.at("N") != sizes.at("K") && sizes.at("M") != sizes.at("K");
  }
  EXPECT_TRUE(unequal);
  EXPECT_LE(vectors.size(), 24u);
  for (const char* name : {"M", "N", "K"}) EXPECT_EQ(seen[name].size(), 9u) << name;
}

TEST_F(SizeVectors, LargeValuesShrinkTheOtherParameters) {
  const Program program = parse(gemm);
  const SizeSpread spread{{0, 1, 2, 3, 7, 8, 16, 31, 32, 33, 64, 100, 104, 127, 128, 129, 250, 1000, 1024}};
  std::set<std::int64_t> values;
  const std::vector<Sizes> vectors = spread_sizes(program, spread);
  EXPECT_LE(vectors.size(), 24u);
  for (const Sizes& sizes : vectors) {
    EXPECT_LE(sizes.at("M") * sizes.at("N") * (sizes.at("K") + 1), std::int64_t(1) << 22) << sizes_text(sizes);
    for (const auto& [name, value] : sizes) values.insert(value);
  }
  EXPECT_EQ(values.size(), spread.values.size());
}

TEST_F(SizeVectors, AssumptionsHold) {
  const Program program = parse("def f(A: f32[N], B: out[f32[N]]):\n    assume(N >= 5)\n    for i in range(N):\n        B[i] = A[i]\n");
  for (const Sizes& sizes : spread_sizes(program, {{0, 1, 7, 33}})) EXPECT_GE(sizes.at("N"), 5);
}

TEST_F(SizeVectors, ProgramsWithoutSizesRunOnce) {
  const Program program = parse("def f(A: f32[4], B: out[f32[4]]):\n    for i in range(4):\n        B[i] = A[i]\n");
  EXPECT_EQ(spread_sizes(program, {{0, 1}}).size(), 1u);
}

TEST_F(SizeVectors, TextNamesEverySize) { EXPECT_EQ(sizes_text({{"M", 3}, {"N", 0}}), "M=3, N=0"); }

}  // namespace
}  // namespace tileopt
