/// Short windows keep their results in registers, found by structure.
#include <gtest/gtest.h>

#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

TEST(ReductionTile, ADepthwiseWindowRunsBelowATileOfResults) {
  const KernelPlan kernel = PlanCase(kernel_file("depthwise_conv2d")).kernel();
  EXPECT_EQ(kernel.tree.write(), "n > h > wr > cr > (O_init ; O: r > s)");
  EXPECT_EQ(kernel.atoms.at("O").atom, "vector_box");
  EXPECT_EQ(kernel.atoms.at("O").box, (std::vector<std::string>{"ww", "cc"}));
  EXPECT_EQ(kernel.atoms.at("O").edge, "extents");
  EXPECT_EQ(kernel.find_digit("ww")->radix, 4);
  EXPECT_EQ(kernel.find_digit("cc")->radix, 16);
  EXPECT_EQ(PlanCase(kernel_file("depthwise_conv2d")).kernel("", "zen4").find_digit("cc")->radix, 32);
  ASSERT_NE(find_promotion(kernel, "O"), nullptr);
  EXPECT_EQ(find_promotion(kernel, "O")->space, "register");
  EXPECT_EQ(find_promotion(kernel, "O")->after, "cr");
}

TEST(ReductionTile, WithoutAnOperandThatStaysOnlyLanes) {
  const KernelPlan kernel = PlanCase(R"(
def pool(X: f32[H + 2, W + 2, C], Y: out[f32[H, W, C]]):
    for h, w, c in grid(H, W, C):
        Y[h, w, c] = max(X[h + r, w + s, c] for r, s in grid(3, 3))
)").kernel();
  EXPECT_EQ(kernel.tree.write(), "h > w > cr > (Y_init ; Y: r > s)");
  EXPECT_EQ(kernel.atoms.at("Y").box, (std::vector<std::string>{"cc"}));
  EXPECT_EQ(kernel.find_digit("cc")->radix, 32);
}

TEST(ReductionTile, PinsDecide) {
  const PlanCase conv(kernel_file("depthwise_conv2d"));
  const KernelPlan kernel = conv.kernel("tile(\"atom\", w=2, c=8)\nparallel(\"h\")");
  EXPECT_EQ(kernel.find_digit("ww")->radix, 2);
  EXPECT_EQ(kernel.find_digit("cc")->radix, 8);
  EXPECT_EQ(kernel.find_digit("h")->level, "thread");
  EXPECT_EQ(conv.kernel("schedule(\"original\")").atoms.size(), 0u);
}

TEST(ReductionTile, NotEveryReductionHasOne) {
  const auto tiled = [](const std::string& text) { 
    const KernelPlan kernel = PlanCase("def f" + text).kernel();
    return std::any_of(kernel.promotions.begin(), kernel.promotions.end(), [](const Promotion& p) { return p.array == "Y_tile"; });
  };
  EXPECT_TRUE(tiled("(X: f32[M, N], F: f32[4, N], Y: out[f32[M, N]]):\n    for i, j in grid(M, N):\n        Y[i, j] = sum(X[i, j] * F[r, j] for r in range(4))\n"));
  EXPECT_FALSE(tiled("(X: f32[M, N], Y: out[f32[N]]):\n    for j in range(N):\n        Y[j] = sum(X[i, j] for i in range(M))\n")) << "the window is long";
  EXPECT_FALSE(tiled("(X: f32[M, N + 3], Y: out[f32[N]]):\n    assume(M >= 1)\n    for j in range(N):\n        Y[j] = sum(exp(X[0, j + r]) for r in range(4))\n")) << "exp";
  EXPECT_FALSE(tiled("(X: f32[N, 4], Y: out[f32[N]]):\n    for j in range(N):\n        Y[j] = sum(X[j, r] for r in range(4))\n")) << "lanes are far apart";
  EXPECT_FALSE(tiled("(X: f32[N + 4], Y: out[f32[N]]):\n    for j in range(N):\n        Y[j] = sum(X[j + r] for r in range(4) if r < j)\n")) << "a triangle";
}

}  // namespace
}  // namespace tileopt
