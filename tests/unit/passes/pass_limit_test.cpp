/// A pass that asks isl for too much is refused, and isl works on.
#include "passes/pass_limit.h"

#include <gtest/gtest.h>

namespace tileopt {
namespace {

using Result = Candidate<isl::set>;

isl::set many_pieces(isl::ctx ctx) {
  isl::set set(ctx, "{ [i, j] : i = 0 and j = 0 }");
  for (int k = 1; k < 60; ++k) set = set.unite(isl::set(ctx, "{ [i, j] : exists (a: i = " + std::to_string(k) + "a and 0 <= j <= a) }")).complement().complement();
  return set;
}

TEST(PassLimit, EndsWhatIslWouldNot) {
  poly::Context context;
  const Result refused = within_limit(context.get(), "promote_footprints", "rows", [&]() -> Result { return many_pieces(context.get()); }, 2000);
  ASSERT_TRUE(std::holds_alternative<Infeasible>(refused));
  const Infeasible& why = std::get<Infeasible>(refused);
  EXPECT_EQ(why.code, "limit");
  EXPECT_EQ(why.stage, "promote_footprints");
  EXPECT_EQ(why.kernel, "rows");
  EXPECT_NE(why.reason.find("2000 operations"), std::string::npos);
  const Result small = within_limit(context.get(), "promote_footprints", "rows", [&]() -> Result { return isl::set(context.get(), "{ [i] : 0 <= i < 5 }"); }, 2000);
  ASSERT_TRUE(std::holds_alternative<isl::set>(small));
  EXPECT_TRUE(std::get<isl::set>(small).is_equal(isl::set(context.get(), "{ [i] : 5 > i >= 0 }")));
}

TEST(PassLimit, OtherErrorsPass) {
  poly::Context context;
  EXPECT_THROW(within_limit(context.get(), "p", "k", []() -> Result { throw std::runtime_error("other"); }), std::runtime_error);
}

}  // namespace
}  // namespace tileopt
