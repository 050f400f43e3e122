/// Which rewrites a Plan takes: those that pins ask for, and those that pay.
#include <gtest/gtest.h>

#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

const char* kSmooth = R"(
def smooth(A: f32[N], B: out[f32[N]]):
    t: f32[N]
    for i in range(N):
        t[i] = 2 * A[i]
    for i in range(N):
        B[i] = t[i] + A[i]
)";
const char* kPrefix = R"(
@numerics(reassociate=False)
def prefix(x: f32[N], y: out[f32[N]]):
    for i in range(N):
        y[i] = sum(x[j] for j in range(i + 1))
)";

std::vector<std::string> taken(const PlanCase& program, const std::string& pins) {
  const auto candidate = program.resolve(pins);
  if (const Infeasible* refused = std::get_if<Infeasible>(&candidate)) return {to_string(*refused)};
  const Plan& plan = std::get<ResolvedPlan>(candidate).plan;
  program.expect_compiles(plan, "x86-64-v3");
  std::vector<std::string> names;
  for (const Rewriting& rewriting : plan.rewrites) names.push_back(to_string(rewriting));
  return names;
}
using Names = std::vector<std::string>;

TEST(PlannedRewrites, ALocalThatIsReadOnceIsInlined) {
  const PlanCase smooth(kSmooth);
  EXPECT_EQ(taken(smooth, ""), Names{"inline(\"t\")"});
  EXPECT_EQ(taken(smooth, "rewrite(\"none\")"), Names{});
  EXPECT_EQ(taken(smooth, "rewrite(\"none\", \"inline\")"), Names{});
  EXPECT_EQ(taken(smooth, "rewrite(\"none\", \"scan\")"), Names{"inline(\"t\")"});
  const auto resolved = smooth.resolve();
  EXPECT_EQ(std::get<ResolvedPlan>(resolved).reasons.front(),
            "rewrite inline(\"t\"): every element of t is read once, by B: it need not be stored; to change: rewrite(\"none\", \"inline\")");
}

TEST(PlannedRewrites, APinOnALocalKeepsIt) {
  const PlanCase smooth(kSmooth);
  EXPECT_EQ(taken(smooth, "promote(t, \"none\")"), Names{});
  EXPECT_EQ(taken(smooth, "tile(\"serial\", \"t.i\", 64)"), Names{});
  EXPECT_EQ(taken(smooth, "rewrite(\"inline\", t)\ntile(\"serial\", i=64)"), Names{"inline(\"t\")"});
}

TEST(PlannedRewrites, APrefixReductionBecomesAScanInStrictNumericsToo) {
  const PlanCase prefix(kPrefix);
  EXPECT_EQ(taken(prefix, ""), Names{"scan(\"y\", \"i\")"});
  EXPECT_EQ(taken(prefix, "rewrite(\"none\", \"scan\")"), Names{});
}

TEST(PlannedRewrites, PinsAreTakenInOrder) {
  const PlanCase prefix(kPrefix);
  EXPECT_EQ(taken(prefix, "rewrite(\"split\", y, \"j\", chunk=4)").front().find("infeasible [numerics]"), 0u);
  const PlanCase gemm(kernel_file("gemm"));
  EXPECT_EQ(taken(gemm, "rewrite(\"split\", C, \"k\", chunk=64)\nrewrite(\"split\", C, \"k_chunk\", chunk=2)"),
            (Names{"split(\"C\", \"k\", chunk=64)", "split(\"C\", \"k_chunk\", chunk=2)"}));
}

TEST(PlannedRewrites, MalformedPinsAreUserErrors) {
  const PlanCase smooth(kSmooth);
  const auto message = [&](const std::string& pin) -> std::string {
    try {
      smooth.resolve(pin);
    } catch (const Errors& errors) {
      EXPECT_EQ(errors.diagnostics().front().code, ErrorCode::invalid_pin);
      EXPECT_EQ(errors.diagnostics().front().where.file, "pins");
      EXPECT_NE(errors.diagnostics().front().hint, "");
      return errors.diagnostics().front().message;
    }
    return "accepted";
  };
  EXPECT_EQ(message("rewrite(\"inlin\", t)"), "there is no rewrite `inlin`; did you mean `inline`?");
  EXPECT_EQ(message("rewrite(\"inline\", u)").substr(0, 23), "there is no tensor `u`;");
  EXPECT_EQ(message("rewrite(\"inline\")"), "inline does not take 0 names; write e.g. rewrite(\"inline\", t)");
  EXPECT_EQ(message("rewrite(\"split\", B, \"i\", chunk=\"a\")"), "`a` is no chunk");
  EXPECT_EQ(message("rewrite(\"none\", \"all\")"), "there is no rewrite `all`");
}

TEST(PlannedRewrites, ARefusedPinHasItsPositionAndTheSources) {
  const auto candidate = PlanCase(kSmooth).resolve("rewrite(\"none\")\nrewrite(\"split\", B, \"i\", chunk=4)");
  ASSERT_FALSE(feasible(candidate));
  const Infeasible& refused = std::get<Infeasible>(candidate);
  EXPECT_EQ(refused.code, "rewrite");
  EXPECT_EQ(refused.where.line, 2);
  EXPECT_EQ(refused.reason, "split(\"B\", \"i\", chunk=4): B is no reduction (t.tile:7:9)");
}

}  // namespace
}  // namespace tileopt
