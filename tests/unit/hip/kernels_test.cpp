/// HIP of every kernel of the collection without a schedule: planned, proved, and where there is a clang that knows the architecture, compiled;
/// where there is Debian's HIP, compiled with its headers and device libraries too, to nearly the same registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "backends/hip/code_report.h"
#include "cost_models/machines.h"
#include "driver/device_report.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "support/process.h"
#include "tests/collection.h"

namespace tileopt::test {
namespace {

namespace fs = std::filesystem;

const fs::path kernels = fs::path(TILEOPT_SOURCE_DIR) / "benchmarks/kernels";

class HipKernelTest : public ::testing::TestWithParam<std::string> {
 protected:
  Module compile(const std::string& machine, bool proved) {
    const std::string file = GetParam() + ".tile";
    program_ = std::make_shared<const Program>(parse_tile_file(context_.get(), read_file((kernels / file).string()), file).programs.at(0));
    Request request;
    request.machine = find_machine(machine);
    request.backend = request.machine.backend;
    request.proof.attempt = proved;
    Trace trace({"", ""});
    Candidate<Outcome> outcome = resolve_and_compile(program_, request, trace);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) throw std::runtime_error(to_string(*refused));
    return std::move(std::get<Outcome>(outcome).module);
  }
  poly::Context context_;
  std::shared_ptr<const Program> program_;
};

TEST_P(HipKernelTest, IsProvedWithoutASchedule) {
  const Module module = compile("mi300x", true);
  EXPECT_EQ(unproved_text(module.certificate), "");
  if (const char* folder = std::getenv("TILEOPT_KEEP_HIP"))  // to look at
    write_file(std::string(folder) + "/" + GetParam() + ".hip", module.text.source);
}

/// Every printed kernel is reported, and keeps what it has in registers.
void expect_report(const DeviceReport& report, const Module& module, const Machine& machine) {
  std::size_t launches = 0;
  for (const PrintFacts& facts : module.text.facts) launches += facts.launches.size();
  ASSERT_EQ(report.kernels.size(), launches);
  for (const KernelResources& kernel : report.kernels) {
    EXPECT_GT(kernel.registers, 0) << kernel.kernel;
    EXPECT_EQ(kernel.spilled_bytes, 0) << kernel.kernel;
    EXPECT_LE(kernel.shared_bytes, machine.find_space("shared")->capacity) << kernel.kernel;
  }
}

TEST_P(HipKernelTest, ClangTakesTheText) {
  try {
    find_hip_compiler();
  } catch (const ToolchainError& error) {
    GTEST_SKIP() << error.what();
  }
  std::string missing;
  for (const char* name : {"mi210", "mi300x", "rx7900xtx"}) {
    SCOPED_TRACE(name);
    const Machine machine = find_machine(name);
    const Module module = compile(name, false);
    try {
      expect_report(report_device_code(*program_, module.text, machine), module, machine);
    } catch (const ToolchainError& error) {
      const std::string text = error.what();
      if (text.find("does not compile for") == std::string::npos) FAIL() << text;
      missing += (missing.empty() ? "" : "; ") + text.substr(0, text.find('\n'));
    }
  }
  if (!missing.empty()) GTEST_SKIP() << missing;
}

/// Other compilers and headers than those that all kernels are compiled by: a few kernels tell.
class HipHeadersTest : public HipKernelTest {};

/// HIP 5.2 knows gfx90a.
TEST_P(HipHeadersTest, HipccTakesTheText) {
  const std::string hipcc = find_program("hipcc");
  if (hipcc.empty()) GTEST_SKIP() << "no hipcc";
  const Module module = compile("mi210", false);
  const TemporaryDirectory folder;
  write_file(folder.path() + "/kernel.hip", module.text.source);
  const ProcessResult result = run_process({hipcc, "-std=c++17", "-fno-unroll-loops", "--offload-arch=gfx90a", "-c", "-o", folder.path() + "/kernel.o", folder.path() + "/kernel.hip"}, 300);
  EXPECT_TRUE(result.end == ProcessResult::End::exited && result.code == 0) << result.output;
}

/// Our declarations give nearly the code that HIP's own headers and libraries give, with one clang.
TEST_P(HipHeadersTest, DeclarationsAreAsGoodAsHipsHeaders) {
  const std::string libraries = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";
  const std::string clang = find_program("clang++-19");
  if (clang.empty() || !fs::exists("/usr/include/hip/hip_runtime.h") || !fs::exists(libraries)) GTEST_SKIP() << "clang-19 or Debian's HIP is not installed";
  const Module module = compile("mi210", false);
  const TemporaryDirectory folder;
  write_file(folder.path() + "/kernel.hip", module.text.source);
  const std::string contract = program_->numerics().contract ? "-ffp-contract=fast" : "-ffp-contract=off";
  const ProcessResult result = run_process({clang, "-x", "hip", "-std=c++17", "-O3", "-w", contract, "-fno-unroll-loops", "--offload-arch=gfx90a", "--cuda-device-only", "--rocm-path=/usr",
                                            "--rocm-device-lib-path=" + libraries, "-S", "-o", folder.path() + "/kernel.s", folder.path() + "/kernel.hip"}, 300);
  ASSERT_TRUE(result.end == ProcessResult::End::exited && result.code == 0) << result.output;
  const std::vector<KernelResources> theirs = read_amdgpu_metadata(read_file(folder.path() + "/kernel.s"));
  setenv("TILEOPT_HIP_CXX", clang.c_str(), 1);
  const std::vector<KernelResources> ours = report_hip_code(module.text, find_machine("mi210"), program_->numerics().contract).kernels;
  unsetenv("TILEOPT_HIP_CXX");
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t k = 0; k < ours.size(); ++k) {
    EXPECT_EQ(ours[k].kernel, theirs[k].kernel);
    EXPECT_NEAR(ours[k].registers, theirs[k].registers, 8) << ours[k].kernel << ": other declarations of vectors, another order of instructions";
    EXPECT_EQ(ours[k].spilled_bytes, theirs[k].spilled_bytes) << ours[k].kernel;
    EXPECT_EQ(ours[k].stack_bytes, theirs[k].stack_bytes) << ours[k].kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, HipKernelTest, ::testing::ValuesIn(suite_kernels()), [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Kernels, HipHeadersTest, ::testing::Values("softmax", "gemm", "transpose", "histogram", "top_k"), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tileopt::test
