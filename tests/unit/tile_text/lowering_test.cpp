// What the checker makes of source text: domains, accesses, order, bodies, context.
#include <gtest/gtest.h>

#include "frontends/tile_text/tile_text.h"
#include "support/document.h"

namespace tileopt {
namespace {

class Lowering : public ::testing::Test {
 protected:
  Program lower(const std::string& text) {
    TileFile file = parse_tile_file(context_.get(), text, "test.tile");
    EXPECT_EQ(file.programs.size(), 1u);
    return file.programs.front();
  }
  Program kernel(const std::string& name) {
    return lower(read_file(TILEOPT_SOURCE_DIR + std::string("/benchmarks/kernels/") + name + ".tile"));
  }

  void expect_domain(const Program& program, const std::string& statement, const std::string& text) {
    const isl::set expected(context_.get(), text);
    EXPECT_TRUE(program.statement(statement).domain.is_equal(expected)) << program.statement(statement).domain << "\n" << text;
  }
  void expect_access(const Access& access, const std::string& text) {
    const isl::map expected(context_.get(), text);
    EXPECT_TRUE(access.index.as_map().is_equal(expected)) << access.index << "\n" << text;
  }
  void expect_value(const isl::pw_aff& value, const std::string& text) {
    const isl::pw_aff expected(context_.get(), text);
    EXPECT_EQ(isl_pw_aff_is_equal(value.get(), expected.get()), isl_bool_true) << value << "\n" << text;
  }
  void expect_context(const Program& program, const std::string& text) {
    EXPECT_TRUE(program.context().is_equal(isl::set(context_.get(), text))) << program.context();
  }
  std::string body(const Program& program, const std::string& statement) {
    return expr_text(program.statement(statement).body);
  }

