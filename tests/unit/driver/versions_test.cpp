// A Plan by hand with versions of a kernel (docs/decisions/031), on a machine that has nothing to do with their first use: proved, executed against
// the interpreter, resumed from dumps; and what is wrong with versions is refused or refuted, with the sizes that show it.
#include <gtest/gtest.h>

#include <algorithm>

#include "driver/check_kernel.h"
#include "driver/check_stages.h"
#include "driver/check_versions.h"
#include "driver/executable_kernel.h"
#include "driver/module_file.h"
#include "support/json_text.h"
#include "tests/unit/driver/fixture.h"

namespace tileopt::test {
namespace {

const char* const text = R"(def rows(A: f32[M, N], x: f32[N], y: out[f32[M]], Z: out[f32[M, N]]):
    for i in range(M):
        y[i] = sum(A[i, j] * x[j] for j in range(N))
    for i, j in grid(M, N):
        Z[i, j] = A[i, j] + y[i]
)";

class VersionsTest : public DriverTest {
 protected:
  VersionsTest() : program_(parse(text)) {}

  KernelPlan planned(const std::string& pins, std::size_t kernel) {
    Request wanted = request();
    wanted.pins = parse_pins(pins, "test");
    return std::get<ResolvedPlan>(resolve_plan(*program_, wanted.pins, wanted.machine, wanted.resolve)).plan.kernels.at(kernel);
  }
  /// The second nest for whole and for cut tiles of eight, and the first one as it is.
  Plan versions(const std::string& whole = "[N] -> { : N mod 8 = 0 }", const std::string& cut = "[N] -> { : N mod 8 >= 1 }") {
    Plan plan = std::get<ResolvedPlan>(resolve_plan(*program_, {}, request().machine, {})).plan;
    EXPECT_EQ(plan.kernels.size(), 2u);
    KernelPlan first = planned("tile(\"serial\", \"Z.i\", 0, \"Z.j\", 8)", 1), second = planned("", 1);
    first.name += "_whole";
    first.when = whole;
    second.name += "_cut";
    second.when = cut;
    plan.kernels = {plan.kernels.front(), first, second};
    return plan;
  }
  Request of(const Plan& plan) const {
    Request wanted = request();
    wanted.plan = plan;
    return wanted;
  }
  Infeasible refusal(const Plan& plan) {
    Trace trace;
    Candidate<Outcome> outcome = resolve_and_compile(program_, of(plan), trace);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) return *refused;
    ADD_FAILURE() << "it was compiled";
    return {};
  }
  static std::vector<const Obligation*> obligations(const Certificate& certificate, const std::string& name) {
    std::vector<const Obligation*> found;
    for (const Obligation& o : certificate.obligations)
      if (o.name == name) found.push_back(&o);
    return found;
  }
  /// "reason | witness" of the refuted obligations of this name.
  static std::string refuted(const Certificate& certificate, const std::string& name) {
    std::string text;
    for (const Obligation* o : obligations(certificate, name))
      if (o->verdict == Verdict::refuted) text += o->subject + ": " + o->reason + " | " + o->witness + "\n";
    return text;
  }
  Certificate prove(const std::vector<Ast>& asts, const SourceText& printed) { return verify(*program_, asts, printed.facts, request().machine, TILEOPT_VERSION); }
  Certificate prove(const std::vector<Ast>& asts) {
    return prove(asts, std::get<SourceText>(find_backend("openmp").print(*program_, asts, request().machine, TILEOPT_VERSION)));
  }

  std::shared_ptr<const Program> program_;
};

TEST_F(VersionsTest, AreProvedAndAgreeWithTheInterpreter) {
  const Module module = compile_or_fail(program_, of(versions()));
  // One of each kernel, one of the statement, one of the plan.
  EXPECT_EQ(obligations(module.certificate, "versions").size(), 4u);
  ASSERT_EQ(module.asts.size(), 3u);
  EXPECT_EQ(ast_expr_text(std::get<AstIf>(module.asts[1].root->node).condition), "mod(N, 8) == 0");
  EXPECT_TRUE(module.asts[0].when.empty());

  const std::vector<Sizes> sizes = spread_sizes(*program_, timing_check_spread(), versions_of(*program_, module.plan));
  const ExecutableKernel kernel = ExecutableKernel::compile(*program_, module.text, request().machine);
  const CheckReport report = check_kernels(*program_, {&kernel}, sizes, 3, 1 << 16);
  EXPECT_EQ(report.failure, "");
  EXPECT_GT(report.runs, 0);

  Trace trace;
  const auto stages = resolve_and_stage(program_, of(versions()), trace);
  ASSERT_TRUE(feasible(stages));
  const StagesReport staged = check_stages(*program_, request().machine, runnable_stages(std::get<0>(stages)), {{{"M", 3}, {"N", 16}}, {{"M", 5}, {"N", 19}}, {{"M", 0}, {"N", 8}}}, 1, StagesEffort::quick);
  EXPECT_FALSE(staged.deviation.has_value()) << staged.text();
}

