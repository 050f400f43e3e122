#include "pass_fixture.h"

namespace tileopt {
namespace {

TEST_F(PassTest, GemmIsPackedAsWrittenByHand) {
  const auto p = program(gemm_text);
  const Candidate<PromotedSchedule> made = promoted_of(p, packed_gemm_plan());
  ASSERT_EQ(reason(made), "feasible");
  const PromotedSchedule& promoted = std::get<PromotedSchedule>(made);
  ASSERT_EQ(promoted.arrays().size(), 3u);
  EXPECT_EQ(promoted.arrays()[0].extents, (std::vector<long>{64, 256, 16}));
  EXPECT_EQ(promoted.arrays()[1].extents, (std::vector<long>{16, 256, 6}));
  EXPECT_EQ(promoted.arrays()[2].extents, (std::vector<long>{6, 16}));
  EXPECT_EQ(promoted.tree().write(),
            "jc > kc > allocate(B_packed) > (copy_in_B_packed: B_jr > B_kk ; C_init, C, copy_in_A_packed, copy_in_C_tile, copy_out_C_tile: "
            "ic > allocate(A_packed) > (copy_in_A_packed: A_ir > A_kk ; C_init, C, copy_in_C_tile, copy_out_C_tile: "
            "jr > ir > allocate(C_tile) > (copy_in_C_tile ; C_init, C: (C_init ; C: kk) ; copy_out_C_tile)))");
  const LeafStatement& pack = promoted.statement("copy_in_B_packed");
  EXPECT_TRUE(pack.domain.is_equal(set(
      "[M, N, K] -> { copy_in_B_packed[jc, kc, jr, kk] : M > 0 and jc >= 0 and kc >= 0 and 0 <= jr < 64 and 1024jc + 16jr < N and"
      " 0 <= kk < 256 and 256kc + kk < K }")))
      << pack.domain;
  EXPECT_TRUE(pack.reads[0].index.as_map().intersect_domain(pack.domain).is_equal(
      isl::map(ctx(), "{ copy_in_B_packed[jc, kc, jr, kk] -> B[256kc + kk, 1024jc + 16jr] }").intersect_domain(pack.domain)));
  EXPECT_EQ(pack.reads[0].steps, (std::vector<std::vector<long>>{{0}, {1}}));
  EXPECT_TRUE(pack.zero_fill);
  // The tile starts from C_init at kc = 0, and is loaded only after that.
  EXPECT_TRUE(promoted.statement("copy_in_C_tile").domain.is_subset(set("{ copy_in_C_tile[jc, kc, ic, jr, ir] : kc >= 1 }")));
  EXPECT_TRUE(promoted.statement("C").extents.empty()) << "padded: runs its whole box";
}

TEST_F(PassTest, CopyOutWritesExactlyWhatTheTileWrites) {
  const auto p = program(
      "def f(A: f32[N, N], C: inout[f32[N, N]]):\n"
      "    for i in range(N):\n"
      "        for j in range(i, N):\n"
      "            C[i, j] = A[j, i]\n");
  KernelPlan plan = proposed_plan(p, "original");
  plan.digits = {{"i", {{"ib", 0, "serial"}, {"ip", 8, "serial"}}}, {"j", {{"jb", 0, "serial"}, {"jp", 8, "serial"}}}};
  plan.tree = Tree::read("ib > jb > ip > jp", "test");
  plan.promotions = {{"C", "C_tile", "jb", {}, "stack", "f32", {{0, "C_i", 0}, {1, "C_j", 0}}, false}};
  const Candidate<PromotedSchedule> made = promoted_of(p, plan);
  ASSERT_EQ(reason(made), "feasible");
  const PromotedSchedule& promoted = std::get<PromotedSchedule>(made);
  EXPECT_EQ(promoted.tree().write(), "ib > jb > allocate(C_tile) > (C: ip > jp ; copy_out_C_tile: C_i > C_j)") << "nothing is read, nothing copied in";
  const LeafStatement& out = promoted.statement("copy_out_C_tile");
  const isl::set written = out.domain.apply(out.write.index.as_map());
  EXPECT_TRUE(written.is_equal(set("[N] -> { C[i, j] : 0 <= i <= j < N }"))) << written;
}

TEST_F(PassTest, ALocalThatLivesInOneTileIsContracted) {
  const auto p = program(
      "def softmax(X: f32[R, N], Y: out[f32[R, N]]):\n"
      "    for r in range(R):\n"
      "        m: f32 = max(X[r, j] for j in range(N))\n"
      "        for j in range(N):\n"
      "            Y[r, j] = exp(X[r, j] - m)\n");
  KernelPlan plan = proposed_plan(p, "original");
  plan.promotions = {{"m", "m_value", "r", {}, "register", "f32", {}, false}};
  const Candidate<PromotedSchedule> made = promoted_of(p, plan);
  ASSERT_EQ(reason(made), "feasible");
  const PromotedSchedule& promoted = std::get<PromotedSchedule>(made);
  EXPECT_EQ(promoted.arrays()[0].extents, std::vector<long>{1});
  for (const LeafStatement& s : promoted.statements()) EXPECT_EQ(s.kind, LeafKind::compute) << s.name << ": no copies are left";
}

TEST_F(PassTest, SimdMayCarryOnlyAReductionIntoOneRegister) {
  const auto p = program(
      "def rows(X: f32[R, N], S: out[f32[R]]):\n"
      "    for r in range(R):\n"
      "        S[r] = sum(X[r, j] for j in range(N))\n");
  KernelPlan plan = proposed_plan(p, "original");
  for (auto& [member, digits] : plan.digits)
    if (digits[0].name == "j" || digits[0].name == "j_2") digits[0].level = "simd";
  EXPECT_NE(reason(synchronized_of(p, plan)).find("carries the reduction of S"), std::string::npos);
  plan.promotions = {{"S", "S_value", "r", {}, "register", "f32", {}, false}};
  EXPECT_EQ(reason(synchronized_of(p, plan)), "feasible");
  for (auto& [member, digits] : plan.digits)
    if (digits[0].name == "r") digits[0].level = "thread";
  EXPECT_EQ(reason(synchronized_of(p, plan)), "feasible") << "the register is private to a row";
}

TEST_F(PassTest, PromotionsThatCannotBeAreRefusedWithTheReason) {
  const auto p = program(gemm_text);
  const auto refused = [&](auto change) {
    KernelPlan plan = packed_gemm_plan();
    change(plan);
    return reason(promoted_of(p, plan));
  };
  const auto expect = [&](const std::string& text, const std::string& part) { EXPECT_NE(text.find(part), std::string::npos) << text; };
  expect(refused([](KernelPlan& k) { k.promotions[0].after = "jc"; }), "has no constant-size box");
  expect(refused([](KernelPlan& k) { k.promotions[1].after = "zz"; }), "the tree has no band `zz`");
  expect(refused([](KernelPlan& k) { k.promotions[0].tensor = "D"; }), "no tensor D");
  expect(refused([](KernelPlan& k) { k.promotions[0].space = "shared"; }), "has no space shared");
  expect(refused([](KernelPlan& k) { k.promotions[0].element = "f16"; }), "does not widen exactly");
  expect(refused([](KernelPlan& k) { k.promotions[0].array = "A"; }), "is taken");
  expect(refused([](KernelPlan& k) { k.promotions[0].layout[1].tensor_dim = 7; }), "names dimension 7");
  expect(refused([](KernelPlan& k) { k.promotions[0].layout.erase(k.promotions[0].layout.begin() + 1); }), "leaves out dimension 0");
  expect(refused([](KernelPlan& k) { k.promotions[0].layout[0].radix = 3; }), "cannot hold 64");
  expect(refused([](KernelPlan& k) { k.promotions[0].layout[0].name = "jr"; }), "has the name of a digit");
  expect(refused([](KernelPlan& k) { k.promotions.pop_back(); }), "its result must be promoted to registers");
  expect(refused([](KernelPlan& k) { k.promotions.erase(k.promotions.begin()); }), "B must be promoted");
  expect(refused([](KernelPlan& k) { k.promotions[2].after = "ic"; }), "a register tile of 98304 elements");
  expect(refused([](KernelPlan& k) { k.promotions[0].space = "stack"; k.digits[1].second[1].radix = 4096; }), "stack");
  expect(refused([](KernelPlan& k) {
           Promotion again = k.promotions[0];
           again.array = "B_again";
           again.layout = {{0, "B_x", 0}, {1, "B_y", 0}};
           again.after = "jc";
           k.promotions.push_back(again);
         }),
         "promoted inside this scope already");
}

TEST_F(PassTest, WideningNeedsACastAtEveryRead) {
  const auto p = program(
      "def f(A: bf16[N], B: out[f32[N]], D: out[bf16[N]]):\n"
      "    for i in range(N):\n"
      "        B[i] = f32(A[i]) + f32(1)\n");
  KernelPlan plan = proposed_plan(p, "original");
  plan.digits = {{"i", {{"ib", 0, "serial"}, {"ip", 32, "serial"}}}};
  plan.tree = Tree::read("ib > ip", "test");
  plan.promotions = {{"A", "A_wide", "ib", {}, "stack", "f32", {{0, "A_i", 0}}, false}};
  EXPECT_EQ(reason(promoted_of(p, plan)), "feasible");
  const auto q = program(
      "def f(A: bf16[N], B: out[bf16[N]]):\n"
      "    for i in range(N):\n"
      "        B[i] = A[i] + A[i]\n");
  EXPECT_NE(reason(promoted_of(q, plan)).find("without a cast to f32"), std::string::npos);
}

TEST_F(PassTest, ALifetimeThatIslSplitsIsJoined) {
  // All bands above the promotion have one value: no loop holds copy-in, computation and copy-out together.
  const auto p = program(
      "def f(A: inout[f32[3]]):\n"
      "    for i in range(3):\n"
      "        A[i] = A[i] + A[i // 2]\n");
  KernelPlan plan = proposed_plan(p, "original");
  plan.digits = {{"i", {{"ib", 0, "serial"}, {"ip", 16, "serial"}}}};
  plan.tree = Tree::read("ib > ip", "test");
  plan.promotions = {{"A", "A_kept", "ib", {}, "stack", "f32", {{0, "A_i", 0}}, false}};
  const Candidate<Ast> made = ast_of(p, plan);
  ASSERT_EQ(reason(made), "feasible");
  const std::string text = to_yaml(std::get<Ast>(made).write());
  const std::size_t first = text.find("allocate:");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("allocate:", first + 1), std::string::npos) << text;
}

TEST_F(PassTest, NestedLoopsSeparateWholeBlocksFromCutOnes) {
  const auto p = program(
      "def transpose(A: f32[M, N], B: out[f32[N, M]]):\n"
      "    for i, j in grid(M, N):\n"
      "        B[j, i] = A[i, j]\n");
  KernelPlan plan = proposed_plan(p, "original");
  plan.digits = {{"i", {{"ib", 0, "serial"}, {"ip", 16, "serial"}}}, {"j", {{"jb", 0, "serial"}, {"jp", 64, "serial"}}}};
  plan.tree = Tree::read("ib > jb > nested > jp > ip", "test");
  const Candidate<Ast> made = ast_of(p, plan);
  ASSERT_EQ(reason(made), "feasible");
  const std::string text = to_yaml(std::get<Ast>(made).write());
  EXPECT_NE(text.find("M >= 16 * ib + 16"), std::string::npos) << text;
  EXPECT_NE(text.find("upper: \"63\""), std::string::npos) << "whole blocks have constant bounds\n" << text;
  plan.tree = Tree::read("nested > ib > jb > jp > ip", "test");
  EXPECT_NE(reason(ast_of(p, plan)).find("above unbounded digits"), std::string::npos);
}

}  // namespace
}  // namespace tileopt
