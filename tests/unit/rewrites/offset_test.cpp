/// `offset`: what it makes of products of signed bytes, and every condition it refuses on.
#include "tests/unit/rewrites/rewrite_case.h"

namespace tileopt::test {
namespace {

const Rewriting offset_c = {"offset", {"C"}, {}};

std::string product(const std::string& term, const std::string& range = "range(K)") {
  return "def f(A: i8[M, K], B: i8[K, N], C: out[i32[M, N]]):\n    for i, j in grid(M, N):\n        C[i, j] = sum(" + term + " for k in " + range + ")\n";
}
const std::string bytes = "i32(A[i, k]) * i32(B[k, j])";

TEST_F(Rewrites, OffsetMakesTheFirstFactorUnsigned) {
  const RewrittenProgram r = rewrite(product(bytes), {offset_c});
  EXPECT_EQ(names(r), (Names{"A_offset", "B_total_init", "B_total", "C_init", "C"}));
  EXPECT_EQ(r.program->order().write(), "(A_offset: i > k ; B_total_init: j ; B_total: j > k ; C_init, C: i > j > (C_init ; C: k))");
  EXPECT_EQ(r.program->tensor("A_offset").type, ElementType::u8);
  EXPECT_EQ(r.program->tensor("B_total").type, ElementType::i32);
  EXPECT_EQ(body(r, "C"), "(i32(r1) * i32(r0))");
  expect_access(r, "C", r.program->statement("C").reads.at(0), "{ C[i, j, k] -> B[k, j] }");
  expect_access(r, "C", r.program->statement("C").reads.at(1), "{ C[i, j, k] -> A_offset[i, k] }");
  expect_access(r, "C_init", r.program->statement("C_init").reads.at(0), "{ C_init[i, j] -> B_total[j] }");
  expect_domain(r, "B_total", "[M, N, K] -> { B_total[j, k] : M > 0 and 0 <= j < N and 0 <= k < K }");
}

TEST_F(Rewrites, OffsetOfBatchesAndWindows) {
  rewrite("def f(A: i8[B, M, K], W: i8[B, K, N], C: out[i32[B, M, N]]):\n"
          "    for b, i, j in grid(B, M, N):\n"
          "        C[b, i, j] = sum(i32(A[b, i, k]) * i32(W[b, k, j]) for k in range(K))\n",
          {offset_c});
  rewrite("def f(X: i8[H, W, D], F: i8[3, 3, D, E], C: out[i32[H - 2, W - 2, E]]):\n"
          "    assume(H >= 3 and W >= 3)\n"
          "    for h, w, e in grid(H - 2, W - 2, E):\n"
          "        C[h, w, e] = sum(i32(X[h + r, w + s, d]) * i32(F[r, s, d, e]) for r, s, d in grid(3, 3, D))\n",
          {offset_c});
}

TEST_F(Rewrites, OffsetConditions) {
  expect_condition(product("i32(A[i, k]) + i32(B[k, j])"), offset_c, "are no products of i32", 3);
  expect_condition(product("i32(A[i, k]) * 3"), offset_c, "a factor of C is no i8 element as i32", 3);
  expect_condition(product(bytes, "range(i, K)"), offset_c, "that share factors of `B` have other terms", 3);
  expect_condition("def f(A: i8[M, K], B: i8[K, N], C: inout[i32[M, N]]):\n    for i, j, k in grid(M, N, K):\n        C[i, j] += " + bytes + "\n", offset_c, "nothing sets `C`", 3);
  expect_condition("def f(A: inout[i8[M, K]], B: i8[K, N], C: out[i32[M, N]]):\n    for i, k in grid(M, K):\n        A[i, k] = 3\n    for i, j in grid(M, N):\n        C[i, j] = sum(" + bytes +
                       " for k in range(K))\n",
                   offset_c, "A writes `A`", 3);
}

}  // namespace
}  // namespace tileopt::test