  poly::Context context_;
};

std::vector<std::string> names(const Program& program) {
  std::vector<std::string> result;
  for (const Statement& statement : program.statements()) result.push_back(statement.name);
  return result;
}
using Names = std::vector<std::string>;

TEST_F(Lowering, Gemm) {
  const Program p = kernel("gemm");
  EXPECT_EQ(p.parameters(), (Names{"M", "K", "N"}));
  EXPECT_EQ(names(p), (Names{"C_init", "C"}));
  expect_context(p, "[M, K, N] -> { : M >= 0 and K >= 0 and N >= 0 }");
  expect_domain(p, "C_init", "[M, K, N] -> { C_init[i, j] : 0 <= i < M and 0 <= j < N }");
  expect_domain(p, "C", "[M, K, N] -> { C[i, j, k] : 0 <= i < M and 0 <= j < N and 0 <= k < K }");
  EXPECT_EQ(p.order().write(), "i > j > (C_init ; C: k)");
  const Statement& c = p.statement("C");
  EXPECT_EQ(c.iterators, (Names{"i", "j", "k"}));
  EXPECT_EQ(c.combine, Combine::sum);
  EXPECT_EQ(body(p, "C"), "(r0 * r1)");
  EXPECT_EQ(body(p, "C_init"), "f32(0)");
  ASSERT_EQ(c.reads.size(), 2u);
  const std::string where = " : 0 <= i < M and 0 <= j < N and 0 <= k < K }";
  expect_access(c.write, "[M, K, N] -> { C[i, j, k] -> C[i, j]" + where);
  expect_access(c.reads[0], "[M, K, N] -> { C[i, j, k] -> A[i, k]" + where);
  expect_access(c.reads[1], "[M, K, N] -> { C[i, j, k] -> B[k, j]" + where);
  EXPECT_EQ(c.reads[1].where, (SourceLocation{"test.tile", 4, 33}));
  EXPECT_TRUE(p.numerics().contract);
  EXPECT_TRUE(p.numerics().reassociate);
  expect_value(p.tensor("B").shape[0], "[M, K, N] -> { [(K)] }");
  EXPECT_EQ(p.tensor("C").role, TensorRole::out);
}

TEST_F(Lowering, LocalsAreExpandedOverTheirLoops) {
  const Program p = kernel("gemm_bf16");
  EXPECT_EQ(names(p), (Names{"acc_init", "acc", "C"}));
  const Tensor& acc = p.tensor("acc");
  EXPECT_EQ(acc.role, TensorRole::local);
  ASSERT_EQ(acc.shape.size(), 2u);
  expect_value(acc.shape[0], "[M, K, N] -> { [(M)] }");
  expect_value(acc.shape[1], "[M, K, N] -> { [(N)] }");
  EXPECT_EQ(p.order().write(), "i > j > (acc_init ; acc: k ; C)");
  EXPECT_EQ(body(p, "C"), "bf16(r0)");
  EXPECT_EQ(body(p, "acc"), "(f32(r0) * f32(r1))");
}

TEST_F(Lowering, Jacobi) {
  const Program p = kernel("jacobi_2d");
  EXPECT_EQ(p.parameters(), (Names{"N", "T"}));
  EXPECT_EQ(p.order().write(), "t > (B: i > j ; A: i > j)");
  expect_domain(p, "B", "[N, T] -> { B[t, i, j] : 0 <= t < T and 1 <= i < N - 1 and 1 <= j < N - 1 }");
  EXPECT_EQ(p.statement("B").reads.size(), 5u);
  ASSERT_EQ(p.tensor("B").shape.size(), 2u) << "declared outside the loops";
}

TEST_F(Lowering, StridedWindow) {
  const Program p = kernel("conv2d");
  expect_value(p.tensor("I").shape[1], "[N, H, W, C, F] -> { [(2H + 1)] }");
  expect_access(p.statement("O").reads[0],
                "[N, H, W, C, F] -> { O[n, h, w, f, r, s, c] -> I[n, 2h + r, 2w + s, c] : 0 <= n < N and 0 <= h < H and 0 <= w "
                "< W and 0 <= f < F and "
                "0 <= r <= 2 and 0 <= s <= 2 and 0 <= c < C }");
  EXPECT_EQ(p.order().write(), "n > h > w > f > (O_init ; O: r > s > c)");
}

TEST_F(Lowering, InlineReductionsBecomeLocals) {
  const Program p = lower(
      "def attention(Q: f32[S, D], K: f32[S, D], V: f32[S, D], O: out[f32[S, D]], scale: f32):\n"
      "    for i in range(S):\n"
      "        s: f32[S]\n"
      "        for j in range(i + 1):\n"
      "            s[j] = scale * sum(Q[i, d] * K[j, d] for d in range(D))\n"
      "        m: f32 = max(s[j] for j in range(i + 1))\n"
      "        l: f32 = sum(exp(s[j] - m) for j in range(i + 1))\n"
      "        for d in range(D):\n"
      "            O[i, d] = sum(exp(s[j] - m) * V[j, d] for j in range(i + 1)) / l\n");
  EXPECT_EQ(names(p), (Names{"s_sum1_init", "s_sum1", "s", "m_init", "m", "l_init", "l", "O_sum1_init", "O_sum1", "O"}));
  EXPECT_EQ(p.order().write(),
            "i > (s_sum1_init, s_sum1, s: j > (s_sum1_init ; s_sum1: d ; s) ; m_init ; m: j ; l_init ; l: j ; O_sum1_init, "
            "O_sum1, O: d > "
            "(O_sum1_init ; O_sum1: j ; O))");
  expect_domain(p, "s_sum1", "[S, D] -> { s_sum1[i, j, d] : 0 <= i < S and 0 <= j <= i and 0 <= d < D }");
  ASSERT_EQ(p.tensor("s").shape.size(), 2u);
  ASSERT_EQ(p.tensor("s_sum1").shape.size(), 2u);
  expect_value(p.tensor("s_sum1").shape[1], "[S, D] -> { [(S)] }");
  expect_access(p.statement("m").reads[0], "[S, D] -> { m[i, j] -> s[i, j] : 0 <= i < S and 0 <= j <= i }");
  EXPECT_EQ(p.statement("m_init").body->type, ElementType::f32);
  EXPECT_EQ(body(p, "m_init"), "f32(-inf)");
  EXPECT_TRUE(p.tensor("scale").shape.empty());
  EXPECT_EQ(body(p, "O"), "(r0 / r1)");
}

TEST_F(Lowering, ReductionsInsideReductions) {
  const Program p = lower(
      "def f(A: i32[M, N], R: out[i32]):\n"
      "    R = max(sum(A[i, j] for j in range(N)) for i in range(M))\n");
  EXPECT_EQ(names(p), (Names{"R_init", "R_sum1_init", "R_sum1", "R"}));
  EXPECT_EQ(p.order().write(), "(R_init ; R_sum1_init, R_sum1, R: i > (R_sum1_init ; R_sum1: j ; R))");
  EXPECT_EQ(p.statement("R").combine, Combine::max);
  EXPECT_EQ(body(p, "R_init"), "i32(-2147483648)");
  expect_domain(p, "R_init", "[M, N] -> { R_init[] }");
}

TEST_F(Lowering, AReductionThatReadsItsTargetUsesALocal) {
  const Program p = lower("def f(A: inout[f32[N]]):\n    for i in range(N):\n        A[i] = sum(A[k] for k in range(i))\n");
  EXPECT_EQ(names(p), (Names{"A_sum1_init", "A_sum1", "A"}));
  EXPECT_EQ(p.statement("A").combine, Combine::assign);
}

TEST_F(Lowering, GeneratorsWithSeveralClausesAndConditions) {
  const Program p = lower(
      "def f(A: f32[M, N], R: out[f32[M]]):\n"
      "    for i in range(M):\n"
      "        R[i] = sum(A[j, k] for j in range(i) if j % 2 == 1 for k in range(j, N) if k != i)\n");
  expect_domain(p, "R", "[M, N] -> { R[i, j, k] : 0 <= i < M and 0 <= j < i and j mod 2 = 1 and j <= k < N and k != i }");
}

TEST_F(Lowering, CombinedAssignments) {
  const Program p = lower(
      "def f(A: f32[N], K: i32[N], R: inout[f32[N]], S: inout[i32[N]]):\n"
      "    for i in range(N):\n"
      "        R[i] += A[i]\n"
      "        R[i] -= A[i]\n"
      "        R[i] *= 2\n"
      "        R[i] /= 4\n"
      "        S[i] &= K[i]\n"
      "        R[i] += sum(A[k] for k in range(N))\n"
      "        R[i] = max(R[i], A[i])\n");
  EXPECT_EQ(names(p), (Names{"R", "R_2", "R_3", "R_4", "S", "R_5", "R_6"}));
  EXPECT_EQ(p.statement("R").combine, Combine::sum);
  EXPECT_EQ(p.statement("R").reads.size(), 1u) << "the own read is not listed";
  EXPECT_EQ(p.statement("R_2").combine, Combine::sum);
  EXPECT_EQ(body(p, "R_2"), "-(r0)");
  EXPECT_EQ(p.statement("R_3").combine, Combine::prod);
  EXPECT_EQ(body(p, "R_3"), "f32(2)");
  EXPECT_EQ(p.statement("R_4").combine, Combine::assign);
  EXPECT_EQ(body(p, "R_4"), "(r0 / f32(4))");
  EXPECT_EQ(p.statement("S").combine, Combine::bit_and);
  EXPECT_EQ(body(p, "S"), "r0");
  EXPECT_EQ(p.statement("R_5").combine, Combine::sum);
  EXPECT_EQ(p.statement("R_5").iterators, (Names{"i", "k"}));
  EXPECT_EQ(p.statement("R_6").combine, Combine::assign);
  EXPECT_EQ(body(p, "R_6"), "max(r0, r1)");
}

TEST_F(Lowering, SearchesReducePairs) {
  const Program p = lower(
      "def f(A: f32[M, N], I: out[i32[M]]):\n"
      "    for i in range(M):\n"
      "        I[i] = argmax(A[i, k] for k in range(N)) + 1\n");
  EXPECT_EQ(names(p), (Names{"I_argmax1_init", "I_argmax1", "I"}));
  const ElementType pair = tuple_type({ElementType::f32, ElementType::i64});
  EXPECT_EQ(p.tensor("I_argmax1").type, pair);
  EXPECT_EQ(body(p, "I_argmax1_init"), "(f32(-inf), i64(9223372036854775807))");
  EXPECT_EQ(body(p, "I_argmax1"), "(r0, i64(x0))");
  EXPECT_EQ(p.statement("I_argmax1").combine, Combine::monoid);
  ASSERT_EQ(p.monoids().size(), 1u);
  const Monoid& monoid = p.monoid(p.statement("I_argmax1").monoid);
  EXPECT_EQ(monoid.type, pair);
  EXPECT_TRUE(monoid.commutative);
  EXPECT_TRUE(monoid.exact);
  EXPECT_EQ(body(p, "I"), "(i32((i64(-1) if (r0[1] == i64(9223372036854775807)) else r0[1])) + i32(1))");
}

TEST_F(Lowering, MonoidsAndHelpersBelongToTheTextOfTheirProgram) {
  const std::string functions =
      "@monoid(identity=(1, 0))\n"
      "def compose(f: tuple[i64, i64], g: tuple[i64, i64]) -> tuple[i64, i64]:\n"
      "    return (f[0] * g[0], square(g[0]) * 0 + g[0] * f[1] + g[1])\n"
      "\n"
      "\n"
      "def square(x: i64) -> i64:\n"
      "    return x * x\n";
  const std::string program =
      "def f(A: i64[N], R: out[i64]):\n"
      "    s: tuple[i64, i64] = compose((A[k], 1) for k in range(N))\n"
      "    R = s[1]\n";
  const Program p = lower("def unused(x: f32) -> f32:\n    return x\n" + functions + program);
  EXPECT_EQ(p.text(), functions + "\n\n" + program);
  EXPECT_EQ(lower(p.text()).text(), p.text());
  EXPECT_EQ(names(p), (Names{"s_init", "s", "R"}));
  EXPECT_EQ(p.statement("s").monoid, "compose");
  EXPECT_FALSE(p.monoid("compose").commutative);
  EXPECT_TRUE(p.monoid("compose").exact);
  EXPECT_EQ(expr_text(p.monoid("compose").identity), "(i64(1), i64(0))");
}

TEST_F(Lowering, ArgumentsOfHelpersAreSharedNotCopied) {
  const Program p = lower(
      "def twice(x: f32) -> f32:\n"
      "    return x + x\n"
      "def f(A: f32[N], R: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        R[i] = twice(twice(A[i] * 2))\n");
  EXPECT_EQ(body(p, "R"), "(((r0 * f32(2)) + (r0 * f32(2))) + ((r0 * f32(2)) + (r0 * f32(2))))");
  const auto& sum = std::get<Binary>(p.statement("R").body->node);
  EXPECT_EQ(sum.left, sum.right);
}

TEST_F(Lowering, StrictSumsAreAddedAsAWhole) {
  const Program p = lower(
      "@numerics(reassociate=False)\n"
      "def f(A: f32[N], R: inout[f32]):\n"
      "    R += sum(A[k] for k in range(N))\n");
  EXPECT_EQ(names(p), (Names{"R_sum1_init", "R_sum1", "R"}));
  EXPECT_EQ(p.statement("R").combine, Combine::sum);
}

TEST_F(Lowering, BranchesSplitDomains) {
  const Program p = lower(
      "def f(A: f32[N], B: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        if i < 3:\n"
      "            B[i] = 1\n"
      "        elif i % 4 == 0 and i < N - 2:\n"
      "            B[i] = 2\n"
      "        else:\n"
      "            B[i] = A[i - 3]\n");
  expect_domain(p, "B", "[N] -> { B[i] : 0 <= i < N and i < 3 }");
  expect_domain(p, "B_2", "[N] -> { B_2[i] : 3 <= i < N - 2 and i mod 4 = 0 }");
  expect_domain(p, "B_3", "[N] -> { B_3[i] : 3 <= i < N and (i mod 4 > 0 or i >= N - 2) }");
  EXPECT_EQ(p.order().write(), "i > (B ; B_2 ; B_3)");
}

TEST_F(Lowering, AffineTernariesRestrictReads) {
  const Program p = lower(
      "def f(A: f32[N], B: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        B[i] = A[i - 1] if 0 < i < N - 1 else (A[i + 1] if i < N - 1 else 2)\n");
  const Statement& s = p.statement("B");
  ASSERT_EQ(s.reads.size(), 2u);
  expect_access(s.reads[0], "[N] -> { B[i] -> A[i - 1] : 0 < i < N - 1 }");
  expect_access(s.reads[1], "[N] -> { B[i] -> A[i + 1] : i = 0 and N > 1 }");
  expect_domain(p, "B", "[N] -> { B[i] : 0 <= i < N }");
  EXPECT_TRUE(std::holds_alternative<Select>(s.body->node));
}

TEST_F(Lowering, DataTernariesKeepTheWholeDomain) {
  const Program p = lower(
      "def f(A: f32[N], B: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        B[i] = A[i] if A[N - 1 - i] > 0 else -A[i]\n");
  const Statement& s = p.statement("B");
  ASSERT_EQ(s.reads.size(), 2u);
  for (const Access& read : s.reads) EXPECT_TRUE(read.index.domain().is_equal(s.domain));
  EXPECT_EQ(expr_text(s.body), "(r1 if (r0 > f32(0)) else -(r1))");
}

TEST_F(Lowering, IndexValues) {
  const Program p = lower(
      "def f(A: i32[N], B: out[i32[N]], C: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        B[i] = A[i] * ((i - 5) // 2) + i32(i % 3 - N) + i\n"
      "        C[i] = f32(2 * i + 1) + 0.5\n");
  const Statement& s = p.statement("B");
  EXPECT_EQ(expr_text(s.body), "(((r0 * i32(i64(x0))) + i32(i64(x1))) + i32(i64(x2)))");
  ASSERT_EQ(s.indices.size(), 3u);
  expect_value(s.indices[0], "[N] -> { B[i] -> [(floor((i - 5)/2))] }");
  expect_value(s.indices[1], "[N] -> { B[i] -> [((i mod 3) - N)] }");
  expect_value(p.statement("C").indices[0], "[N] -> { C[i] -> [(2i + 1)] }");
}

TEST_F(Lowering, IndexValuesInConditionals) {
  const Program p = lower(
      "def f(A: i32[N], B: out[i32[N]]):\n"
      "    for i in range(N):\n"
      "        B[i] = A[i] + (i if i > 3 else N - i)\n"
      "        B[i] = A[i] if (i if A[i] > 0 else 3) < 2 else i32(i) * i32(N)\n");
  EXPECT_EQ(body(p, "B"), "(r0 + (i32(i64(x0)) if (i64(x0) > i64(3)) else i32(i64(x1))))");
  EXPECT_EQ(body(p, "B_2"), "(r0 if ((i64(x0) if (r0 > i32(0)) else i64(3)) < i64(2)) else (i32(i64(x0)) * i32(i64(x1))))");
}

TEST_F(Lowering, LiteralsTakeTheTypeOfTheirContext) {
  const Program p = lower(
      "def f(A: f32[N], K: u64[N], H: f16[N], B: out[f32[N]], L: out[u64[N]], G: out[f16[N]], P: out[bool[N]]):\n"
      "    for i in range(N):\n"
      "        B[i] = 2 * A[i] + f32(0.1) + 1 / 2\n"
      "        L[i] = K[i] + 18446744073709551615\n"
      "        G[i] = H[i] + 0.1\n"
      "        P[i] = A[i] > 1 and not 0 < K[i] <= 3 or False\n");
  EXPECT_EQ(body(p, "B"), "(((f32(2) * r0) + f32(0.10000000149011612)) + (f32(1) / f32(2)))");
  EXPECT_EQ(body(p, "L"), "(r0 + u64(-1))") << "u64 literals beyond i64 are kept as bit patterns";
  EXPECT_EQ(body(p, "G"), "(r0 + f16(0.0999755859375))");
  EXPECT_EQ(body(p, "P"), "(((r0 > f32(1)) and not(((u64(0) < r1) and (r1 <= u64(3))))) or bool(0))");
}

TEST_F(Lowering, AssumptionsAndExtentsMakeTheContext) {
  const Program p = lower(
      "def f(A: f32[2 * N - 6], B: out[f32[M]], T: size):\n"
      "    assume(M <= 2 * N - 6 and M % 8 == 0)\n"
      "    assume(not T == 3)\n"
      "    for i in range(M):\n"
      "        B[i] = A[i]\n");
  EXPECT_EQ(p.parameters(), (Names{"N", "M", "T"}));
  expect_context(p, "[N, M, T] -> { : N >= 3 and 0 <= M <= 2N - 6 and M mod 8 = 0 and T >= 0 and T != 3 }");
}

TEST_F(Lowering, ReusedIteratorNamesAreMadeUnique) {
  const Program p = lower(
      "def f(A: f32[N, N], B: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        for i in range(N):\n"
      "            B[i] = sum(A[i, i] for i in range(N))\n");
  EXPECT_EQ(p.statement("B").iterators, (Names{"i", "i_2", "i_3"}));
  EXPECT_EQ(p.order().write(), "i > i_2 > (B_init ; B: i_3)");
  expect_access(p.statement("B").write, "[N] -> { B[i, i2, i3] -> B[i2] : 0 <= i < N and 0 <= i2 < N and 0 <= i3 < N }");
}

TEST_F(Lowering, MadeUpNamesAvoidNamesOfTheSource) {
  const Program p = lower(
      "def f(C_init: f32[N], C: out[f32[N]], C_2: out[f32[N]], C_sum1: f32):\n"
      "    for i in range(N):\n"
      "        C[i] = sum(C_init[k] for k in range(i))\n"
      "        C[i] = 2 * sum(C_init[k] for k in range(i)) + C_sum1\n"
      "        C_2[i] = 0\n"
      "    for i in range(N):\n"
      "        t: f32 = 1\n"
      "        C[i] += t\n"
      "    for i in range(N):\n"
      "        t: f32 = 2\n"
      "        C[i] += t\n");
  EXPECT_EQ(names(p), (Names{"C_init_2", "C", "C_sum2_init", "C_sum2", "C_3", "C_2", "t", "C_4", "t_2", "C_5"}));
  EXPECT_TRUE(p.has_tensor("t_2"));
}

TEST_F(Lowering, LocalsOverShiftedAndTriangularLoops) {
  const Program p = lower(
      "def f(A: f32[N + 3], B: out[f32[N + 3]]):\n"
      "    for i in range(-3, N):\n"
      "        for j in range(i + 4):\n"
      "            t: f32 = A[j]\n"
      "            B[i + 3] = t\n"
      "    for i in range(2, N - 1):\n"
      "        u: f32[4]\n"
      "        u[1] = A[i]\n"
      "        B[i] = u[1]\n");
  expect_value(p.tensor("t").shape[0], "[N] -> { [(N + 3)] }");
  expect_value(p.tensor("t").shape[1], "[N] -> { [(N + 3)] }");
  expect_access(p.statement("t").write, "[N] -> { t[i, j] -> t[i + 3, j] : -3 <= i < N and 0 <= j <= i + 3 }");
  ASSERT_EQ(p.tensor("u").shape.size(), 2u);
  const isl::pw_aff extent = p.tensor("u").shape[0];
  EXPECT_TRUE(p.context().is_subset(extent.ge_set(isl::pw_aff(context_.get(), "[N] -> { [(0)] }")))) << extent;
  EXPECT_TRUE(isl::set(context_.get(), "[N] -> { : N >= 4 }")
                  .is_subset(extent.eq_set(isl::pw_aff(context_.get(), "[N] -> { [(N - 1)] }"))))
      << extent;
}

TEST_F(Lowering, StatementsThatNeverRunAreDropped) {
  const Program p = lower(
      "def f(A: f32[4], B: out[f32[4]]):\n"
      "    for i in range(4, 2):\n"
      "        B[0] = 1\n"
      "    B[0] = sum(A[k] for k in range(0))\n");
  EXPECT_EQ(names(p), (Names{"B_2_init"}));
  EXPECT_EQ(p.order().write(), "");
}

TEST_F(Lowering, InitialisationByEarlierIterations) {
  const Program p = lower(
      "def scan(A: f32[N], B: out[f32[N]], last: out[f32]):\n"
      "    for i in range(N):\n"
      "        B[i] = A[i] + (B[i - 1] if i > 0 else 0)\n"
      "    last = B[N - 1] if N > 0 else 0\n");
  EXPECT_EQ(names(p), (Names{"B", "last"}));
  expect_access(p.statement("last").reads[0], "[N] -> { last[] -> B[N - 1] : N > 0 }");
}

TEST_F(Lowering, MinAndMaxInBounds) {
  const Program p = lower(
      "def f(A: f32[N], B: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        B[i] = sum(A[k] for k in range(max(0, i - 2), min(N, i + 3)))\n"
      "        B[i] = A[min(i + 1, N - 1)]\n");
  expect_domain(p, "B", "[N] -> { B[i, k] : 0 <= i < N and i - 2 <= k < i + 3 and 0 <= k < N }");
  expect_access(p.statement("B_2").reads[0],
                "[N] -> { B_2[i] -> A[i + 1] : 0 <= i < N - 1; B_2[i] -> A[i] : 0 <= i and i = N - 1 }");
}

TEST_F(Lowering, SeveralFunctionsAndNumerics) {
  const TileFile file = parse_tile_file(context_.get(),
                                        "@numerics(reassociate=False, contract=True, operand_rounding=bf16, approx_ulp=4)\n"
                                        "def a(B: out[f32[N]]):\n    for i in range(N): B[i] = 1\n\n"
                                        "def b(C: out[f32[M]]):\n    for i in range(M): C[i] = 1\n",
                                        "two.tile");
  ASSERT_EQ(file.programs.size(), 2u);
  EXPECT_EQ(file.programs[0].name(), "a");
  const Numerics& numerics = file.programs[0].numerics();
  EXPECT_FALSE(numerics.reassociate);
  EXPECT_TRUE(numerics.contract);
  EXPECT_EQ(numerics.operand_rounding, ElementType::bf16);
  EXPECT_EQ(numerics.approx_ulp, 4);
  EXPECT_EQ(file.programs[1].text(), "def b(C: out[f32[M]]):\n    for i in range(M):\n        C[i] = 1\n");
  EXPECT_EQ(file.programs[1].file(), "two.tile");
  EXPECT_FALSE(file.programs[1].numerics().contract);
}

TEST_F(Lowering, CasesThatTheCoreCanSay) {
  for (const char* name :
       {"back_edge", "causal_softmax", "far_apart", "floyd", "hankel", "last_write", "odd_reduction", "partial_output",
        "reverse_in_place", "scan", "seidel", "stencil_chain", "tail_columns", "wide_index"}) {
    const std::string file = TILEOPT_SOURCE_DIR + std::string("/tests/cases/") + name + ".tile";
    EXPECT_NO_THROW({
      const TileFile parsed = parse_tile_file(context_.get(), read_file(file), file);
      EXPECT_EQ(parsed.programs.size(), 1u);
    }) << name;
  }
}

}  // namespace
}  // namespace tileopt
