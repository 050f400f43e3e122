/// Loops that all carry a dependence: iterations of equal sum run side by side.
#include "search/wavefront.h"

#include <gtest/gtest.h>

#include "search/recurrence.h"
#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

/// The longest common subsequence: one nest as it is written.
constexpr const char* kLongestCommon =
    "def longest(A: i32[M], B: i32[N], L: inout[i32[M + 1, N + 1]]):\n"
    "    for i, j in grid(M, N):\n"
    "        L[i + 1, j + 1] = L[i, j] + 1 if A[i] == B[j] else max(L[i, j + 1], L[i + 1, j])\n";

/// One proposal of the only kernel of a program.
struct Proposals {
  explicit Proposals(const Program& program)
      : shared(std::make_shared<const Program>(program)), dependences(std::make_shared<const Dependences>(analyze_dependences(*shared))) {
    KernelPlan plan;
    plan.name = program.name();
    for (const Statement& statement : program.statements()) plan.statements.push_back(statement.name);
    kernel.emplace(std::get<Kernel>(Kernel::create(shared, dependences, plan)));
  }
  std::shared_ptr<const Program> shared;
  std::shared_ptr<const Dependences> dependences;
  std::optional<Kernel> kernel;
};

TEST(Wavefront, SumOfTheLoopsIsOutermostAndTheOthersAreFree) {
  const PlanCase test(kLongestCommon);
  const Proposals proposals(test.program());
  const auto proposal = propose_loops(*proposals.kernel, "wavefront");
  ASSERT_TRUE(proposal.has_value());
  EXPECT_EQ(proposal->tree.write(), "wave > i");
  EXPECT_FALSE(proposal->coincident.at("wave"));
  EXPECT_TRUE(proposal->coincident.at("i"));
  ASSERT_EQ(proposal->permutable.size(), 1u);
  EXPECT_EQ(proposal->permutable[0], (std::vector<std::string>{"wave", "i"}));
  const isl::ctx ctx = test.program().ctx();
  const std::string& statement = test.program().statements().front().name;
  const isl::map members(ctx, proposal->members.at(statement).map);
  const isl::map wanted(ctx, "[M, N] -> { " + statement + "[i, j] -> [i, i + j] }");
  EXPECT_TRUE(members.is_equal(wanted)) << proposal->members.at(statement).map;
}

TEST(Wavefront, SkewedLoopsToo) {
  const PlanCase test(kernel_file("seidel_2d"));
  const Proposals proposals(test.program());
  const auto isl = propose_loops(*proposals.kernel, "isl"), waves = propose_loops(*proposals.kernel, "wavefront");
  ASSERT_TRUE(isl.has_value() && waves.has_value());
  for (const auto& [member, free] : isl->coincident) EXPECT_FALSE(free) << member;
  for (const auto& [member, free] : waves->coincident) EXPECT_EQ(free, member != "wave") << member;
}

TEST(Wavefront, NoneWhereALoopIsFree) {
  for (const char* name : {"transpose", "conv2d"}) {
    const PlanCase test(kernel_file(name));
    const Proposals proposals(test.program());
    EXPECT_FALSE(propose_loops(*proposals.kernel, "wavefront").has_value()) << name;
  }
}

TEST(Wavefront, SeidelTakesWavesInTilesAndNoThreadsInside) {
  for (const int threads : {1, 4}) {
    ResolveOptions options;
    options.threads = threads;
    options.typical_sizes = {{"N", 2000}, {"T", 20}};
    const KernelPlan kernel = PlanCase(kernel_file("seidel_2d")).kernel("", "x86-64-v3", options);
    EXPECT_EQ(kernel.schedule, "wavefront");
    bool tiled = false;
    for (const auto& [member, digits] : kernel.digits) {
      tiled = tiled || digits.size() > 1;
      for (const Digit& digit : digits) EXPECT_NE(digit.level, "thread") << digit.name;
    }
    EXPECT_TRUE(tiled);
  }
}

TEST(Wavefront, AFarRecurrenceIsNoReason) {
  const KernelPlan kernel = PlanCase(kernel_file("floyd_warshall")).kernel();
  EXPECT_EQ(kernel.schedule, "original") << "D[i, k] is at no fixed distance from D[i, j]";
}

TEST(Wavefront, AShortChainOfIntegersIsNoReason) {
  // Three operations of one cycle each are done before the next iteration is decoded.
  EXPECT_EQ(PlanCase(kLongestCommon).kernel().schedule, "original");
}

TEST(Recurrence, IsTheLongestChainBehindWhatAnotherInstanceWrote) {
  const auto operations = [](const std::string& body, const std::string& type) {
    const PlanCase test("def chain(A: inout[" + type + "[N + 2]], B: " + type + "[N + 2]):\n    for i in range(N):\n        A[i + 1] = " + body + "\n");
    return recurrence_operations(test.program().statements().front());
  };
  EXPECT_EQ(operations("A[i] + B[i]", "f32"), 1);
  EXPECT_EQ(operations("A[i] + (B[i] * B[i + 1] - B[i + 2 - 1])", "f32"), 1) << "what else is computed waits for nothing";
  EXPECT_EQ(operations("max(A[i] + B[i], A[i + 2]) * B[i]", "f64"), 3);
  EXPECT_EQ(operations("exp(A[i]) + 1", "f32"), 21);
  EXPECT_EQ(operations("max(A[i] + B[i], 0)", "i32"), 0.5);
  EXPECT_GT(operations("A[i]", "i32"), 0) << "a copy waits for the store";
  EXPECT_EQ(operations("A[i + 1] * B[i]", "f32"), 0) << "its own element";
  EXPECT_EQ(operations("B[i]", "f32"), 0);
}

TEST(Wavefront, PinnedAndRefused) {
  EXPECT_EQ(PlanCase(kLongestCommon).kernel("schedule(\"wavefront\")").schedule, "wavefront");
  EXPECT_EQ(PlanCase(kLongestCommon).kernel("schedule(\"original\")").schedule, "original");
  EXPECT_NE(PlanCase(kernel_file("transpose")).infeasible("schedule(\"wavefront\")"), "");
}

}  // namespace
}  // namespace tileopt