/// What is known in a version is not tested there again: whole tiles have constant bounds.
TEST_F(VersionsTest, AVersionKnowsItsSizes) {
  const Module module = compile_or_fail(program_, of(versions()));
  EXPECT_EQ(module.asts[1].write().dump().find("min("), std::string::npos) << module.asts[1].write().dump(1);
  Plan cut = versions();
  cut.kernels.erase(cut.kernels.begin() + 2);
  cut.kernels[1].when.clear();
  EXPECT_NE(compile_or_fail(program_, of(cut)).asts[1].write().dump().find("min("), std::string::npos);
}

TEST_F(VersionsTest, TheSamePlanGivesTheSameBytesFromEveryDump) {
  const Module module = compile_or_fail(program_, of(versions()), "D");
  EXPECT_EQ(compile_or_fail(program_, of(Plan::read(module.plan.write(), "plan.json"))).text.source, module.text.source);
  std::vector<std::string> dumps = {"D/15-kernels.yaml"};
  for (const char* stage : {"20-schedule", "30-digits", "40-fitted", "50-promoted", "55-pipelined", "58-synchronized", "60-ast"})
    for (const std::size_t version : {1, 2}) dumps.push_back("D/" + module.plan.kernels[version].name + "/" + stage + ".yaml");
  for (const std::string& dump : dumps) {
    SCOPED_TRACE(dump);
    const Module resumed = resume_or_fail(path(dump), "E");
    EXPECT_EQ(resumed.text.source, module.text.source);
    EXPECT_EQ(resumed.plan.write(), module.plan.write());
  }
}

TEST_F(VersionsTest, SizesMayBeMovedFromOneVersionToTheOtherInADump) {
  compile_or_fail(program_, of(versions()), "D");
  const auto edited = [&](const std::string& whole, const std::string& cut) {
    StageDump dump = StageDump::read(read_file(path("D/15-kernels.yaml")), "15-kernels.yaml");
    dump.decisions[1]["when"] = whole;
    dump.decisions[2]["when"] = cut;
    write_file(path("edited.yaml"), dump.write());
    return path("edited.yaml");
  };
  const Module moved = resume_or_fail(edited("[N] -> { : N mod 16 = 0 }", "[N] -> { : N mod 16 >= 1 }"), "");
  EXPECT_EQ(ast_expr_text(std::get<AstIf>(moved.asts[1].root->node).condition), "mod(N, 16) == 0");
  const Resumed gap = resume_from(context_.get(), edited("[N] -> { : N mod 16 = 0 }", "[N] -> { : N mod 8 >= 1 }"));
  EXPECT_NE(refusal(gap.plan).reason.find("no kernel that holds statement Z runs for some sizes"), std::string::npos);
}

TEST_F(VersionsTest, OverlapsAndGapsAreRefusedWithSizes) {
  const Infeasible overlap = refusal(versions("[N] -> { : N mod 8 = 0 }", "[N] -> { : N >= 10 }"));
  EXPECT_EQ(overlap.code, "legality");
  EXPECT_NE(overlap.reason.find("statement Z is in two kernels, rows_Z_whole and rows_Z_cut, and for some sizes both run"), std::string::npos) << overlap.reason;
  EXPECT_NE(overlap.witness.find("N = "), std::string::npos) << overlap.witness;
  const Infeasible gap = refusal(versions("[N] -> { : N mod 8 = 0 }", "[N] -> { : N mod 8 >= 2 }"));
  EXPECT_NE(gap.reason.find("no kernel that holds statement Z runs for some sizes"), std::string::npos) << gap.reason;
  EXPECT_NE(gap.witness.find("N = "), std::string::npos) << gap.witness;
  // A kernel for sizes that never come.
  EXPECT_NE(refusal(versions("[N] -> { : N < 0 }", "[N] -> { : N >= 0 }")).reason.find("has no sizes for which kernel"), std::string::npos);
  // Without versions a statement has one kernel, as ever.
  Plan twice = versions("", "");
  EXPECT_NE(refusal(twice).reason.find("for some sizes both run"), std::string::npos);
}

TEST_F(VersionsTest, WhatIsNoSetOfSizesIsAnError) {
  for (const std::string wrong : {"N mod 8 = 0", "[N] -> { [i] : i = N }", "[Q] -> { : Q >= 1 }"}) {
    SCOPED_TRACE(wrong);
    Trace trace;
    try {
      resolve_and_compile(program_, of(versions(wrong)), trace);
      ADD_FAILURE() << "it was taken";
    } catch (const Errors& errors) {
      EXPECT_EQ(errors.diagnostics().front().code, ErrorCode::invalid_plan);
      EXPECT_NE(std::string(errors.what()).find("kernel `rows_Z_whole`: `when` "), std::string::npos) << errors.what();
    }
  }
}

