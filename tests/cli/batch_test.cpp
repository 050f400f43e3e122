// Batches: many files for many machines, kept where nothing changed, whole after any end.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

using Json = nlohmann::ordered_json;

const char* const scale = "def scale(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = f32(2) * A[i]\n";
const char* const shift = "def shift(A: f32[M], B: out[f32[M]]):\n    for i in range(M):\n        B[i] = f32(2) + A[i]\n";

// What index.json says of a program on a machine; null where it says nothing.
Json entry(const Json& index, const std::string& program, const std::string& machine) {
  for (const Json& result : index["results"])
    if (result["program"] == program && result["machine"] == machine) return result;
  return nullptr;
}

class Batch : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("in/scale.tile", scale);
    folder_.write("in/shift.tile", shift);
  }
  ToolRun batch(const std::vector<std::string>& more = {}, const std::string& machines = "x86-64-v3,h100") {
    std::vector<std::string> arguments = {"compile", folder_ / "in", "--machines", machines, "--jobs", "2", "-o", folder_ / "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments);
  }
  // Some that take a while.
  void add_kernels() {
    for (const char* name : {"rope", "fft_stage", "lu", "moe_combine", "levenshtein", "embedding", "transpose", "cumsum"})
      folder_.write(std::string("in/") + name + ".tile", read_text(kernel_file(name)));
  }
  Json index() const { return Json::parse(read_text(folder_ / "out/index.json")); }
  // Programs and machines that the last run kept.
  int kept() const {
    const Json all = index();
    int count = 0;
    for (const Json& result : all["results"]) count += result["kept"] == true ? 1 : 0;
    return count;
  }
  Folder folder_;
};

TEST_F(Batch, WritesWhatSingleRunsWriteAndAnIndex) {
  const ToolRun run = batch();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(files_below(folder_ / "out"), (std::vector<std::string>{".batch.lock", "batch.jsonl", "h100/scale.cu", "h100/scale.h", "h100/scale.json", "h100/shift.cu", "h100/shift.h",
                                                                    "h100/shift.json", "index.json", "index.txt", "x86-64-v3/scale.c", "x86-64-v3/scale.h", "x86-64-v3/scale.json",
                                                                    "x86-64-v3/shift.c", "x86-64-v3/shift.h", "x86-64-v3/shift.json"}));
  ASSERT_EQ(run_tool({"compile", folder_ / "in/scale.tile", "-m", "h100", "-o", folder_ / "one.cu"}).exit_code, 0);
  EXPECT_EQ(read_text(folder_ / "one.cu"), read_text(folder_ / "out/h100/scale.cu"));
  EXPECT_EQ(index()["done"], 4);
  EXPECT_EQ(entry(index(), "shift", "h100")["status"], "done");
  EXPECT_TRUE(entry(index(), "shift", "h100")["outputs"].contains("h100/shift.cu"));
  EXPECT_EQ(run.out.substr(0, 7), "program");
  EXPECT_NE(run.out.find("x86-64-v3"), std::string::npos) << run.out;
  EXPECT_EQ(read_text(folder_ / "out/index.txt"), run.out);
}

TEST_F(Batch, KeepsWhatHasNotChanged) {
  ASSERT_EQ(batch().exit_code, 0);
  const std::string before = read_text(folder_ / "out/h100/scale.cu");
  EXPECT_EQ(batch().exit_code, 0);
  EXPECT_EQ(kept(), 4);
  EXPECT_NE(read_text(folder_ / "out/index.txt").find("kept"), std::string::npos);
  // The text, an output that was touched or is gone, pins, a further machine.
  folder_.write("in/shift.tile", std::string(shift) + "# no word of the program\n");
  EXPECT_EQ(batch().exit_code, 0);
  EXPECT_EQ(kept(), 2);
  folder_.write("out/h100/scale.cu", "edited");
  EXPECT_EQ(batch().exit_code, 0);
  EXPECT_EQ(kept(), 3);
  EXPECT_EQ(read_text(folder_ / "out/h100/scale.cu"), before);
  ASSERT_EQ(unlink((folder_ / "out/x86-64-v3/scale.h").c_str()), 0);
  EXPECT_EQ(batch().exit_code, 0);
  EXPECT_EQ(kept(), 3);
  EXPECT_EQ(batch({}, "x86-64-v3,h100,mi300x").exit_code, 0);
  EXPECT_EQ(kept(), 4);
  EXPECT_EQ(batch({"--prove", "none"}).exit_code, 0);
  EXPECT_EQ(kept(), 0);
}

