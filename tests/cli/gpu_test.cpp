// Kernels of GPUs as a user meets them where there is no GPU: in the emulator, and refused with the reason.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

TEST(CheckEmulate, AgreesWithTheInterpreter) {
  const ToolRun run = run_tool({"check", "--emulate", kernel_file("transpose"), "--machine", "h200", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json result = nlohmann::json::parse(run.out)["results"][0];
  EXPECT_GT(result["runs"].get<int>(), 8);
  const ToolRun shown = run_tool({"check", "--emulate", kernel_file("transpose"), "--machine", "h200", "--size", "M=33,N=5"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_NE(shown.err.find("emulated: agrees with the interpreter in 4 runs at 1 size vector"), std::string::npos) << shown.err;
}

TEST(CheckEmulate, IsForGpusOnly) {
  const ToolRun run = run_tool({"check", "--emulate", kernel_file("transpose"), "--machine", "x86-64-v3"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("--emulate runs kernels of GPUs; machine x86-64-v3 is a processor [invalid-option]"), std::string::npos) << run.err;
}

TEST(CheckEmulate, ExcludesStages) { EXPECT_EQ(run_tool({"check", "--emulate", "--stages", kernel_file("transpose")}).exit_code, 1); }

TEST(Gpu, WithoutADriverIsExit4WithTheReason) {
  for (const char* command : {"check", "run", "bench", "measure", "search"}) {
    SCOPED_TRACE(command);
    const Folder folder;
    const ToolRun run = run_shell(std::string("TILEOPT_LIBCUDA=/nowhere/libcuda.so.1 tileopt-schedule ") + command + " " + kernel_file("transpose") + " --machine h200" + (std::string(command) == "measure" || std::string(command) == "search" ? " --size M=64,N=64 --records r.jsonl" : ""), folder.path());
    EXPECT_EQ(run.exit_code, 4) << run.err;
    EXPECT_NE(run.err.find("no NVIDIA driver: /nowhere/libcuda.so.1"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("hint: run this on a machine with an NVIDIA GPU"), std::string::npos) << run.err;
  }
}

TEST(Hip, IsWrittenAsOneFileAndItsHeader) {
  const Folder folder;
  const ToolRun run = run_tool({"compile", kernel_file("transpose"), "--machine", "mi300x", "-o", folder.path() + "/"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(files_below(folder.path()), (std::vector<std::string>{"transpose.h", "transpose.hip"}));
}

TEST(Hip, RunsInTheEmulatorWithItsWave) {
  for (const char* machine : {"mi300x", "rx7900xtx"}) {
    const ToolRun run = run_tool({"check", "--emulate", kernel_file("softmax"), "--machine", machine, "--size", "R=3,N=70"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.err.find("emulated: agrees with the interpreter"), std::string::npos) << run.err;
  }
}

TEST(Hip, HasNoRuntimeAndSaysSo) {
  for (const char* command : {"check", "run", "bench", "measure", "search"}) {
    SCOPED_TRACE(command);
    const Folder folder;
    const bool records = std::string(command) == "measure" || std::string(command) == "search";
    const ToolRun run = run_shell(std::string("tileopt-schedule ") + command + " " + kernel_file("transpose") + " --machine mi210" + (records ? " --size M=64,N=64 --records r.jsonl" : ""), folder.path());
    EXPECT_EQ(run.exit_code, 4) << run.err;
    EXPECT_NE(run.err.find("kernels for mi210 are printed, proved and emulated, but not run: tileopt has no runtime for AMD's GPUs"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("hint: `check --emulate` runs them on the host"), std::string::npos) << run.err;
  }
}

TEST(Hip, APlanForAnotherMachineIsRefused) {
  const Folder folder;
  ASSERT_EQ(run_tool({"compile", kernel_file("transpose"), "--machine", "mi300x", "--dump-dir", folder / "D", "-o", folder / "t.hip"}).exit_code, 0);
  const ToolRun run = run_tool({"compile", kernel_file("transpose"), "--plan", folder / "D/plan.json", "--machine", "h200"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("the plan is for machine `mi300x`, not `h200`"), std::string::npos) << run.err;
  const ToolRun backend = run_tool({"compile", kernel_file("transpose"), "--machine", "mi300x", "--backend", "cuda"});
  EXPECT_EQ(backend.exit_code, 1);
  EXPECT_NE(backend.err.find("machine `mi300x` is for backend `hip`, not `cuda`"), std::string::npos) << backend.err;
}

/// What fits the shared memory of an H200's block and not of an MI300X's.
TEST(Hip, APlanThatDoesNotFitIsRefusedWithTheBytes) {
  const Folder folder;
  const std::string program = folder.write("scale.tile", "def scale(X: f32[M, N], Y: out[f32[M, N]]):\n    for i, j in grid(M, N):\n        Y[i, j] = 2.0 * X[i, j]\n");
  const ToolRun first = run_tool({"compile", program, "--machine", "h200", "--pin", "tile(\"block\", i=128, j=256)", "--pin", "promote(X, \"shared\", after=\"jb\")", "--dump-dir", folder / "D", "-o", folder / "s.cu"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  nlohmann::json plan = nlohmann::json::parse(read_text(folder / "D/plan.json"));
  plan["machine"] = "mi300x";
  const ToolRun run = run_tool({"compile", program, "--plan", folder.write("plan.json", plan.dump())});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("the arrays together need 128 KiB of \"shared\" beside 64 KiB available [capacity]"), std::string::npos) << run.err;
}

TEST(DeviceReport, NeedsACompilerOfTheDevice) {
  const Folder folder;
  const ToolRun run = run_shell("TILEOPT_HIP_CXX=/nowhere/clang++ tileopt-schedule compile " + kernel_file("transpose") + " --machine mi300x --device-report", folder.path());
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_NE(run.err.find("TILEOPT_HIP_CXX names `/nowhere/clang++`"), std::string::npos) << run.err;
  const ToolRun processor = run_tool({"compile", kernel_file("transpose"), "--machine", "x86-64-v3", "--device-report"});
  EXPECT_EQ(processor.exit_code, 1);
  EXPECT_NE(processor.err.find("--device-report is about kernels of GPUs; machine x86-64-v3 is a processor [invalid-option]"), std::string::npos) << processor.err;
}

TEST(DeviceReport, IsInTheCertificate) {
  for (const char* machine : {"mi210", "h200"}) {
    const Folder folder;
    const ToolRun run = run_tool({"compile", kernel_file("transpose"), "--machine", machine, "--device-report", "-o", folder.path() + "/", "--certificate", folder / "c.json"});
    if (run.exit_code == 4) continue;  // neither clang nor NVRTC have to be here
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const nlohmann::json device = nlohmann::json::parse(read_text(folder / "c.json"))["device"];
    EXPECT_GT(device["kernels"][0]["registers"].get<int>(), 0) << device;
  }
}

}  // namespace
}  // namespace tileopt::test
