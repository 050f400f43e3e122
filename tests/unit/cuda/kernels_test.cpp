/// CUDA of every kernel of the collection without a schedule: planned, proved, and where there is an nvcc, compiled.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "tests/collection.h"

namespace tileopt::test {
namespace {

namespace fs = std::filesystem;

const fs::path kernels = fs::path(TILEOPT_SOURCE_DIR) / "benchmarks/kernels";

std::string find_nvcc() {
  for (const char* path : {"/usr/local/cuda/bin/nvcc", "/usr/bin/nvcc"})
    if (fs::exists(path)) return path;
  return "";
}

class CudaKernelTest : public ::testing::TestWithParam<std::string> {
 protected:
  Outcome compile(const std::string& machine) {
    const std::string file = GetParam() + ".tile";
    const auto program = std::make_shared<const Program>(parse_tile_file(context_.get(), read_file((kernels / file).string()), file).programs.at(0));
    Request request;
    request.machine = find_machine(machine);
    request.backend = request.machine.backend;
    Trace trace({"", ""});
    Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) throw std::runtime_error(to_string(*refused));
    return std::get<Outcome>(std::move(outcome));
  }
  poly::Context context_;
};

TEST_P(CudaKernelTest, IsProvedWithoutASchedule) {
  const Outcome outcome = compile("h200");
  EXPECT_EQ(unproved_text(outcome.module.certificate), "");
  const char* folder = std::getenv("TILEOPT_KEEP_CUDA");  // to look at
  if (folder == nullptr) return;
  std::string reasons;
  for (const std::string& reason : outcome.reasons) reasons += reason + "\n";
  write_file(std::string(folder) + "/" + GetParam() + ".cu", outcome.module.text.source);
  write_file(std::string(folder) + "/" + GetParam() + ".txt", reasons);
}

TEST_P(CudaKernelTest, Compiles) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "no nvcc";
  const Outcome outcome = compile("h200");
  const fs::path file = fs::temp_directory_path() / ("tileopt_cuda_" + GetParam() + "_" + std::to_string(getpid()));
  write_file(file.string() + ".cu", outcome.module.text.source);
  const std::string command = nvcc + " -std=c++17 -gencode=arch=compute_90a,code=sm_90a -c -o " + file.string() + ".o " + file.string() + ".cu > " + file.string() + ".log 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_file(file.string() + ".log");
  for (const char* extension : {".cu", ".o", ".log"}) {
    std::error_code ignored;
    fs::remove(file.string() + extension, ignored);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CudaKernelTest, ::testing::ValuesIn(suite_kernels()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tileopt::test
