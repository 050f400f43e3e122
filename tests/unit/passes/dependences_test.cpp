#include "pass_fixture.h"

namespace tileopt {
namespace {

/// Does `order` { S -> [time] } respect the ordinary dependences?
bool legal(const Dependences& d, const isl::union_map& order) {
  return d.validity().is_subset(poly::lex_lt(order, order));
}

TEST_F(PassTest, InitAndUseStayOrderedAgainstEveryContribution) {
  const auto p = program(
      "def f(A: f32[M, K], D: out[f32[M]]):\n"
      "    for i in range(M):\n"
      "        acc: f32 = sum(A[i, k] for k in range(K))\n"
      "        D[i] = acc * acc\n");
  const auto d = dependences(p);
  EXPECT_TRUE(d->flow.is_equal(relation(
      "[M, K] -> { acc_init[i] -> acc[i' = i, k] : 0 <= i < M and 0 <= k < K; acc_init[i] -> D[i' = i] : K >= 0 and 0 <= i < M;"
      " acc[i, k] -> D[i' = i] : 0 <= i < M and 0 <= k < K }")))
      << d->flow;
  EXPECT_TRUE(d->relaxed.is_equal(relation("[M, K] -> { acc[i, k] -> acc[i' = i, k'] : 0 <= i < M and 0 <= k < k' < K }"))) << d->relaxed;
  EXPECT_TRUE(legal(*d, relation("{ acc_init[i] -> [i, 0, 0]; acc[i, k] -> [i, 1, -k]; D[i] -> [i, 2, 0] }")));
  EXPECT_FALSE(legal(*d, relation("{ acc_init[i] -> [i, 0, 1]; acc[i, k] -> [i, k, 0]; D[i] -> [i, 1000000, 2] }")));
  EXPECT_FALSE(legal(*d, relation("[K] -> { acc_init[i] -> [i, -K, 0]; acc[i, k] -> [i, -k, 1]; D[i] -> [i, 1 - K, 2] }")))
      << "the use may not run after the last k alone";
}

TEST_F(PassTest, StrictSumsKeepTheirOrder) {
  const auto p = program(
      "@numerics(reassociate=False)\n"
      "def f(A: f32[K], D: out[f32[1]]):\n"
      "    for i in range(1):\n"
      "        D[i] = sum(A[k] for k in range(K))\n");
  const auto d = dependences(p);
  EXPECT_TRUE(d->relaxed.is_empty());
  EXPECT_FALSE(legal(*d, relation("{ D_init[i] -> [0, 0]; D[i, k] -> [1, -k] }")));
}

TEST_F(PassTest, RealReadsOfAReductionKeepTheirOrder) {
  const auto p = program(
      "def trsv(L: f32[N, N], C: inout[f32[N]]):\n"
      "    for i in range(N):\n"
      "        for j in range(i):\n"
      "            C[i] += L[i, j] * C[j]\n");
  const auto d = dependences(p);
  EXPECT_TRUE(legal(*d, relation("{ C[i, j] -> [i, -j] }")));
  EXPECT_FALSE(legal(*d, relation("{ C[i, j] -> [-i, j] }")));
}

TEST_F(PassTest, AnAssignmentEndsAReduction) {
  const auto p = program(
      "def f(A: f32[T, K], D: out[f32[T]], C: inout[f32[1]]):\n"
      "    for t in range(T):\n"
      "        for z in range(1):\n"
      "            C[z] = f32(0)\n"
      "            for k in range(K):\n"
      "                C[z] += A[t, k]\n"
      "            D[t] = C[z]\n");
  const auto d = dependences(p);
  EXPECT_TRUE(legal(*d, relation("{ C[t, z] -> [t, 0, 0]; C_2[t, z, k] -> [t, 1, -k]; D[t, z] -> [t, 2, 0] }")));
  EXPECT_FALSE(legal(*d, relation("{ C[t, z] -> [0, t, 0]; C_2[t, z, k] -> [1, t, k]; D[t, z] -> [2, t, 0] }")));
}

TEST_F(PassTest, SumThenMaxOnOneElementStayApart) {
  const auto p = program(
      "def f(A: f32[N, K], C: inout[f32[N]]):\n"
      "    for i in range(N):\n"
      "        for k in range(K):\n"
      "            C[i] += A[i, k]\n"
      "        for k in range(K):\n"
      "            C[i] *= A[i, k]\n");
  const auto d = dependences(p);
  EXPECT_TRUE(legal(*d, relation("{ C[i, k] -> [i, 0, -k]; C_2[i, k] -> [i, 1, -k] }")));
  EXPECT_FALSE(legal(*d, relation("{ C[i, k] -> [i, k, 0]; C_2[i, k] -> [i, k, 1] }")));
}

TEST_F(PassTest, ConditionalAssignmentsKeepTheirOrderAndHideNothing) {
  const auto p = program(
      "def f(idx: i32[N], x: i32[N], Y: inout[i32[B]], z: out[i32]):\n"
      "    assume(0 <= idx[:] < B)\n"
      "    for i in range(N):\n"
      "        Y[idx[i]] = x[i]\n"
      "    z = 0\n"
      "    for b in range(B):\n"
      "        z += Y[b]\n");
  const auto d = dependences(p);
  EXPECT_TRUE(legal(*d, relation("{ Y[i, s] -> [0, i, s]; z[] -> [1, 0, 0]; z_2[b] -> [2, -b, 0] }")));
  EXPECT_FALSE(legal(*d, relation("{ Y[i, s] -> [0, -i, s]; z[] -> [1, 0, 0]; z_2[b] -> [2, b, 0] }")))
      << "two writes of one element may not be exchanged: data decides which of them happen";
  EXPECT_FALSE(legal(*d, relation("{ Y[i, s] -> [2, i, s]; z[] -> [0, 0, 0]; z_2[b] -> [1, b, 0] }")));
  EXPECT_TRUE(legal(*d, relation("{ Y[i, s] -> [0, s, i]; z[] -> [1, 0, 0]; z_2[b] -> [2, b, 0] }"))) << "elements are independent";
}

TEST_F(PassTest, ScattersOfOneReductionAreRelaxed) {
  const auto p = program(
      "def f(idx: i32[N], x: i32[N], Y: inout[i32[B]]):\n"
      "    assume(0 <= idx[:] < B)\n"
      "    for i in range(N):\n"
      "        Y[idx[i]] += x[i]\n");
  const auto d = dependences(p);
  EXPECT_TRUE(legal(*d, relation("{ Y[i, s] -> [-i, s] }")));
  EXPECT_TRUE(d->relaxed.is_equal(relation("[N, B] -> { Y[i, s] -> Y[i', s' = s] : 0 <= i < i' < N and 0 <= s < B }"))) << d->relaxed;
}

TEST_F(PassTest, ValuesOfAnInjectiveIndexDiffer) {
  const auto text = [](const std::string& facts) {
    return "def f(p: i32[N], q: i32[N], x: i32[N], Y: inout[i32[N]]):\n"
           "    assume(0 <= p[:] < N and 0 <= q[:] < N" + facts + ")\n"
           "    for i in range(N):\n"
           "        Y[p[i]] = x[i]\n";
  };
  EXPECT_TRUE(dependences(program(text(" and injective(p)")))->all().is_empty());
  for (const char* facts : {"", " and injective(q)", " and monotone(p)"}) {
    const auto d = dependences(program(text(facts)));
    EXPECT_TRUE(d->output.is_equal(relation("[N] -> { Y[i, s] -> Y[i', s' = s] : 0 <= i < i' < N and 0 <= s < N }"))) << facts << d->output;
  }
}

TEST_F(PassTest, ReadsOfOneElementGiveOneValue) {
  const auto d = dependences(program(
      "def f(p: i32[N], x: i32[N, M], Y: inout[i32[M]]):\n"
      "    assume(0 <= p[:] < N and M > 0)\n"
      "    for i in range(N):\n"
      "        Y[0] = x[p[i], 0]\n"));
  EXPECT_TRUE(d->output.is_equal(relation("[N, M] -> { Y[i, s] -> Y[i', s'] : M > 0 and 0 <= i < i' < N and 0 <= s < N and 0 <= s' < N }"))) << d->output;
}

TEST_F(PassTest, RangesOfAMonotoneIndexAreDisjoint) {
  const auto text = [](const std::string& facts) {
    return "def f(s: i32[G + 1], Y: inout[i32[T]]):\n"
           "    assume(0 <= s[:] <= T" + facts + ")\n"
           "    for g in range(G):\n"
           "        for t in range(s[g], s[g + 1]):\n"
           "            Y[t] = 2 * Y[t]\n";
  };
  EXPECT_TRUE(dependences(program(text(" and monotone(s)")))->all().is_empty());
  EXPECT_FALSE(dependences(program(text("")))->flow.is_empty());
}

TEST_F(PassTest, KernelOrderMayNotReverseADependence) {
  const auto p = program(
      "def f(A: f32[N], B: out[f32[N]]):\n"
      "    t: f32[N]\n"
      "    for i in range(N):\n"
      "        t[i] = A[i] + f32(1)\n"
      "    for i in range(N):\n"
      "        B[i] = t[i] * f32(2)\n");
  const auto d = dependences(p);
  EXPECT_EQ(default_groups(*p), (std::vector<std::vector<std::string>>{{"t"}, {"B"}}));
  Plan plan;
  plan.kernels.resize(2);
  plan.kernels[0].statements = {"B"};
  plan.kernels[1].statements = {"t"};
  EXPECT_NE(reason(group_kernels(p, d, plan)).find("reverses a dependence"), std::string::npos);
  std::swap(plan.kernels[0], plan.kernels[1]);
  EXPECT_EQ(reason(group_kernels(p, d, plan)), "feasible");
  plan.kernels[1].statements = {"B", "t"};
  EXPECT_NE(reason(group_kernels(p, d, plan)).find("is in two kernels"), std::string::npos);
  plan.kernels.pop_back();
  EXPECT_NE(reason(group_kernels(p, d, plan)).find("is in no kernel"), std::string::npos);
}

}  // namespace
}  // namespace tileopt
