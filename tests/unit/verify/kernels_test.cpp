/// Kernels of other shapes: each proved, and planted faults refuted by the obligation they violate.
#include "kernels.h"

namespace tileopt::test {
namespace {

class KernelTest : public ::testing::Test {
 protected:
  poly::Context context_;
  isl::ctx ctx_ = context_.get();
};

// ---- copy: Y[i] = X[i], eight lanes, the last vector cut short

TEST_F(KernelTest, CopyIsProved) { expect_proved(check(CopyKernel::program(ctx_), {CopyKernel{}.ast()})); }

TEST_F(KernelTest, CopyLastVectorMissing) {
  CopyKernel k;
  k.last = "floord(N, 8) - 1";
  const Obligation o = expect_refuted(check(CopyKernel::program(ctx_), {k.ast()}), "coverage", "an instance of Y never runs");
  EXPECT_NE(o.witness.find("Y[i = "), std::string::npos) << o.witness;
}

TEST_F(KernelTest, CopyUncut) {
  CopyKernel k;
  k.extents = {};
  const Certificate certificate = check(CopyKernel::program(ctx_), {k.ast()});
  expect_refuted(certificate, "bounds", "Y writes Y outside its bounds");
  expect_refuted(certificate, "padding", "a padding point of Y stores to Y");
}

TEST_F(KernelTest, CopyCutTooLate) {
  CopyKernel k;
  k.extents = {"N - 8 * ib + 1"};
  expect_refuted(check(CopyKernel::program(ctx_), {k.ast()}), "coverage", "a point outside the domain of Y runs");
}

TEST_F(KernelTest, CopyReadsNeighbour) {
  CopyKernel k;
  k.read = "8 * ib + (N - 1 - 8 * ib < 7 ? 0 : 7)";
  k.read_step = 0;
  const Obligation o = expect_refuted(check(CopyKernel::program(ctx_), {k.ast()}), "values", "another element than the program's");
  EXPECT_EQ(o.where.column, 10);
}

TEST_F(KernelTest, CopyLanesCollide) {
  CopyKernel k;
  k.write_step = 0;
  expect_refuted(check(CopyKernel::program(ctx_), {k.ast()}), "races", "two box points");
}

TEST_F(KernelTest, CopyAtUnknownLevel) {
  CopyKernel k;
  k.level = "warp";
  const Certificate certificate = check(CopyKernel::program(ctx_), {k.ast()});
  EXPECT_FALSE(certificate.proved());
}

// ---- transposition through a tile on the stack

TEST_F(KernelTest, TransposeIsProved) { expect_proved(check(TransposeKernel::program(ctx_), {TransposeKernel{}.ast()})); }

TEST_F(KernelTest, TransposeReadsTheTileTransposed) {
  TransposeKernel k;
  k.tile_read_steps = {{0, 1}, {1, 0}};
  expect_refuted(check(TransposeKernel::program(ctx_), {k.ast()}), "values", "B reads A in A_tile");
}

TEST_F(KernelTest, TransposeTransposedTwiceIsRight) {
  TransposeKernel k;
  k.tile_read_steps = {{0, 1}, {1, 0}};
  k.written_steps = {{0, 1}, {1, 0}};
  expect_proved(check(TransposeKernel::program(ctx_), {k.ast()}));
}

TEST_F(KernelTest, TransposeLoadsLate) {
  TransposeKernel k;
  k.late = true;
  expect_refuted(check(TransposeKernel::program(ctx_), {k.ast()}), "values", "nobody wrote the value");
}

// ---- gemm without promotion: the loops of the program, and an interchanged one

TEST_F(KernelTest, GemmInterchangedIsProved) {
  expect_proved(check(plain_gemm(ctx_), {plain_gemm_ast("k", "thread", "serial")}));
}

TEST_F(KernelTest, GemmReversedNeedsReassociation) {
  const Ast reversed = plain_gemm_ast("K - 1 - k", "serial", "serial");
  const Certificate granted = check(plain_gemm(ctx_), {reversed});
  expect_proved(granted);
  EXPECT_EQ(granted.numerics, std::vector<std::string>{"reassociate: C"});
  expect_refuted(check(plain_gemm(ctx_, false), {reversed}), "order", "dependence of C on C is reversed");
  EXPECT_TRUE(check(plain_gemm(ctx_), {plain_gemm_ast("k", "serial", "serial")}).numerics.empty());
}

TEST_F(KernelTest, GemmReductionParallel) {
  const Obligation o = expect_refuted(check(plain_gemm(ctx_), {plain_gemm_ast("k", "serial", "thread")}), "races", "two iterations of loop k");
  EXPECT_NE(o.reason.find("the same element of C"), std::string::npos) << o.reason;
}

TEST_F(KernelTest, GemmReductionInSimdLanes) {
  expect_refuted(check(plain_gemm(ctx_), {plain_gemm_ast("k", "serial", "simd")}), "text", "the pragma of loop k");
}

TEST_F(KernelTest, GemmInTwoKernels) {
  const Ast all = plain_gemm_ast("k", "thread", "serial");
  const auto& parts = std::get<AstBlock>(all.root->node).children;
  const Ast first = kernel("init", {}, kPlainGemm, parts[0]), second = kernel("sum", {}, kPlainGemm, parts[1]);
  expect_proved(check(plain_gemm(ctx_), {first, second}));
  expect_refuted(check(plain_gemm(ctx_), {second, first}), "order", "flow dependence of C on C_init");
  expect_refuted(check(plain_gemm(ctx_), {first}), "coverage", "an instance of C never runs");
}

class NestedLoopsTest : public KernelTest {
 protected:
  NestedLoopsTest() {
    const AstNodePtr init = loop("i", "0", "M - 1", loop("j", "0", "N - 1", leaf("C_init", {"i", "j"}, {"i", "j"}, {}), "thread"), "thread");
    const AstNodePtr update = loop("i", "0", "M - 1", loop("j", "0", "N - 1", loop("k", "0", "K - 1",
                                   leaf("C", {"i", "j", "k"}, {"i", "j"}, {{"i", "k"}, {"k", "j"}}))));
    ast_ = kernel("gemm", {}, kPlainGemm, block({init, update}));
    facts_ = faithful_facts(program_, ast_);
  }
  Certificate prove() { return verify(program_, {ast_}, {facts_}, machine(), "test", patient()); }

