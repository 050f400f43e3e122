/// Atoms that add several products at once: found from types, numerics and loops, whatever the contraction is.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

std::string gemm_of(const std::string& left, const std::string& right, const std::string& result, const std::string& numerics = "") {
  return numerics + "\ndef gemm(A: " + left + "[M, K], B: " + right + "[K, N], C: out[" + result + "[M, N]]):\n    for i, j in grid(M, N):\n        C[i, j] = sum(" +
         result + "(A[i, k]) * " + result + "(B[k, j]) for k in range(K))\n";
}

constexpr const char* kAsWritten = "rewrite(\"none\")";

std::string atom_of(const std::string& text, const std::string& machine = "zen4") { return PlanCase(text).kernel(kAsWritten, machine).atoms.at("C").atom; }

TEST(DotAtom, SignedBytesAreOffsetWhereThatAddsMoreProducts) {
  const auto kernels = [](const std::string& text, const std::string& machine, const std::string& pins = "") {
    return std::get<ResolvedPlan>(PlanCase(text).resolve(pins, machine)).plan.kernels;
  };
  const std::vector<KernelPlan> offset = kernels(gemm_of("i8", "i8", "i32"), "zen4");
  const auto product = std::find_if(offset.begin(), offset.end(), [](const KernelPlan& kernel) { return kernel.atoms.count("C") > 0 && kernel.atoms.at("C").atom == "dot_u8_i8"; });
  ASSERT_NE(product, offset.end());
  EXPECT_EQ(product->statements, (std::vector<std::string>{"C_init", "C"})) << "the tile starts from the totals";
  EXPECT_EQ(product->atoms.at("C_init").edge, "extents") << "there is no total beyond the last";
  for (const auto& [types, machine] : {std::pair("i8", "x86-64-v3"), std::pair("i8", "c11"), std::pair("i16", "zen4"), std::pair("u8", "zen4")})
    EXPECT_EQ(kernels(gemm_of(types, types, "i32"), machine).size(), 1u) << types << " on " << machine;
  EXPECT_EQ(kernels(gemm_of("i8", "i8", "i32"), "zen4", "rewrite(\"none\", \"offset\")").size(), 1u);
}

TEST(DotAtom, TypesChooseIt) {
  EXPECT_EQ(atom_of(gemm_of("i8", "i8", "i32")), "dot_i16");
  EXPECT_EQ(atom_of(gemm_of("i16", "i16", "i32")), "dot_i16");
  EXPECT_EQ(atom_of(gemm_of("u8", "u8", "i32")), "dot_i16");
  EXPECT_EQ(atom_of(gemm_of("u8", "i8", "i32")), "dot_u8_i8");
  EXPECT_EQ(atom_of(gemm_of("i8", "u8", "i32")), "dot_i8_u8");
  EXPECT_EQ(atom_of(gemm_of("u16", "u16", "i32")), "outer_product_fma") << "65535 is no i16";
  EXPECT_EQ(atom_of(gemm_of("i8", "i8", "i64")), "outer_product_fma") << "the atom wraps at 32 bits";
  EXPECT_EQ(atom_of(gemm_of("u8", "i8", "i32"), "x86-64-v3"), "dot_i16");
  EXPECT_EQ(atom_of(gemm_of("u8", "i8", "i32"), "c11"), "outer_product_fma");
}

TEST(DotAtom, FloatsNeedTheGrant) {
  EXPECT_EQ(atom_of(gemm_of("bf16", "bf16", "f32", "@numerics(contract=True, flush_subnormals=True)")), "dot_bf16");
  EXPECT_EQ(atom_of(gemm_of("bf16", "bf16", "f32", "@numerics(contract=True)")), "outer_product_fma");
  EXPECT_EQ(atom_of(gemm_of("bf16", "f32", "f32", "@numerics(contract=True, flush_subnormals=True)")), "outer_product_fma");
  const std::string pinned = PlanCase(gemm_of("bf16", "bf16", "f32")).infeasible("atom(C, \"dot_bf16\")", "zen4");
  EXPECT_NE(pinned.find("does not have the form that the atom needs"), std::string::npos) << pinned;
}

TEST(DotAtom, ProductsLieSideBySide) {
  const KernelPlan kernel = PlanCase(gemm_of("i8", "i8", "i32")).kernel(kAsWritten, "zen4");
  EXPECT_EQ(digits_text(kernel, "k"), "kc:0@serial kk:256@serial kx:2@atom");
  EXPECT_EQ(kernel.atoms.at("C").box, (std::vector<std::string>{"ii", "kx", "jj"}));
  const Promotion* right = find_promotion(kernel, "B");
  const Promotion* left = find_promotion(kernel, "A");
  ASSERT_TRUE(right != nullptr && left != nullptr);
  EXPECT_EQ(right->element, "i16");
  ASSERT_EQ(right->layout.size(), 4u);
  EXPECT_EQ(right->layout.back().radix, 2);
  EXPECT_EQ(right->layout.back().tensor_dim, 0);
  EXPECT_EQ(left->layout.back().tensor_dim, 1) << "rows of A are copied as they are";
}

TEST(DotAtom, ConvolutionsAndTransposedFactorsComeFromTheSameCode) {
  const std::string convolution =
      "def conv(X: i8[H + 2, W + 2, C], F: i8[3, 3, C, O], Y: out[i32[H, W, O]]):\n    for y, x, f in grid(H, W, O):\n"
      "        Y[y, x, f] = sum(i32(X[y + r, x + s, c]) * i32(F[r, s, c, f]) for r in range(3) for s in range(3) for c in range(C))\n";
  EXPECT_EQ(PlanCase(convolution).kernel(kAsWritten, "zen4").atoms.at("Y").atom, "dot_i16");
  const std::string transposed =
      "def nt(A: i8[K, M], B: i8[N, K], C: out[i32[M, N]]):\n    for i, j in grid(M, N):\n"
      "        C[i, j] = sum(i32(A[k, i]) * i32(B[j, k]) for k in range(K))\n";
  EXPECT_EQ(PlanCase(transposed).kernel(kAsWritten, "zen4").atoms.at("C").atom, "dot_i16");
}

TEST(DotAtom, WhereItCannotKeepAPinTheOuterProductDoes) {
  const PlanCase gemm(gemm_of("i8", "i8", "i32"));
  EXPECT_EQ(gemm.kernel("rewrite(\"none\")\ntile(\"serial\", k=99)", "zen4").atoms.at("C").atom, "outer_product_fma") << "99 is no multiple of 2";
  EXPECT_EQ(gemm.kernel("promote(A, \"none\")", "zen4").atoms.at("C").atom, "outer_product_fma") << "rows of A may end within a word";
  EXPECT_EQ(gemm.kernel("atom(C, \"outer_product_fma\")", "zen4").atoms.at("C").atom, "outer_product_fma");
}

}  // namespace
}  // namespace tileopt
