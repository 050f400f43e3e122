/// Loops whose statements never alternate are split; those whose statements do stay whole.
#include "search/distribute_loops.h"

#include <gtest/gtest.h>

#include "tests/unit/search/plan_case.h"

namespace tileopt {
namespace {

struct Given {
  std::string tree;
  std::map<std::string, std::string> maps;  ///< statement -> { S[i] -> [m] }
};

// The tree over members of one digit each, distributed.
std::string distributed(const PlanCase& c, const std::vector<std::string>& members, const Given& given) {
  std::map<std::string, StatementMembers> table;
  std::vector<std::string> statements;
  for (const Statement& s : c.program().statements()) {
    statements.push_back(s.name);
    table[s.name] = {members, given.maps.at(s.name)};
  }
  std::vector<std::pair<std::string, std::vector<Digit>>> digits;
  for (const std::string& member : members) digits.push_back({member, {{member, 0, "serial"}}});
  return distribute_loops(c.program(), table, digits, Tree::read(given.tree, "tree"), statements).write();
}

const char* row_sum = R"(
def f(x: f32[M, N], y: out[f32[M]]):
    for i in range(M):
        y[i] = sum(x[i, j] for j in range(N))
)";

TEST(DistributeLoops, AnInitLeavesTheLoopOfItsReduction) {
  const Given given{"i > j > (y_init ; y)", {{"y_init", "{ y_init[i] -> [i, 0] }"}, {"y", "{ y[i, j] -> [i, j] }"}}};
  EXPECT_EQ(distributed(PlanCase(row_sum), {"i", "j"}, given), "i > (y_init ; y: j)");
}

TEST(DistributeLoops, AnInitInsideTheReductionsLoopsStays) {
  const Given given{"j > i > (y_init ; y)", {{"y_init", "{ y_init[i] -> [0, i] }"}, {"y", "{ y[i, j] -> [j, i] }"}}};
  EXPECT_EQ(distributed(PlanCase(row_sum), {"j", "i"}, given), "j > i > (y_init ; y)") << "they alternate while j is 0";
  const Given apart{"j > (y_init: i ; y: i)", {{"y_init", "{ y_init[i] -> [0, i] }"}, {"y", "{ y[i, j] -> [j, i] }"}}};
  EXPECT_EQ(distributed(PlanCase(row_sum), {"j", "i"}, apart), "(y_init: i ; y: j > i)");
}

TEST(DistributeLoops, OneLoopThatOnlyConcatenatesIsTwoLoops) {
  const PlanCase c(R"(
def f(x: f32[N], t: out[f32[N]], y: out[f32[N]]):
    for i in range(N):
        t[i] = x[i]
    for i in range(N):
        y[i] = x[N - 1 - i]
)");
  EXPECT_EQ(distributed(c, {"m"}, {"m > (t ; y)", {{"t", "{ t[i] -> [i] }"}, {"y", "[N] -> { y[i] -> [N + i] }"}}}), "(t: m ; y: m)");
  EXPECT_EQ(distributed(c, {"m"}, {"m > (y ; t)", {{"t", "[N] -> { t[i] -> [N + i] }"}, {"y", "{ y[i] -> [i] }"}}}), "(y: m ; t: m)") << "in the order of execution, not of the source";
  EXPECT_EQ(distributed(c, {"m"}, {"m > (t ; y)", {{"t", "{ t[i] -> [i] }"}, {"y", "{ y[i] -> [1 + i] }"}}}), "m > (t ; y)");
}

TEST(DistributeLoops, AGroupInTheMiddleKeepsItsStatementsTogether) {
  const PlanCase c(R"(
def f(x: f32[M, N], a: out[f32[M]], b: out[f32[M, N]], c: out[f32[M, N]], d: out[f32[M]]):
    for i in range(M):
        a[i] = 1
        for j in range(N):
            b[i, j] = x[i, j]
            c[i, j] = x[i, N - 1 - j]
        d[i] = 2
)");
  const Given given{"i > j > (a ; b ; c ; d)",
                    {{"a", "{ a[i] -> [i, -1] }"}, {"b", "{ b[i, j] -> [i, j] }"}, {"c", "{ c[i, j] -> [i, j] }"}, {"d", "[N] -> { d[i] -> [i, N] }"}}};
  EXPECT_EQ(distributed(c, {"i", "j"}, given), "i > (a ; b, c: j > (b ; c) ; d)");
}

TEST(DistributeLoops, ALoopOverAnIndexFromMemoryStaysWhole) {
  const PlanCase c(R"(
def f(key: i32[N], h: inout[i32[B]]):
    assume(0 <= key[:] < B)
    for i in range(N):
        h[key[i]] += 1
)");
  const Statement& h = c.program().statements().front();
  const Given given{"i > k > (h)", {{h.name, "{ " + h.name + "[i, k] -> [i, k] }"}}};
  EXPECT_EQ(distributed(c, {"i", "k"}, given), Tree::read(given.tree, "tree").write());
}

TEST(DistributeLoops, RowKernelsHaveALoopForEveryPass) {
  EXPECT_EQ(PlanCase(read_file(std::string(TILEOPT_SOURCE_DIR) + "/benchmarks/kernels/layernorm.tile")).kernel().tree.write(),
            "r > (mean_sum1_init ; mean_sum1: j ; mean ; variance_sum1_init ; variance_sum1: j_2 ; scale ; Y: j_3)");
}

}  // namespace
}  // namespace tileopt
