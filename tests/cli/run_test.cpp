// Commands that run the C compiler, and what the README promises.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

const char* const scale = "def scale(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = f32(2) * A[i]\n";

TEST(Run, CheckComparesWithTheInterpreter) {
  const Folder folder;
  const ToolRun run = run_tool({"check", folder.write("scale.tile", scale), "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json result = nlohmann::json::parse(run.out)["results"][0];
  EXPECT_EQ(result["status"], "done");
  EXPECT_GE(result["sizes"].size(), 9u);
  EXPECT_GE(result["runs"].get<int>(), 9);
}

TEST(Run, CheckTakesSizes) {
  const Folder folder;
  const ToolRun run = run_tool({"check", folder.write("scale.tile", scale), "--json", "--size", "N=17"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["results"][0]["sizes"], nlohmann::json::parse("[{\"N\": 17}]"));
}

TEST(Run, RunPrintsARow) {
  const Folder folder;
  const ToolRun run = run_tool({"run", folder.write("scale.tile", scale), "--size", "N=100000"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* text : {"kernel", "speedup", "scale", "N=100000", "GB/s", "ok ("}) EXPECT_NE(run.out.find(text), std::string::npos) << run.out;
}

TEST(Run, SizesThatBreakAnAssumptionAreUserErrors) {
  const Folder folder;
  const std::string text = "def f(A: f32[N], B: out[f32[N]]):\n    assume(N >= 4)\n    for i in range(N):\n        B[i] = A[i]\n";
  const ToolRun run = run_tool({"run", folder.write("f.tile", text), "--size", "N=2"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.err.find("error:"), std::string::npos);
}

TEST(Run, AMissingCompilerIsExitCodeFour) {
  const Folder folder;
  const std::string path = folder.write("scale.tile", scale);
  setenv("TILEOPT_CC", "/no/such/compiler", 1);
  const ToolRun run = run_tool({"check", path});
  unsetenv("TILEOPT_CC");
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_NE(run.err.find("/no/such/compiler"), std::string::npos) << run.err;
}

TEST(Run, LeavesNothingInTheTemporaryFolder) {
  const Folder folder;
  const std::string path = folder.write("scale.tile", scale);
  std::filesystem::create_directories(folder / "tmp");
  const char* before = std::getenv("TMPDIR");
  const std::string saved = before == nullptr ? "" : before;
  setenv("TMPDIR", (folder / "tmp").c_str(), 1);
  const ToolRun done = run_tool({"check", path});
  const ToolRun cut = interrupt_tool({"check", path}, 2, 400);
  if (before == nullptr) unsetenv("TMPDIR");
  else setenv("TMPDIR", saved.c_str(), 1);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(cut.exit_code == 0 || cut.exit_code == 130) << cut.exit_code;
  for (const std::string& file : files_below(folder / "tmp")) EXPECT_EQ(file.find("tileopt-run"), std::string::npos) << file;
}

// The block of README.md after the first line that holds `mark`, between ``` fences of `language`.
std::string readme_block(const std::string& language, const std::string& mark) {
  const std::string text = read_text(std::string(TILEOPT_SOURCE_DIR) + "/README.md");
  const std::string fence = "```" + language + "\n";
  for (std::size_t start = text.find(fence); start != std::string::npos; start = text.find(fence, start + 1)) {
    const std::size_t from = start + fence.size();
    const std::string block = text.substr(from, text.find("```", from) - from);
    if (block.find(mark) != std::string::npos) return block;
  }
  return "";
}

TEST(Readme, ItsProgramAndItsCallerWork) {
  const Folder folder;
  const std::string program = readme_block("python", "def gemm("), caller = readme_block("c", "#include \"gemm.h\"");
  ASSERT_FALSE(program.empty());
  ASSERT_FALSE(caller.empty());
  const std::string source = folder.write("gemm.tile", program);
  const ToolRun compiled = run_tool({"compile", source, "-o", folder / "gemm.c"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  folder.write("main.c", caller);
  const std::string command = "cd " + folder.path() + " && cc -O2 -march=native -fopenmp -Wno-psabi main.c gemm.c -o main -lm && ./main > out.txt";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_text(folder / "out.txt"), "error 0, C[0] = 200\n");
}

TEST(Readme, ItsScheduleCompiles) {
  const Folder folder;
  const std::string program = readme_block("python", "def gemm("), schedule = readme_block("python", "@schedule(gemm)");
  ASSERT_FALSE(schedule.empty());
  const ToolRun run = run_tool({"compile", folder.write("gemm.tile", program + "\n" + schedule), "--plan", "@tuned", "--threads", "2", "-o", folder / "gemm.c"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

}  // namespace
}  // namespace tileopt::test
