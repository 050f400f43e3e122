// Rows of a tile that run along several loops: digits of them as digits of the loops.
#include <gtest/gtest.h>

#include "search/collective_planner.h"

namespace tileopt::test {
namespace {

TEST(CollectiveRows, PartsOfADigitCountTheSameRows) {
  const std::vector<std::vector<long>> shapes = {{128}, {8, 16}, {2, 8, 8}, {4, 2, 16}};
  for (const std::vector<long>& extents : shapes) {
    long rows = 1;
    for (const long extent : extents) rows *= extent;
    for (long weight = 1; weight < rows; weight *= 2)
      for (long radix = 1; weight * radix <= rows; radix *= 2) {
        long values = 1;
        for (const DigitPart& part : digit_parts(extents, radix, weight)) {
          long nearer = 1;  // rows of one value of the part's loop
          for (std::size_t i = part.loop + 1; i < extents.size(); ++i) nearer *= extents[i];
          values *= part.radix;
          // The parts are the digits of one number, which starts at the digit's weight.
          EXPECT_EQ(part.weight * nearer * values, weight * radix);
          EXPECT_LE(part.weight * part.radix, extents[part.loop]);
        }
        EXPECT_EQ(values, radix);
      }
  }
}

TEST(CollectiveRows, ADigitOfOneLoopIsItself) {
  const std::vector<DigitPart> parts = digit_parts({64}, 4, 16);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].radix, 4);
  EXPECT_EQ(parts[0].weight, 16);
}

}  // namespace
}  // namespace tileopt::test
