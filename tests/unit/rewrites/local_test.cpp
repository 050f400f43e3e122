/// `local`: what it makes, and every condition it refuses on.
#include "tests/unit/rewrites/rewrite_case.h"

namespace tileopt::test {
namespace {

const Rewriting local_C = {"local", {"C"}, {}};

TEST_F(Rewrites, LocalAccumulatesApartFromTheResult) {
  const RewrittenProgram r = rewrite(
      "def f(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):\n"
      "    for i, j in grid(M, N):\n"
      "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n",
      {local_C});
  EXPECT_EQ(names(r), (Names{"C_init", "C", "C_store"}));
  EXPECT_EQ(r.program->order().write(), "i > j > (C_init ; C: k ; C_store)");
  EXPECT_EQ(r.program->tensor("C_local").role, TensorRole::local);
  EXPECT_EQ(r.program->statement("C").write.tensor, "C_local");
  EXPECT_EQ(r.program->statement("C_init").write.tensor, "C_local");
  expect_access(r, "C_store", r.program->statement("C_store").write, "{ C_store[i, j] -> C[i, j] }");
  expect_access(r, "C_store", r.program->statement("C_store").reads.at(0), "{ C_store[i, j] -> C_local[i, j] }");
  // Where there are no terms, zeros are stored all the same.
  expect_domain(r, "C_store", "[M, N, K] -> { C_store[i, j] : 0 <= i < M and 0 <= j < N }");
}

TEST_F(Rewrites, LocalKeepsMinimaAndWhatIsReadLater) {
  rewrite(
      "def f(A: f32[M, K], m: out[f32[M]], y: out[f32[M]]):\n"
      "    for i in range(M):\n"
      "        m[i] = max(A[i, k] for k in range(K))\n"
      "    for i in range(M):\n"
      "        y[i] = m[i] + m[0]\n",
      {{"local", {"m"}, {}}});
}

TEST_F(Rewrites, LocalConditions) {
  expect_condition("def f(A: f32[K], C: inout[f32]):\n    for k in range(K):\n        C += A[k]\n", local_C, "nothing sets `C`", 3);
  expect_condition("def f(A: f32[M, K], y: out[f32[M]]):\n    for i in range(M):\n        C: f32 = sum(A[i, k] for k in range(K))\n        y[i] = C\n", local_C, "is a local already", 3);
  expect_condition("def f(A: f32[M], C: out[f32[M]]):\n    for i in range(M):\n        C[i] = A[i]\n", local_C, "is no reduction", 3);
}

}  // namespace
}  // namespace tileopt::test
