/// Found by random programs and Plans: a copy below a parallel loop that ran for every value of an index, and so read what other
/// threads wrote. The pass refuses it (the proof did before).
#include <gtest/gtest.h>

#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

const char* const program = R"(
def f(I: i32[M + 1], A: inout[i32[M, K]]):
    assume(0 <= I[:] < K + 1 and monotone(I))
    for i in range(M):
        for l in range(I[i], I[i + 1]):
            A[i, l] = sum(A[M - 1 - i, l] + I[i] for k in range(K))
)";

std::string passes_say(const PlanCase& subject, const Plan& plan) {
  const auto rewritten = apply_rewrites(std::make_shared<const Program>(subject.program()), plan.rewrites);
  const std::shared_ptr<const Program> shared = std::get<RewrittenProgram>(rewritten);
  const auto kernels = group_kernels(shared, std::make_shared<const Dependences>(analyze_dependences(*shared)), plan);
  if (!feasible(kernels)) return to_string(std::get<Infeasible>(kernels));
  for (const Kernel& kernel : std::get<0>(kernels)) {
    const auto synchronized = PlanCase::run_passes(kernel, find_machine("x86-64-v3"));
    if (!feasible(synchronized)) return to_string(std::get<Infeasible>(synchronized));
  }
  return "accepted";
}

TEST(PromotionBesideWriters, CopiesRunForOneValueOfAnIndexOrNotAtAll) {
  const PlanCase subject(program);
  const auto resolved = subject.resolve("schedule(\"original\")\nparallel(\"i\")");
  ASSERT_TRUE(feasible(resolved)) << to_string(std::get<Infeasible>(resolved));
  const Plan plain = std::get<ResolvedPlan>(resolved).plan;
  EXPECT_EQ(passes_say(subject, plain), "accepted");
  // The copies of A stand below the digits of one index that is cut, and below l.
  Document cut = plain.write();
  auto& kernel = cut["kernels"][0];
  const std::string name = kernel["digits"].contains("I_at") ? "I_at" : "I_at_2";
  kernel["digits"][name].push_back({{"name", "cut"}, {"radix", 3}, {"level", "serial"}});
  std::string tree = kernel["tree"];
  const std::size_t at = tree.find(name + " > ");
  ASSERT_NE(at, std::string::npos) << tree;
  tree.insert(at + name.size() + 3, "cut > ");
  kernel["tree"] = tree;
  const Plan only_cut = Plan::read(cut, "plan");
  EXPECT_EQ(passes_say(subject, only_cut), "accepted") << tree;
  kernel["promotions"].push_back({{"tensor", "A"}, {"array", "A_kept"}, {"after", "k"}, {"statements", {"A_sum1"}}, {"space", "stack"}, {"element", "i32"},
                                  {"layout", {{{"name", "A_kept_0"}, {"tensor_dim", 0}, {"radix", 0}}, {{"name", "A_kept_1"}, {"tensor_dim", 1}, {"radix", 0}}}},
                                  {"zero_fill", false}});
  const std::string refused = passes_say(subject, Plan::read(cut, "plan"));
  EXPECT_NE(refused.find("copies would run for every value of an index"), std::string::npos) << refused << "\n" << tree;
}

}  // namespace
}  // namespace tileopt
