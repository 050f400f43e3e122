/// Every primitive: it takes effect, or the refusal names the pin and the reason.
#include <gtest/gtest.h>

#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

const char* kRows = R"(
def rows(X: f32[R, N], Y: out[f32[R, N]]):
    for r, j in grid(R, N):
        Y[r, j] = X[r, j] * X[r, j]
)";
const char* kTwoNests = R"(
def two(X: f32[N], Y: out[f32[N]], Z: out[f32[N]]):
    for i in range(N):
        Y[i] = X[i] + f32(1)
    for i in range(N):
        Z[i] = Y[i] * X[i]
)";

TEST(Pins, TileFixesTheRegisterTile) {
  const KernelPlan kernel = PlanCase(kernel_file("gemm")).kernel("tile(\"atom\", i=4, j=8)");
  EXPECT_EQ(kernel.find_digit("ii")->radix, 4);
  EXPECT_EQ(kernel.find_digit("jj")->radix, 8);
}

TEST(Pins, TileFixesCacheBlocks) {
  const KernelPlan kernel = PlanCase(kernel_file("gemm")).kernel("tile(\"serial\", i=120, j=320, k=100)");
  EXPECT_EQ(digits_text(kernel, "i"), "ic:0@serial ir:20@serial ii:6@atom");
  EXPECT_EQ(digits_text(kernel, "j"), "jc:0@serial jr:20@serial jj:16@atom");
  EXPECT_EQ(digits_text(kernel, "k"), "kc:0@serial kk:100@serial");
}

TEST(Pins, TileThatTheAtomDoesNotDivideIsRefusedOrHonoured) {
  const auto candidate = PlanCase(kernel_file("gemm")).resolve("tile(\"serial\", i=100)");
  if (!feasible(candidate)) return;
  const KernelPlan& kernel = std::get<0>(candidate).plan.kernels.front();
  long extent = 1;
  for (const auto& [member, digits] : kernel.digits) {
    if (member != "i") continue;
    for (std::size_t d = 1; d < digits.size(); ++d) extent *= digits[d].radix;
  }
  EXPECT_EQ(extent, 100);
}

TEST(Pins, TileOverThreadsImpliesThreads) {
  const KernelPlan kernel = PlanCase(kRows).kernel("tile(\"thread\", r=64)");
  EXPECT_EQ(digits_text(kernel, "r"), "rb:0@thread rr:64@serial");
}

TEST(Pins, OrderPermutesLoops) {
  const KernelPlan kernel = PlanCase(kRows).kernel("tile(\"serial\", r=32, j=32)\norder(\"jb\", \"rb\")");
  EXPECT_EQ(kernel.tree.write().substr(0, 7), "jb > rb");
  const KernelPlan gemm = PlanCase(kernel_file("gemm")).kernel("order(\"ir\", \"jr\")");
  EXPECT_EQ(gemm.tree.write(), "jc > kc > ic > ir > jr > (C_init ; C: kk)");
}

TEST(Pins, OrderThatReversesADependenceIsRefused) {
  const PlanCase wave(R"(
def f(A: inout[f32[N, N]]):
    for i in range(1, N):
        for j in range(N - 1):
            A[i, j] = A[i - 1, j + 1] + f32(1)
)");
  const auto candidate = wave.resolve("schedule(\"original\")\norder(\"j\", \"i\")");
  ASSERT_FALSE(feasible(candidate));
  EXPECT_NE(std::get<Infeasible>(candidate).reason.find("reverses a dependence"), std::string::npos);
}

TEST(Pins, ParallelMovesTheThreads) {
  const KernelPlan kernel = PlanCase(kRows).kernel("parallel(\"r\")");
  EXPECT_EQ(kernel.find_digit("r")->level, "thread");
  const KernelPlan gemm = PlanCase(kernel_file("gemm")).kernel("parallel(\"i\")");
  EXPECT_EQ(gemm.find_digit("ic")->level, "thread");
  EXPECT_EQ(find_promotion(gemm, "A")->space, "stack");
}

TEST(Pins, ParallelOverARecurrenceIsRefused) {
  const auto candidate = PlanCase(R"(
def f(x: inout[f32[N]]):
    for i in range(1, N):
        x[i] = x[i] + x[i - 1]
)").resolve("parallel(\"i\")");
  ASSERT_FALSE(feasible(candidate));
  EXPECT_NE(std::get<Infeasible>(candidate).reason.find("carries a dependence"), std::string::npos);
}

