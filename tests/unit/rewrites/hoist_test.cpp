/// `hoist` and `exp2`: what they move, and every condition they refuse on.
#include "tests/unit/rewrites/rewrite_case.h"

namespace tileopt::test {
namespace {

const Rewriting hoist_y = {"hoist", {"y"}, {}};

std::string of(const std::string& term) {
  return "def f(a: f32[N], b: f32[N, K], c: f32[K], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = sum(" + term + " for k in range(K))\n";
}

TEST_F(Rewrites, HoistMovesFactorsAndDivisorsBehindTheSum) {
  const RewrittenProgram r = rewrite(of("a[i] * (b[i, k] * c[k]) * f32(i) / (a[i] + 3)"), {hoist_y}, false);
  EXPECT_EQ(names(r), (Names{"y_init", "y", "y_scale"}));
  EXPECT_EQ(r.program->order().write(), "i > (y_init ; y: k ; y_scale)");
  EXPECT_EQ(body(r, "y"), "(r0 * r1)");
  expect_access(r, "y", r.program->statement("y").reads.at(0), "{ y[i, k] -> b[i, k] }");
  expect_domain(r, "y_scale", "[N, K] -> { y_scale[i] : 0 <= i < N and K > 0 }");
  EXPECT_EQ(r.numerics, Names{"reassociate"});
}

TEST_F(Rewrites, HoistOfIntegersIsExactEvenWhereTheyWrap) {
  rewrite("@numerics(reassociate=False)\n"
          "def f(a: i8[N], b: i8[N, K], y: out[i8[N]]):\n"
          "    for i in range(N):\n"
          "        y[i] = sum(a[i] * b[i, k] * 77 for k in range(K))\n",
          {hoist_y});
}

TEST_F(Rewrites, HoistConditions) {
  expect_condition(of("b[i, k] * c[k]"), hoist_y, "no factor", 3);
  expect_condition(of("a[i] * 2"), hoist_y, "all terms of y are the same", 3);
  expect_condition(of("a[i] + b[i, k]"), hoist_y, "no factor", 3);
  expect_condition("def f(a: f32[N], b: f32[N], y: inout[f32]):\n    for i in range(N):\n        y += a[0] * b[i]\n", hoist_y, "nothing sets `y`", 3);
  expect_condition("def f(a: f32[N], b: f32[N], y: out[f32]):\n    y = max(a[0] * b[i] for i in range(N) if N > 0)\n", hoist_y, "is no sum", 2);
  EXPECT_EQ(refusal("@numerics(reassociate=False)\n" + of("a[i] * b[i, k]"), hoist_y).code, "numerics");
}

TEST_F(Rewrites, Exp2FoldsConstants) {
  const RewrittenProgram r = rewrite(
      "@numerics(approx_ulp=208)\n"
      "def f(x: f32[N], y: out[f32[N]], z: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        y[i] = exp(x[i] * 0.125) + 1\n"
      "    for i in range(N):\n"
      "        z[i] = exp(x[i] - y[i])\n",
      {{"exp2", {}, {}}}, false);
  EXPECT_EQ(body(r, "y").find("exp(") == std::string::npos, true) << body(r, "y");
  EXPECT_NE(body(r, "y").find("exp2((r0 * f32(0.18033687"), std::string::npos) << body(r, "y");
  EXPECT_NE(body(r, "z").find("exp2("), std::string::npos);
}

TEST_F(Rewrites, Exp2Conditions) {
  const std::string text = "def f(x: f32[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = exp(x[i])\n";
  const Infeasible refused = refusal(text, {"exp2", {}, {}});
  EXPECT_EQ(refused.code, "numerics");
  EXPECT_EQ(refused.where.line, 3);
  EXPECT_NE(refused.hint.find("approx_ulp=208"), std::string::npos);
  EXPECT_EQ(refusal("@numerics(approx_ulp=207)\n" + text, {"exp2", {}, {}}).code, "numerics");
  expect_condition("def f(x: f16[N], y: out[f16[N]]):\n    for i in range(N):\n        y[i] = exp(x[i])\n", {"exp2", {"y"}, {}}, "no exp of an f32", 3);
}

}  // namespace
}  // namespace tileopt::test
