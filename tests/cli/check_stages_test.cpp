// check --stages as a user meets it: agreement, the growth table, warnings, an edited dump, JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

TEST(CheckStages, AgreesAndShowsHowErrorsGrow) {
  const ToolRun run = run_tool({"check", "--stages", kernel_file("gemm")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("7 stages agree with the interpreter"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("error of C (f32) as K grows"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("K = 1024"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("warning"), std::string::npos) << run.err;
}

TEST(CheckStages, WarnsOfANarrowAccumulatorAtItsPosition) {
  const Folder folder;
  const std::string file = folder.write("narrow.tile",
      "def narrow(A: bf16[M, K], B: bf16[K, N], C: out[bf16[M, N]]):\n    for i, j in grid(M, N):\n"
      "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n");
  const ToolRun run = run_tool({"check", "--stages", file, "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("narrow.tile:3:9: warning: adding up in bf16"), std::string::npos) << run.err;
  const nlohmann::json result = nlohmann::json::parse(run.out)["results"][0];
  EXPECT_TRUE(result["deviation"].is_null());
  ASSERT_EQ(result["accumulator_warnings"].size(), 1u);
  EXPECT_EQ(result["accumulator_warnings"][0]["accumulate_in"], "f32");
  EXPECT_GT(result["accumulator_warnings"][0]["ulps"].get<double>(), 4.0);
  ASSERT_EQ(result["error_growth"].size(), 1u);
  EXPECT_EQ(result["error_growth"][0]["rows"].size(), 4u);
}

TEST(CheckStages, NamesTheStageThatAnEditBroke) {
  const Folder folder;
  ASSERT_EQ(run_tool({"compile", kernel_file("transpose"), "--dump-dir", folder / "D", "-o", folder / "t.c"}).exit_code, 0);
  std::string dump;
  for (const std::string& file : files_below(folder / "D"))
    if (file.ends_with("60-ast.yaml")) dump = folder / ("D/" + file);
  ASSERT_NE(dump, "");
  // The first read moves by one element.
  std::string text = read_text(dump);
  const std::string opening = "reads: [[\"";
  const std::size_t reads = text.find(opening);
  ASSERT_NE(reads, std::string::npos);
  text.insert(reads + opening.size(), "1 + ");
  folder.write("edited.yaml", text);
  const ToolRun run = run_tool({"check", "--stages", "--json", "--start-from", folder / "edited.yaml"});
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_NE(run.err.find("stage 60-ast of kernel"), std::string::npos) << run.err;
  const nlohmann::json result = nlohmann::json::parse(run.out)["results"][0];
  EXPECT_EQ(result["deviation"]["stage"], "60-ast");
  EXPECT_EQ(result["status"], "failed");
}

TEST(CheckStages, APinThatCannotBeHonouredIsInfeasible) {
  const ToolRun run = run_tool({"check", "--stages", kernel_file("gemm"), "--pin", "tile(\"serial\", i=4)", "--pin", "schedule(\"original\")"});
  EXPECT_EQ(run.exit_code, 2) << run.err;
}

}  // namespace
}  // namespace tileopt::test
