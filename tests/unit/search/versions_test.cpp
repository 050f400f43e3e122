// Facts about sizes, and their opposites.
#include <gtest/gtest.h>

#include "frontends/tile_text/tile_text.h"
#include "search/versions.h"

namespace tileopt::test {
namespace {

class SizeSplitTest : public ::testing::Test {
 protected:
  Program program(const std::string& known) {
    return parse_tile_file(context_.get(), "def copy(A: f32[M, N], B: out[f32[M, N]]):\n    assume(" + known + ")\n    for i, j in grid(M, N):\n        B[i, j] = A[i, j]\n", "test.tile").programs.at(0);
  }
  isl::pw_aff excess(const std::string& text) { return isl::pw_aff(context_.get(), text); }
  isl::set set(const std::string& text) { return isl::set(context_.get(), text); }
  poly::Context context_;
};

TEST_F(SizeSplitTest, OneFact) {
  const auto split = split_sizes(program("N >= 0"), {excess("[N] -> { [(N mod 8)] }")});
  ASSERT_TRUE(split.has_value());
  EXPECT_TRUE(set(split->holds).is_equal(set("[N] -> { : N mod 8 = 0 }"))) << split->holds;
  EXPECT_TRUE(set(split->fails).is_equal(set("[N] -> { : N mod 8 >= 1 }"))) << split->fails;
}

TEST_F(SizeSplitTest, SeveralFactsHoldTogetherAndTheOppositeIsOneConjunction) {
  const auto split = split_sizes(program("N >= 0"), {excess("[M] -> { [(M mod 8)] }"), excess("[N] -> { [(N mod 4)] }"), excess("[M] -> { [(M mod 8)] }")});
  ASSERT_TRUE(split.has_value());
  const isl::set holds = set("[M, N] -> { : M mod 8 = 0 and N mod 4 = 0 }");
  EXPECT_TRUE(set(split->holds).is_equal(holds)) << split->holds;
  EXPECT_TRUE(set(split->fails).is_equal(holds.complement())) << split->fails;
  EXPECT_EQ(isl_set_n_basic_set(set(split->fails).get()), 1) << split->fails;
}

TEST_F(SizeSplitTest, NoneWhereTheContextHasAnswered) {
  EXPECT_FALSE(split_sizes(program("N >= 0"), {}).has_value());
  EXPECT_FALSE(split_sizes(program("N % 16 == 0"), {excess("[N] -> { [(N mod 8)] }")}).has_value()) << "it always holds";
  EXPECT_FALSE(split_sizes(program("N % 8 == 1"), {excess("[N] -> { [(N mod 8)] }")}).has_value()) << "it never does";
}

TEST_F(SizeSplitTest, APlanAtSizesHasOneVersion) {
  const Program copy = program("N >= 0");
  Plan plan;
  KernelPlan a, b, c;
  a.name = "a", b.name = "b", c.name = "c";
  a.when = "[N] -> { : N mod 8 = 0 }", b.when = "[N] -> { : N mod 8 >= 1 }";
  plan.kernels = {a, b, c};
  const Plan whole = running_at(plan, copy, {{"M", 3}, {"N", 64}}), cut = running_at(plan, copy, {{"M", 3}, {"N", 65}});
  ASSERT_EQ(whole.kernels.size(), 2u);
  EXPECT_EQ(whole.kernels[0].name, "a");
  EXPECT_EQ(whole.kernels[1].name, "c");
  EXPECT_EQ(cut.kernels[0].name, "b");
}

}  // namespace
}  // namespace tileopt::test
