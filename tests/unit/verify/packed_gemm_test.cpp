/// The packed, register-tiled gemm with symbolic sizes: proved as it is, and every planted fault refuted by its obligation.
#include "packed_gemm.h"

namespace tileopt::test {
namespace {

class PackedGemmTest : public ::testing::Test {
 protected:
  Certificate prove(const PackedGemm& gemm) { return check(program_, {gemm.ast()}); }

  poly::Context context_;
  Program program_ = PackedGemm::program(context_.get());
};

TEST_F(PackedGemmTest, IsProved) {
  const Certificate certificate = prove(PackedGemm{});
  expect_proved(certificate);
  RecordProperty("milliseconds", static_cast<int>(milliseconds(certificate)));
}

TEST_F(PackedGemmTest, IsProvedWithParallelTiles) {
  PackedGemm rows, columns;
  rows.ic_level = "thread";
  columns.jc_level = "thread";
  expect_proved(prove(rows));
  expect_refuted(prove(columns), "races", "workspace array B_packed is allocated inside parallel loop jc");
  Ast private_panels = columns.ast();
  private_panels.arrays[1].space = "stack";
  Machine large = machine();
  large.spaces[1].capacity = 1 << 24;
  expect_proved(verify(program_, {private_panels}, {faithful_facts(program_, private_panels)}, large, "test", patient()));
}

TEST_F(PackedGemmTest, LanesBeyondTheDataMayBeLost) {
  PackedGemm gemm;
  gemm.lanes_lost = true;
  expect_proved(prove(gemm));
  gemm.a_zero_fill = false;  // nothing is read beyond the extents
  expect_proved(prove(gemm));
  gemm.store_extents[1] = "N - 1024 * jc - 16 * jr + 1";
  expect_refuted(prove(gemm), "bounds", "");
}

TEST_F(PackedGemmTest, LanesThatJoinInLaterMayNotBeLost) {
  const Program upper = PackedGemm::program(context_.get(), true);
  PackedGemm gemm;
  gemm.upper = true;
  for (const Obligation& o : check(upper, {gemm.ast()}).obligations) EXPECT_NE(o.verdict, Verdict::refuted) << o.name << " of " << o.subject;
  gemm.lanes_lost = true;
  expect_refuted(check(upper, {gemm.ast()}), "padding", "C uses what a padding point of C computed");
}

TEST_F(PackedGemmTest, CopyDropped) {
  PackedGemm gemm;
  gemm.b_dropped = true;
  const Obligation o = expect_refuted(prove(gemm), "values", "nobody wrote the value");
  EXPECT_NE(o.subject.find("C reads B in B_packed"), std::string::npos);
  EXPECT_NE(o.witness.find("K = "), std::string::npos);
  EXPECT_EQ(o.where.line, 3);
}

TEST_F(PackedGemmTest, CopyLate) {
  PackedGemm gemm;
  gemm.a_late = true;
  expect_refuted(prove(gemm), "values", "C reads A in A_packed");
}

TEST_F(PackedGemmTest, LayoutTransposed) {
  PackedGemm gemm;
  gemm.a_written = {"ir", "0", "kk"};
  gemm.a_written_steps = {{0}, {1}, {0}};
  gemm.a_extents = {16, 256, 256};
  expect_refuted(prove(gemm), "values", "C reads A in A_packed");
}

TEST_F(PackedGemmTest, RowsReversed) {
  PackedGemm gemm;
  gemm.a_written = {"ir", "kk", "5"};
  gemm.a_written_steps = {{0}, {0}, {-1}};
  const Obligation o = expect_refuted(prove(gemm), "values", "C reads A in A_packed");
  EXPECT_NE(o.witness.find(" instead of "), std::string::npos) << o.witness;
}

TEST_F(PackedGemmTest, SourceTransposed) {
  PackedGemm gemm;
  gemm.a_copied = {"96 * ic + 6 * ir + kk", "256 * kc"};
  gemm.a_copied_steps = {{0}, {1}};
  expect_refuted(prove(gemm), "values", "C reads A in A_packed");
}

TEST_F(PackedGemmTest, InitMissing) {
  PackedGemm gemm;
  gemm.init_dropped = true;
  const Certificate certificate = prove(gemm);
  const Obligation o = expect_refuted(certificate, "coverage", "an instance of C_init never runs");
  EXPECT_NE(o.witness.find("C_init[i = "), std::string::npos) << o.witness;
  expect_refuted(certificate, "values", "C updates C in C_tile");
}

TEST_F(PackedGemmTest, LoadMissing) {
  PackedGemm gemm;
  gemm.load_dropped = true;
  expect_refuted(prove(gemm), "values", "C updates C in C_tile: nobody wrote the value");
}

TEST_F(PackedGemmTest, StoreMissing) {
  PackedGemm gemm;
  gemm.store_dropped = true;
  expect_refuted(prove(gemm), "values", "an element of C is never stored");
}

TEST_F(PackedGemmTest, StoreOneRowShort) {
  PackedGemm gemm;
  gemm.store_extents[0] = "M - 96 * ic - 6 * ir - 1";
  expect_refuted(prove(gemm), "values", "an element of C is never stored");
}

TEST_F(PackedGemmTest, InitAgain) {
  PackedGemm gemm;
  gemm.first = "kc <= 1";
  expect_refuted(prove(gemm), "order", "is reversed");
}

TEST_F(PackedGemmTest, InitAfterUpdates) {
  PackedGemm gemm;
  gemm.kk_before_init = true;
  const Obligation o = expect_refuted(prove(gemm), "order", "flow dependence of C on C_init");
  EXPECT_NE(o.witness.find("(C_init["), std::string::npos) << o.witness;
}

TEST_F(PackedGemmTest, LastContributionSkipped) {
  PackedGemm gemm;
  gemm.kk_last = "min(255, K - 256 * kc - 2)";
  expect_refuted(prove(gemm), "coverage", "an instance of C never runs");
}

TEST_F(PackedGemmTest, BlocksOverlap) {
  PackedGemm gemm;
  gemm.kk_last = "min(256, K - 256 * kc - 1)";
  const Certificate certificate = prove(gemm);
  expect_refuted(certificate, "coverage", "a contribution to reduction C is made twice");
  expect_refuted(certificate, "bounds", "C reads A_packed outside its bounds");
}

TEST_F(PackedGemmTest, ContributionsBeyondTheDomain) {
  PackedGemm gemm;
  gemm.kk_last = "255";
  const Certificate certificate = prove(gemm);
  expect_refuted(certificate, "padding", "a padding point of C");
}

TEST_F(PackedGemmTest, ZeroFillMissing) {
  PackedGemm gemm;
  gemm.a_zero_fill = false;
  expect_refuted(prove(gemm), "padding", "reads an element of A_packed that was never set");
}

TEST_F(PackedGemmTest, StorePadded) {
  PackedGemm gemm;
  gemm.c_store_padded = true;
  expect_refuted(prove(gemm), "bounds", "C_store writes C outside its bounds");
}

TEST_F(PackedGemmTest, BufferTooSmall) {
  PackedGemm gemm;
  gemm.a_extents = {16, 255, 6};
  const Obligation o = expect_refuted(prove(gemm), "bounds", "A_packed outside its bounds");
  EXPECT_NE(o.witness.find("A_packed["), std::string::npos) << o.witness;
}

TEST_F(PackedGemmTest, BufferSharedByThreads) {
  PackedGemm gemm;
  gemm.ic_level = "thread";
  gemm.a_shared = true;
  const Obligation o = expect_refuted(prove(gemm), "races", "two iterations of loop ic");
  EXPECT_NE(o.reason.find("A_packed"), std::string::npos) << o.reason;
}

TEST_F(PackedGemmTest, ReductionLoopParallel) {
  PackedGemm gemm;
  gemm.kc_level = "thread";
  Ast ast = gemm.ast();
  ast.arrays[1].space = "stack";
  expect_refuted(check(program_, {ast}), "races", "two iterations of loop kc");
}

TEST_F(PackedGemmTest, StackTooSmall) {
  PackedGemm gemm;
  gemm.a_extents = {256, 256, 6};
  expect_refuted(prove(gemm), "capacity", "arrays in stack need");
}

TEST_F(PackedGemmTest, RegisterTileTooLarge) {
  Ast ast = PackedGemm{}.ast();
  ast.arrays[2].extents = {8, 16};
  const Obligation o = expect_refuted(check(program_, {ast}), "capacity", "register arrays need 19 vector registers");
  EXPECT_NE(o.witness.find("C_tile"), std::string::npos);
}

TEST_F(PackedGemmTest, RegisterSubscriptMoves) {
  Ast ast = PackedGemm{}.ast();
  ast.arrays[2].space = "register";
  ast.arrays[0].space = "register";
  expect_refuted(check(program_, {ast}), "bounds", "of register array A_packed");
}

TEST_F(PackedGemmTest, FloatsMayNotBeReordered) {
  ProgramWriter w(context_.get(), "strict", {"M", "N", "K"}, "M >= 1 and N >= 1 and K >= 1");
  w.tensor("A", TensorRole::in, {"M", "K"});
  w.tensor("B", TensorRole::in, {"K", "N"});
  w.tensor("C", TensorRole::out, {"M", "N"});
  w.statement("C_init", {"i", "j"}, "0 <= i < M and 0 <= j < N", "C[i, j]", Combine::assign, {}, 3);
  w.statement("C", {"i", "j", "k"}, "0 <= i < M and 0 <= j < N and 0 <= k < K", "C[i, j]", Combine::sum, {"A[i, k]", "B[k, j]"}, 3);
  Numerics numerics;
  numerics.reassociate = false;
  w.builder.numerics(numerics);
  const Program strict = w.build("i > j > (C_init ; C: k)");
  expect_proved(check(strict, {PackedGemm{}.ast()}));
}

// ---- text: what was printed differs from the Ast

class PrintedGemmTest : public PackedGemmTest {
 protected:
  Certificate prove_printed() { return verify(program_, {ast_}, {facts_}, machine(), "test", patient()); }

