// Resuming from any dump gives the same bytes; an edited one gives a plan that gives the same bytes from the start.
#include <gtest/gtest.h>

#include <regex>

#include "tests/unit/driver/fixture.h"

namespace tileopt::test {
namespace {

class ResumeTest : public DriverTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(ResumeTest, EveryDumpGivesTheSameBytes) {
  const Module module = compile_or_fail(kernel(GetParam()), request(), "D");
  std::vector<std::string> dumps = {"D/00-program.tile", "D/05-rewritten.yaml", "D/10-dependences.yaml", "D/15-kernels.yaml"};
  for (const KernelPlan& kernel : module.plan.kernels)
    for (const char* stage : {"20-schedule", "30-digits", "40-fitted", "50-promoted", "55-pipelined", "58-synchronized", "60-ast"})
      dumps.push_back("D/" + kernel.name + "/" + stage + ".yaml");
  for (const std::string& dump : dumps) {
    SCOPED_TRACE(dump);
    const Module resumed = resume_or_fail(path(dump), "E");
    EXPECT_TRUE(resumed.text.source == module.text.source);
    EXPECT_TRUE(resumed.text.header == module.text.header);
    EXPECT_TRUE(resumed.plan.write() == module.plan.write());
    EXPECT_TRUE(read_file(path("E/plan.json")) == read_file(path("D/plan.json")));
    if (dump.ends_with(".tile")) continue;  // the program's file is then the dump's, and dumps say so
    for (const std::string& file : dumps) EXPECT_TRUE(read_file(path("E" + file.substr(1))) == read_file(path(file))) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ResumeTest, ::testing::Values("gemm", "gemm_bf16", "conv2d", "softmax", "jacobi_2d", "transpose"));

class EditTest : public DriverTest {};

TEST_F(EditTest, EditedDigitsWinAndReplayFromTheStart) {
  const std::shared_ptr<const Program> program = parse(R"(def scale(A: f32[N], B: out[f32[N]]):
    for i in range(N):
        B[i] = f32(2) * A[i]
)");
  const Module module = compile_or_fail(program, request(), "D");
  const std::string dump = path("D/" + module.plan.kernels.front().name + "/30-digits.yaml");
  StageDump edited = StageDump::read(read_file(dump), dump);
  Document& digits = edited.decisions["digits"].begin().value();
  ASSERT_GE(digits.size(), 1u);
  const std::string outer = digits[0]["name"], inner = "added";
  Document extra = {{"name", inner}, {"radix", 48}, {"level", "serial"}};
  digits.insert(digits.begin() + 1, extra);
  edited.decisions["tree"] = std::regex_replace(edited.decisions["tree"].get<std::string>(), std::regex("\\b" + outer + "\\b"), outer + " > " + inner);
  write_file(path("edited.yaml"), edited.write());

  const Module resumed = resume_or_fail(path("edited.yaml"), "E");
  EXPECT_NE(resumed.text.source, module.text.source);
  EXPECT_NE(resumed.plan.write(), module.plan.write());
  Request replay = request();
  replay.plan = Plan::read(parse_json(read_file(path("E/plan.json")), "plan.json"), "plan.json");
  EXPECT_EQ(compile_or_fail(program, replay).text.source, resumed.text.source);
}

TEST_F(EditTest, AnEditedAstReplacesTheDerivedOneAndIsProved) {
  const std::shared_ptr<const Program> program = parse("def copy(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i]\n");
  Request original = request();
  original.pins = parse_pins("schedule(\"original\")", "test");
  const Module module = compile_or_fail(program, original, "D");
  const std::string dump = path("D/" + module.plan.kernels.front().name + "/60-ast.yaml");
  const Resumed resumed = resume_from(context_.get(), dump);
  ASSERT_EQ(resumed.asts.size(), 1u);
  EXPECT_EQ(resumed.asts.begin()->second.write(), module.asts.front().write());
}

TEST_F(EditTest, PlansOfOtherProgramsMachinesAndVersionsAreRefused) {
  const std::shared_ptr<const Program> program = kernel("transpose");
  const Plan plan = compile_or_fail(program, request()).plan;
  const auto refused = [&](Plan changed, const Machine& machine) {
    Request wrong = request();
    wrong.plan = std::move(changed);
    wrong.machine = machine;
    Trace trace;
    EXPECT_THROW(resolve_and_compile(program, wrong, trace), Errors);
  };
  Plan version = plan, name = plan, hash = plan;
  version.version = "0.0.0";
  name.program = "other";
  hash.program_hash = "0000000000000000";
  refused(version, request().machine);
  refused(name, request().machine);
  refused(hash, request().machine);
  refused(plan, find_machine("zen4"));
}

}  // namespace
}  // namespace tileopt::test
