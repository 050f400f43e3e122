// `const` parameters: sizes that are fixed before anything is checked.
#include <gtest/gtest.h>

#include "frontends/tile_text/formatter.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt {
namespace {

const char* const blocked =
    "def blocked(A: f32[B * T], C: out[f32[B * T]], T: const = 4, H: const):\n"
    "    for b in range(B):\n"
    "        for t in range(0, T, H):\n"
    "            for s in range(t, min(t + H, T)):\n"
    "                C[T * b + s] = A[T * b + T - 1 - s] * T if s // H < 1 else f32(H)\n";

class Constants : public ::testing::Test {
 protected:
  TileFile parse(const std::string& text, const ConstantValues& values) { return parse_tile_file(context_.get(), text, "test.tile", values); }
  poly::Context context_;
};

TEST_F(Constants, SpecialiseTheProgram) {
  const TileFile file = parse(blocked, {{"", {{"H", 2}}}});
  const Program& p = file.programs.front();
  EXPECT_EQ(p.parameters(), (std::vector<std::string>{"B"}));
  EXPECT_TRUE(p.statement("C").domain.is_equal(isl::set(context_.get(), "[B] -> { C[b, t, s] : 0 <= b < B and 0 <= t <= 1 and 2t <= s < 2t + 2 }")))
      << p.statement("C").domain;
  EXPECT_EQ(file.constants, (ConstantValues{{"blocked", {{"T", 4}, {"H", 2}}}}));
}

TEST_F(Constants, TheTextHoldsTheirValues) {
  const Program p = parse(blocked, {{"", {{"H", 2}, {"T", 6}}}}).programs.front();
  EXPECT_NE(p.text().find("T: const = 6, H: const = 2):"), std::string::npos) << p.text();
  EXPECT_NE(p.text().find("C[T * b + s] = A[T * b + T - 1 - s] * T"), std::string::npos) << "names stay names";
  const Program again = parse(p.text(), {}).programs.front();
  EXPECT_EQ(again.text(), p.text());
  EXPECT_TRUE(again.statement("C").domain.is_equal(p.statement("C").domain));
  EXPECT_NE(parse(blocked, {{"", {{"H", 3}, {"T", 6}}}}).programs.front().hash(), p.hash());
}

TEST_F(Constants, AProgramsOwnValueCountsFirst) {
  const std::string two = std::string(blocked) + "\n\ndef other(C: out[f32[T]], T: const):\n    for t in range(T):\n        C[t] = T\n";
  const TileFile file = parse(two, {{"", {{"H", 2}, {"T", 8}}}, {"other", {{"T", 3}}}, {"unknown", {{"T", 5}}}});
  EXPECT_EQ(file.constants, (ConstantValues{{"blocked", {{"T", 8}, {"H", 2}}}, {"other", {{"T", 3}}}}));
}

TEST_F(Constants, ZeroAndConditions) {
  const Program p = parse("def f(B: inout[f32[N]], G: const):\n    if G == 0:\n        for i in range(N):\n            B[i] = G\n    else:\n"
                          "        for i in range(0, N, G + 1):\n            B[i] += 1\n",
                          {{"", {{"G", 0}}}}).programs.front();
  EXPECT_EQ(p.statements().size(), 1u);
  EXPECT_EQ(p.statements().front().combine, Combine::assign);
}

TEST_F(Constants, CanonicalTextAndFormatting) {
  const std::string text = "def f(B: out[f32[G]], G: const = 64, H: const):\n    B[0] = H\n";
  EXPECT_EQ(canonical_tile_text("def f(B:out[f32[G]],G:const=64,H : const):\n  B[0]=H\n", "x"), text);
  EXPECT_EQ(format_tile_text("def f(B:out[f32[G]],G:const=64,H : const):\n  B[0]=H\n", "x"), text);
}

}  // namespace
}  // namespace tileopt
