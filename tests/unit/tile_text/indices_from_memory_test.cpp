// Indices and conditions that data decides: the iterators, guards and predicates that they become.
#include <gtest/gtest.h>

#include "frontends/tile_text/tile_text.h"

namespace tileopt {
namespace {

class IndicesFromMemory : public ::testing::Test {
 protected:
  Program lower(const std::string& text) { return parse_tile_file(context_.get(), text, "test.tile").programs.front(); }
  Diagnostic first_error(const std::string& text) {
    try {
      lower(text);
    } catch (const Errors& errors) {
      return errors.diagnostics().front();
    }
    ADD_FAILURE() << "accepted:\n" << text;
    return {};
  }
  void expect_domain(const Program& program, const std::string& statement, const std::string& text) {
    const isl::set domain = program.statement(statement).domain.intersect_params(program.context());
    EXPECT_TRUE(domain.is_equal(isl::set(context_.get(), text))) << domain << "\n" << text;
  }
  poly::Context context_;
};

TEST_F(IndicesFromMemory, AScatterRunsOverEveryElementUnderAGuard) {
  const Program p = lower(
      "def f(idx: i32[N], v: i32[N], H: inout[i32[B]]):\n"
      "    assume(0 <= idx[:] < B)\n"
      "    for i in range(N):\n"
      "        H[idx[i]] += v[i]\n");
  const Statement& s = p.statement("H");
  EXPECT_EQ(s.iterators, (std::vector<std::string>{"i", "idx_at"}));
  expect_domain(p, "H", "[N, B] -> { H[i, s] : 0 <= i < N and 0 <= s < B }");
  EXPECT_EQ(p.order().write(), "i > idx_at");
  ASSERT_EQ(s.guards.size(), 1u);
  EXPECT_EQ(s.guards[0].iterator, 1u);
  EXPECT_EQ(expr_text(s.guards[0].value), "i64(r1)");
  EXPECT_EQ(s.reads[1].tensor, "idx");
  EXPECT_TRUE(s.write.index.as_map().is_equal(isl::map(context_.get(), "[N, B] -> { H[i, s] -> H[s] : 0 <= i < N and 0 <= s < B }")));
  EXPECT_EQ(s.predicate, nullptr);
  EXPECT_TRUE(s.conditional());
  EXPECT_TRUE(p.tensor("idx").facts.bounded());
}

TEST_F(IndicesFromMemory, AnIndexStandsWhereItsPartsAreKnown) {
  const Program p = lower(
      "def f(page: i32[B], K: f32[P, 16], Y: out[f32[B, 16]]):\n"
      "    assume(0 <= page[:] < P)\n"
      "    for b in range(B):\n"
      "        for j in range(16):\n"
      "            Y[b, j] = K[page[b], j]\n");
  EXPECT_EQ(p.order().write(), "b > page_at > j");
}

TEST_F(IndicesFromMemory, BoundsFromMemory) {
  const Program p = lower(
      "def f(start: i32[R + 1], v: f32[N], y: out[f32[R]]):\n"
      "    assume(0 <= start[:] <= N and monotone(start))\n"
      "    for r in range(R):\n"
      "        y[r] = sum(v[k] for k in range(start[r], start[r + 1]))\n");
  EXPECT_EQ(p.order().write(), "r > start_at > start_at_2 > (y_init ; y: k)");
  expect_domain(p, "y", "[R, N] -> { y[r, s, t, k] : 0 <= r < R and 0 <= s <= N and 0 <= t <= N and s <= k < t }");
  EXPECT_EQ(p.statement("y").guards.size(), 2u);
  EXPECT_EQ(p.statement("y_init").guards.size(), 2u);
  EXPECT_TRUE(p.tensor("start").facts.monotone);
}

TEST_F(IndicesFromMemory, AnIndexOfAnIndex) {
  const Program p = lower(
      "def f(a: i32[N], b: i32[N], X: f32[N], Y: out[f32[N]]):\n"
      "    assume(0 <= a[:] < N and 0 <= b[:] < N)\n"
      "    for i in range(N):\n"
      "        Y[i] = X[a[b[i]]]\n");
  const Statement& s = p.statement("Y");
  EXPECT_EQ(s.iterators, (std::vector<std::string>{"i", "b_at", "a_at"}));
  ASSERT_EQ(s.guards.size(), 2u);
  EXPECT_EQ(s.guards[1].iterator, 2u);
}

TEST_F(IndicesFromMemory, RemainderByASize) {
  const Program p = lower(
      "def f(C: i32[N], X: out[i32[N]]):\n"
      "    for i in range(N):\n"
      "        X[i] = C[(i + 3) % N]\n");
  expect_domain(p, "X", "[N] -> { X[i, r] : 0 <= i < N and 0 <= r < N }");
  EXPECT_EQ(expr_text(p.statement("X").guards.at(0).value), "(i64(x0) % i64(x1))");
}

TEST_F(IndicesFromMemory, ALocalCopyOfAnIndexKeepsItsRange) {
  const Program p = lower(
      "def f(idx: i32[N], X: f32[V], Y: out[f32[N]]):\n"
      "    assume(0 <= idx[:] < V)\n"
      "    for i in range(N):\n"
      "        row: i32 = idx[i]\n"
      "        Y[i] = X[row]\n");
  EXPECT_EQ(p.order().write(), "i > (row ; Y: row_at)");
}

TEST_F(IndicesFromMemory, ANarrowTypeIsARange) {
  const Program p = lower(
      "def f(key: u8[N], H: inout[i32[256]]):\n"
      "    for i in range(N):\n"
      "        H[key[i]] += 1\n");
  expect_domain(p, "H", "[N] -> { H[i, s] : 0 <= i < N and 0 <= s < 256 }");
}

TEST_F(IndicesFromMemory, ConditionsOnDataArePredicates) {
  const Program p = lower(
      "def f(A: f32[N], B: inout[f32[N]], count: inout[i32]):\n"
      "    for i in range(N):\n"
      "        if A[i] > 0:\n"
      "            B[i] = A[i]\n"
      "            count += 1\n"
      "        elif i > 2:\n"
      "            B[i] = 0\n"
      "        else:\n"
      "            B[i] = 1\n");
  EXPECT_EQ(expr_text(p.statement("B").predicate), "(r0 > f32(0))");
  EXPECT_EQ(p.statement("count").combine, Combine::sum);
  EXPECT_NE(p.statement("count").predicate, nullptr);
  EXPECT_EQ(expr_text(p.statement("B_2").predicate), "not((r0 > f32(0)))");
  expect_domain(p, "B_2", "[N] -> { B_2[i] : 2 < i < N }");
  expect_domain(p, "B_3", "[N] -> { B_3[i] : 0 <= i < N and i <= 2 }");
}

TEST_F(IndicesFromMemory, AConditionThatItsBlockChangesIsKept) {
  const Program p = lower(
      "def f(A: inout[f32[N]], B: inout[f32[N]]):\n"
      "    for i in range(N):\n"
      "        if A[i] < 0:\n"
      "            A[i] = 0\n"
      "            B[i] = 1\n");
  EXPECT_EQ(p.order().write(), "i > (if_holds ; A ; B)");
  EXPECT_EQ(expr_text(p.statement("B").predicate), "r0");
  EXPECT_EQ(p.statement("B").reads.at(0).tensor, "if_holds");
}

TEST_F(IndicesFromMemory, AFilterOfAReduction) {
  const Program p = lower(
      "def f(A: f32[N], s: out[f32]):\n"
      "    s = sum(A[i] for i in range(N) if A[i] > 0)\n");
  EXPECT_EQ(p.statement("s_init").predicate, nullptr);
  EXPECT_EQ(expr_text(p.statement("s").predicate), "(r0 > f32(0))");
}

TEST_F(IndicesFromMemory, AnUnboundedIndexIsRefused) {
  const Diagnostic d = first_error(
      "def f(idx: i32[N], H: inout[i32[B]]):\n"
      "    for i in range(N):\n"
      "        H[idx[i]] += 1\n");
  EXPECT_EQ(d.code, ErrorCode::out_of_bounds);
  EXPECT_EQ(d.where, (SourceLocation{"test.tile", 3, 11}));
  EXPECT_EQ(d.hint, "say what it may be at the top of the function: `assume(0 <= idx[:] < N)`");
}

TEST_F(IndicesFromMemory, ARangeBeyondTheTensorIsRefused) {
  const Diagnostic d = first_error(
      "def f(idx: i32[N], H: inout[i32[B]]):\n"
      "    assume(0 <= idx[:] <= B)\n"
      "    for i in range(N):\n"
      "        H[idx[i]] += 1\n");
  EXPECT_EQ(d.code, ErrorCode::out_of_bounds);
  EXPECT_FALSE(d.witness.empty());
}

TEST_F(IndicesFromMemory, AnIndexThatChangesIsRefused) {
  const Diagnostic d = first_error(
      "def f(p: inout[i32[N]]):\n"
      "    assume(0 <= p[:] < N)\n"
      "    for i in range(N):\n"
      "        p[p[i]] = p[i]\n");
  EXPECT_EQ(d.code, ErrorCode::unsupported);
  EXPECT_NE(d.message.find("may change"), std::string::npos) << d.message;
}

TEST_F(IndicesFromMemory, FactsAreAboutIntegers) {
  const Diagnostic d = first_error(
      "def f(x: f32[N], Y: out[f32[N]]):\n"
      "    assume(0 <= x[:] < N)\n"
      "    for i in range(N):\n"
      "        Y[i] = 1\n");
  EXPECT_EQ(d.code, ErrorCode::type_mismatch);
}

}  // namespace
}  // namespace tileopt
