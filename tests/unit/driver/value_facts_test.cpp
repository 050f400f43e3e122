// What is assumed of index tensors licenses parallel loops, and nothing else does: the same loops are refuted without the fact.
#include <gtest/gtest.h>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "verify/verify.h"

namespace tileopt {
namespace {

std::string scatter(const std::string& facts, const std::string& before = "") {
  return "def f(perm: inout[i32[N]], other: i32[N], X: f32[N], Y: inout[f32[N]]):\n"
         "    assume(0 <= perm[:] < N and 0 <= other[:] < N" + facts + ")\n" + before +
         "    for i in range(N):\n"
         "        Y[perm[i]] = X[i]\n";
}

std::string ragged(const std::string& facts) {
  return "def f(start: i32[G + 1], X: f32[T], Y: inout[f32[T]]):\n"
         "    assume(0 <= start[:] <= T" + facts + ")\n"
         "    for g in range(G):\n"
         "        for t in range(start[g], start[g + 1]):\n"
         "            Y[t] = 2 * Y[t] + X[t]\n";
}

class ValueFactsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Program> parse(const std::string& text) {
    return std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0));
  }
  Candidate<Outcome> resolve(const std::string& text, const std::string& pins) {
    Request request;
    request.machine = machine_;
    request.resolve.threads = 2;
    request.pins = parse_pins(pins, "pins");
    Trace trace;
    return resolve_and_compile(parse(text), request, trace);
  }
  /// Loops of `licensed`, whose loop `variable` runs on threads; proved there.
  std::vector<Ast> parallel_loops(const std::string& licensed, const std::string& variable) {
    Candidate<Outcome> outcome = resolve(licensed, "parallel(\"" + variable + "\")");
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) {
      ADD_FAILURE() << to_string(*refused);
      return {};
    }
    const Module& module = std::get<Outcome>(outcome).module;
    EXPECT_TRUE(module.certificate.proved());
    EXPECT_NE(module.text.source.find("omp parallel for"), std::string::npos) << module.text.source;
    return module.asts;
  }
  /// What refutes `loops` for `program`.
  Obligation refuted(const std::string& program, const std::vector<Ast>& loops) {
    const Certificate certificate = verify(*parse(program), loops, {}, machine_, "test");
    for (const Obligation& o : certificate.obligations)
      if (o.verdict == Verdict::refuted) return o;
    ADD_FAILURE() << "nothing is refuted";
    return {};
  }
  /// Planning for `program` without the license refuses the threads.
  std::string refusal(const std::string& program, const std::string& variable) {
    Candidate<Outcome> outcome = resolve(program, "parallel(\"" + variable + "\")");
    const auto* refused = std::get_if<Infeasible>(&outcome);
    return refused != nullptr ? to_string(*refused) : "accepted";
  }

  poly::Context context_;
  Machine machine_ = find_machine("x86-64-v3");
};

TEST_F(ValueFactsTest, DifferentValuesAreDifferentElements) {
  const std::vector<Ast> loops = parallel_loops(scatter(" and injective(perm)"), "i");
  const Obligation o = refuted(scatter(""), loops);
  EXPECT_EQ(o.name, "races");
  EXPECT_NE(o.reason.find("Y writes and Y writes the same element of Y"), std::string::npos) << o.reason;
  EXPECT_FALSE(o.witness.empty());
  EXPECT_NE(refusal(scatter(""), "i").find("what an earlier instance of it wrote to Y"), std::string::npos) << refusal(scatter(""), "i");
}

TEST_F(ValueFactsTest, ALocalCopyOfAnIndexHasItsFacts) {
  const auto program = [](const std::string& facts, const std::string& value) {
    return "def f(perm: i32[N], X: f32[N], Y: inout[f32[N]]):\n"
           "    assume(0 <= perm[:] < N" + facts + " and 0 <= at < N)\n"
           "    for i in range(N):\n"
           "        at: i32 = " + value + "\n"
           "        Y[at] = X[i]\n";
  };
  const std::vector<Ast> loops = parallel_loops(program(" and injective(perm)", "perm[i]"), "i");
  EXPECT_EQ(refuted(program("", "perm[i]"), loops).name, "races");
  EXPECT_NE(refusal(program(" and injective(perm)", "perm[i] % 2"), "i"), "accepted");
}

