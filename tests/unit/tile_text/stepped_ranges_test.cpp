// Ranges with a step become iterations counted from 0.
#include <gtest/gtest.h>

#include "frontends/tile_text/tile_text.h"

namespace tileopt {
namespace {

class SteppedRanges : public ::testing::Test {
 protected:
  Program lower(const std::string& text) { return parse_tile_file(context_.get(), text, "test.tile").programs.front(); }
  void expect_domain(const Program& p, const std::string& statement, const std::string& text) {
    const isl::set domain = p.statement(statement).domain;
    EXPECT_TRUE(domain.is_equal(isl::set(context_.get(), text))) << domain;
  }
  void expect_write(const Program& p, const std::string& statement, const std::string& text) {
    const isl::map write = p.statement(statement).write.index.as_map();
    EXPECT_TRUE(write.is_equal(isl::map(context_.get(), text))) << write;
  }
  poly::Context context_;
};

TEST_F(SteppedRanges, StridesAreDividedOut) {
  const Program p = lower(
      "def f(B: inout[f32[N + 3]]):\n"
      "    for i in range(2, N, 3):\n"
      "        B[i + 1] = 0\n");
  expect_domain(p, "B", "[N] -> { B[i] : 0 <= i and 2 + 3i < N }");
  expect_write(p, "B", "[N] -> { B[i] -> B[3 + 3i] : 0 <= i and 2 + 3i < N }");
}

TEST_F(SteppedRanges, DescentsCountUp) {
  const Program p = lower(
      "def f(B: inout[f32[N]]):\n"
      "    for i in range(N - 1, -1, -2):\n"
      "        B[i] = 0\n");
  expect_domain(p, "B", "[N] -> { B[i] : 0 <= i and N - 1 - 2i > -1 }");
  expect_write(p, "B", "[N] -> { B[i] -> B[N - 1 - 2i] : 0 <= i and 2i < N }");
  EXPECT_EQ(p.order().write(), "i");
}

TEST_F(SteppedRanges, ValuesAreThoseOfThePythonLoop) {
  const Program p = lower(
      "def f(B: inout[i64[N]]):\n"
      "    for i in range(0, N, 4):\n"
      "        for j in range(i + 3, i - 1, -1):\n"
      "            if j < N and j % 2 == 0:\n"
      "                B[j] = i + 10 * j\n");
  expect_domain(p, "B", "[N] -> { B[i, j] : 0 <= i and 4i < N and 0 <= j <= 3 and 4i + 3 - j < N and (3 - j) mod 2 = 0 }");
  const isl::map value = p.statement("B").indices.at(0).as_map();
  EXPECT_TRUE(value.is_subset(isl::map(context_.get(), "[N] -> { B[i, j] -> [44i + 30 - 10j] }"))) << value;
}

TEST_F(SteppedRanges, OfOneAndEmptyOnes) {
  const Program p = lower(
      "def f(B: inout[f32[N]], S: out[f32]):\n"
      "    for i in range(0, N, 1):\n"
      "        B[i] = 0\n"
      "    S = sum(B[i] for i in range(0, N, -1))\n");
  expect_domain(p, "B", "[N] -> { B[i] : 0 <= i < N }");
  EXPECT_FALSE(p.has_statement("S"));
  EXPECT_TRUE(p.has_statement("S_init"));
}

TEST_F(SteppedRanges, BoundsFromMemory) {
  const Program p = lower(
      "def f(start: i32[R + 1], v: f32[Z], y: out[f32[R]]):\n"
      "    assume(0 <= start[:] <= Z)\n"
      "    for r in range(R):\n"
      "        y[r] = sum(v[k] for k in range(start[r], start[r + 1], 2))\n");
  expect_domain(p, "y", "[R, Z] -> { y[r, a, b, k] : 0 <= r < R and 0 <= a <= Z and 0 <= b <= Z and 0 <= k and a + 2k < b }");
}

TEST_F(SteppedRanges, LocalsInsideHaveOneElementForEachIteration) {
  const Program p = lower(
      "def f(A: f32[N], B: inout[f32[N]]):\n"
      "    for i in range(N - 1, -1, -1):\n"
      "        t: f32 = A[i]\n"
      "        B[i] = t * t\n");
  const isl::set elements = p.tensor("t").elements(context_.get()).intersect_params(p.context());
  EXPECT_TRUE(elements.is_equal(isl::set(context_.get(), "[N] -> { t[i] : 0 <= i < N }"))) << elements;
}

// Coefficients and constants of exactly 10^12 are fine, whatever stands beside them.
TEST_F(SteppedRanges, LargeConstants) {
  EXPECT_NO_THROW(lower(
      "def f(B: inout[f32[2]], A: f32[N + 1000000000000]):\n"
      "    for i in range(2):\n"
      "        B[i] = A[999999999999 + i - i] if i + N < 1000000000000 else 0\n"));
  EXPECT_THROW(lower(
      "def f(B: inout[f32[2]], A: f32[N + 1000000000001]):\n"
      "    B[0] = A[0]\n"), Errors);
}

}  // namespace
}  // namespace tileopt
