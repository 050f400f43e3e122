/// `scan`, `block_scan`, `chained_scan` and `reduce_scan`: recurrences of prefix reductions, and every condition they refuse on.
#include "tests/unit/rewrites/rewrite_case.h"

namespace tileopt::test {
namespace {

const Rewriting scan_y = {"scan", {"y"}, {}};

TEST_F(Rewrites, ScanOfAnInclusivePrefix) {
  const RewrittenProgram r = rewrite(
      "@numerics(reassociate=False)\n"
      "def f(x: f32[N], y: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        y[i] = sum(x[j] for j in range(i + 1))\n",
      {scan_y});
  EXPECT_EQ(names(r), (Names{"y_init", "y_first", "y_carry", "y"}));
  EXPECT_EQ(r.program->order().write(), "i > (y_init ; y_first: j ; y_carry ; y)");
  expect_domain(r, "y_init", "[N] -> { y_init[i] : i = 0 and N > 0 }");
  expect_domain(r, "y_first", "[N] -> { y_first[i, j] : i = 0 and j = 0 and N > 0 }");
  expect_domain(r, "y_carry", "[N] -> { y_carry[i] : 1 <= i < N }");
  expect_domain(r, "y", "[N] -> { y[i] : 1 <= i < N }");
  expect_access(r, "y_carry", r.program->statement("y_carry").reads.at(0), "{ y_carry[i] -> y[i - 1] }");
  expect_access(r, "y", r.program->statement("y").reads.at(0), "{ y[i] -> x[i] }");
  EXPECT_EQ(r.program->statement("y").combine, Combine::sum);
}

TEST_F(Rewrites, ScanOfAnExclusivePrefixWithBounds) {
  const RewrittenProgram r = rewrite(
      "def f(x: f32[N], y: out[f32[R, N]]):\n"
      "    for r, i in grid(R, N):\n"
      "        y[r, i] = prod(x[j] for j in range(2, i))\n",
      {scan_y});
  EXPECT_EQ(names(r), (Names{"y_init", "y_carry", "y"}));
  expect_domain(r, "y", "[N, R] -> { y[r, i] : 0 <= r < R and 3 <= i < N }");
  expect_access(r, "y", r.program->statement("y").reads.at(0), "{ y[r, i] -> x[i - 1] }");
}

TEST_F(Rewrites, ScanAlongAnOuterLoopAndOfSeveralTerms) {
  rewrite("def f(x: f32[N, C], y: out[f32[N, C]]):\n"
          "    for i, c in grid(N, C):\n"
          "        y[i, c] = max(x[j, c] for j in range(i + 1))\n",
          {scan_y});
  const RewrittenProgram r = rewrite(
      "def f(x: i32[2 * N], y: out[i32[N]]):\n"
      "    for i in range(N):\n"
      "        y[i] = sum(x[j] + j for j in range(2 * i))\n",
      {scan_y});
  EXPECT_EQ(r.program->statement("y").iterators, (Names{"i", "j"}));
}

TEST_F(Rewrites, ScanOfAMonoidAndOfAnInlineReduction) {
  rewrite(
      "@monoid(identity=(1, 0))\n"
      "def then(a: tuple[f32, f32], b: tuple[f32, f32]) -> tuple[f32, f32]:\n"
      "    return (a[0] * b[0], a[1] * b[0] + b[1])\n"
      "def f(a: f32[N], x: f32[N], h: out[f32[N]]):\n"
      "    y: tuple[f32, f32][N]\n"
      "    for t in range(N):\n"
      "        y[t] = then((a[s], x[s]) for s in range(t + 1))\n"
      "    for t in range(N):\n"
      "        h[t] = y[t][1]\n",
      {scan_y});
  rewrite("def f(x: bf16[N], z: out[bf16[N]]):\n"
          "    for i in range(N):\n"
          "        z[i] = bf16(2 * sum(f32(x[j]) for j in range(i + 1)))\n",
          {{"scan", {"z_sum1"}, {}}});
}

TEST_F(Rewrites, BlocksOfAScan) {
  const RewrittenProgram r = rewrite(
      "def f(x: f32[N], y: out[f32[N]]):\n"
      "    for i in range(N):\n"
      "        y[i] = sum(x[j] for j in range(i + 1))\n",
      {scan_y, {"block_scan", {"y"}, {{"block", 4}}}}, false);
  expect_domain(r, "y_start", "[N] -> { y_start[b, i] : i = 4b and 4 <= i < N }");
  expect_domain(r, "y_carry", "[N] -> { y_carry[b, i] : 1 <= i < N and 4b < i < 4b + 4 }");
  expect_domain(r, "y_offset_first", "[N] -> { y_offset_first[b] : b = 1 and N > 4 }");
  expect_domain(r, "y_offset_next", "[N] -> { y_offset_next[b] : b >= 2 and 4b < N }");
  expect_domain(r, "y_apply", "[N] -> { y_apply[b, i] : b >= 1 and 4b <= i < 4b + 4 and i < N }");
  expect_access(r, "y_offset_next", r.program->statement("y_offset_next").reads.at(0), "{ y_offset_next[b] -> y[4b - 1] }");
  EXPECT_EQ(r.program->order().write(),
            "(y_init, y_first, y_carry, y_start, y: i_block > i > (y_init ; y_first: j ; y_start ; y_carry ; y) ; "
            "y_offset_first, y_offset_next: i_block > (y_offset_first ; y_offset_next) ; y_apply: i_block > i)");
}

TEST_F(Rewrites, BlocksOfOtherScans) {
  rewrite("def f(x: i32[N], y: out[i32[N]]):\n    for i in range(N):\n        y[i] = sum(x[j] for j in range(2, i))\n",
          {scan_y, {"block_scan", {"y"}, {{"block", 3}}}});
  rewrite("def f(x: f32[N, C], y: out[f32[N, C]]):\n    for i, c in grid(N, C):\n        y[i, c] = max(x[j, c] for j in range(i + 1))\n",
          {scan_y, {"block_scan", {"y"}, {{"block", 4}}}});
  rewrite("def f(x: f64[R, N], y: out[f64[R, N]]):\n    for r, i in grid(R, N):\n        y[r, i] = sum(x[r, j] for j in range(i + 1))\n",
          {scan_y, {"block_scan", {"y"}, {{"block", 1}}}}, false);
  rewrite(
      "@monoid(identity=(1, 0))\n"
      "def then(a: tuple[i32, i32], b: tuple[i32, i32]) -> tuple[i32, i32]:\n"
      "    return (a[0] * b[0], a[1] * b[0] + b[1])\n"
      "def f(a: i32[N], x: i32[N], h: out[i32[N]]):\n"
      "    y: tuple[i32, i32][N]\n"
      "    for t in range(N):\n"
      "        y[t] = then((a[s], x[s]) for s in range(t + 1))\n"
      "    for t in range(N):\n"
      "        h[t] = y[t][1]\n",
      {scan_y, {"block_scan", {"y"}, {{"block", 4}}}});
}

Rewriting chained(long block, long run, long groups) { return {"chained_scan", {"y"}, {{"block", block}, {"run", run}, {"groups", groups}}}; }

TEST_F(Rewrites, ChainedBlocksOfAScan) {
  const RewrittenProgram r = rewrite(
      "def f(x: f32[R, N], y: out[f32[R, N]]):\n"
      "    for r, i in grid(R, N):\n"
      "        y[r, i] = sum(x[r, j] for j in range(i + 1))\n",
      {scan_y, chained(12, 2, 3)}, false);
  expect_domain(r, "y_run", "[R, N] -> { y_run[r, b, q, s] : 0 <= r < R and b >= 0 and 0 <= q < 6 and 0 <= s < 2 and 12b + 2q + s < N }");
  expect_domain(r, "y_run_init", "[R, N] -> { y_run_init[r, b, q] : 0 <= r < R and 0 <= 12b < N and 0 <= q < 6 }");
  expect_domain(r, "y_group", "[R, N] -> { y_group[r, b, g, m] : 0 <= r < R and 0 <= 12b < N and 0 <= g < 3 and 0 <= m < 2 }");
  expect_domain(r, "y_sum_init", "[R, N] -> { y_sum_init[r] : 0 <= r < R and N > 0 }");
  expect_access(r, "y_run", r.program->statement("y_run").reads.at(0), "{ y_run[r, b, q, s] -> x[r, 12b + 2q + s] }");
  expect_access(r, "y_group", r.program->statement("y_group").reads.at(0), "{ y_group[r, b, g, m] -> y_total[r, b, 2g + m] }");
  expect_access(r, "y", r.program->statement("y").write, "{ y[r, b, q, s] -> y[r, 12b + 2q + s] }");
  EXPECT_EQ(body(r, "y"), "(r0 + r1)");
  EXPECT_EQ(r.program->order().write(),
            "r > (y_sum_init ; y_run_init, y_run, y_part, y_total, y_group_init, y_group, y_base, y_sum, y_next_init, y_before, y_next, y: i_block > "
            "(y_run_init, y_run, y_part, y_total: i_run > (y_run_init ; y_run, y_part: i > (y_run ; y_part) ; y_total) ; "
            "y_group_init, y_group: i_group > (y_group_init ; y_group: i_member) ; y_base, y_sum: i_group > (y_base ; y_sum) ; "
            "y_next_init, y_before, y_next: i_group > (y_next_init ; y_before, y_next: i_member > (y_before ; y_next)) ; y: i_run > i))");
}

TEST_F(Rewrites, ChainedBlocksOfOtherScans) {
  rewrite("def f(x: i32[N], y: out[i32[N]]):\n    for i in range(N):\n        y[i] = sum(x[j] + i32(j) for j in range(2, i))\n", {scan_y, chained(6, 3, 2)});
  rewrite("def f(x: f32[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = max(x[N - 1 - j] for j in range(i + 1))\n", {scan_y, chained(4, 1, 4)});
  rewrite("def f(x: u8[N], y: out[u8[N]]):\n    for i in range(N):\n        y[i] = 7\n        for j in range(i):\n            y[i] += x[j]\n",
          {{"scan", {"y_2"}, {}}, {"chained_scan", {"y_2"}, {{"block", 8}, {"run", 2}, {"groups", 1}}}});
  rewrite(
      "@monoid(identity=(1, 0))\n"
      "def then(a: tuple[i32, i32], b: tuple[i32, i32]) -> tuple[i32, i32]:\n"
      "    return (a[0] * b[0], a[1] * b[0] + b[1])\n"
      "def f(a: i32[N], x: i32[N], h: out[i32[N]]):\n"
      "    y: tuple[i32, i32][N]\n"
      "    for t in range(N):\n"
      "        y[t] = then((a[s], x[s]) for s in range(t + 1))\n"
      "    for t in range(N):\n"
      "        h[t] = y[t][1]\n",
      {scan_y, chained(8, 2, 2)});
}

TEST_F(Rewrites, ChainedScanConditions) {
  const auto refused = [&](const std::string& text, const std::vector<Rewriting>& rewrites) {
    const auto result = apply_rewrites(parse(text), rewrites);
    return feasible(result) ? std::string("accepted") : std::get<Infeasible>(result).reason;
  };
  const auto expect = [&](const std::string& reason, const std::string& words) { EXPECT_NE(reason.find(words), std::string::npos) << reason; };
  const std::string text = "def f(x: f32[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = sum(x[j] for j in range(i + 1))\n";
  expect_condition(text, chained(4, 2, 2), "no statement carries `y`", 3);
  expect(refused(text, {scan_y, chained(4, 3, 1)}), "no whole number of groups");
  expect(refused(text, {scan_y, chained(8, 2, 3)}), "no whole number of groups");
  expect(refused("@numerics(reassociate=False)\n" + text, {scan_y, chained(4, 2, 2)}), "needs reassociate=True");
  expect(refused("def f(x: f32[N, C], y: out[f32[N, C]]):\n    for i, c in grid(N, C):\n        y[i, c] = max(x[j, c] for j in range(i + 1))\n", {scan_y, chained(4, 2, 2)}),
         "loops stand inside of i");
  // The first element has two terms.
  expect(refused("def f(x: f32[N + 1], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = sum(x[j] for j in range(i + 2))\n", {scan_y, chained(4, 2, 2)}), "the first step adds other terms");
  expect(refused(text, {scan_y, {"chained_scan", {"y"}, {{"block", 4}}}}), "wants run=");
}

TEST_F(Rewrites, ReducedThenScanned) {
  const Rewriting parts = {"reduce_scan", {"y"}, {{"block", 4}}};
  const std::string text = "def f(x: f32[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = sum(x[j] for j in range(i + 1))\n";
  const RewrittenProgram r = rewrite(text, {scan_y, parts}, false);
  EXPECT_EQ(r.program->order().write(),
            "(y_total_init, y_total: i_part > (y_total_init ; y_total: i) ; y_base_init, y_base_carry, y_base: i_part > (y_base_init ; y_base_carry ; y_base) ; "
            "y_init_2, y_carry_2, y: i_part > i > (y_init_2 ; y_carry_2 ; y))");
  expect_domain(r, "y_total", "[N] -> { y_total[p, k] : p >= 0 and 0 <= k < 4 and 4p + k < N }");
  expect_domain(r, "y_base", "[N] -> { y_base[p] : p >= 1 and 4p < N }");
  expect_domain(r, "y_init_2", "[N] -> { y_init_2[p, k] : k = 0 and p >= 0 and 4p < N }");
  expect_access(r, "y", r.program->statement("y").reads.at(0), "{ y[p, k] -> x[4p + k] }");
  expect_access(r, "y_carry_2", r.program->statement("y_carry_2").reads.at(0), "{ y_carry_2[p, k] -> y[4p + k - 1] }");
  // Both recurrences that it leaves can be cut further.
  rewrite(text, {scan_y, parts, chained(4, 1, 2), {"chained_scan", {"y_base"}, {{"block", 6}, {"run", 3}, {"groups", 2}}}}, false);
  rewrite("def f(x: i64[R, N], y: out[i64[R, N]]):\n    for r, i in grid(R, N):\n        y[r, i] = sum(x[r, j] for j in range(2, i))\n", {scan_y, parts, chained(2, 1, 2)});
  rewrite(
      "@monoid(identity=(1, 0))\n"
      "def then(a: tuple[i32, i32], b: tuple[i32, i32]) -> tuple[i32, i32]:\n"
      "    return (a[0] * b[0], a[1] * b[0] + b[1])\n"
      "def f(a: i32[N], x: i32[N], h: out[i32[N]]):\n"
      "    y: tuple[i32, i32][N]\n"
      "    for t in range(N):\n"
      "        y[t] = then((a[s], x[s]) for s in range(t + 1))\n"
      "    for t in range(N):\n"
      "        h[t] = y[t][1]\n",
      {scan_y, parts});
  const auto again = apply_rewrites(parse(text), {scan_y, parts, parts});
  ASSERT_FALSE(feasible(again));
  EXPECT_NE(std::get<Infeasible>(again).reason.find("starts from no constant"), std::string::npos) << std::get<Infeasible>(again).reason;
}

TEST_F(Rewrites, ScanConditions) {
  const auto of = [](const std::string& reduction) {
    return "def f(x: f32[2 * N + 2], a: f32[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = " + reduction + "\n";
  };
  expect_condition(of("sum(x[j] for j in range(i, N))"), scan_y, "is missing one step further", 3);
  expect_condition(of("sum(x[j] for j in range(i, i + 3) if j < N)"), scan_y, "is missing one step further", 3);
  expect_condition(of("sum(x[j] * a[i] for j in range(i + 1))"), scan_y, "depend on i through `a`", 3);
  expect_condition(of("sum(x[j + i] for j in range(i + 1))"), scan_y, "depend on i through `x`", 3);
  expect_condition(of("sum(x[j] * f32(i) for j in range(i + 1))"), scan_y, "depend on i", 3);
  expect_condition(of("sum(x[j] for j in range(i + 1))"), {"scan", {"y_init"}, {}}, "is no reduction", 3);
  expect_condition("def f(x: inout[f32[N]], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = sum(x[j] for j in range(i + 1))\n        x[0] = y[i]\n",
                   scan_y, "`x` changes while y is scanned", 3);
  expect_condition("def f(x: f32[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = sum(x[j] for j in range(i + 1))\n        y[i] *= 2\n", scan_y,
                   "writes `y` too", 4);
  expect_condition("def f(x: f32[N], y: inout[f32[N]]):\n    for i in range(N):\n        for j in range(i + 1):\n            y[i] += x[j]\n", scan_y,
                   "nothing sets `y`", 4);
  EXPECT_EQ(refusal("@numerics(reassociate=False)\ndef f(x: f32[N], y: out[f32[N]]):\n    for i in range(N):\n"
                    "        y[i] = sum(x[N - 1 - j] for j in range(N - 1 - i, N))\n",
                    scan_y).code, "numerics");
}

TEST_F(Rewrites, AMonoidThatRoundsIsNotRegrouped) {
  const std::string text =
      "@monoid(identity=(1, 0))\n"
      "def then(a: tuple[f32, f32], b: tuple[f32, f32]) -> tuple[f32, f32]:\n"
      "    return (a[0] * b[0], a[1] * b[0] + b[1])\n"
      "def f(a: f32[N], x: f32[N], h: out[f32[N]]):\n"
      "    y: tuple[f32, f32][N]\n"
      "    for t in range(N):\n"
      "        y[t] = then((a[s], x[s]) for s in range(t + 1))\n"
      "    for t in range(N):\n"
      "        h[t] = y[t][1]\n";
  expect_condition(text, {"split", {"y", "s"}, {{"chunk", 4}}}, "`then` rounds", 7);
  const auto refused = apply_rewrites(parse(text), {scan_y, {"block_scan", {"y"}, {{"block", 4}}}});
  ASSERT_FALSE(feasible(refused));
  EXPECT_NE(std::get<Infeasible>(refused).reason.find("`then` rounds"), std::string::npos);
}

TEST_F(Rewrites, BlockScanConditions) {
  const std::string text = "def f(x: f32[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = sum(x[j] for j in range(i + 1))\n";
  expect_condition(text, {"block_scan", {"y"}, {{"block", 4}}}, "no statement carries `y`", 3);
  const auto source = parse("@numerics(reassociate=False)\n" + text);
  const auto refused = apply_rewrites(source, {scan_y, {"block_scan", {"y"}, {{"block", 4}}}});
  ASSERT_FALSE(feasible(refused));
  EXPECT_EQ(std::get<Infeasible>(refused).code, "numerics");
  EXPECT_EQ(std::get<Infeasible>(refused).plan_entry, "rewrites[1]");
}

}  // namespace
}  // namespace tileopt::test