  Program program_ = plain_gemm(ctx_);
  Ast ast_;
  PrintFacts facts_;
};

TEST_F(NestedLoopsTest, OuterTeamOnly) { expect_proved(prove()); }

TEST_F(NestedLoopsTest, TeamInEveryThread) {
  facts_.loops[1].pragma = "#pragma omp parallel for";
  expect_refuted(prove(), "text", "the pragma of loop j");
}

TEST_F(NestedLoopsTest, Collapsed) {
  facts_.loops[0].pragma = "#pragma omp parallel for schedule(static) collapse(2)";
  expect_proved(prove());
  facts_.loops[0].pragma = "#pragma omp parallel for schedule(static) collapse(3)";
  expect_refuted(prove(), "text", "the pragma of loop i");
}

// The sum over k is kept in a variable: C[i, j] is loaded before loop k and stored after it.
TEST_F(NestedLoopsTest, HeldInAVariable) {
  facts_.loops[4].accumulator = {"C", {"i", "j"}, "f32"};
  expect_proved(prove());
}

TEST_F(NestedLoopsTest, AnotherElementIsHeld) {
  facts_.loops[4].accumulator = {"C", {"j", "i"}, "f32"};
  expect_refuted(prove(), "text", "and C updates C[i, j]");
}

TEST_F(NestedLoopsTest, HeldWhereIterationsWriteDifferentElements) {
  facts_.loops[1].accumulator = {"C", {"i", "j"}, "f32"};
  expect_refuted(prove(), "text", "several agents run it");
  facts_.loops[1].accumulator = {};
  facts_.loops[3].accumulator = {"C", {"i", "j"}, "f32"};
  expect_refuted(prove(), "text", "not every iteration reaches it");
}

TEST_F(NestedLoopsTest, HeldElementIsReadFromMemory) {
  ast_.statements.at("C").read_arrays[0] = "C";
  facts_.loops[4].accumulator = {"C", {"i", "j"}, "f32"};
  expect_refuted(prove(), "text", "and C reads C from memory");
}

TEST_F(NestedLoopsTest, HeldInAnotherType) {
  facts_.loops[4].accumulator = {"C", {"i", "j"}, "f64"};
  expect_refuted(prove(), "text", "rounds and wraps unlike f32");
}

TEST_F(NestedLoopsTest, HeldElementIsStoredWhereNoIterationRuns) {
  facts_.loops[4].accumulator = {"C", {"i", "j"}, "f32", false};
  expect_refuted(prove(), "text", "stores it where no iteration runs");
}

// Four terms at once, cut at the end: with one iteration too many there is one that may have no term.
TEST_F(NestedLoopsTest, HeldElementOfABoxThatMayBeCutToNothing) {
  const AstStatement four = compute("C", "C", {"A", "B"}, {{"kk", 4}}, {{0}, {0}, {1}}, {{0}, {0}}, {{{0}, {1}}, {{1}, {0}}});
  for (const auto& [last, right] : {std::pair("floord(K - 1, 4)", true), std::pair("floord(K, 4)", false)}) {
    ast_ = kernel("gemm", {}, {kPlainGemm[0], four},
                  block({loop("i", "0", "M - 1", loop("j", "0", "N - 1", leaf("C_init", {"i", "j"}, {"i", "j"}, {}))),
                         loop("i", "0", "M - 1", loop("j", "0", "N - 1", loop("k", "0", last,
                              leaf("C", {"i", "j", "4 * k"}, {"i", "j"}, {{"i", "4 * k"}, {"4 * k", "j"}}, {"K - 4 * k"}))))}));
    facts_ = faithful_facts(program_, ast_);
    facts_.loops[4].accumulator = {"C", {"i", "j"}, "f32"};
    const Certificate certificate = prove();
    if (!right) {
      expect_refuted(certificate, "text", "may be cut to nothing");
      continue;
    }
    for (const Obligation& o : certificate.obligations) {
      if (o.name == "text") EXPECT_EQ(o.verdict, Verdict::proved) << o.subject << ": " << o.reason;
    }
  }
}

// A guard that holds in no iteration: what was loaded is stored over what another thread may have put there.
TEST_F(NestedLoopsTest, HeldElementOfAGuardedLeaf) {
  facts_.loops[4].accumulator = {"C", {"i", "j"}, "f32"};
  facts_.leaves[1].tested = {"guard 0"};
  expect_refuted(prove(), "text", "guard 0 of C may hold in no iteration");
}

// ---- softmax: running maximum and sum in registers, simd reductions

TEST_F(KernelTest, SoftmaxIsProved) {
  const Certificate certificate = check(SoftmaxKernel::program(ctx_), {SoftmaxKernel{}.ast()});
  expect_proved(certificate);
  EXPECT_EQ(certificate.numerics, (std::vector<std::string>{"reassociate: m", "reassociate: l"}));
}

TEST_F(KernelTest, SoftmaxPrintedWithoutReductions) {
  const Program program = SoftmaxKernel::program(ctx_);
  const Ast ast = SoftmaxKernel{}.ast();
  PrintFacts facts = faithful_facts(program, ast);
  EXPECT_NE(facts.loops[1].pragma.find("reduction(tileopt_max"), std::string::npos);
  facts.loops[1].pragma = "";
  expect_proved(verify(program, {ast}, {facts}, machine(), "test", patient()));
  facts.loops[1].pragma = "#pragma omp simd";
  expect_refuted(verify(program, {ast}, {facts}, machine(), "test", patient()), "text", "the pragma of loop j");
  facts.loops[1].pragma = "#pragma omp simd reduction(+ : m_reg)";
  expect_refuted(verify(program, {ast}, {facts}, machine(), "test", patient()), "text", "the pragma of loop j");
}

TEST_F(KernelTest, SoftmaxSumBeforeTheMaximumIsKnown) {
  SoftmaxKernel k;
  k.maximum_fused = true;
  expect_refuted(check(SoftmaxKernel::program(ctx_), {k.ast()}), "order", "flow dependence of l on m");
}

TEST_F(KernelTest, SoftmaxAccumulatorsShared) {
  SoftmaxKernel k;
  k.shared = true;
  expect_refuted(check(SoftmaxKernel::program(ctx_), {k.ast()}), "races", "two iterations of loop i");
}

TEST_F(KernelTest, SoftmaxSumNotInitialised) {
  SoftmaxKernel k;
  k.sum_init_dropped = true;
  expect_refuted(check(SoftmaxKernel::program(ctx_), {k.ast()}), "values", "l updates l in l_reg: nobody wrote the value");
}

TEST_F(KernelTest, SoftmaxSumUsedWhileItGrows) {
  SoftmaxKernel k;
  k.exponent_in_sum = true;
  const Certificate certificate = check(SoftmaxKernel::program(ctx_), {k.ast()});
  expect_refuted(certificate, "order", "dependence of Y on l");
  expect_refuted(certificate, "races", "two iterations of loop j");
}

TEST_F(KernelTest, SoftmaxOtherRow) {
  SoftmaxKernel k;
  k.maximum_read = "0";
  expect_refuted(check(SoftmaxKernel::program(ctx_), {k.ast()}), "values", "m reads X");
}

// ---- triangle: C[i, j] += for j <= i, only the touched blocks

TEST_F(KernelTest, TriangleIsProved) { expect_proved(check(TriangleKernel::program(ctx_), {TriangleKernel{}.ast()})); }

TEST_F(KernelTest, TriangleDiagonalMissing) {
  TriangleKernel k;
  k.extents = {"min(8, i - 8 * jb)"};
  expect_refuted(check(TriangleKernel::program(ctx_), {k.ast()}), "coverage", "an instance of C never runs");
}

TEST_F(KernelTest, TriangleUpperPartToo) {
  TriangleKernel k;
  k.extents = {"min(8, i - 8 * jb + 2)"};
  const Certificate certificate = check(TriangleKernel::program(ctx_), {k.ast()});
  expect_refuted(certificate, "coverage", "a point outside the domain of C runs");
}

// ---- jacobi in one dimension: skewed tiles over time

TEST_F(KernelTest, JacobiSkewedIsProved) { expect_proved(check(JacobiKernel::program(ctx_), {JacobiKernel{}.ast()})); }

TEST_F(KernelTest, JacobiNotSkewed) {
  JacobiKernel k;
  k.skew = "t";
  expect_refuted(check(JacobiKernel::program(ctx_), {k.ast()}), "order", "is reversed");
}

TEST_F(KernelTest, JacobiStatementsSwapped) {
  JacobiKernel k;
  k.swapped = true;
  const Obligation o = expect_refuted(check(JacobiKernel::program(ctx_), {k.ast()}), "order", "is reversed");
  EXPECT_NE(o.witness.find(" | "), std::string::npos) << o.witness;
}

TEST_F(KernelTest, JacobiTilesParallel) {
  JacobiKernel k;
  k.tile_level = "thread";
  expect_refuted(check(JacobiKernel::program(ctx_), {k.ast()}), "races", "two iterations of loop st");
}

TEST_F(KernelTest, JacobiPointsInLanes) {
  JacobiKernel k;
  k.space_level = "simd";
  expect_refuted(check(JacobiKernel::program(ctx_), {k.ast()}), "races", "two iterations of loop s");
}

// ---- seidel in place: wavefronts i + j

TEST_F(KernelTest, SeidelWavefrontIsProved) { expect_proved(check(SeidelKernel::program(ctx_), {SeidelKernel{}.ast()})); }

TEST_F(KernelTest, SeidelFrontsParallel) {
  SeidelKernel k;
  k.front_level = "thread";
  k.along_level = "serial";
  expect_refuted(check(SeidelKernel::program(ctx_), {k.ast()}), "races", "two iterations of loop w");
}

TEST_F(KernelTest, SeidelFrontsReversed) {
  SeidelKernel k;
  k.column = "2 * N - 2 - w - i";
  k.first = "max(1, N - w)";
  expect_refuted(check(SeidelKernel::program(ctx_), {k.ast()}), "order", "is reversed");
}

TEST_F(KernelTest, SeidelFrontCutShort) {
  SeidelKernel k;
  k.first = "max(2, w - N + 2)";
  expect_refuted(check(SeidelKernel::program(ctx_), {k.ast()}), "coverage", "an instance of A never runs");
}

// ---- overlapped tiles: a producer recomputed in every tile

TEST_F(KernelTest, OverlappedTilesAreProved) { expect_proved(check(OverlapKernel::program(ctx_), {OverlapKernel{}.ast()})); }

TEST_F(KernelTest, OverlapTooNarrow) {
  OverlapKernel k;
  k.halo_last = "8";
  expect_refuted(check(OverlapKernel::program(ctx_), {k.ast()}), "values", "Y reads X in X_tile: nobody wrote the value");
}

TEST_F(KernelTest, OverlapTileTooSmall) {
  OverlapKernel k;
  k.extent = 9;
  expect_refuted(check(OverlapKernel::program(ctx_), {k.ast()}), "bounds", "X_tile outside its bounds");
}

}  // namespace
}  // namespace tileopt::test