TEST(Pins, VectorizeChoosesTheLanes) {
  const KernelPlan kernel = PlanCase(kRows).kernel("vectorize(\"j\")");
  EXPECT_EQ(kernel.find_digit("j")->level, "simd");
  const std::string reason = PlanCase(kRows).infeasible("schedule(\"original\")\nvectorize(\"r\")");
  EXPECT_NE(reason.find("not the innermost"), std::string::npos) << reason;
}

TEST(Pins, UnrollSplitsADigitInPlace) {
  const KernelPlan kernel = PlanCase(kernel_file("gemm")).kernel("unroll(\"k\", 4)");
  EXPECT_EQ(digits_text(kernel, "k"), "kc:0@serial kk:128@serial ku:4@unroll");
  EXPECT_EQ(kernel.tree.write(), "jc > kc > ic > jr > ir > (C_init ; C: kk > ku)");
  const std::string odd = PlanCase(kRows).infeasible("tile(\"serial\", r=32)\nunroll(\"r\", 7)");
  EXPECT_NE(odd.find("does not divide"), std::string::npos) << odd;
  const std::string endless = PlanCase(kRows).infeasible("schedule(\"original\")\nunroll(\"r\")");
  EXPECT_NE(endless.find("no constant trip count"), std::string::npos) << endless;
  EXPECT_EQ(PlanCase(kernel_file("conv2d")).kernel("unroll(\"s\")").find_digit("s")->level, "unroll");
}

TEST(Pins, PromoteChangesSpaceScopeOrNothing) {
  const PlanCase gemm(kernel_file("gemm"));
  EXPECT_EQ(find_promotion(gemm.kernel("promote(A, \"stack\")"), "A")->space, "stack");
  const KernelPlan tiles = PlanCase(kRows).kernel("tile(\"serial\", r=16, j=16)\npromote(X, \"stack\", after=\"jb\")");
  ASSERT_NE(find_promotion(tiles, "X"), nullptr);
  EXPECT_EQ(find_promotion(tiles, "X")->after, "jb");
  const KernelPlan softmax = PlanCase(kernel_file("softmax")).kernel("promote(l, \"none\")\npromote(m, \"none\")");
  EXPECT_TRUE(softmax.promotions.empty());
}

TEST(Pins, PromoteWithoutABoxIsRefused) {
  const auto candidate = PlanCase(kRows).resolve("promote(X, \"stack\")");
  ASSERT_FALSE(feasible(candidate));
  EXPECT_NE(std::get<Infeasible>(candidate).reason.find("no constant-size box"), std::string::npos);
}

TEST(Pins, AtomForcesAndForbids) {
  const PlanCase gemm(kernel_file("gemm"));
  EXPECT_EQ(gemm.kernel("atom(C, \"scalar\")").atoms.count("C"), 0u);
  EXPECT_EQ(gemm.kernel("atom(C, \"outer_product_fma\")").atoms.at("C").atom, "outer_product_fma");
  EXPECT_NE(PlanCase(kRows).infeasible("atom(Y, \"outer_product_fma\")").find("does not have the form"), std::string::npos);
}

TEST(Pins, ScheduleOriginalIsTheNaiveBaseline) {
  const KernelPlan kernel = PlanCase(kernel_file("gemm")).kernel("schedule(\"original\")");
  EXPECT_EQ(kernel.schedule, "original");
  EXPECT_EQ(kernel.tree.write(), "i > j > (C_init ; C: k)");
  EXPECT_TRUE(kernel.atoms.empty());
  EXPECT_TRUE(kernel.promotions.empty());
  for (const auto& [member, digits] : kernel.digits) {
    ASSERT_EQ(digits.size(), 1u);
    EXPECT_EQ(digits.front().level, "serial");
    EXPECT_EQ(digits.front().name, member);
  }
}

TEST(Pins, ScheduleIslAsksIsl) { EXPECT_EQ(PlanCase(kernel_file("softmax")).kernel("schedule(\"isl\")").schedule, "isl"); }

