// Several products whose results meet in one statement (a gate beside a value): one tile computes all of them, from factors that are copied once.
#include "tests/collection.h"
#include "tests/emulate/gpu_fixture.h"

namespace tileopt::test {
namespace {

std::string products(const std::string& tensors, const std::string& known, const std::vector<std::string>& terms, const std::string& result) {
  std::string text = "@numerics(contract=True, flush_subnormals=True)\ndef gate(" + tensors + ", C: out[bf16[M, N]]):\n    assume(" + known + ")\n    for i, j in grid(M, N):\n";
  for (std::size_t p = 0; p < terms.size(); ++p) text += "        s" + std::to_string(p) + ": f32 = sum(" + terms[p] + " for k in range(K))\n";
  return text + "        C[i, j] = bf16(" + result + ")\n";
}
const std::string kGate = "s0 / (f32(1.0) + exp(-s0)) * s1";
std::string swiglu() {
  return products("X: bf16[M, K], W: bf16[N, K], V: bf16[N, K]", "K % 8 == 0", {"f32(X[i, k]) * f32(W[j, k])", "f32(X[i, k]) * f32(V[j, k])"}, kGate);
}
/// Nothing in common but the loops.
std::string apart() {
  return products("X: bf16[M, K], W: bf16[N, K], Y: bf16[M, K], V: bf16[K, N]", "K % 8 == 0 and N % 8 == 0", {"f32(X[i, k]) * f32(W[j, k])", "f32(Y[i, k]) * f32(V[k, j])"}, "s0 - s1");
}

class ProductsTest : public GpuTest {
 protected:
  static bool is_together(const Module& module, const std::string& statement) {
    const auto& atoms = module.plan.kernels.front().atoms;
    return atoms.count(statement) != 0 && atoms.at(statement).atom == "wgmma_bf16";
  }
};

TEST_F(ProductsTest, AFactorOfBothIsCopiedOnce) {
  const Module module = compile(parse(swiglu()), "");
  const KernelPlan& plan = module.plan.kernels.front();
  EXPECT_EQ(module.plan.kernels.size(), 1u);
  EXPECT_TRUE(is_together(module, "s0") && is_together(module, "s1"));
  EXPECT_EQ(plan.pipelines.front().copies.size(), 3u);
  // They are one group in flight.
  const std::string& text = module.text.source;
  const std::size_t commit = text.find("tileopt_wgmma_commit();");
  EXPECT_NE(commit, std::string::npos);
  EXPECT_EQ(text.find("tileopt_wgmma_commit();", commit + 1), std::string::npos);
  EXPECT_NE(text.find("tileopt_wgmma_wait(1);"), std::string::npos);
  expect_right(swiglu(), "", {{{"M", 8}, {"N", 8}, {"K", 0}}, {{"M", 136}, {"N", 200}, {"K", 328}}});
}

TEST_F(ProductsTest, FactorsMayAllDiffer) {
  EXPECT_EQ(compile(parse(apart()), "").plan.kernels.front().pipelines.front().copies.size(), 4u);
  expect_right(apart(), "", {{{"M", 72}, {"N", 136}, {"K", 136}}});
}

TEST_F(ProductsTest, ThreadsCopyPiecesWhereRowsStartAnywhere) {
  const std::string any = products("X: bf16[M, K], W: bf16[N, K], V: bf16[N, K]", "K >= 0", {"f32(X[i, k]) * f32(W[j, k])", "f32(X[i, k]) * f32(V[j, k])"}, kGate);
  EXPECT_EQ(compile(parse(any), "").plan.kernels.size(), 2u);
  expect_right(any, "", {{{"M", 72}, {"N", 40}, {"K", 134}}});
}

TEST_F(ProductsTest, FewRowsAreLanesOfAllProducts) {
  const Sizes typical = {{"M", 16}, {"N", 8192}, {"K", 8192}};
  EXPECT_NE(compile(parse(swiglu()), "", "h200", typical).text.source.find("tileopt_wgmma_bf16_n16<0, 0>(s1_tile, tileopt_matrix(V_shared"), std::string::npos);
  expect_right(swiglu(), "", {{{"M", 16}, {"N", 136}, {"K", 136}}}, "h200", typical);
}

TEST_F(ProductsTest, WhatDoesNotRunAlikeStaysApart) {
  // Another number of terms.
  const std::string longer = "@numerics(contract=True, flush_subnormals=True)\ndef gate(X: bf16[M, K], W: bf16[N, K], Y: bf16[M, L], V: bf16[N, L], C: out[bf16[M, N]]):\n    assume(K % 8 == 0 and L % 8 == 0)\n"
                             "    for i, j in grid(M, N):\n        a: f32 = sum(f32(X[i, k]) * f32(W[j, k]) for k in range(K))\n        b: f32 = sum(f32(Y[i, k]) * f32(V[j, k]) for k in range(L))\n"
                             "        C[i, j] = bf16(a * b)\n";
  EXPECT_FALSE(is_together(compile(parse(longer), ""), "a"));
  // One tensor as a factor in two ways.
  const std::string twice = products("X: bf16[N, K], W: bf16[N, K]", "K % 8 == 0 and M == N", {"f32(X[i, k]) * f32(W[j, k])", "f32(W[i, k]) * f32(X[j, k])"}, "s0 + s1");
  EXPECT_FALSE(is_together(compile(parse(twice), ""), "s0"));
  if (takes_all()) expect_right(longer, "", {{{"M", 40}, {"N", 40}, {"K", 16}, {"L", 24}}});
}

}  // namespace
}  // namespace tileopt::test
