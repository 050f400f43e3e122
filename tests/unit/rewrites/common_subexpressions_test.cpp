/// `common_subexpressions`: what goes into a local, and what it refuses on.
#include "tests/unit/rewrites/rewrite_case.h"

namespace tileopt::test {
namespace {

TEST_F(Rewrites, InvariantPartsGoIntoALocal) {
  const RewrittenProgram r = rewrite(
      "def f(x: f32[N], b: f32[N, K], y: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        y[i] = sum(exp(x[i]) * b[i, k] / (x[i] + 3) for k in range(K))\n",
      {{"common_subexpressions", {"y"}, {}}});
  EXPECT_EQ(names(r), (Names{"y_init", "y_common", "y"}));
  EXPECT_EQ(r.program->order().write(), "(y_init: i ; y_common: i ; y: i > k)");
  EXPECT_EQ(body(r, "y_common"), "exp(r0)");
  EXPECT_EQ(body(r, "y"), "((r2 * r1) / (r0 + f32(3)))");
  expect_domain(r, "y_common", "[N, K] -> { y_common[i] : 0 <= i < N and K > 0 }");
}

TEST_F(Rewrites, PartsThatALaterStatementComputesTooAreShared) {
  const RewrittenProgram r = rewrite(
      "def softmax(X: f32[R, N], Y: out[f32[R, N]]):\n"
      "    for r in range(R):\n"
      "        m: f32 = max(X[r, j] for j in range(N))\n"
      "        l: f32 = sum(exp(X[r, j] - m) for j in range(N))\n"
      "        for j in range(N):\n"
      "            Y[r, j] = exp(X[r, j] - m) / l\n",
      {{"common_subexpressions", {"l"}, {}}});
  EXPECT_EQ(body(r, "l_common"), "exp((r0 - r1))");
  EXPECT_EQ(body(r, "l"), "r0");
  EXPECT_EQ(body(r, "Y"), "(r1 / r0)");
  expect_access(r, "Y", r.program->statement("Y").reads.at(1), "{ Y[r, j] -> l_common[r, j] }");
}

const char* const softmax_rows =
    "def softmax(X: f32[R, N], Y: out[f32[R, N]]):\n"
    "    for r in range(R):\n"
    "        m: f32 = max(X[r, j] for j in range(N))\n"
    "        l: f32 = sum(exp(X[r, j] - m) for j in range(N))\n"
    "        for j in range(N):\n"
    "            Y[r, j] = exp(X[r, j] - m) / l\n";

TEST_F(Rewrites, APartIsKeptInTheResultThatNeedsIt) {
  const RewrittenProgram r = rewrite(softmax_rows, {{"common_subexpressions", {"l", "Y"}, {}}});
  EXPECT_EQ(names(r), (Names{"m_init", "m", "l_init", "l_common", "l", "Y"}));
  EXPECT_EQ(r.program->order().write(), "r > (m_init ; m: j ; l_init ; l_common: j ; l: j ; Y: j)");
  EXPECT_EQ(r.program->statement("l_common").write.tensor, "Y");
  EXPECT_EQ(body(r, "l_common"), "exp((r0 - r1))");
  EXPECT_EQ(body(r, "l"), "r0");
  EXPECT_EQ(body(r, "Y"), "(r1 / r0)");
  expect_access(r, "Y", r.program->statement("Y").reads.at(1), "{ Y[r, j] -> Y[r, j] }");
  EXPECT_FALSE(r.program->has_tensor("l_common"));
}

TEST_F(Rewrites, AResultKeepsNothingWhereThatWouldShow) {
  const auto text = [](const std::string& types, const std::string& last, const std::string& after = "") {
    return "def f(X: f32[R, N], Y: " + types + ", Z: out[f32[R, N]]):\n"
           "    for r in range(R):\n"
           "        l: f32 = sum(exp(X[r, j]) for j in range(N))\n" + last + after;
  };
  const Rewriting kept{"common_subexpressions", {"l", "Y"}, {}};
  const std::string whole = "        for j in range(N):\n            Y[r, j] = exp(X[r, j]) / l\n";
  EXPECT_EQ(rewrite(text("out[f32[R, N]]", whole), {kept}).program->has_tensor("l_common"), false);
  expect_condition(text("out[f32[R, N]]", "        for j in range(1, N):\n            Y[r, j] = exp(X[r, j]) / l\n"), kept, "are not the same elements", 5);
  expect_condition(text("inout[f32[R, N]]", "        for j in range(N):\n            Y[r, j] = Y[r, j] + exp(X[r, j]) / l\n"), kept, "Y reads `Y`", 5);
  expect_condition(text("out[f64[R, N]]", "        for j in range(N):\n            Y[r, j] = f64(exp(X[r, j]) / l)\n"), kept, "differ in type or rank", 3);
  expect_condition(text("out[f32[R, N]]", whole, "        for j in range(N):\n            Z[r, j] = exp(X[r, j]) + Y[r, j]\n"), kept, "Z reads `Y`", 7);
  expect_condition(text("out[f32[R, N]]", whole, "        for j in range(N):\n            Z[r, j] = exp(X[r, j])\n"), kept, "after Y has written there", 7);
  expect_condition(softmax_rows, {"common_subexpressions", {"l", "Q"}, {}}, "there is no tensor `Q`", 4);
}

TEST_F(Rewrites, PartsOfAConditionalValueStay) {
  expect_condition(
      "def f(x: f32[N], b: f32[N, K], y: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        y[i] = sum((exp(x[i]) if b[i, k] > 0 else 0) for k in range(K))\n",
      {"common_subexpressions", {"y"}, {}}, "no part of y's expression", 3);
}

TEST_F(Rewrites, PartsThatChangeInBetweenAreNotShared) {
  expect_condition(
      "def f(x: inout[f32[N]], y: out[f32[N]], z: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        y[i] = exp(x[i]) + 1\n"
      "    for i in range(N):\n"
      "        x[i] = 0\n"
      "    for i in range(N):\n"
      "        z[i] = x[i]\n",
      {"common_subexpressions", {"y"}, {}}, "no part of y's expression", 3);
  const RewrittenProgram r = rewrite(
      "def f(x: inout[f32[N]], y: out[f32[N]], z: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        y[i] = exp(x[i]) + 1\n"
      "    for i in range(N):\n"
      "        x[i] = 0\n"
      "    for i in range(N):\n"
      "        z[i] = exp(x[i]) - 1\n",
      {{"common_subexpressions", {"y"}, {}}});
  EXPECT_EQ(body(r, "z"), "(exp(r0) - f32(1))");
}

}  // namespace
}  // namespace tileopt::test