/// verify sees loops alone, with code of its own: whatever made them.
TEST_F(VersionsTest, EditedTestsAreRefutedByTheirObligation) {
  const Module module = compile_or_fail(program_, of(versions()));
  const auto with_test = [&](std::size_t kernel, const std::string& condition, const std::string& when = "") {
    std::vector<Ast> asts = module.asts;
    AstIf test = std::get<AstIf>(asts[kernel].root->node);
    test.condition = parse_ast_expr(condition, "test");
    asts[kernel].root = make_node(test);
    if (!when.empty()) asts[kernel].when = when;
    return asts;
  };
  EXPECT_NE(refuted(prove(with_test(1, "mod(N, 4) == 0")), "versions").find("kernel rows_Z_whole: kernel rows_Z_whole runs for sizes that are not its own"), std::string::npos);
  const std::string narrower = refuted(prove(with_test(1, "mod(N, 16) == 0")), "versions");
  EXPECT_NE(narrower.find("kernel rows_Z_whole does not run for sizes that are its own"), std::string::npos) << narrower;
  EXPECT_NE(narrower.find("N = 8"), std::string::npos) << narrower;
  // Consistent in itself, and wrong beside the other: an overlap, a gap.
  const std::string overlap = refuted(prove(with_test(1, "mod(N, 4) == 0", "[N] -> { : N mod 4 = 0 }")), "versions");
  EXPECT_NE(overlap.find("Z: kernels rows_Z_whole and rows_Z_cut both run Z for some sizes | "), std::string::npos) << overlap;
  EXPECT_NE(refuted(prove(with_test(1, "mod(N, 16) == 0", "[N] -> { : N mod 16 = 0 }")), "versions").find("Z: no version of Z runs for some sizes"), std::string::npos);
  // No test at all.
  std::vector<Ast> untested = module.asts;
  untested[2].root = std::get<AstIf>(untested[2].root->node).then_body;
  EXPECT_NE(refuted(prove(untested), "versions").find("kernel rows_Z_cut runs for sizes that are not its own"), std::string::npos);
  // The text tests something else than the loops say.
  SourceText printed = module.text;
  ASSERT_FALSE(printed.facts[1].conditions.empty());
  printed.facts[1].conditions.front() = "mod(N, 4) == 0";
  EXPECT_NE(refuted(prove(module.asts, printed), "text").find("a condition was printed as `mod(N, 4) == 0`"), std::string::npos);
}

TEST_F(VersionsTest, AModuleWhosePlanSaysOtherSizesIsRefuted) {
  const Module module = compile_or_fail(program_, of(versions()));
  const auto check = [&](const std::function<void(Document&)>& edit) {
    Document document = write_module(*program_, request().machine, "openmp", module);
    edit(document);
    write_file(path("module.json"), json_text(document));
    return check_module(read_module(context_.get(), path("module.json")), {});
  };
  const ModuleCheck same = check([](Document&) {});
  EXPECT_EQ(unproved_text(same.certificate), "");
  EXPECT_TRUE(same.differences.empty()) << same.differences.front();
  const std::string other = refuted(check([](Document& d) { d["plan"]["kernels"][1]["when"] = "[N] -> { : N mod 4 = 0 }"; }).certificate, "versions");
  EXPECT_NE(other.find("the plan: kernel rows_Z_whole is planned for [N] -> { : N mod 4 = 0 }"), std::string::npos) << other;
  const ModuleCheck text = check([](Document& d) {
    std::string source = d["source"];
    const std::size_t at = source.find("tileopt_mod(N, 8) == 0");
    ASSERT_NE(at, std::string::npos);
    d["source"] = source.replace(at, 22, "tileopt_mod(N, 4) == 0");
  });
  ASSERT_FALSE(text.differences.empty());
  EXPECT_NE(text.differences.front().find("the source is not what the loops are printed as"), std::string::npos);
}

TEST_F(VersionsTest, SizesToTryVisitEveryVersion) {
  const isl::set rare(context_.get(), "[M, N] -> { : N mod 96 = 5 and M mod 7 = 1 }"), never(context_.get(), "[N] -> { : N < 0 }");
  const SizeSpread spread{{0, 1, 3, 33, 64}, 6};
  const std::vector<Sizes> plain = spread_sizes(*program_, spread), all = spread_sizes(*program_, spread, {rare, never});
  const auto visits = [&](const Sizes& sizes) { return sizes.at("N") % 96 == 5 && sizes.at("M") % 7 == 1 && sizes.at("M") >= 30; };
  EXPECT_EQ(std::count_if(plain.begin(), plain.end(), visits), 0);
  EXPECT_GE(std::count_if(all.begin(), all.end(), visits), 2);
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), all.begin())) << "the others stay";
  EXPECT_EQ(all, spread_sizes(*program_, spread, {rare, never}));
}

}  // namespace
}  // namespace tileopt::test
