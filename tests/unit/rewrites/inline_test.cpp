/// `inline`: what it makes of a producer's reads, and every condition it refuses on.
#include "tests/unit/rewrites/rewrite_case.h"

namespace tileopt::test {
namespace {

const Rewriting inline_t = {"inline", {"t"}, {}};

TEST_F(Rewrites, InlineComposesSubscripts) {
  const RewrittenProgram r = rewrite(
      "def f(A: f32[N + 1], B: out[f32[N]]):\n"
      "    t: f32[N]\n"
      "    for i in range(N):\n"
      "        t[N - 1 - i] = A[i] * A[i + 1]\n"
      "    for j in range(N):\n"
      "        B[j] = t[j] + 1\n",
      {inline_t});
  EXPECT_EQ(names(r), Names{"B"});
  EXPECT_FALSE(r.program->has_tensor("t"));
  EXPECT_EQ(r.program->order().write(), "j");
  const Statement& b = r.program->statement("B");
  ASSERT_EQ(b.reads.size(), 2u);
  expect_access(r, "B", b.reads[0], "[N] -> { B[j] -> A[N - 1 - j] }");
  expect_access(r, "B", b.reads[1], "[N] -> { B[j] -> A[N - j] }");
  EXPECT_EQ(b.reads[0].where.line, 4);
  EXPECT_EQ(b.where.line, 6);
}

TEST_F(Rewrites, InlineIntoSeveralReadersAndReductions) {
  const RewrittenProgram r = rewrite(
      "def f(A: f32[N], x: f32, B: out[f32[N]], s: out[f32]):\n"
      "    t: f32[N]\n"
      "    for i in range(N):\n"
      "        t[i] = A[i] * x + f32(i)\n"
      "    for i in range(N):\n"
      "        B[i] = t[i] + (t[i - 1] if i > 0 else 0)\n"
      "    s = sum(t[k] * t[k] for k in range(N))\n",
      {inline_t});
  EXPECT_EQ(names(r), (Names{"B", "s_init", "s"}));
  const Statement& b = r.program->statement("B");
  ASSERT_EQ(b.reads.size(), 4u);
  expect_access(r, "B", b.reads[2], "[N] -> { B[i] -> A[i - 1] : i > 0 }");
  EXPECT_EQ(b.indices.size(), 2u);  // i, which the condition uses too, and i - 1
}

TEST_F(Rewrites, InlineOfATupleAndOfALocalInALoop) {
  rewrite(
      "def f(X: f32[N, M], Y: out[f32[N, M]]):\n"
      "    for i in range(N):\n"
      "        t: tuple[f32, i32][M]\n"
      "        for j in range(M):\n"
      "            t[j] = (X[i, j] * 2, i)\n"
      "        for j in range(M):\n"
      "            Y[i, M - 1 - j] = t[j][0] + f32(t[j][1])\n",
      {inline_t});
}

TEST_F(Rewrites, InlineTwiceKeepsTheOrder) {
  const RewrittenProgram r = rewrite(
      "def f(A: f32[N], B: out[f32[N]]):\n"
      "    t: f32[N]\n"
      "    u: f32[N]\n"
      "    for i in range(N):\n"
      "        t[i] = A[i] + 1\n"
      "    for i in range(N):\n"
      "        u[i] = t[N - 1 - i] * t[i]\n"
      "    for i in range(N):\n"
      "        B[i] = u[i] / 3\n",
      {inline_t, {"inline", {"u"}, {}}});
  EXPECT_EQ(names(r), Names{"B"});
  EXPECT_EQ(r.rewrites.size(), 2u);
}

TEST_F(Rewrites, InlineConditions) {
  expect_condition("def f(A: f32[N], B: inout[f32[N]]):\n    for i in range(N):\n        B[i] = A[i]\n", {"inline", {"B"}, {}}, "is no local", 1);
  expect_condition(
      "def f(A: f32[N], B: out[f32[N]]):\n"
      "    t: f32[N]\n"
      "    for i in range(N):\n"
      "        t[i] = A[i]\n"
      "    for i in range(N):\n"
      "        t[i] = t[i] * 2\n"
      "    for i in range(N):\n"
      "        B[i] = t[i]\n",
      inline_t, "2 statements write `t`", 2);
  expect_condition(
      "def f(A: f32[N, M], B: out[f32[N]]):\n"
      "    t: f32[N]\n"
      "    for i, k in grid(N, M):\n"
      "        t[i] = A[i, k]\n"
      "    for i in range(N):\n"
      "        if M > 0:\n"
      "            B[i] = t[i]\n",
      inline_t, "more than once", 4);
  expect_condition(
      "def f(A: inout[f32[N]], B: out[f32[N]]):\n"
      "    t: f32[N]\n"
      "    for i in range(N):\n"
      "        t[i] = A[i]\n"
      "    for i in range(N):\n"
      "        A[i] = 0\n"
      "    for i in range(N):\n"
      "        B[i] = t[i]\n",
      inline_t, "`A`, from which `t` is computed, changes", 8);
  expect_condition(
      "def f(A: i32[N], X: f32[M], B: out[f32[N]]):\n"
      "    assume(0 <= t[:] < M)\n"
      "    t: i32[N]\n"
      "    for i in range(N):\n"
      "        t[i] = A[i] + 1\n"
      "    for i in range(N):\n"
      "        B[i] = X[t[i]]\n",
      inline_t, "decides an index", 7);
}

TEST_F(Rewrites, InlineReductionIsRefused) {
  expect_condition(
      "def f(A: f32[N], B: out[f32[N]]):\n"
      "    t: f32[N]\n"
      "    for i in range(N):\n"
      "        if A[i] > 0:\n"
      "            t[i] = A[i]\n"
      "    for i in range(N):\n"
      "        B[i] = A[i]\n",
      inline_t, "data decides whether t has an effect", 5);
}

TEST_F(Rewrites, NamesThatDoNotExist) {
  const std::string text = "def f(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i]\n";
  EXPECT_EQ(refusal(text, {"inlin", {"t"}, {}}).code, "pin");
  EXPECT_NE(refusal(text, {"inlin", {"t"}, {}}).reason.find("did you mean `inline`?"), std::string::npos);
  EXPECT_NE(refusal(text, inline_t).reason.find("no tensor `t`"), std::string::npos);
  EXPECT_NE(refusal(text, {"split", {"B"}, {{"chunk", 2}}}).reason.find("1 names"), std::string::npos);
  EXPECT_NE(refusal(text, {"split", {"B", "i"}, {}}).reason.find("wants chunk="), std::string::npos);
  EXPECT_NE(refusal(text, {"split", {"B", "i"}, {{"chunk", 2}, {"chunks", 2}}}).reason.find("no size `chunks`"), std::string::npos);
}

}  // namespace
}  // namespace tileopt::test