TEST_F(Batch, ABadFileDoesNotStopTheOthersAndItsOldOutputsGo) {
  folder_.write("in/bad.tile", "def bad(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i]\n");
  ASSERT_EQ(batch().exit_code, 0);
  ASSERT_TRUE(exists(folder_ / "out/h100/bad.cu"));
  folder_.write("in/bad.tile", "def bad(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i + 1]\n");
  const ToolRun run = batch();
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(kept(), 4);
  EXPECT_FALSE(exists(folder_ / "out/h100/bad.cu"));
  const std::string message = "bad.tile:3:18: error:";
  ASSERT_NE(run.err.find(message), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(message), run.err.rfind(message)) << "once, not for every machine: " << run.err;
  EXPECT_NE(run.err.find("4 of 6 done, 2 failed:\n  2 error out-of-bounds: "), std::string::npos) << run.err;
  EXPECT_EQ(index()["failures"][0]["reason"], "error out-of-bounds");
  EXPECT_EQ(index()["failures"][0]["count"], 2);
  EXPECT_EQ(index()["exit_code"], 1);
  EXPECT_EQ(entry(index(), "", "h100")["diagnostics"][0]["line"], 3);
}

TEST_F(Batch, FailuresAreCountedByTheirReason) {
  const ToolRun run = batch({"--pin", "unroll(\"i\")"}, "x86-64-v3,mi300x");
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_NE(run.err.find(" infeasible "), std::string::npos) << run.err;
  EXPECT_EQ(entry(index(), "scale", "mi300x")["status"], "infeasible");
  const int before = static_cast<int>(index()["results"].size());
  EXPECT_EQ(batch({"--pin", "unroll(\"i\")"}, "x86-64-v3,mi300x").exit_code, 2) << "a refusal that is kept is still one";
  EXPECT_EQ(kept(), before);
}

