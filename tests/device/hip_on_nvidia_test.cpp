// Printed HIP for waves of 32 lanes, compiled by nvcc through a header that maps HIP's runtime to CUDA's, on this machine's NVIDIA GPU: every
// kernel of the collection agrees with the interpreter. It needs nvcc and a GPU, and is skipped by name without them.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "backends/runner/argument_bytes.h"
#include "backends/runner/call_arguments.h"
#include "backends/runner/isolated_kernel.h"
#include "cost_models/machines.h"
#include "driver/check_kernel.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "support/process.h"

namespace tileopt::test {
namespace {

namespace fs = std::filesystem;

const std::string root = std::getenv("TILEOPT_TEST_ROOT") != nullptr ? std::getenv("TILEOPT_TEST_ROOT") : TILEOPT_SOURCE_DIR;

std::string find_nvcc() {
  for (const char* name : {"/usr/local/cuda/bin/nvcc", "nvcc"})
    if (const std::string path = find_program(name); !path.empty()) return path;
  return "";
}

/// Calls the launcher on the device: arrays are copied there and back, with a guard of bytes behind each.
const char* const host_side = R"(
extern "C" int tileopt_gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}
/* The launcher's code; -1: an error of the device, whose text is left in `error`; -2 - i: the bytes behind array i have changed. */
extern "C" int tileopt_on_device(const int64_t* sizes, int count, void** arrays, const int64_t* bytes, const int* by_value, const char** error) {
  const int guard = 4096;
  void** places = new void*[count];
  unsigned char* pattern = new unsigned char[guard];
  memset(pattern, 0xa5, guard);
  for (int i = 0; i < count; ++i) {
    places[i] = arrays[i];
    if (by_value[i]) continue;
    cudaMalloc(&places[i], bytes[i] + guard);
    cudaMemcpy(places[i], arrays[i], bytes[i], cudaMemcpyHostToDevice);
    cudaMemcpy((unsigned char*)places[i] + bytes[i], pattern, guard, cudaMemcpyHostToDevice);
  }
  const int64_t needed = tileopt_workspace(sizes);
  void* workspace = nullptr;
  if (needed > 0) cudaMalloc(&workspace, needed);
  int code = tileopt_call(sizes, places, workspace);
  if (cudaDeviceSynchronize() != cudaSuccess) code = -1;
  unsigned char* seen = new unsigned char[guard];
  for (int i = 0; i < count && code == 0; ++i) {
    if (by_value[i]) continue;
    cudaMemcpy(arrays[i], places[i], bytes[i], cudaMemcpyDeviceToHost);
    cudaMemcpy(seen, (unsigned char*)places[i] + bytes[i], guard, cudaMemcpyDeviceToHost);
    if (memcmp(seen, pattern, guard) != 0) code = -2 - i;
  }
  for (int i = 0; i < count; ++i)
    if (!by_value[i]) cudaFree(places[i]);
  cudaFree(workspace);
  if (cudaPeekAtLastError() != cudaSuccess && code >= 0) code = -1;
  *error = cudaGetErrorString(cudaGetLastError());
  delete[] seen;
  delete[] pattern;
  delete[] places;
  return code;
}
)";

class HipOnNvidia : public IsolatedKernel {
 public:
  HipOnNvidia(const Program& program, const SourceText& text, const std::string& nvcc) : signature_(make_signature(program, {})) {
    const std::string source = folder_.path() + "/kernel.cu", object = folder_.path() + "/kernel.so";
    write_file(source, text.source + call_functions(signature_, "extern \"C\" ", {"nullptr"}) + host_side);
    const std::string contract = program.numerics().contract ? "--fmad=true" : "--fmad=false";
    const ProcessResult result = run_process({nvcc, "-std=c++17", contract, "-arch=sm_90", "-I", root + "/tests/device/hip_on_cuda", "-Xcompiler", "-fPIC", "-shared",
                                              "-o", object, source}, 300);
    if (result.end != ProcessResult::End::exited || result.code != 0) throw ToolchainError(result.output);
    handle_ = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw ToolchainError(dlerror());
  }
  ~HipOnNvidia() override { dlclose(handle_); }

  int gpus() const { return function<int()>("tileopt_gpus")(); }

  IsolatedRun run_isolated(const Sizes& sizes, Arrays& arguments, double) const override {
    const std::vector<std::int64_t> values = size_values(signature_, sizes);
    std::vector<std::vector<std::byte>> bytes;
    for (const TensorArgument& argument : signature_.arguments) bytes.push_back(lay_out(argument, array_for(argument, arguments, sizes), sizes));
    std::vector<void*> places;
    std::vector<std::int64_t> lengths;
    std::vector<int> by_value;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      places.push_back(bytes[i].data());
      lengths.push_back(static_cast<std::int64_t>(bytes[i].size()));
      by_value.push_back(signature_.arguments[i].by_value);
    }
    const char* error = "";
    const auto call = function<int(const std::int64_t*, int, void**, const std::int64_t*, const int*, const char**)>("tileopt_on_device");
    const int code = call(values.data(), static_cast<int>(bytes.size()), places.data(), lengths.data(), by_value.data(), &error);
    if (code == -1) return {IsolatedRun::End::crashed, 0, error};
    if (code < -1) return {IsolatedRun::End::overrun, 0, signature_.arguments.at(static_cast<std::size_t>(-2 - code)).tensor};
    if (code > 0) return {IsolatedRun::End::refused, code, error};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const TensorArgument& argument = signature_.arguments[i];
      if (argument.written() && !take_back(argument, bytes[i], sizes, arguments.at(argument.tensor))) return {IsolatedRun::End::overrun, 0, argument.tensor};
    }
    return {};
  }

 private:
  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(handle_, name));
  }
  TemporaryDirectory folder_;
  Signature signature_;
  void* handle_ = nullptr;
};

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root + "/benchmarks/kernels"))
    if (entry.path().extension() == ".tile") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class HipOnNvidiaTest : public ::testing::TestWithParam<std::string> {};

TEST_P(HipOnNvidiaTest, AgreesWithTheInterpreter) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "no nvcc";
  poly::Context context;
  const std::string file = GetParam() + ".tile";
  const auto program = std::make_shared<const Program>(parse_tile_file(context.get(), read_file(root + "/benchmarks/kernels/" + file), file).programs.at(0));
  Request request;
  request.machine = find_machine("rx7900xtx");
  request.backend = request.machine.backend;
  request.proof.attempt = false;
  Trace trace({"", ""});
  const Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
  ASSERT_TRUE(feasible(outcome)) << to_string(std::get<Infeasible>(outcome));
  const HipOnNvidia kernel(*program, std::get<Outcome>(outcome).module.text, nvcc);
  if (kernel.gpus() == 0) GTEST_SKIP() << "the text compiles; there is no NVIDIA GPU to run it";
  const CheckReport report = check_kernels(*program, {&kernel}, spread_sizes(*program, timing_check_spread()), 11);
  EXPECT_EQ(report.failure, "");
  EXPECT_GT(report.runs, 0);
}

INSTANTIATE_TEST_SUITE_P(Kernels, HipOnNvidiaTest, ::testing::ValuesIn(kernel_names()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tileopt::test
