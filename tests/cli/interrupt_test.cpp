// Ctrl-C at any moment leaves whole files or none.
#include <gtest/gtest.h>

#include <csignal>
#include <map>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

TEST(Interrupt, LeavesNoPartialOutput) {
  const Folder folder;
  for (const char* name : {"batched_gemm_bias_gelu", "cholesky", "conv2d", "cumsum", "gemm", "gemm_bf16", "heat_3d", "layernorm", "nussinov", "softmax", "transpose"})
    folder.write(std::string("kernels/") + name + ".tile", read_text(kernel_file(name)));
  const std::string kernels = folder / "kernels";
  ASSERT_EQ(run_tool({"compile", kernels, "-o", folder / "whole", "--machine", "x86-64-v3", "--dump-dir", folder / "dumps"}).exit_code, 0);
  std::map<std::string, std::string> whole;
  for (const std::string& file : files_below(folder / "whole")) whole[file] = read_text(folder / ("whole/" + file));
  ASSERT_FALSE(whole.empty());

  int interrupted = 0;
  for (int i = 0; i < 16; ++i) {
    const std::string output = folder / ("cut" + std::to_string(i));
    const int signal = i % 2 == 0 ? SIGINT : SIGTERM;
    const ToolRun run = interrupt_tool({"compile", kernels, "-o", output, "--machine", "x86-64-v3", "--dump-dir", output + "_dumps"}, signal, 5 + 60 * i);
    if (run.exit_code != 0) {
      EXPECT_EQ(run.exit_code, 128 + signal) << run.err;
      ++interrupted;
    }
    for (const std::string& file : files_below(output)) {
      ASSERT_TRUE(whole.contains(file)) << file;
      EXPECT_EQ(read_text(output + "/" + file), whole[file]) << file;
    }
    for (const std::string& file : files_below(output + "_dumps")) {
      if (file.ends_with("timing.tsv") || file.ends_with("certificate.json")) continue;
      EXPECT_EQ(read_text(output + "_dumps/" + file), read_text(folder / ("dumps/" + file))) << file;
    }
  }
  EXPECT_GE(interrupted, 4);
}

}  // namespace
}  // namespace tileopt::test
