// Dumps re-parse to their own bytes, and are refused where they do not hold together.
#include <gtest/gtest.h>

#include "support/text.h"
#include "tests/unit/driver/fixture.h"

namespace tileopt::test {
namespace {

using DumpTest = DriverTest;

TEST_F(DumpTest, EveryStageIsWrittenAndReparsesToTheSameBytes) {
  const Module module = compile_or_fail(kernel("gemm"), request(), "D");
  for (const char* file : {"00-program.tile", "05-rewritten.yaml", "70-source.c", "70-source.h", "80-certificate.json", "plan.json", "timing.tsv"})
    EXPECT_TRUE(std::filesystem::is_regular_file(path(std::string("D/") + file))) << file;
  std::vector<std::string> dumps = {path("D/10-dependences.yaml"), path("D/15-kernels.yaml")};
  ASSERT_FALSE(module.plan.kernels.empty());
  for (const KernelPlan& kernel : module.plan.kernels)
    for (const char* stage : {"20-schedule", "30-digits", "40-fitted", "50-promoted", "55-pipelined", "58-synchronized", "60-ast"})
      dumps.push_back(path("D/" + kernel.name + "/" + stage + ".yaml"));
  for (const std::string& file : dumps) {
    const std::string text = read_file(file);
    EXPECT_EQ(StageDump::read(text, file).write(), text) << file;
  }
  EXPECT_EQ(Plan::read(parse_json(read_file(path("D/plan.json")), "plan.json"), "plan.json").write().dump(2) + "\n", read_file(path("D/plan.json")));
}

TEST_F(DumpTest, DecisionsAreThePartOfThePlanThatTheStageOwns) {
  const Module module = compile_or_fail(kernel("gemm"), request(), "D");
  const KernelPlan& plan = module.plan.kernels.front();
  const StageDump dump = StageDump::read(read_file(path("D/" + plan.name + "/30-digits.yaml")), "30-digits.yaml");
  EXPECT_EQ(dump.kernel, plan.name);
  EXPECT_EQ(dump.machine, "x86-64-v3");
  EXPECT_EQ(dump.decisions["tree"], plan.tree.write());
  EXPECT_EQ(dump.decisions.size(), 2u);
  EXPECT_EQ(dump.plan, module.plan.write());
}

TEST_F(DumpTest, HostMachinesAreWrittenAsAWhole) {
  Request host = request();
  host.machine = find_machine("host");
  const Module module = compile_or_fail(kernel("transpose"), host, "D");
  const StageDump dump = StageDump::read(read_file(path("D/15-kernels.yaml")), "15");
  ASSERT_TRUE(dump.machine.is_object());
  EXPECT_EQ(dump.machine, host.machine.write());
}

TEST_F(DumpTest, StopsWhereAsked) {
  Trace trace({path("D"), "digits"});
  const Candidate<Outcome> outcome = resolve_and_compile(kernel("softmax"), request(), trace);
  ASSERT_TRUE(std::holds_alternative<Infeasible>(outcome));
  EXPECT_EQ(std::get<Infeasible>(outcome).code, stopped_code);
  const Plan plan = Plan::read(parse_json(read_file(path("D/plan.json")), "plan.json"), "plan.json");
  for (const KernelPlan& kernel : plan.kernels) {
    EXPECT_TRUE(std::filesystem::exists(path("D/" + kernel.name + "/30-digits.yaml"))) << kernel.name;
    EXPECT_FALSE(std::filesystem::exists(path("D/" + kernel.name + "/40-fitted.yaml"))) << kernel.name;
  }
  EXPECT_FALSE(std::filesystem::exists(path("D/70-source.c")));
}

TEST_F(DumpTest, StagesHaveThreeNames) {
  EXPECT_EQ(find_stage("digits"), "30-digits");
  EXPECT_EQ(find_stage("30"), "30-digits");
  EXPECT_EQ(find_stage("30-digits"), "30-digits");
  EXPECT_THROW(find_stage("digit"), Errors);
  EXPECT_THROW(Trace({"", "nonsense"}), Errors);
}

class BrokenDumpTest : public DriverTest {
 protected:
  void SetUp() override {
    compile_or_fail(kernel("transpose"), request(), "D");
    kernel_folder_ = "D/" + Plan::read(parse_json(read_file(path("D/plan.json")), ""), "").kernels.front().name + "/";
    text_ = read_file(path(kernel_folder_ + "30-digits.yaml"));
  }
  // The code of the first error that resuming from `text` gives; fails where there is none.
  ErrorCode error_of(const std::string& text) {
    write_file(path("broken.yaml"), text);
    try {
      const Resumed resumed = resume_from(context_.get(), path("broken.yaml"));
    } catch (const Errors& errors) {
      EXPECT_FALSE(errors.diagnostics().front().hint.empty()) << errors.what();
      return errors.diagnostics().front().code;
    }
    ADD_FAILURE() << "accepted";
    return ErrorCode::syntax;
  }
  std::string replaced(const std::string& from, const std::string& to) const {
    std::string text = text_;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  std::string kernel_folder_, text_;
};

TEST_F(BrokenDumpTest, IsRefusedWithAHint) {
  EXPECT_EQ(error_of(""), ErrorCode::invalid_dump);
  EXPECT_EQ(error_of("- a\n- b\n"), ErrorCode::invalid_dump);
  EXPECT_EQ(error_of("format: [\n"), ErrorCode::invalid_dump);
  EXPECT_EQ(error_of(text_.substr(0, text_.size() / 2)), ErrorCode::invalid_dump);
  EXPECT_EQ(error_of(replaced("tileopt-dump/1", "tileopt-dump/7")), ErrorCode::invalid_dump);
  EXPECT_EQ(error_of(replaced("version: \"0.1.0\"", "version: \"0.0.1\"")), ErrorCode::invalid_dump);
  EXPECT_EQ(error_of(replaced("decisions:", "decision:")), ErrorCode::invalid_dump);
  EXPECT_EQ(error_of(replaced("machine: x86-64-v3", "machine: z80")), ErrorCode::unknown_machine);
  EXPECT_EQ(error_of(replaced("program: transpose", "program: other")), ErrorCode::invalid_dump);
  EXPECT_EQ(error_of(replaced("  tree: ", "  atoms: {}\n  tree: ")), ErrorCode::invalid_dump);
  EXPECT_EQ(error_of(replaced("  tree: ", "  tree: ((( ")), ErrorCode::invalid_plan);
}

TEST_F(BrokenDumpTest, UnknownKernelsAreRefused) {
  const std::string name = kernel_folder_.substr(2, kernel_folder_.size() - 3);
  EXPECT_EQ(error_of(replaced("kernel: " + name, "kernel: nobody")), ErrorCode::invalid_dump);
}

}  // namespace
}  // namespace tileopt::test
