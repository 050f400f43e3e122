/// Contractions are found by structure: one planner for all of these.
#include <gtest/gtest.h>

#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

TEST(Contraction, GemmGetsTheBlockingOfThePapers) {
  const KernelPlan kernel = PlanCase(kernel_file("gemm")).kernel();
  EXPECT_EQ(kernel.tree.write(), "jc > kc > ic > jr > ir > (C_init ; C: kk)");
  EXPECT_EQ(digits_text(kernel, "k"), "kc:0@serial kk:512@serial");
  EXPECT_EQ(kernel.find_digit("ii")->radix, 6);
  EXPECT_EQ(kernel.find_digit("jj")->radix, 16);
  EXPECT_EQ(kernel.atoms.at("C").atom, "outer_product_fma");
  EXPECT_EQ(kernel.atoms.at("C").box, (std::vector<std::string>{"ii", "jj"}));
  EXPECT_EQ(kernel.atoms.at("C").edge, "padded");
  EXPECT_EQ(kernel.atoms.at("C_init").atom, "vector_box");
  ASSERT_EQ(kernel.promotions.size(), 3u);
  EXPECT_EQ(kernel.promotions[0].array, "B_packed");
  EXPECT_EQ(kernel.promotions[0].after, "kc");
  EXPECT_TRUE(kernel.promotions[0].zero_fill);
  EXPECT_EQ(kernel.promotions[1].array, "A_packed");
  EXPECT_EQ(kernel.promotions[1].after, "ic");
  EXPECT_EQ(kernel.promotions[2].array, "C_tile");
  EXPECT_EQ(kernel.promotions[2].after, "ir");
  EXPECT_EQ(kernel.promotions[2].space, "register");
  EXPECT_EQ(kernel.promotions[1].layout.back().radix, 6) << "the row digit of the register tile is contiguous";
}