TEST_F(Batch, OneProgramOfMany) {
  EXPECT_EQ(batch({"--program", "shift"}).exit_code, 0);
  EXPECT_EQ(index()["done"], 2);
  EXPECT_FALSE(exists(folder_ / "out/h100/scale.cu"));
  const ToolRun run = batch({"--program", "shfit"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("no program `shfit` in the input"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("did you mean `shift`?"), std::string::npos) << run.err;
}

TEST_F(Batch, AWorkerThatIsKilledIsOneFailure) {
  folder_.write("in/top_k.tile", read_text(kernel_file("top_k")));  // takes seconds for a GPU
  const ToolRun run = run_shell("tileopt-schedule compile in --machines h100 --jobs 1 -o out & p=$!\n"
                                "for i in $(seq 600); do [ -e out/h100/shift.json ] && [ -n \"$(cat /proc/$p/task/$p/children)\" ] && break; sleep 0.02; done\n"
                                "sleep 0.2; kill -KILL $(cat /proc/$p/task/$p/children); wait $p; exit $?", folder_.path());
  EXPECT_EQ(run.exit_code, 70) << run.err;
  EXPECT_NE(run.err.find("top_k.tile on h100: its process was ended by signal 9"), std::string::npos) << run.err;
  EXPECT_EQ(index()["done"], 2);
}

TEST_F(Batch, TwoFilesWithOneProgram) {
  folder_.write("in/zz.tile", scale);
  const ToolRun run = batch();
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("program `scale` is declared in "), std::string::npos) << run.err;
  EXPECT_EQ(index()["done"], 4);
  EXPECT_EQ(batch().exit_code, 1);
  EXPECT_EQ(kept(), 4);
}

TEST_F(Batch, AWorkerThatCrashesIsOneFailure) {
  const ToolRun run = run_shell("TILEOPT_TEST_FAIL=60-ast TILEOPT_REPORT_DIR=. tileopt-schedule compile in --machines x86-64-v3 --jobs 1 -o out", folder_.path());
  EXPECT_EQ(run.exit_code, 70) << run.err;
  EXPECT_NE(run.err.find("2 internal error: "), std::string::npos) << run.err;
  EXPECT_EQ(batch({}, "x86-64-v3").exit_code, 0) << "faults are tried again";
  EXPECT_EQ(kept(), 0);
}

TEST_F(Batch, OptionsThatDoNotFitAreRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--machine", "h100"}, "excludes"}, {{"--dump-dir", "d"}, "excludes"}, {{"--plan", "plan.json"}, "a plan is for one machine"}, {{"--size", "NOPE=3"}, "no program has a size `NOPE`"}};
  for (const auto& [more, message] : wrong) {
    const ToolRun run = batch(more);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
  }
  EXPECT_NE(batch({}, "h100,h100").err.find("`h100` is given twice"), std::string::npos);
  EXPECT_NE(batch({}, "h100,").err.find("a name is missing"), std::string::npos);
  EXPECT_NE(batch({}, "h10").err.find("unknown-machine"), std::string::npos);
  EXPECT_NE(run_tool({"compile", folder_ / "in", "--machines", "h100"}).err.find("--output"), std::string::npos);
  EXPECT_FALSE(exists(folder_ / "out")) << "nothing is made before the options are known to fit";
}

TEST_F(Batch, WhatIsDoneOutlivesAnyEnd) {
  add_kernels();
  const std::string command = "tileopt-schedule compile in --machines x86-64-v3,h100 --jobs 2 -o ";
  ASSERT_EQ(run_shell(command + "whole", folder_.path()).exit_code, 0);
  int done = 0;
  for (const std::string signal : {"INT", "KILL", "TERM"}) {
    // Once it has done something more.
    const std::string enough = std::to_string(done + 2);
    const ToolRun run = run_shell(command + "out >log 2>&1 & p=$!\n"
                                  "for i in $(seq 600); do [ $(grep -c . out/batch.jsonl 2>/dev/null || true) -ge " + enough + " ] 2>/dev/null && break; sleep 0.02; done\n"
                                  "kill -" + signal + " $p; wait $p; exit $?", folder_.path());
    EXPECT_EQ(run.exit_code, 128 + (signal == "INT" ? SIGINT : signal == "TERM" ? SIGTERM : SIGKILL)) << run.err;
    // Lines that were written whole are results that need not be made again.
    const std::string journal = read_text(folder_ / "out/batch.jsonl");
    const int lines = static_cast<int>(std::count(journal.begin(), journal.end(), '\n'));
    EXPECT_GT(lines, done);
    done = lines;
    if (signal != "KILL") {
      EXPECT_EQ(index()["done"].get<int>(), lines);
    }
  }
  EXPECT_GT(done, 0);
  folder_.write("out/batch.jsonl", read_text(folder_ / "out/batch.jsonl") + "{\"format\":\"tileopt-batch/1\",\"file\":");  // as a full disk leaves it
  ASSERT_EQ(run_shell(command + "out", folder_.path()).exit_code, 0);
  EXPECT_EQ(kept(), done);
  for (const std::string& file : files_below(folder_ / "whole")) {
    if (!file.ends_with(".c") && !file.ends_with(".cu") && !file.ends_with(".h")) continue;
    EXPECT_EQ(read_text(folder_ / ("whole/" + file)), read_text(folder_ / ("out/" + file))) << file;
  }
}

TEST_F(Batch, OneAtATimeInAFolder) {
  for (const char* name : {"softmax", "top_k"}) folder_.write(std::string("in/") + name + ".tile", read_text(kernel_file(name)));
  const ToolRun run = run_shell("tileopt-schedule compile in --machines h100 --jobs 1 -o out >first 2>&1 & sleep 0.3\n"
                                "timeout 20 tileopt-schedule compile in --machines h100 --jobs 1 -o out; code=$?\nkill $! 2>/dev/null; wait; exit $code", folder_.path());
  if (run.exit_code == 0) GTEST_SKIP() << "the first was done too soon";
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.err.find("another batch writes into this folder"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace tileopt::test