TEST_F(ValueFactsTest, AFactAboutAnotherTensorLicensesNothing) {
  const std::vector<Ast> loops = parallel_loops(scatter(" and injective(perm)"), "i");
  EXPECT_EQ(refuted(scatter(" and injective(other)"), loops).name, "races");
  EXPECT_NE(refusal(scatter(" and injective(other)"), "i"), "accepted");
}

TEST_F(ValueFactsTest, AFactAboutATensorThatIsWrittenLicensesNothing) {
  const std::string change = "    for i in range(N):\n        perm[i] = other[i]\n";
  EXPECT_NE(refusal(scatter(" and injective(perm)", change), "i"), "accepted");
  std::vector<Ast> loops = parallel_loops(scatter(" and injective(perm)"), "i");
  Candidate<Outcome> serial = resolve(scatter(" and injective(perm)", change), "");
  ASSERT_TRUE(std::holds_alternative<Outcome>(serial));
  std::vector<Ast> forged = std::get<Outcome>(serial).module.asts;
  ASSERT_EQ(forged.size(), 2u);
  for (auto& [name, statement] : loops[0].statements) statement.name = name;
  forged[1] = loops[0];
  const Obligation o = refuted(scatter(" and injective(perm)", change), forged);
  EXPECT_EQ(o.name, "races");
  EXPECT_FALSE(o.witness.empty());
}

TEST_F(ValueFactsTest, RangesBetweenGrowingOffsetsAreDisjoint) {
  const std::vector<Ast> loops = parallel_loops(ragged(" and monotone(start)"), "g");
  const Obligation o = refuted(ragged(""), loops);
  EXPECT_EQ(o.name, "races");
  EXPECT_FALSE(o.witness.empty());
  EXPECT_EQ(refuted(ragged(" and injective(start)"), loops).name, "races");
  EXPECT_NE(refusal(ragged(""), "g"), "accepted");
}

TEST_F(ValueFactsTest, RangesThatOverlapByOneAreNot) {
  const std::string wider =
      "def f(start: i32[G + 1], X: f32[T + 1], Y: inout[f32[T + 1]]):\n"
      "    assume(0 <= start[:] <= T and monotone(start))\n"
      "    for g in range(G):\n"
      "        for t in range(start[g], start[g + 1] + 1):\n"
      "            Y[t] = 2 * Y[t] + X[t]\n";
  EXPECT_NE(refusal(wider, "g"), "accepted");
}

TEST_F(ValueFactsTest, AnIndexOfAnIndexNeedsBothFacts) {
  const auto program = [](const std::string& facts) {
    return "def f(a: i32[N], b: i32[N], X: f32[N], Y: inout[f32[N]]):\n"
           "    assume(0 <= a[:] < N and 0 <= b[:] < N" + facts + ")\n"
           "    for i in range(N):\n"
           "        Y[a[b[i]]] = X[i]\n";
  };
  const std::vector<Ast> loops = parallel_loops(program(" and injective(a) and injective(b)"), "i");
  EXPECT_EQ(refuted(program(" and injective(a)"), loops).name, "races");
  EXPECT_EQ(refuted(program(" and injective(b)"), loops).name, "races");
}

TEST_F(ValueFactsTest, OneElementHasOneValue) {
  const std::vector<Ast> loops = parallel_loops(
      "def f(row: i32[N], X: f32[V, M], Y: out[f32[N, M]]):\n"
      "    assume(0 <= row[:] < V)\n"
      "    for i in range(N):\n"
      "        for j in range(M):\n"
      "            Y[i, j] = X[row[i], j]\n", "i");
  EXPECT_FALSE(loops.empty());
}

}  // namespace
}  // namespace tileopt
