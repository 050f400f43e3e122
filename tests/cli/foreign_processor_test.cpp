// Kernels of a processor that this one is not: compiled by a cross compiler, run by an emulator of its programs.
#include <gtest/gtest.h>

#include "support/process.h"
#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

const char* const neon = "TILEOPT_CC=aarch64-linux-gnu-gcc TILEOPT_RUN_WITH='qemu-aarch64 -L /usr/aarch64-linux-gnu' ";

class Neon : public ::testing::TestWithParam<const char*> {};

TEST_P(Neon, AgreesWithTheInterpreter) {
  if (find_program("aarch64-linux-gnu-gcc").empty() || find_program("qemu-aarch64").empty()) GTEST_SKIP() << "needs gcc-aarch64-linux-gnu and qemu-user";
  const Folder folder;
  const ToolRun run = run_shell(std::string(neon) + "tileopt-schedule check --machine neoverse-n1 " + kernel_file(GetParam()), folder.path());
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE((run.out + run.err).find("proved; agrees with the interpreter"), std::string::npos) << run.out << run.err;
}
INSTANTIATE_TEST_SUITE_P(Kernels, Neon, ::testing::Values("gemm", "gemm_int8", "conv2d", "softmax", "layernorm", "transpose", "jacobi_2d", "top_k"));

TEST(ForeignProcessor, AnEmulatorThatIsNotThereIsSaid) {
  const Folder folder;
  const ToolRun run = run_shell("TILEOPT_RUN_WITH='no-such-emulator -x' tileopt-schedule check " + kernel_file("transpose"), folder.path());
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  EXPECT_NE(run.err.find("TILEOPT_RUN_WITH begins with `no-such-emulator`"), std::string::npos) << run.out << run.err;
}

TEST(ForeignProcessor, IsNotTimedHere) {
  const Folder folder;
  const ToolRun run = run_shell("TILEOPT_RUN_WITH=/usr/bin/env tileopt-schedule run " + kernel_file("transpose") + " --size M=64,N=64", folder.path());
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  EXPECT_NE(run.err.find("they are not timed here"), std::string::npos) << run.out << run.err;
}

}  // namespace
}  // namespace tileopt::test
