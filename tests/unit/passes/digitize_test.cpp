#include "pass_fixture.h"

namespace tileopt {
namespace {

TEST_F(PassTest, SchedulerFindsThePermutableBandOfGemm) {
  const auto p = program(gemm_text);
  KernelPlan plan;
  plan.name = "gemm";
  plan.statements = {"C_init", "C"};
  const Kernel kernel = std::get<Kernel>(Kernel::create(p, dependences(p), plan));
  const ScheduleProposal proposal = propose_schedule(kernel, "isl");
  EXPECT_EQ(proposal.method, "isl");
  EXPECT_EQ(proposal.tree.write(), "i > j > k > (C_init ; C)");
  EXPECT_EQ(proposal.permutable, (std::vector<std::vector<std::string>>{{"i", "j", "k"}}));
  EXPECT_TRUE(proposal.coincident.at("i"));
  EXPECT_TRUE(proposal.coincident.at("j"));
  EXPECT_FALSE(proposal.coincident.at("k")) << "contributions may be reordered, but they race";
}

TEST_F(PassTest, SchedulerSkewsTheTimeLoopOfAStencil) {
  const auto p = program(
      "def seidel(A: inout[f64[N, N]], T: size):\n"
      "    for t in range(T):\n"
      "        for i in range(1, N - 1):\n"
      "            for j in range(1, N - 1):\n"
      "                A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / f64(5)\n");
  KernelPlan plan;
  plan.name = "seidel";
  plan.statements = {"A"};
  const Kernel kernel = std::get<Kernel>(Kernel::create(p, dependences(p), plan));
  const ScheduleProposal proposal = propose_schedule(kernel, "isl");
  ASSERT_EQ(proposal.permutable.size(), 1u);
  EXPECT_EQ(proposal.permutable.front().size(), 3u) << "one band of three members can be tiled";
}

TEST_F(PassTest, DigitsAreABijectionOntoTheDomain) {
  const auto p = program(gemm_text);
  const Candidate<DigitSchedule> made = digits_of(p, packed_gemm_plan());
  ASSERT_EQ(reason(made), "feasible");
  const StatementSpace& c = std::get<DigitSchedule>(made).statement("C");
  EXPECT_EQ(c.dims, (std::vector<std::string>{"ic", "ir", "ii", "jc", "jr", "jj", "kc", "kk"}));
  EXPECT_TRUE(c.to_program.is_bijective());
  EXPECT_TRUE(c.to_program.range().is_equal(set("[M, N, K] -> { C[i, j, k] : 0 <= i < M and 0 <= j < N and 0 <= k < K }")));
  EXPECT_TRUE(c.domain.is_equal(
      set("[M, N, K] -> { C[ic, ir, ii, jc, jr, jj, kc, kk] : 0 <= ir < 16 and 0 <= ii < 6 and 0 <= 96ic + 6ir + ii < M and"
          " 0 <= jr < 64 and 0 <= jj < 16 and 0 <= 1024jc + 16jr + jj < N and 0 <= kk < 256 and 0 <= 256kc + kk < K }")));
}

TEST_F(PassTest, AnOrderThatReversesADependenceIsRefusedWithTheBrokenPair) {
  const auto p = program(gemm_text);
  KernelPlan plan = packed_gemm_plan();
  plan.tree = Tree::read("jc > kc > ic > jr > ir > (C: kk ; C_init)", "test");
  const std::string text = reason(digits_of(p, plan));
  EXPECT_NE(text.find("the order reverses a dependence"), std::string::npos) << text;
  EXPECT_NE(text.find("C_init["), std::string::npos) << text;
}

TEST_F(PassTest, ParallelDigitsMayCarryNothing) {
  const auto p = program(gemm_text);
  KernelPlan plan = packed_gemm_plan();
  plan.digits[2].second[0].level = "thread";
  EXPECT_NE(reason(digits_of(p, plan)).find("digit kc on level thread carries a dependence"), std::string::npos);
  plan = packed_gemm_plan();
  plan.digits[0].second[0].level = "thread";
  EXPECT_EQ(reason(digits_of(p, plan)), "feasible");
}

TEST_F(PassTest, TablesAndTreesThatDoNotFitAreRefused) {
  const auto p = program(gemm_text);
  const auto refused = [&](auto change) {
    KernelPlan plan = packed_gemm_plan();
    change(plan);
    return reason(digits_of(p, plan));
  };
  EXPECT_NE(refused([](KernelPlan& k) { k.digits[0].second[1].name = "jr"; }).find("two digits are called jr"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.digits[0].second[0].radix = 4; }).find("must be unbounded"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.digits[0].second[1].radix = 0; }).find("not the most significant"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.digits[0].second[0].level = "warp"; }).find("has no level `warp`"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.digits[0].second[0].name = "M"; }).find("has the name of a size"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.tree = Tree::read("jc > kc > ic > jr > (C_init ; C: kk)", "t"); }).find("does not place digit ir"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.tree = Tree::read("jc > kc > ic > jr > ir > (C: kk)", "t"); }).find("leaves out statement C_init"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.tree = Tree::read("jc > kc > ic > jr > ir > kk", "t"); }).find("share a leaf"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.tree = Tree::read("jc > jc > ic > jr > ir > (C_init ; C: kk)", "t"); }).find("occurs twice"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.members["C"].map = "{ C[i,j,k] -> [(i), (j), (0)] }"; }).find("two instances have the same member values"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.members["C"].map = "{ C[i,j,k] -> [(i), (j)"; }).find("is no isl map"), std::string::npos);
  EXPECT_NE(refused([](KernelPlan& k) { k.members.erase("C"); }).find("gives the statement no members"), std::string::npos);
}

