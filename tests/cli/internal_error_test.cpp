// Faults of ours: exit code 70, one clear message, and a folder with what a report needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

const char* const good = "# a comment\ndef scale(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = 2 * A[i]\n";

std::string reported_folder(const std::string& messages) {
  std::smatch match;
  return std::regex_search(messages, match, std::regex(R"(with the folder (\S+)\n)")) ? match[1].str() : "";
}

TEST(InternalErrors, WriteAReportWithTheStagesBeforeTheFault) {
  const Folder folder;
  folder.write("my scale.tile", good);
  const ToolRun run = run_shell("TILEOPT_REPORT_DIR='" + folder.path() + "' TILEOPT_TEST_FAIL=promoted tileopt-schedule compile 'my scale.tile' --machine zen4 --pin 'schedule(\"original\")'",
                                folder.path());
  EXPECT_EQ(run.exit_code, 70);
  EXPECT_NE(run.err.find("internal error: "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("This is a bug in tileopt, not in your program."), std::string::npos) << run.err;
  EXPECT_EQ(run.out, "");
  const std::string report = reported_folder(run.err);
  ASSERT_TRUE(report.starts_with(folder.path() + "/tileopt-report-")) << run.err;
  EXPECT_NE(read_text(report + "/version.txt").find("tileopt 0."), std::string::npos);
  EXPECT_NE(read_text(report + "/command.txt").find("compile 'my scale.tile' --machine zen4 --pin 'schedule(\"original\")'"), std::string::npos) << read_text(report + "/command.txt");
  EXPECT_NE(read_text(report + "/message.txt").find("planted in 50-promoted"), std::string::npos);
  EXPECT_EQ(read_text(report + "/inputs/my scale.tile"), good);
  EXPECT_TRUE(read_text(report + "/input.tile").starts_with("def scale("));
  EXPECT_EQ(nlohmann::json::parse(read_text(report + "/machine.json"))["name"], "zen4");
  EXPECT_EQ(read_text(report + "/pins.txt"), "schedule(\"original\")\n");
  const std::vector<std::string> stages = files_below(report + "/stages");
  for (const char* stage : {"plan.json", "10-dependences.yaml", "scale/30-digits.yaml", "scale/40-fitted.yaml"})
    EXPECT_NE(std::find(stages.begin(), stages.end(), stage), stages.end()) << stage;
  EXPECT_EQ(std::find(stages.begin(), stages.end(), "scale/50-promoted.yaml"), stages.end());
}

TEST(InternalErrors, OfOneProgramDoNotStopTheOthers) {
  const Folder folder;
  folder.write("a.tile", good);
  folder.write("b.tile", "def broken(\n");
  const ToolRun run = run_shell("TILEOPT_REPORT_DIR=. TILEOPT_TEST_FAIL=60-ast tileopt-schedule compile --json .", folder.path());
  EXPECT_EQ(run.exit_code, 70);
  const nlohmann::json result = nlohmann::json::parse(run.out);
  ASSERT_EQ(result["results"].size(), 2u);
  EXPECT_EQ(result["results"][0]["status"], "internal error");
  EXPECT_TRUE(exists(folder / (result["results"][0]["report"].get<std::string>() + "/stages/scale/58-synchronized.yaml")));
  EXPECT_EQ(result["results"][1]["status"], "error");
}

TEST(InternalErrors, ExceptionsThatEscapeAreReportedToo) {
  const Folder folder;
  const ToolRun run = run_shell("TILEOPT_REPORT_DIR=. TILEOPT_TEST_FAIL=main tileopt-schedule machines", folder.path());
  EXPECT_EQ(run.exit_code, 70);
  const std::string report = reported_folder(run.err);
  ASSERT_FALSE(report.empty()) << run.err;
  EXPECT_EQ(read_text(folder / (report + "/message.txt")), "planted in main\n");
}

TEST(InternalErrors, CrashesAreReportedToo) {
  const Folder folder;
  folder.write("a.tile", good);
  const ToolRun run = run_shell("TILEOPT_REPORT_DIR=. TILEOPT_TEST_FAIL=crash tileopt-schedule compile a.tile", folder.path());
  if (run.err.find("Sanitizer") != std::string::npos) GTEST_SKIP() << "sanitizers handle crashes themselves";
  EXPECT_EQ(run.exit_code, 70);
  EXPECT_NE(run.err.find("internal error: signal 11 (Segmentation fault) [internal]"), std::string::npos) << run.err;
  const std::string report = reported_folder(run.err);
  ASSERT_FALSE(report.empty()) << run.err;
  EXPECT_EQ(read_text(folder / (report + "/inputs/a.tile")), good);
  const ToolRun dumped = run_shell("ulimit -c 0; TILEOPT_CORE_DUMP=1 TILEOPT_TEST_FAIL=crash tileopt-schedule compile a.tile", folder.path());
  EXPECT_EQ(dumped.exit_code, 128 + 11);
}

TEST(InternalErrors, WithoutAFolderToWriteToTheMessageStaysClear) {
  const Folder folder;
  const ToolRun run = run_shell("TILEOPT_REPORT_DIR=/dev/null/nowhere TILEOPT_TEST_FAIL=main tileopt-schedule machines", folder.path());
  EXPECT_EQ(run.exit_code, 70);
  EXPECT_NE(run.err.find("report it with the input and the command line"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace tileopt::test