TEST(Contraction, RegisterTilesFollowTheMachine) {
  const PlanCase gemm(kernel_file("gemm"));
  const KernelPlan wide = gemm.kernel("", "zen4");
  EXPECT_EQ(wide.find_digit("ii")->radix, 14);
  EXPECT_EQ(wide.find_digit("jj")->radix, 32);
  const KernelPlan plain = gemm.kernel("", "c11");
  EXPECT_EQ(plain.find_digit("ii")->radix, 4);
  EXPECT_EQ(plain.find_digit("jj")->radix, 4);
  const KernelPlan doubles = PlanCase(R"(
def gemm(A: f64[M, K], B: f64[K, N], C: out[f64[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))
)").kernel();
  EXPECT_EQ(doubles.find_digit("ii")->radix, 6);
  EXPECT_EQ(doubles.find_digit("jj")->radix, 8);
}

TEST(Contraction, AFactorThatFewTilesReadStaysWhereItIs) {
  const PlanCase gemm(kernel_file("gemm"));
  ResolveOptions narrow;
  narrow.typical_sizes = {{"M", 128}, {"N", 64}, {"K", 128}};
  const KernelPlan kernel = gemm.kernel("", "x86-64-v3", narrow);
  EXPECT_EQ(find_promotion(kernel, "A"), nullptr);
  EXPECT_NE(find_promotion(kernel, "B"), nullptr);
  EXPECT_EQ(kernel.atoms.at("C").edge, "extents") << "nothing puts zeros beyond A";
  EXPECT_EQ(kernel.atoms.at("C").whole, std::vector<std::string>{"jj"}) << "lanes of registers need no mask";
  EXPECT_EQ(kernel.atoms.at("C_init").whole, (std::vector<std::string>{"ii", "jj"}));
  EXPECT_NE(find_promotion(gemm.kernel("promote(A, \"workspace\")", "x86-64-v3", narrow), "A"), nullptr);
  EXPECT_EQ(find_promotion(gemm.kernel("promote(A, \"none\")"), "A"), nullptr);
}

TEST(Contraction, ASmallProductReadsBothFactorsWhereTheyAre) {
  ResolveOptions small;
  small.typical_sizes = {{"M", 33}, {"N", 33}, {"K", 33}};
  const KernelPlan kernel = PlanCase(kernel_file("gemm")).kernel("", "zen4", small);
  EXPECT_EQ(find_promotion(kernel, "A"), nullptr);
  EXPECT_EQ(find_promotion(kernel, "B"), nullptr) << "all of it stays in half of L1";
  EXPECT_EQ(kernel.find_digit("kk")->radix, 33) << "no stream from memory wants eight rows";
}

TEST(Contraction, FewRowsReadTheRightFactorWhereItIs) {
  const PlanCase gemm(kernel_file("gemm"));
  ResolveOptions flat;
  flat.typical_sizes = {{"M", 8}, {"N", 4096}, {"K", 4096}};
  const KernelPlan kernel = gemm.kernel("", "x86-64-v3", flat);
  EXPECT_EQ(find_promotion(kernel, "A"), nullptr);
  EXPECT_EQ(find_promotion(kernel, "B"), nullptr);
  EXPECT_NE(find_promotion(kernel, "C"), nullptr);
  EXPECT_EQ(kernel.tree.write(), "kc > ic > jr > ir > (C_init ; C: kk)");
  EXPECT_EQ(kernel.find_digit("kk")->radix, 8);
  EXPECT_EQ(kernel.atoms.at("C").edge, "extents") << "nothing puts zeros beyond B";
  EXPECT_NE(find_promotion(gemm.kernel("promote(B, \"workspace\")", "x86-64-v3", flat), "B"), nullptr);
  EXPECT_EQ(find_promotion(gemm.kernel("promote(B, \"none\")"), "B"), nullptr);
  // Its neighbours are not those of a vector: it must be packed.
  const PlanCase turned(R"(
def gemm(A: f32[M, K], B: f32[N, K], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[j, k] for k in range(K))
)");
  EXPECT_NE(find_promotion(turned.kernel("", "x86-64-v3", flat), "B"), nullptr);
}

TEST(Contraction, ConvolutionComesFromTheSameCode) {
  const KernelPlan kernel = PlanCase(kernel_file("conv2d")).kernel();
  EXPECT_EQ(kernel.atoms.at("O").box, (std::vector<std::string>{"ww", "ff"}));
  EXPECT_EQ(kernel.tree.write(), "fc > c_c > n > h > wc > fr > wr > (O_init ; O: r > s > cc)");
  ASSERT_NE(find_promotion(kernel, "I"), nullptr);
  ASSERT_NE(find_promotion(kernel, "W3"), nullptr);
  EXPECT_EQ(find_promotion(kernel, "W3")->layout.back().radix, 16);
  for (const BufferDim& dim : find_promotion(kernel, "I")->layout) EXPECT_EQ(dim.radix, 0) << "2 * w + s stays undivided";
}

TEST(Contraction, WideningCastsArePartOfPacking) {
  const KernelPlan kernel = PlanCase(kernel_file("gemm_bf16")).kernel();
  EXPECT_EQ(kernel.atoms.at("acc").atom, "outer_product_fma");
  EXPECT_EQ(find_promotion(kernel, "A")->element, "f32");
  EXPECT_EQ(find_promotion(kernel, "B")->element, "f32");
  EXPECT_EQ(kernel.tree.kind(), Tree::Kind::sequence) << kernel.tree.write();
  EXPECT_NE(kernel.members.at("C").members, kernel.members.at("acc_init").members) << "the cast has loops of its own";
}

TEST(Contraction, NamesDoNotMatter) {
  const KernelPlan kernel = PlanCase(R"(
def product(left: f32[P, Q], right: f32[Q, R], result: out[f32[P, R]]):
    for row, column in grid(P, R):
        result[row, column] = sum(right[q, column] * left[row, q] for q in range(Q))
)").kernel();
  EXPECT_EQ(kernel.atoms.at("result").atom, "outer_product_fma");
  EXPECT_EQ(find_promotion(kernel, "left")->space, "workspace");
}

struct Variant {
  const char* name;
  const char* text;
  bool contraction;
};

class Variants : public testing::TestWithParam<Variant> {};

TEST_P(Variants, AreRecognised) {
  const KernelPlan kernel = PlanCase(GetParam().text).kernel();
  bool atom = false;
  for (const auto& [statement, choice] : kernel.atoms) atom = atom || choice.atom == "outer_product_fma";
  EXPECT_EQ(atom, GetParam().contraction);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Variants,
    testing::Values(
        Variant{"transposed_right", R"(
def f(A: f32[M, K], B: f32[N, K], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[j, k] for k in range(K))
)", true},
        Variant{"transposed_left", R"(
def f(A: f32[K, M], B: f32[K, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[k, i] * B[k, j] for k in range(K))
)", true},
        Variant{"batched", R"(
def f(A: f32[G, M, K], B: f32[G, K, N], C: out[f32[G, M, N]]):
    for g, i, j in grid(G, M, N):
        C[g, i, j] = sum(A[g, i, k] * B[g, k, j] for k in range(K))
)", true},
        Variant{"integers", R"(
def f(A: i32[M, K], B: i32[K, N], C: out[i32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))
)", true},
        Variant{"two_sums", R"(
def f(A: f32[M, K, L], B: f32[K, L, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k, l] * B[k, l, j] for k, l in grid(K, L))
)", true},
        Variant{"accumulating", R"(
def f(A: f32[M, K], B: f32[K, N], C: inout[f32[M, N]]):
    for i, j in grid(M, N):
        for k in range(K):
            C[i, j] += A[i, k] * B[k, j]
)", true},
        Variant{"one_tensor", R"(
def f(A: f32[M, K], C: out[f32[M, M]]):
    for i, j in grid(M, M):
        C[i, j] = sum(A[i, k] * A[j, k] for k in range(K))
)", false},
        Variant{"matrix_vector", R"(
def f(A: f32[M, K], x: f32[K], y: out[f32[M]]):
    for i in range(M):
        y[i] = sum(A[i, k] * x[k] for k in range(K))
)", false},
        Variant{"no_product", R"(
def f(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] + B[k, j] for k in range(K))
)", false},
        Variant{"triangular", R"(
def f(A: f32[M, M], B: f32[M, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(i + 1))
)", false},
        Variant{"tiny", R"(
def f(A: f32[3, 3], B: f32[3, 3], C: out[f32[3, 3]]):
    for i, j in grid(3, 3):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(3))
)", false}),
    [](const auto& info) { return info.param.name; });

TEST(Contraction, ThreadsTakeRowBlocksAndPrivateStacks) {
  ResolveOptions options;
  options.threads = 4;
  const KernelPlan kernel = PlanCase(kernel_file("gemm")).kernel("", "x86-64-v3", options);
  EXPECT_EQ(kernel.find_digit("ic")->level, "thread");
  EXPECT_EQ(find_promotion(kernel, "A")->space, "stack");
  EXPECT_EQ(find_promotion(kernel, "B")->space, "workspace") << "shared by the threads: packed outside";
}

TEST(Contraction, SizesShapeTheBlocks) {
  ResolveOptions narrow;
  narrow.typical_sizes = {{"M", 4096}, {"N", 8}, {"K", 512}};
  EXPECT_EQ(PlanCase(kernel_file("gemm")).kernel("", "x86-64-v3", narrow).find_digit("jj")->radix, 8) << "16 lanes would be half empty";
  ResolveOptions flat;
  flat.typical_sizes = {{"M", 1}, {"N", 4096}, {"K", 512}};
  for (const auto& [statement, choice] : PlanCase(kernel_file("gemm")).kernel("", "x86-64-v3", flat).atoms)
    EXPECT_NE(choice.atom, "outer_product_fma") << statement << ": one row needs no register tile";
}

TEST(Contraction, RowsBetweenOffsetsFromMemory) {
  const PlanCase ragged(kernel_file("ragged_grouped_gemm"));
  const KernelPlan kernel = ragged.kernel();
  EXPECT_EQ(kernel.tree.write(), "g > start_at > start_at_2 > nc > kc > tc > nr > tr > (Y_init ; Y: kk)");
  EXPECT_EQ(kernel.members.at("Y").map.find("t - (0 + 1 * start_at)") != std::string::npos, true) << kernel.members.at("Y").map;
  EXPECT_EQ(kernel.atoms.at("Y").box, (std::vector<std::string>{"tt", "nn"}));
  EXPECT_EQ(find_promotion(kernel, "W")->after, "kc");
  EXPECT_EQ(find_promotion(kernel, "X")->after, "tc");
  ResolveOptions options;
  options.threads = 2;
  const KernelPlan threads = ragged.kernel("", "x86-64-v3", options);
  EXPECT_EQ(threads.find_digit("g")->level, "thread") << "groups are disjoint, since the offsets grow";
  EXPECT_EQ(find_promotion(threads, "W")->space, "stack");
}

TEST(Contraction, GroupsThatMayOverlapShareTheThreads) {
  ResolveOptions options;
  options.threads = 2;
  const KernelPlan kernel = PlanCase(R"(
@numerics(contract=True)
def ragged(X: f32[T, K], W: f32[G, K, N], start: i32[G + 1], Y: out[f32[T, N]]):
    assume(0 <= start[:] <= T)
    for g in range(G):
        for t in range(start[g], start[g + 1]):
            for n in range(N):
                Y[t, n] = sum(X[t, k] * W[g, k, n] for k in range(K))
)").kernel("", "x86-64-v3", options);
  EXPECT_EQ(kernel.find_digit("g")->level, "serial");
  EXPECT_EQ(kernel.find_digit("tc")->level, "thread");
}

TEST(Contraction, AGatheredPageIsPacked) {
  const KernelPlan kernel = PlanCase(kernel_file("paged_scores")).kernel();
  EXPECT_EQ(path_dims(kernel.tree, "S_sum1"), (std::vector<std::string>{"b", "page_at", "dc", "hc", "jr", "hr", "dd"}));
  ASSERT_NE(find_promotion(kernel, "K"), nullptr);
  EXPECT_EQ(find_promotion(kernel, "K")->after, "dc");
}

TEST(Contraction, AConditionOnDataKeepsScalarCode) {
  const auto candidate = PlanCase(R"(
def f(A: f32[M, K], B: f32[K, N], keep: f32[K], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K) if keep[k] > 0)
)").resolve();
  ASSERT_TRUE(feasible(candidate));
  EXPECT_TRUE(std::get<ResolvedPlan>(candidate).plan.kernels.at(0).atoms.empty());
}

// The tile starts from the bias: the result is written once.
TEST(Contraction, StartsFromAnotherArray) {
  const std::string text =
      "def affine(A: f32[M, K], B: f32[K, N], bias: f32[N], C: out[f32[M, N]]):\n"
      "    for i, j in grid(M, N):\n"
      "        C[i, j] = 2 * bias[j]\n"
      "        for k in range(K):\n"
      "            C[i, j] += A[i, k] * B[k, j]\n";
  const KernelPlan kernel = PlanCase(text).kernel();
  EXPECT_EQ(kernel.atoms.at("C").edge, "extents");
  EXPECT_EQ(kernel.atoms.at("C").box, (std::vector<std::string>{"ii", "jj"}));
  EXPECT_EQ(path_dims(kernel.tree, "C").back(), "ir") << "inside the tile loops";
  // What starts from itself, or from a function, has loops of its own.
  for (const char* start : {"exp(bias[j])", "C[i, j] * 2"}) {
    std::string other = text;
    other.replace(other.find("2 * bias[j]"), 11, start);
    if (other.find("* 2") != std::string::npos) other.replace(other.find("out["), 4, "inout[");
    EXPECT_NE(path_dims(PlanCase(other).kernel().tree, "C").back(), "ir") << start;
  }
}

}  // namespace
}  // namespace tileopt
