/// What compilers of devices report, and why they cannot be asked.
#include "backends/hip/code_report.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "backends/cuda/runtime/ptxas_report.h"
#include "cost_models/machines.h"
#include "driver/device_report.h"
#include "support/document.h"
#include "support/process.h"

namespace tileopt::test {
namespace {

const char* const assembly = R"(
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .name:           N
        .offset:         0
        .value_kind:     by_value
    .group_segment_fixed_size: 512
    .name:           tileopt_kernel_0_0_a
    .private_segment_fixed_size: 24
    .vgpr_count:     34
    .vgpr_spill_count: 5
    .wavefront_size: 64
  - .args:
      - .name:           Y
    .group_segment_fixed_size: 0
    .name:           'tileopt_kernel_0_1_a'
    .private_segment_fixed_size: 0
    .vgpr_count:     7
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
    .vgpr_count:     99
...
)";

TEST(DeviceReport, OfAmdgpuMetadata) {
  const std::vector<KernelResources> kernels = read_amdgpu_metadata(assembly);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].kernel, "tileopt_kernel_0_0_a");
  EXPECT_EQ(kernels[0].registers, 34);
  EXPECT_EQ(kernels[0].spilled_bytes, 20);
  EXPECT_EQ(kernels[0].stack_bytes, 24);
  EXPECT_EQ(kernels[0].shared_bytes, 512);
  EXPECT_EQ(kernels[1].kernel, "tileopt_kernel_0_1_a");
  EXPECT_EQ(kernels[1].registers, 7);
  EXPECT_TRUE(read_amdgpu_metadata("").empty());
}

TEST(DeviceReport, OfPtxas) {
  const std::vector<KernelResources> kernels = cuda::read_ptxas_log(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'tileopt_kernel_0_0_a' for 'sm_90'
ptxas info    : Function properties for tileopt_kernel_0_0_a
    40 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 40 bytes cumulative stack size, 1024 bytes smem, 396 bytes cmem[0]
ptxas info    : Compiling entry function 'tileopt_kernel_0_1_a' for 'sm_90'
ptxas info    : Function properties for tileopt_kernel_0_1_a
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 18 registers, 384 bytes cmem[0]
)");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].kernel, "tileopt_kernel_0_0_a");
  EXPECT_EQ(kernels[0].registers, 255);
  EXPECT_EQ(kernels[0].spilled_bytes, 12);
  EXPECT_EQ(kernels[0].stack_bytes, 40);
  EXPECT_EQ(kernels[0].shared_bytes, 1024);
  EXPECT_EQ(kernels[1].registers, 18);
  EXPECT_EQ(kernels[1].shared_bytes, 0);
}

TEST(DeviceReport, IsPartOfTheCertificate) {
  Certificate certificate;
  EXPECT_FALSE(certificate.write().contains("device"));
  certificate.device = DeviceReport{"clang 19.1.7 for gfx942", read_amdgpu_metadata(assembly)};
  const Certificate read = Certificate::read(certificate.write(), "c.json");
  ASSERT_TRUE(read.device.has_value());
  EXPECT_EQ(read.write(), certificate.write());
  EXPECT_EQ(read.device->kernels.at(0).registers, 34);
  EXPECT_NE(device_report_text(*read.device).find("tileopt_kernel_0_0_a: 34 registers, 20 bytes spilled, 512 bytes of shared memory"), std::string::npos);
}

/// The reason why `source` is not compiled for the MI300X by a compiler that prints `output` and fails; or by the file `compiler`.
std::string reason(const std::string& output, std::string compiler = "", const std::string& machine = "mi300x") {
  const TemporaryDirectory folder;
  if (compiler.empty()) {
    compiler = folder.path() + "/clang++";
    write_file(compiler, "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'clang version 13.0.1'; exit 0; fi\necho \"" + output + "\"\nexit 1\n");
    chmod(compiler.c_str(), 0755);
  }
  const char* before = std::getenv("TILEOPT_HIP_CXX");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TILEOPT_HIP_CXX", compiler.c_str(), 1);
  std::string text = "no error";
  try {
    report_hip_code({}, find_machine(machine), false);
  } catch (const ToolchainError& error) {
    text = error.what();
  }
  setenv("TILEOPT_HIP_CXX", kept.c_str(), 1);
  return text;
}

TEST(HipCompiler, SaysWhyItCannotBeAsked) {
  EXPECT_NE(reason("", "/nowhere/clang++").find("TILEOPT_HIP_CXX names `/nowhere/clang++`, which is no executable file"), std::string::npos);
  const std::string old = reason("clang: error: invalid target ID 'gfx942'; format is a processor name followed by an optional colon-delimited list of features");
  EXPECT_NE(old.find("clang++ (13.0.1) does not compile for gfx942\n  hint: install a newer clang"), std::string::npos) << old;
  const std::string broken = reason("kernel.hip:3:1: error: expected unqualified-id");
  EXPECT_NE(broken.find("failed on generated code for gfx942"), std::string::npos) << broken;
  EXPECT_NE(broken.find("expected unqualified-id"), std::string::npos) << broken;
  EXPECT_NE(reason("", "", "h200").find("machine h200 names no architecture of AMD's"), std::string::npos);
}

TEST(HipCompiler, AnotherWaveThanTheMachineFilesIsRefused) {
  Machine machine = find_machine("rx7900xtx");
  machine.multiprocessor->warp = 64;
  SourceText text;
  text.source = "#include <hip/hip_runtime.h>\nextern \"C\" __global__ void empty() {}\n";
  try {
    report_hip_code(text, machine, false);
    FAIL() << "no error";
  } catch (const ToolchainError& error) {
    const std::string what = error.what();
    if (what.find("no clang on PATH") != std::string::npos || what.find("does not compile for") != std::string::npos) GTEST_SKIP() << what;
    EXPECT_NE(what.find("clang compiles gfx1100 for waves of 32, the machine file rx7900xtx has 64"), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace tileopt::test
