// measure appends a record whatever happens; replay builds it again; export shows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

const char* const scale = "def scale(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = f32(2) * A[i]\n";
const char* const scale_by_three = "def scale(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = f32(3) * A[i]\n";

TEST(RecordCommands, MeasureReplayExport) {
  const Folder folder;
  const std::string program = folder.write("scale.tile", scale), runs = folder / "runs.jsonl";
  const ToolRun measured = run_tool({"measure", program, "--size", "N=5000", "--records", runs, "--seconds", "0.01", "--json"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const auto result = nlohmann::json::parse(measured.out)["results"][0];
  EXPECT_EQ(result["outcome"], "measured");
  EXPECT_GT(result["seconds"], 0);

  const ToolRun replayed = run_tool({"replay", program, "--records", runs, "-o", folder / "again.c"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
  EXPECT_NE(replayed.err.find("the same bytes"), std::string::npos) << replayed.err;
  ASSERT_EQ(run_tool({"compile", program, "--size", "N=5000", "-o", folder / "first.c"}).exit_code, 0);
  EXPECT_EQ(read_text(folder / "again.c").substr(read_text(folder / "again.c").find("static")), read_text(folder / "first.c").substr(read_text(folder / "first.c").find("static")));

  // The same name, another program: not the same bytes.
  const std::string changed = folder.write("changed.tile", scale_by_three);
  const ToolRun other = run_tool({"replay", changed, "--records", runs, "-o", folder / "never.c"});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_NE(other.err.find("the program's hash was"), std::string::npos) << other.err;
  EXPECT_FALSE(exists(folder / "never.c"));

  const ToolRun exported = run_tool({"export", runs, runs});
  EXPECT_EQ(exported.exit_code, 0);
  EXPECT_EQ(std::count(exported.out.begin(), exported.out.end(), '\n'), 2) << "a head and one record: " << exported.out;
  EXPECT_NE(exported.out.find(result["record"].get<std::string>() + ","), std::string::npos);
  EXPECT_EQ(run_tool({"export", runs, "--format", "jsonl"}).out, read_text(runs));
}

TEST(RecordCommands, AFailureIsARecordAndAnExitCode) {
  const Folder folder;
  const std::string program = folder.write("scale.tile", scale), runs = folder / "runs.jsonl";
  folder.write("cc", "#!/bin/sh\nexit 1\n");
  ASSERT_EQ(run_shell("chmod +x cc", folder.path()).exit_code, 0);
  const ToolRun run = run_shell("TILEOPT_CC=$PWD/cc tileopt-schedule measure scale.tile --size N=50 --records runs.jsonl", folder.path());
  EXPECT_EQ(run.exit_code, 4) << run.err;
  const ToolRun exported = run_tool({"export", runs});
  EXPECT_NE(exported.out.find(",compile_failed,"), std::string::npos) << exported.out;
  EXPECT_EQ(run_tool({"replay", program, "--records", runs}).exit_code, 1) << "there is no measured record";
}

TEST(RecordCommands, BadInput) {
  const Folder folder;
  const std::string program = folder.write("scale.tile", scale), runs = folder / "runs.jsonl";
  const ToolRun self = run_tool({"measure", program, "--size", "N=50", "--records", program, "--seconds", "0.01"});
  EXPECT_EQ(self.exit_code, 1);
  EXPECT_NE(self.err.find("this is no file of records"), std::string::npos) << self.err;
  EXPECT_EQ(read_text(program), scale);
  const ToolRun sizes = run_tool({"measure", program, "--records", runs});
  EXPECT_EQ(sizes.exit_code, 1);
  EXPECT_NE(sizes.err.find("--size N=..."), std::string::npos) << sizes.err;
  EXPECT_FALSE(exists(runs));
  EXPECT_EQ(run_tool({"replay", program, "--records", runs}).exit_code, 1);
  EXPECT_EQ(run_tool({"export", runs}).exit_code, 1);
  folder.write("runs.jsonl", "garbage\n");
  const ToolRun garbage = run_tool({"export", runs});
  EXPECT_EQ(garbage.exit_code, 0);
  EXPECT_NE(garbage.err.find("runs.jsonl:1: skipped: it is no JSON"), std::string::npos) << garbage.err;
}

}  // namespace
}  // namespace tileopt::test
