/// `split`: partial results and their combination, scatters, and every condition it refuses on.
#include "tests/unit/rewrites/rewrite_case.h"

namespace tileopt::test {
namespace {

const char* kGemm =
    "def f(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):\n"
    "    for i, j in grid(M, N):\n"
    "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n";

TEST_F(Rewrites, SplitOfAContraction) {
  const RewrittenProgram r = rewrite(kGemm, {{"split", {"C", "k"}, {{"chunk", 4}}}}, false);
  EXPECT_EQ(names(r), (Names{"C_init", "C_partial_init", "C_partial", "C"}));
  EXPECT_EQ(r.program->order().write(),
            "(C_init: i > j ; C_partial_init: k_chunk > i > j ; C_partial: k_chunk > i > j > k ; C: i > j > k_chunk)");
  expect_domain(r, "C_partial",
                "[M, K, N] -> { C_partial[q, i, j, k] : 0 <= i < M and 0 <= j < N and 0 <= k < 4 and q >= 0 and 4q + k < K }");
  expect_domain(r, "C", "[M, K, N] -> { C[i, j, q] : 0 <= i < M and 0 <= j < N and q >= 0 and 4q < K }");
  expect_access(r, "C_partial", r.program->statement("C_partial").write, "{ C_partial[q, i, j, k] -> C_partial[q, i, j] }");
  expect_access(r, "C", r.program->statement("C").reads.at(0), "{ C[i, j, q] -> C_partial[q, i, j] }");
  expect_access(r, "C_partial", r.program->statement("C_partial").reads.at(0), "{ C_partial[q, i, j, k] -> A[i, 4q + k] }");
  EXPECT_EQ(body(r, "C_partial"), "(r0 * r1)");
  EXPECT_EQ(r.numerics, Names{"reassociate"});
  EXPECT_EQ(r.program->statement("C_partial").where.line, 3);
}

TEST_F(Rewrites, SplitDealsChunksToParts) {
  const RewrittenProgram r = rewrite(kGemm, {{"split", {"C", "k"}, {{"chunk", 2}, {"parts", 3}}}}, false);
  expect_domain(r, "C_partial",
                "[M, K, N] -> { C_partial[q, b, i, j, k] : 0 <= i < M and 0 <= j < N and 0 <= k < 2 and 0 <= q < 3 and b >= 0 and "
                "6b + 2q + k < K }");
  expect_domain(r, "C_partial_init", "[M, K, N] -> { C_partial_init[q, i, j] : 0 <= i < M and 0 <= j < N and 0 <= q < 3 and K > 0 }");
}

TEST_F(Rewrites, SplitMakesAScatterPrivate) {
  const RewrittenProgram r = rewrite(
      "def f(key: i32[N], v: f64[N], H: inout[f64[B]]):\n"
      "    assume(0 <= key[:] < B)\n"
      "    for i in range(N):\n"
      "        H[key[i]] += v[i]\n",
      {{"split", {"H", "i"}, {{"chunk", 3}, {"parts", 2}}}}, false);
  const Statement& partial = r.program->statement("H_partial");
  ASSERT_EQ(partial.guards.size(), 1u);
  EXPECT_EQ(partial.iterators.size(), 4u);
  EXPECT_EQ(partial.guards[0].iterator, 3u);
  EXPECT_EQ(r.program->tensor("H_partial").shape.size(), 2u);
}

TEST_F(Rewrites, SplitOfIntegersAndMinimaIsExact) {
  rewrite("def f(A: i32[N], s: out[i32]):\n    s = sum(A[i] for i in range(N))\n", {{"split", {"s", "i"}, {{"chunk", 3}}}});
  rewrite("def f(A: f32[N, M], m: out[f32[N]]):\n    for r in range(N):\n        m[r] = min(A[r, i] for i in range(r, M))\n",
          {{"split", {"m", "i"}, {{"chunk", 2}, {"parts", 2}}}});
  rewrite("def f(A: u8[N], s: out[i32]):\n    s = argmax(A[i] for i in range(N))\n", {{"split", {"s_argmax1", "i"}, {{"chunk", 3}}}});
}

TEST_F(Rewrites, SplitInsideALoopThatMustStay) {
  const RewrittenProgram r = rewrite(
      "def f(A: f32[N], B: inout[f32[T]]):\n"
      "    for t in range(1, T):\n"
      "        B[t] = B[t - 1] + sum(A[k] * B[t - 1] for k in range(N))\n",
      {{"split", {"B_sum1", "k"}, {{"chunk", 2}}}}, false);
  EXPECT_EQ(r.program->order().write().substr(0, 4), "t > ");
}

TEST_F(Rewrites, SplitKeepsTheOrderOfAMonoid) {
  const std::string affine =
      "@monoid(identity=(1, 0))\n"
      "def then(a: tuple[i32, i32], b: tuple[i32, i32]) -> tuple[i32, i32]:\n"
      "    return (a[0] * b[0], a[1] * b[0] + b[1])\n";
  const std::string text = affine +
                           "@numerics(reassociate=True)\n"
                           "def f(A: i32[N, M], s: out[i32]):\n"
                           "    t: tuple[i32, i32] = then((A[i, j], A[i, j] + 1) for i in range(N) for j in range(M))\n"
                           "    s = t[1]\n";
  rewrite(text, {{"split", {"t", "i"}, {{"chunk", 2}}}});
  expect_condition(text, {"split", {"t", "i"}, {{"chunk", 2}, {"parts", 2}}}, "not commutative", 6);
  expect_condition(text, {"split", {"t", "j"}, {{"chunk", 2}}}, "not commutative", 6);
}

TEST_F(Rewrites, SplitOfWhatDataMayLeaveUnset) {
  const std::string loop = "        if A[i] > 0:\n            B[i] = sum(A[k] for k in range(N))\n";
  expect_condition("def f(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n" + loop, {"split", {"B", "k"}, {{"chunk", 2}}}, "is set before B", 4);
  rewrite("def f(A: f32[N], B: inout[f32[N]]):\n    for i in range(N):\n" + loop, {{"split", {"B", "k"}, {{"chunk", 2}}}}, false);
  rewrite("def f(A: f32[N], I: i32[M], H: out[f32[B]]):\n    assume(0 <= I[:] < B and M <= N)\n    for b in range(B):\n        H[b] = 0\n    for i in range(M):\n        H[I[i]] += A[i]\n",
          {{"split", {"H_2", "i"}, {{"chunk", 2}, {"parts", 2}}}}, false);
}

TEST_F(Rewrites, SplitConditions) {
  expect_condition(kGemm, {"split", {"C_init", "i"}, {{"chunk", 4}}}, "is no reduction", 3);
  expect_condition(kGemm, {"split", {"C", "i"}, {{"chunk", 4}}}, "moves the element", 3);
  expect_condition(kGemm, {"split", {"C", "x"}, {{"chunk", 4}}}, "has no loop x", 3);
  expect_condition("def f(A: f32[N], B: inout[f32[2]]):\n    for i in range(N):\n        B[0] += A[i]\n        B[1] *= A[i]\n",
                   {"split", {"B", "i"}, {{"chunk", 4}}}, "loop i holds B_2 too", 3);
  expect_condition("def f(A: f32[N], B: inout[f32[2]]):\n    for i in range(N):\n        B[0] += A[i] * B[1]\n",
                   {"split", {"B", "i"}, {{"chunk", 4}}}, "reads `B`", 3);
  expect_condition("def f(A: f32[N], s: out[f32]):\n    s = sum(A[i + 2] for i in range(-2, N - 2))\n", {"split", {"s", "i"}, {{"chunk", 4}}},
                   "values below 0", 2);
  const Infeasible refused = refusal("@numerics(reassociate=False)\ndef f(A: f32[N], s: out[f32]):\n    s = sum(A[i] for i in range(N))\n",
                                     {"split", {"s", "i"}, {{"chunk", 4}}});
  EXPECT_EQ(refused.code, "numerics");
  EXPECT_NE(refused.reason.find("needs reassociate=True"), std::string::npos);
}

TEST_F(Rewrites, SplitIntoCopiesThatLiveByThemselves) {
  const std::string text = "def f(key: i32[N], H: inout[i32[B]]):\n    assume(0 <= key[:] < B)\n    for i in range(N):\n        H[key[i]] += 1\n";
  const Rewriting copies = {"split", {"H", "i"}, {{"chunk", 3}, {"parts", 2}, {"most", 5}}};
  const RewrittenProgram r = rewrite(text, {copies});
  EXPECT_EQ(names(r), (Names{"H_partial_init", "H_partial", "H", "H_direct"}));
  EXPECT_EQ(r.program->order().write(), "(H_partial_init, H_partial, H: i_chunk > (H_partial_init: key_at ; H_partial: i_round > i > key_at ; H: key_at) ; H_direct: i > key_at)");
  expect_domain(r, "H_partial_init", "[N, B] -> { H_partial_init[q, b] : 0 <= q < 2 and 0 <= b < B and B <= 5 and N > 0 }");
  expect_domain(r, "H", "[N, B] -> { H[q, b] : 0 <= q < 2 and 0 <= b < B and B <= 5 and N > 0 }");
  expect_domain(r, "H_direct", "[N, B] -> { H_direct[i, b] : 0 <= i < N and 0 <= b < B and B > 5 }");
  expect_access(r, "H", r.program->statement("H").reads.at(0), "{ H[q, b] -> H_partial[q, b] }");

  const RewrittenProgram small = rewrite("def f(key: i32[N], H: inout[i32[2, 2]]):\n    assume(0 <= key[:] < 2)\n    for i in range(N):\n        H[key[i], 1] += 1\n", {copies});
  EXPECT_EQ(names(small), (Names{"H_partial_init", "H_partial", "H"}));
  expect_condition("def f(key: i32[N], H: inout[i32[2, 3]]):\n    assume(0 <= key[:] < 2)\n    for i in range(N):\n        H[key[i], 1] += 1\n", copies, "more than 5 elements", 4);
  expect_condition("def f(key: i32[N], H: inout[i32[B, B]]):\n    assume(0 <= key[:] < B)\n    for i in range(N):\n        H[key[i], 0] += 1\n", copies, "no affine function", 4);
  expect_condition(text, {"split", {"H", "i"}, {{"chunk", 3}, {"most", 5}}}, "without parts", 4);
}

}  // namespace
}  // namespace tileopt::test
