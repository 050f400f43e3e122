// Atoms that agents run together: which part of a product one agent has, and how the matrices lie.
#include <gtest/gtest.h>

#include "cost_models/machines.h"
#include "passes/collective.h"

namespace tileopt::test {
namespace {

/// C[i, j] += A[i, k] * B[k, j] with i = 16 w + 8 r + l, j = 64 s + 8 c + 2 q + e, k = 8 p + t: box (s, c, r, e, p, t), agents (w, l, q).
ProductSteps right_product() {
  ProductSteps product;
  product.result = {{0, 0, 8, 0, 0, 0, 16, 1, 0}, {64, 8, 0, 1, 0, 0, 0, 0, 2}};
  product.left = {{0, 0, 8, 0, 0, 0, 16, 1, 0}, {0, 0, 0, 0, 8, 1, 0, 0, 0}};
  product.right = {{0, 0, 0, 0, 8, 1, 0, 0, 0}, {64, 8, 0, 1, 0, 0, 0, 0, 2}};
  return product;
}

const AtomSteps& wgmma() {
  static const Machine machine = find_machine("h200");
  return machine.find_atom("wgmma_bf16")->steps;
}

TEST(Collective, TheFragmentOfAProductFits) {
  EXPECT_EQ(why_not_fragment(wgmma(), right_product()), "");
  // Any constant step of the program's subscripts will do, and any order of them.
  ProductSteps strided = right_product();
  for (long& step : strided.left[0]) step *= 3;
  std::swap(strided.right[0], strided.right[1]);
  EXPECT_EQ(why_not_fragment(wgmma(), strided), "");
}

/// The warps' digit of rows moves another subscript than the nearer ones: C[h, w, j] += A[h, w, k] * B[k, j] with h = warp, w = 8 r + l.
TEST(Collective, ASideMayRunAlongSeveralSubscripts) {
  ProductSteps several = right_product();
  for (std::vector<std::vector<long>>* steps : {&several.result, &several.left}) {
    steps->front()[6] = 0;
    steps->insert(steps->begin(), {0, 0, 0, 0, 0, 0, 1, 0, 0});
  }
  EXPECT_EQ(why_not_fragment(wgmma(), several), "");
  // But not along one of them in another order.
  several.left[0][2] = 8;
  EXPECT_EQ(why_not_fragment(wgmma(), several), "the left factor moves otherwise than the atom's along digit 2");
  // A digit of the rows that moves nothing is none of them.
  several = right_product();
  several.result[0][6] = 0;
  EXPECT_EQ(why_not_fragment(wgmma(), several), "the result moves otherwise than the atom's along digit 6");
}

TEST(Collective, OtherDigitsAreNamed) {
  ProductSteps rows = right_product();
  std::swap(rows.result[0][6], rows.result[0][7]);
  EXPECT_EQ(why_not_fragment(wgmma(), rows), "the result moves otherwise than the atom's along digit 2");
  ProductSteps sum = right_product();
  sum.left[1] = {0, 0, 0, 0, 0, 1, 0, 0, 0};
  EXPECT_EQ(why_not_fragment(wgmma(), sum), "the left factor moves otherwise than the atom's along digit 4");
  ProductSteps lanes = right_product();
  lanes.right[1].assign(9, 0);
  EXPECT_EQ(why_not_fragment(wgmma(), lanes), "the right factor does not move along both of its sides");
}

Array swizzled() {
  Array array;
  array.name = "A_shared";
  array.element = ElementType::bf16;
  array.space = "shared";
  array.extents = {4, 32, 8, 8};
  array.swizzle = {2, 1};
  return array;
}

TEST(Collective, MatricesAreSwizzledRows) {
  EXPECT_EQ(why_not_matrix(swizzled(), 128, "wgmma"), "");
  Array plain = swizzled();
  plain.swizzle = {};
  EXPECT_NE(why_not_matrix(plain, 128, "wgmma").find("not swizzled"), std::string::npos);
  Array wide = swizzled();
  wide.extents = {4, 32, 8, 16};
  EXPECT_NE(why_not_matrix(wide, 128, "wgmma").find("does not count the pieces"), std::string::npos);
  Array apart = swizzled();
  apart.swizzle = {2, 0};
  EXPECT_NE(why_not_matrix(apart, 128, "wgmma").find("does not count rows"), std::string::npos);
  Array padded = swizzled();
  padded.strides = {2304, 72, 8, 1};
  EXPECT_NE(why_not_matrix(padded, 128, "wgmma").find("padded"), std::string::npos);
}

}  // namespace
}  // namespace tileopt::test