TEST_F(PassTest, WavefrontsAreSumsOfDigitsInFront) {
  const auto p = program(
      "def f(A: inout[f32[N, N]]):\n"
      "    for i in range(1, N):\n"
      "        for j in range(1, N):\n"
      "            A[i, j] = A[i - 1, j] + A[i, j - 1]\n");
  KernelPlan plan;
  plan.name = "f";
  plan.statements = {"A"};
  plan.members["A"] = {{"w", "i"}, "{ A[i, j] -> [(i + j), (i)] }"};
  plan.digits = {{"w", {{"w", 0, "serial"}}}, {"i", {{"i", 0, "thread"}}}};
  plan.tree = Tree::read("w > i", "test");
  EXPECT_EQ(reason(digits_of(p, plan)), "feasible");
  plan.tree = Tree::read("i > w", "test");
  EXPECT_NE(reason(digits_of(p, plan)).find("carries a dependence"), std::string::npos);
}

TEST_F(PassTest, AtomsAreMatchedByTheStructureOfTheStatement) {
  const auto p = program(gemm_text);
  const auto fit = [&](auto change) -> std::string {
    KernelPlan plan = packed_gemm_plan();
    change(plan);
    const Candidate<DigitSchedule> digits = digits_of(p, plan);
    if (!feasible(digits)) return reason(digits);
    return reason(fit_atoms(std::get<DigitSchedule>(digits), machine_));
  };
  EXPECT_EQ(fit([](KernelPlan&) {}), "feasible");
  EXPECT_NE(fit([](KernelPlan& k) { k.atoms["C"].atom = "wgmma"; }).find("has no atom wgmma"), std::string::npos);
  EXPECT_EQ(fit([](KernelPlan& k) { k.atoms["C"].box = {"jj", "ii"}; }), "feasible") << "a product commutes: B takes the rows";
  EXPECT_NE(fit([](KernelPlan& k) { k.atoms["C"].box = {"jj"}; }).find("does not place digit ii"), std::string::npos);
  EXPECT_NE(fit([](KernelPlan& k) { k.atoms["C_init"].atom = "outer_product_fma"; }).find("not result += left * right"), std::string::npos);
  EXPECT_NE(fit([](KernelPlan& k) { k.atoms["C"].edge = "clipped"; }).find("edge must be"), std::string::npos);
  EXPECT_NE(fit([](KernelPlan& k) { k.digits[0].second[2].level = "serial"; }).find("not on an atom level"), std::string::npos);
  EXPECT_NE(fit([](KernelPlan& k) { k.digits[0].second[2].radix = 600; }).find("more than 4096 points"), std::string::npos);
}

}  // namespace
}  // namespace tileopt
