// Equations between digits: the same relation as before, in more and shorter equations.
#include "verify/digit_equations.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "poly/isl.h"
#include "support/text.h"

namespace tileopt::proof {
namespace {

int equations(const isl::map& map) {
  int count = 0;
  isl_map_foreach_basic_map(
      map.get(),
      [](isl_basic_map* piece, void* user) {
        isl_mat* matrix = isl_basic_map_equalities_matrix(piece, isl_dim_in, isl_dim_out, isl_dim_param, isl_dim_div, isl_dim_cst);
        *static_cast<int*>(user) += isl_mat_rows(matrix);
        isl_mat_free(matrix);
        isl_basic_map_free(piece);
        return isl_stat_ok;
      },
      &count);
  return count;
}

class DigitEquations : public testing::Test {
 protected:
  isl::map map(const std::string& text) { return isl::map(context_.get(), text); }
  /// The number of equations afterwards; the relation stays what it is.
  int split(const std::string& text) {
    const isl::map before = map(text), after = split_equations(before);
    EXPECT_TRUE(after.is_equal(before)) << text;
    return equations(after);
  }
  poly::Context context_;
};

TEST_F(DigitEquations, OneEquationOfThreeDigitsIsThree) {
  EXPECT_EQ(split("{ A[i, j, k] -> B[x, y, z] : 128i + 16j + k = 128x + 16y + z and 0 <= j, y < 8 and 0 <= k, z < 16 }"), 3);
}

TEST_F(DigitEquations, DigitsThatCarryStayTogether) {
  EXPECT_EQ(split("{ A[i, k] -> B[x, z] : 16i + k = 16x + z and 0 <= k <= 16 and 0 <= z < 16 }"), 1);
  EXPECT_EQ(split("{ A[i, k] -> B[x, z] : 16i + k = 16x + z and 0 <= k and 0 <= z < 16 }"), 1);
}

TEST_F(DigitEquations, DigitsCutInAnotherWay) {
  EXPECT_EQ(split("{ A[i, k] -> B[x, y, z] : 16i + k = 16x + 4y + z and 0 <= k < 16 and 0 <= y < 4 and 0 <= z < 4 }"), 2);
}

TEST_F(DigitEquations, ConstantsDecideToo) {
  EXPECT_EQ(split("{ A[i, k] -> B[x, z] : 16i + k = 16x + z + 35 and 0 <= k < 16 and z = 0 }"), 3);
  EXPECT_TRUE(split_equations(map("{ A[i, k] -> B[x] : 16i + k = 16x + 12 and 0 <= k < 12 }")).is_empty());
}

TEST_F(DigitEquations, SizesAreMultiplesOrNot) {
  EXPECT_EQ(split("[N] -> { A[i, k] -> B[x, z] : 16i + k + 16N = 16x + z and 0 <= k, z < 16 }"), 2);
  EXPECT_EQ(split("[N] -> { A[i, k] -> B[x, z] : 16i + k + N = 16x + z and 0 <= k, z < 16 }"), 1);
}

TEST_F(DigitEquations, LargeNumbersAreLeftToIsl) {
  EXPECT_EQ(split("{ A[i, k] -> B[x, z] : 4611686018427387904i + k = 4611686018427387904x + z and 0 <= k, z < 16 }"), 1);
}

TEST_F(DigitEquations, RandomRelationsStayWhatTheyAre) {
  std::mt19937 random(3);
  const auto draw = [&](int least, int most) { return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1)); };
  int found = 0;
  for (int n = 0; n < 300; ++n) {
    std::vector<std::string> constraints;
    for (int e = draw(1, 2); e > 0; --e) {
      std::vector<std::string> terms;
      for (const char* variable : {"a", "b", "c", "x", "y", "z", "N"})
        if (draw(0, 2) > 0) terms.push_back(std::to_string(draw(0, 1) ? draw(-2, 2) : 4 * draw(-4, 4)) + variable);
      terms.push_back(std::to_string(draw(-9, 9)));
      constraints.push_back(join(terms, " + ") + " = 0");
    }
    for (const char* variable : {"a", "b", "c", "x", "y", "z"}) {
      const int least = draw(-2, 2);
      if (draw(0, 3) > 0) constraints.push_back(std::to_string(least) + " <= " + variable + " <= " + std::to_string(least + draw(0, 6)));
    }
    const isl::map before = map("[N] -> { A[a, b, c] -> B[x, y, z] : " + join(constraints, " and ") + " }");
    const isl::map after = split_equations(before);
    ASSERT_TRUE(after.is_equal(before)) << before;
    found += equations(after) > equations(before) ? 1 : 0;
  }
  EXPECT_GE(found, 10);
}

}  // namespace
}  // namespace tileopt::proof
