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

}  // namespace
}  // namespace tileopt::test