  Ast ast_ = PackedGemm{}.ast();
  PrintFacts facts_ = faithful_facts(program_, ast_);
};

TEST_F(PrintedGemmTest, BoundAltered) {
  facts_.loops[1].upper = "floord(K, 256)";
  const Obligation o = expect_refuted(prove_printed(), "text", "the upper bound of loop kc");
  EXPECT_NE(o.witness.find("floord(K, 256)"), std::string::npos);
}

TEST_F(PrintedGemmTest, ConditionDropped) {
  facts_.conditions.clear();
  expect_refuted(prove_printed(), "text", "0 conditions were printed");
}

TEST_F(PrintedGemmTest, PragmaAdded) {
  facts_.loops[1].pragma = "#pragma omp parallel for";
  expect_refuted(prove_printed(), "text", "the pragma of loop kc");
}

TEST_F(PrintedGemmTest, LanesAdded) {
  facts_.loops[1].pragma = "#pragma omp simd";
  expect_refuted(prove_printed(), "text", "the pragma of loop kc");
}

TEST_F(PrintedGemmTest, SubscriptAltered) {
  facts_.leaves.back().subscripts[0] = "96 * ic";
  expect_refuted(prove_printed(), "text", "the subscripts of C_store");
}

TEST_F(PrintedGemmTest, ExtentDropped) {
  facts_.leaves.back().extents.clear();
  expect_refuted(prove_printed(), "text", "the extents of C_store");
}

TEST_F(PrintedGemmTest, BoxTooSmall) {
  facts_.leaves.back().points = 90;
  expect_refuted(prove_printed(), "text", "the box of C_store");
}

TEST_F(PrintedGemmTest, StorageTooSmall) {
  facts_.buffers[1].bytes -= 64;
  expect_refuted(prove_printed(), "text", "the storage of B_packed");
}

TEST_F(PrintedGemmTest, NoFacts) {
  const Certificate certificate = verify(program_, {ast_}, {}, machine(), "test", patient());
  EXPECT_FALSE(certificate.proved());
  EXPECT_FALSE(certificate.refuted());
}

}  // namespace
}  // namespace tileopt::test
