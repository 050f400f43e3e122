// Rewrites through the driver: dumps and resumption, the certificate, and what happens to one that is wrong.
#include "driver/check_rewrites.h"
#include "support/text.h"
#include "tests/unit/driver/fixture.h"

namespace tileopt::test {
namespace {

const char* kSmooth =
    "def smooth(A: f32[N], B: out[f32[N]]):\n"
    "    t: f32[N]\n"
    "    for i in range(N):\n"
    "        t[i] = 2 * A[i]\n"
    "    for i in range(N):\n"
    "        B[i] = t[i] + 1\n";

class DriverRewrites : public DriverTest {};

TEST_F(DriverRewrites, EveryDumpGivesTheSameBytes) {
  Request wanted = request();
  wanted.pins = parse_pins("rewrite(\"inline\", t)", "pins");
  const auto program = parse(kSmooth);
  compile_or_fail(program, wanted, "D");
  const std::string source = read_file(path("D/70-source.c")), plan = read_file(path("D/plan.json"));
  EXPECT_NE(plan.find("\"inline\""), std::string::npos);
  int resumed = 0;
  for (const char* dump : {"D/00-program.tile", "D/05-rewritten.yaml", "D/10-dependences.yaml", "D/15-kernels.yaml", "D/smooth/20-schedule.yaml",
                           "D/smooth/30-digits.yaml", "D/smooth/50-promoted.yaml", "D/smooth/60-ast.yaml"}) {
    const std::string folder = "E" + std::to_string(++resumed);
    resume_or_fail(path(dump), folder);
    EXPECT_EQ(read_file(path(folder + "/70-source.c")), source) << dump;
    EXPECT_EQ(read_file(path(folder + "/plan.json")), plan) << dump;
  }
}

TEST_F(DriverRewrites, EditedRewritesAreHonouredOrRefused) {
  Request wanted = request();
  wanted.pins = parse_pins("rewrite(\"inline\", t)", "pins");
  compile_or_fail(parse(kSmooth), wanted, "D");
  StageDump dump = StageDump::read(read_file(path("D/05-rewritten.yaml")), "D");
  EXPECT_EQ(dump.decisions["rewrites"].size(), 1u);
  EXPECT_EQ(dump.facts["statements"].size(), 1u);
  EXPECT_EQ(dump.facts["statements"][0]["source"], "6:9");
  dump.decisions["rewrites"] = Document::array();
  write_file(path("edited.yaml"), dump.write());
  const Resumed resumed = resume_from(context_.get(), path("edited.yaml"));
  EXPECT_TRUE(resumed.plan.rewrites.empty());
  Request again = request();
  again.plan = resumed.plan;
  Trace trace;
  const Candidate<Outcome> outcome = resolve_and_compile(resumed.program, again, trace);
  ASSERT_TRUE(std::holds_alternative<Infeasible>(outcome));
  EXPECT_EQ(std::get<Infeasible>(outcome).reason, "statement t is in no kernel");
}

TEST_F(DriverRewrites, TheCertificateSaysWhatWasTried) {
  Request wanted = request();
  wanted.pins = parse_pins("rewrite(\"split\", s, \"i\", chunk=64)", "pins");
  const Module module = compile_or_fail(parse("def f(A: f32[N], s: out[f32]):\n    s = sum(A[i] for i in range(N))\n"), wanted);
  const std::string last = module.certificate.assumed.back();
  EXPECT_EQ(last.find("rewrites split(\"s\", \"i\", chunk=64): "), 0u) << last;
  for (const char* size : {"(N=0)", "(N=1)", "(N=64)", "(N=131)", "within the error bound"}) EXPECT_NE(last.find(size), std::string::npos) << last;
  EXPECT_TRUE(contains(module.certificate.numerics, "reassociate: rewrites"));
  const Module plain = compile_or_fail(parse(kSmooth), [&] {
    Request none = request();
    none.pins = parse_pins("rewrite(\"none\")", "pins");
    return none;
  }());
  for (const std::string& assumption : plain.certificate.assumed) EXPECT_EQ(assumption.find("rewrites"), std::string::npos);
}

// A rewrite with a bug: the program that it gives computes something else.
TEST_F(DriverRewrites, AWrongRewriteIsRefutedWithAWitness) {
  const auto source = parse("def f(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i] * 3\n");
  for (const bool exact : {true, false}) {
    const auto wrong = parse("def f(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i] * 3 if i < 16 else A[i]\n");
    const RewrittenProgram rewritten{wrong, {{"inline", {"t"}, {}}}, exact, {}};
    Certificate certificate;
    attest_rewrites(*source, rewritten, certificate);
    ASSERT_EQ(certificate.obligations.size(), 1u);
    const Obligation& obligation = certificate.obligations.front();
    EXPECT_EQ(obligation.name, "rewrites");
    EXPECT_EQ(obligation.verdict, Verdict::refuted);
    EXPECT_EQ(obligation.subject, "inline(\"t\")");
    EXPECT_NE(obligation.witness.find("at N=17"), std::string::npos) << obligation.witness;
    EXPECT_TRUE(certificate.assumed.empty());
    EXPECT_FALSE(certificate.proved());
  }
}

// What differs in one bit counts where the rewrite promises the same bits.
TEST_F(DriverRewrites, ExactRewritesAreComparedBitByBit) {
  const auto source = parse("def f(A: f32[N], s: out[f32]):\n    s = sum(A[i] for i in range(N))\n");
  const auto turned = parse("def f(A: f32[N], s: out[f32]):\n    s = sum(A[N - 1 - i] for i in range(N))\n");
  EXPECT_NE(check_rewrites(*source, {turned, {{"split", {"s", "i"}, {}}}, true, {}}).failure, "");
  EXPECT_EQ(check_rewrites(*source, {turned, {{"split", {"s", "i"}, {}}}, false, {}}).failure, "");
}

}  // namespace
}  // namespace tileopt::test