TEST(Pins, FuseMergesNeighbours) {
  const PlanCase two(kTwoNests);
  const auto apart = two.resolve();
  ASSERT_TRUE(feasible(apart));
  EXPECT_EQ(std::get<0>(apart).plan.kernels.size(), 2u);
  EXPECT_EQ(two.kernel("fuse(Y, Z)").statements, (std::vector<std::string>{"Y", "Z"}));
  EXPECT_NE(PlanCase(kernel_file("gemm")).infeasible("fuse(C_init, C)").find("in one kernel already"), std::string::npos);
}

TEST(Pins, PipelineIsRefusedOnCpus) {
  EXPECT_NE(PlanCase(kRows).infeasible("pipeline(\"j\", slots=4)").find("nothing to pipeline"), std::string::npos);
}

TEST(Pins, PipelineSetsSlotsAndDistanceOnGpus) {
  const PlanCase gemm(kernel_file("gemm"));
  const KernelPlan two = gemm.kernel("pipeline(\"k\", slots=2)", "h200");
  ASSERT_EQ(two.pipelines.size(), 1u);
  EXPECT_EQ(two.pipelines.front().slots, 2);
  EXPECT_EQ(two.pipelines.front().ahead(), 1);
  EXPECT_EQ(gemm.kernel("pipeline(\"kb\", distance=2)", "h200").pipelines.front().ahead(), 2);
  EXPECT_TRUE(gemm.kernel("pipeline(\"k\", slots=1)", "h200").pipelines.empty());
  EXPECT_EQ(gemm.kernel("promote(A, \"none\")\natom(C, \"scalar\")", "h200").pipelines.size(), 0u);
  EXPECT_NE(PlanCase(kRows).infeasible("pipeline(\"j\", slots=4)", "h200").find("nothing is only copied into memory of a block"), std::string::npos);
  for (const char* wrong : {"pipeline(\"k\", slots=2, distance=2)", "pipeline(\"k\", slots=65)", "pipeline(\"k\", stages=2)"}) EXPECT_THROW(gemm.resolve(wrong, "h200"), Errors) << wrong;
}

TEST(Pins, AmbiguousNamesListTheCandidates) {
  const std::string reason = PlanCase(kTwoNests).infeasible("parallel(\"i\")");
  EXPECT_NE(reason.find("Y.i or Z.i"), std::string::npos) << reason;
  const auto chosen = PlanCase(kTwoNests).resolve("parallel(\"Z.i\")");
  ASSERT_TRUE(feasible(chosen));
  EXPECT_EQ(std::get<0>(chosen).plan.kernels[1].find_digit("i")->level, "thread");
  EXPECT_NE(std::get<0>(chosen).plan.kernels[0].find_digit("i")->level, "thread");
}

TEST(Pins, RefusalsCarryThePosition) {
  const auto candidate = PlanCase(kRows).resolve("tile(\"serial\", r=32)\nunroll(\"r\", 7)");
  ASSERT_FALSE(feasible(candidate));
  const Infeasible& refused = std::get<Infeasible>(candidate);
  EXPECT_EQ(refused.where, (SourceLocation{"pins", 2, 1}));
  EXPECT_EQ(refused.where.end_column, 15);
  EXPECT_NE(refused.reason.find("pin `unroll(\"r\", 7)`"), std::string::npos) << refused.reason;
  EXPECT_EQ(refused.hint, "give a divisor of 32");
}

TEST(Pins, MistakesAreUserErrorsAllInOneRun) {
  const auto errors_of = [](const std::string& pins) -> std::vector<Diagnostic> {
    try {
      PlanCase(kRows).resolve(pins);
    } catch (const Errors& errors) {
      return errors.diagnostics();
    }
    ADD_FAILURE() << pins << " was accepted";
    return {};
  };
  const auto all = errors_of("tile(\"grid\", r=4)\ntile(\"serial\", q=4)\npromote(Q, \"stack\")\npromote(X, \"shared\")\natom(Y, \"wgmma\")\n"
                             "schedule(\"random\")\nfuse(Y, W)\nparallel(\"rr\")");
  EXPECT_EQ(all.size(), 8u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].code, ErrorCode::invalid_pin);
    EXPECT_EQ(all[i].where.line, static_cast<int>(i) + 1);
    EXPECT_FALSE(all[i].hint.empty()) << all[i].message;
  }
}

}  // namespace
}  // namespace tileopt
