// Loop bounds of domains at concrete sizes: the points that they imply are those of the domain.
#include "interpreter/domain_bounds.h"

#include <gtest/gtest.h>

#include <functional>

namespace tileopt {
namespace {

// Points that a loop nest over the bounds runs.
std::vector<std::vector<std::int64_t>> points(const DomainBounds& bounds) {
  std::vector<std::vector<std::int64_t>> found;
  std::vector<std::int64_t> values(bounds.depth() + bounds.extra_slots() + 1);
  const std::function<void(std::size_t)> walk = [&](std::size_t level) {
    if (level == bounds.depth()) {
      if (bounds.exact() || bounds.contains(values.data())) found.emplace_back(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(level));
      return;
    }
    std::int64_t low, high;
    if (!bounds.range(level, values.data(), &low, &high)) return;
    for (std::int64_t x = low; x <= high; ++x) {
      values[bounds.iterator(level)] = x;
      walk(level + 1);
    }
  };
  walk(0);
  return found;
}

// The existential has one value at these sizes, so that the set has none; projections of the set as written still have it.
TEST(DomainBounds, ExistentialsThatVanishLeaveExactBounds) {
  poly::Context context;
  const isl::set domain(context.get(), "[N, M] -> { S[i, j, a] : exists (e: 0 <= i < N and j >= 0 and 0 <= a <= 2 and 3e >= -32 + j + a and "
                                       "-M + 33j + a <= 3e < j + a) }");
  const DomainBounds bounds(fix_parameters(domain, {{"N", 2}, {"M", 1}}), {0, 1, 2});
  const std::vector<std::vector<std::int64_t>> wanted = {{0, 0, 1}, {1, 0, 1}};
  EXPECT_EQ(points(bounds), wanted);
  EXPECT_EQ(count_points(fix_parameters(domain, {{"N", 2}, {"M", 1}})), 2);
}

TEST(DomainBounds, StridesAndUnionsAreDecidedAtTheInnermostLevel) {
  poly::Context context;
  const DomainBounds strided(isl::set(context.get(), "{ S[i, j] : 0 <= i < 5 and 0 <= j < 6 and (i + j) mod 3 = 0 }"), {0, 1});
  EXPECT_EQ(points(strided).size(), 10u);
  const DomainBounds joined(isl::set(context.get(), "{ S[i, j] : (0 <= i < 2 and 0 <= j < 2) or (i = 4 and 0 <= j <= 5) }"), {1, 0});
  EXPECT_EQ(points(joined).size(), 10u);
}

}  // namespace
}  // namespace tileopt
