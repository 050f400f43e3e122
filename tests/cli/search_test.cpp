// enumerate, score, search and bench as their users meet them.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

using nlohmann::json;

// A floor division runs element by element, in loops whose tiles are open.
const char* const add =
    "def add(A: i32[M, N], B: i32[N, M], C: out[i32[M, N]]):\n    for i, j in grid(M, N):\n        C[i, j] = A[i, j] + B[j, "
    "i] // 3\n";
const char* const add_tuned = "\n\n@schedule(add)\ndef tuned():\n    tile(\"serial\", i=16, j=32)\n";

json result_of(const ToolRun& run) { return json::parse(run.out).at("results").at(0); }

std::size_t lines_of(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

TEST(Enumerate, CountsListsAndSaysWhy) {
  const ToolRun run = run_tool({"enumerate", kernel_file("gemm"), "-m", "zen4", "--size", "M=512,N=512,K=512", "--limit", "4",
                                "--best", "2", "--sample", "500", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json result = result_of(run), space = result.at("space");
  EXPECT_TRUE(space.at("exact"));
  EXPECT_GT(space.at("points"), 100000);
  double pruned = space.at("points");
  for (const auto& [name, points] : space.at("pruned").items()) pruned += points.get<double>();
  EXPECT_EQ(pruned, space.at("without_constraints").get<double>()) << "every point is there or has a reason";
  for (const json& constraint : space.at("structures").at(0).at("constraints"))
    EXPECT_FALSE(constraint.at("reason").get<std::string>().empty());
  std::set<std::string> keys;
  ASSERT_EQ(result.at("points").size(), 6u);
  for (const json& point : result.at("points")) {
    EXPECT_TRUE(keys.insert(point.at("key")).second);
    EXPECT_GT(point.at("seconds"), 0);
  }
  EXPECT_LE(result.at("points").at(4).at("seconds"), result.at("points").at(5).at("seconds"))
      << "the best of the sample, in order";

  const ToolRun again =
      run_tool({"enumerate", kernel_file("gemm"), "-m", "zen4", "--size", "M=512,N=512,K=512", "--limit", "4"});
  for (const std::string& key : keys) {
    if (again.out.find(key) == std::string::npos) continue;
    EXPECT_NE(again.out.find("C.i in atom"), std::string::npos);
  }
  EXPECT_NE(again.out.find("ruled out by machine: C: register tile"), std::string::npos) << again.out;
}

// The pins of a point are a schedule that compile takes as it is.
TEST(Enumerate, PointsArePinsForCompile) {
  const ToolRun run = run_tool({"enumerate", kernel_file("gemm"), "-m", "x86-64-v3", "--sample", "2", "--seed", "4", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json points = result_of(run).at("points");
  for (const json& point : points) {
    std::vector<std::string> command = {"explain", kernel_file("gemm"), "-m", "x86-64-v3", "--prove", "none", "--json"};
    for (const json& pin : point.at("pins")) {
      command.push_back("--pin");
      command.push_back(pin);
    }
    const ToolRun explained = run_tool(command);
    ASSERT_EQ(explained.exit_code, 0) << explained.err << point.dump(1);
    EXPECT_NEAR(result_of(explained).at("cost").at("seconds").get<double>(), point.at("seconds").get<double>(),
                0.01 * point.at("seconds").get<double>());
  }
}

TEST(Score, CostFeaturesAndRate) {
  const Folder folder;
  const ToolRun run = run_tool(
      {"score", kernel_file("gemm"), "-m", "zen4", "--size", "M=1024,N=1024,K=1024", "--features", folder / "f.csv", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json result = result_of(run);
  EXPECT_EQ(result.at("cost").at("binding"), "compute");
  EXPECT_EQ(result.at("features").at("version"), 1);
  EXPECT_EQ(lines_of(read_text(folder / "f.csv")), 2u);
  const ToolRun sampled = run_tool(
      {"score", kernel_file("gemm"), "-m", "zen4", "--sample", "50", "--features", folder / "many.csv", "--rate", "--json"});
  ASSERT_EQ(sampled.exit_code, 0) << sampled.err;
  EXPECT_GT(result_of(sampled).at("points_per_second"), 1000);
  const std::string many = read_text(folder / "many.csv");
  EXPECT_EQ(lines_of(many), 51u);
  EXPECT_EQ(many.substr(0, many.find('\n')), read_text(folder / "f.csv").substr(0, read_text(folder / "f.csv").find('\n')));
  const ToolRun explained = run_tool({"explain", kernel_file("gemm"), "-m", "zen4"});
  EXPECT_NE(explained.out.find("bound by"), std::string::npos);
  EXPECT_NE(explained.out.find("to try: "), std::string::npos) << explained.out;
}

TEST(Search, FindsRecordsResumesAndReplays) {
  const Folder folder;
  const std::string program = folder.write("add.tile", add), runs = folder / "runs.jsonl";
  const std::vector<std::string> command = {"search",
                                            program,
                                            "--size",
                                            "M=300,N=200",
                                            "--records",
                                            runs,
                                            "--trials",
                                            "5",
                                            "--finalists",
                                            "1",
                                            "--rounds",
                                            "2",
                                            "--deterministic",
                                            "--strategy",
                                            "random",
                                            "--seed",
                                            "7",
                                            "-o",
                                            folder / "best.json",
                                            "--report",
                                            folder / "report.json",
                                            "--json"};
  const ToolRun run = run_tool(command);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json result = result_of(run);
  EXPECT_EQ(result.at("outcomes").at("measured"), 5);
  EXPECT_GT(result.at("best_seconds"), 0);
  EXPECT_LE(result.at("best_seconds"), result.at("planned_seconds"));
  const std::string records = read_text(runs);
  EXPECT_GE(lines_of(records), 6u) << "five trials and a finalist or two";
  const json report = json::parse(read_text(folder / "report.json"));
  EXPECT_EQ(report.at("trials").size(), 5u);
  EXPECT_EQ(report.at("quality").at("plans"), 5);

  // Again: all is known, nothing is measured, the same comes out.
  const ToolRun again = run_tool(command);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_text(runs), records);
  EXPECT_EQ(result_of(again).at("best"), result.at("best"));
  EXPECT_EQ(result_of(again).at("best_seconds"), result.at("best_seconds"));

  EXPECT_EQ(run_tool({"compile", program, "--plan", folder / "best.json", "-o", folder / "best.c"}).exit_code, 0);
  EXPECT_EQ(run_tool({"replay", program, "--records", runs}).exit_code, 0);
  const ToolRun scored = run_tool({"score", program, "--records", runs, "--size", "M=300,N=200", "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_EQ(result_of(scored).at("quality").at("plans"), 5);
}

TEST(Search, CtrlCEndsWithTheBestSoFarAndKillsLoseNothing) {
  const Folder folder;
  const std::string program = folder.write("add.tile", add), runs = folder / "runs.jsonl";
  const std::vector<std::string> command = {"search", program,    "--size", "M=300,N=200", "--records",
                                            runs,     "--trials", "400",    "--seconds",   "0.01"};
  EXPECT_EQ(interrupt_tool(command, SIGKILL, 2500).exit_code, 128 + SIGKILL);
  const ToolRun run = interrupt_tool(command, SIGINT, 5000);
  EXPECT_EQ(run.exit_code, 128 + SIGINT) << run.err;
  EXPECT_NE(run.out.find("fastest: "), std::string::npos) << run.out << run.err;
  EXPECT_NE(run.err.find("stopped: fastest"), std::string::npos) << run.err;
  std::set<std::string> plans;
  const std::string text = read_text(runs);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    ASSERT_NE(end, std::string::npos) << "whole lines only";
    const json record = json::parse(text.substr(begin, end - begin), nullptr, false);
    if (!record.is_discarded()) {
      EXPECT_EQ(record.at("outcome"), "measured") << record.at("detail") << ": what was in flight is dropped";
      EXPECT_TRUE(plans.insert(record.at("plan").dump()).second);
    }
    begin = end + 1;
  }
  EXPECT_GE(plans.size(), 1u);
}

TEST(Search, BadInput) {
  const Folder folder;
  const std::string program = folder.write("add.tile", add), runs = folder / "runs.jsonl";
  const auto refused = [&](std::vector<std::string> more, const std::string& text, int exit_code = 1) {
    std::vector<std::string> command = {"search", program, "--records", runs};
    command.insert(command.end(), more.begin(), more.end());
    const ToolRun run = run_tool(command);
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
  };
  refused({}, "--size M=...,N=...");
  refused({"--size", "M=9,N=9", "--deterministic", "--budget", "5"}, "contradict");
  refused({"--size", "M=9,N=9", "--strategy", "annealing"}, "--strategy");
  refused({"--size", "M=9,N=9", "--trials", "0"}, "--trials");
  refused({"--size", "M=9,N=9", "--pin", "tile(\"serial\", k=9)"}, "no loop `k`");
  refused({"--size", "M=9,N=9", "-o", program}, "would replace an input");
  refused({"--size", "M=9,N=9", "--pin", "unroll(j=3)\norder(\"i\", \"j\")\norder(\"j\", \"i\")"}, "order", 2);
  EXPECT_FALSE(exists(runs));
  EXPECT_EQ(run_tool({"search", program, "--size", "M=9,N=9"}).exit_code, 1) << "--records is required";
  EXPECT_EQ(run_tool({"score", program, "--records", runs}).exit_code, 1) << "there is no such file";
  const ToolRun self =
      run_tool({"search", program, "--size", "M=20,N=20", "--records", program, "--trials", "1", "--seconds", "0.01"});
  EXPECT_EQ(self.exit_code, 1);
  EXPECT_EQ(read_text(program), add);
}

TEST(Bench, PlansBesideTheOriginal) {
  const Folder folder;
  folder.write("kernels/add.tile", std::string(add) + add_tuned);
  const ToolRun run = run_tool({"bench", folder / "kernels", "--size", "M=300,N=200", "--seconds", "0.01", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<std::string> names;
  const json plans = result_of(run).at("plans");
  for (const json& plan : plans) {
    names.push_back(plan.at("name"));
    EXPECT_GT(plan.at("seconds"), 0);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"original", "planned", "@tuned"}));
  const ToolRun table =
      run_tool({"bench", folder / "kernels", "--size", "M=50,N=50", "--seconds", "0.01", "--pin", "schedule(\"original\")"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("kernel  plan"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("--pin"), std::string::npos) << table.out;
}

TEST(Searchers, HelpShowsExamplesAndTheManualHasThem) {
  const ToolRun manual = run_tool({"man"}), completion = run_tool({"completion", "bash"});
  for (const char* command : {"enumerate", "score", "search", "bench"}) {
    const ToolRun help = run_tool({command, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.out.find("Examples:\n  tileopt-schedule " + std::string(command)), std::string::npos) << help.out;
    EXPECT_NE(manual.out.find(command), std::string::npos);
    EXPECT_NE(completion.out.find(command), std::string::npos);
  }
  EXPECT_NE(completion.out.find("evolutionary"), std::string::npos);
}

}  // namespace
}  // namespace tileopt::test
