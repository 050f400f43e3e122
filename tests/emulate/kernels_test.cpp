// What is printed for GPUs, in the emulator: every handed case and kernel of the collection agrees with the interpreter; texts with a guard
// or a barrier taken away are reported with their line and their kernel of the Plan.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "backends/cuda/runtime/nvrtc.h"
#include "backends/runner/emulated_kernel.h"
#include "backends/runner/plan_context.h"
#include "cost_models/machines.h"
#include "driver/check_kernel.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "support/text.h"
#include "tests/collection.h"

namespace tileopt::test {
namespace {

namespace fs = std::filesystem;

const std::string root = TILEOPT_SOURCE_DIR;

std::vector<std::string> programs() {
  // Wrong on purpose or too large; and causal_softmax, whose schedule for a GPU takes minutes.
  const std::set<std::string> left_out = {"error_bounds", "error_shape", "error_uninitialised", "wide_index", "causal_softmax"};
  std::vector<std::string> names;
  for (const std::string folder : {"tests/cases", "benchmarks/kernels"})
    for (const auto& entry : fs::directory_iterator(root + "/" + folder))
      if (entry.path().extension() == ".tile" && left_out.count(entry.path().stem().string()) == 0) names.push_back(folder + "/" + entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Emulate : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<const Program> parse(const std::string& name) {
    const std::string file = root + "/" + name + ".tile";
    return std::make_shared<const Program>(parse_tile_file(context_.get(), read_file(file), file).programs.at(0));
  }
  /// The module for a machine; none where it refuses the program.
  std::optional<Module> compile(const std::shared_ptr<const Program>& program, const std::string& machine = "h200") {
    Request request;
    request.machine = find_machine(machine);
    request.backend = request.machine.backend;
    request.proof.attempt = false;
    Trace trace;
    Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) {
      ADD_FAILURE() << to_string(*refused);
      return std::nullopt;
    }
    return std::move(std::get<Outcome>(outcome).module);
  }
  CheckReport check(const Program& program, const SourceText& text, const SizeSpread& spread, const std::string& machine = "h200") {
    const EmulatedKernel kernel = EmulatedKernel::compile(program, text);
    std::vector<EmulatedKernel> settings;
    for (const emulator::Settings& setting : check_settings(find_machine(machine), 5)) settings.push_back(kernel.with(setting));
    return check_kernels(program, {&settings[0], &settings[1]}, spread_sizes(program, spread), 7, 0);
  }
  poly::Context context_;
};

TEST_P(Emulate, AgreesWithTheInterpreter) {
  const std::shared_ptr<const Program> program = parse(GetParam());
  const std::optional<Module> module = compile(program);
  if (!module) return;
  const CheckReport report = check(*program, module->text, {{0, 1, 3, 33, 70}, 4, std::int64_t(1) << 15});
  EXPECT_EQ(report.failure, "");
  EXPECT_GT(report.runs, 0);
}

/// The device code of kernels, for NVIDIA's own compiler.
class EmulateNvrtc : public Emulate {};

TEST_P(EmulateNvrtc, TakesTheDeviceCode) {
  const std::shared_ptr<const Program> program = parse(GetParam());
  const std::optional<Module> module = compile(program);
  if (!module) return;
  setenv("TILEOPT_CACHE", "", 1);
  try {
    cuda::compile_device_code("", "sm_90a", false);
  } catch (const ToolchainError& error) {
    GTEST_SKIP() << error.what();
  }
  const cuda::Cubin cubin = cuda::compile_device_code(module->text.source, "sm_90a", program->numerics().contract);
  EXPECT_EQ(cubin.image.substr(1, 3), "ELF");
}

/// HIP for waves of 64 lanes.
class EmulateHip : public Emulate {};

TEST_P(EmulateHip, AgreesWithTheInterpreter) {
  const std::shared_ptr<const Program> program = parse(GetParam());
  const std::optional<Module> module = compile(program, "mi300x");
  if (!module) return;
  const CheckReport report = check(*program, module->text, {{0, 1, 33, 70}, 3, std::int64_t(1) << 14}, "mi300x");
  EXPECT_EQ(report.failure, "");
  EXPECT_GT(report.runs, 0);
}

std::vector<std::string> collection() {
  std::vector<std::string> names = programs();
  std::erase_if(names, [](const std::string& name) { return name.rfind("benchmarks/", 0) != 0; });
  return names;
}

std::vector<std::string> compiled_programs() {
  std::vector<std::string> names = programs();
  const std::vector<std::string> kernels = suite_kernels();
  std::erase_if(names, [&](const std::string& name) { return name.rfind("benchmarks/", 0) == 0 && !contains(kernels, fs::path(name).stem().string()); });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Programs, EmulateNvrtc, testing::ValuesIn(compiled_programs()), [](const auto& info) { return fs::path(info.param).stem().string(); });
INSTANTIATE_TEST_SUITE_P(Kernels, EmulateHip, testing::ValuesIn(collection()), [](const auto& info) { return fs::path(info.param).stem().string(); });

TEST(CheckSettings, AreThoseOfTheMachine) {
  for (const auto& [machine, warp, shared] : {std::tuple("h200", 32u, 232448u), std::tuple("mi300x", 64u, 65536u), std::tuple("rx7900xtx", 32u, 65536u)})
    for (const emulator::Settings& settings : check_settings(find_machine(machine), 5)) {
      EXPECT_EQ(settings.warp_size, warp) << machine;
      EXPECT_EQ(settings.max_shared_bytes, shared) << machine;
      EXPECT_EQ(settings.max_threads, 1024u) << machine;
    }
}

INSTANTIATE_TEST_SUITE_P(Programs, Emulate, testing::ValuesIn(programs()), [](const auto& info) { return fs::path(info.param).stem().string(); });

/// `text` with the occurrence number `position` of `from` replaced; none where there are not so many.
std::optional<SourceText> changed(SourceText text, const std::string& from, const std::string& to, int position) {
  std::size_t place = text.source.find(from);
  for (; position > 0 && place != std::string::npos; --position) place = text.source.find(from, place + 1);
  if (place == std::string::npos) return std::nullopt;
  text.source.replace(place, from.size(), to);
  return text;
}

using EmulateChanged = Emulate;

TEST_F(EmulateChanged, AMissingBarrierIsARace) {
  int barriers = 0;
  for (const char* name : {"benchmarks/kernels/layernorm", "benchmarks/kernels/rmsnorm"}) {
    const std::shared_ptr<const Program> program = parse(name);
    const std::optional<Module> module = compile(program);
    ASSERT_TRUE(module);
    while (const auto text = changed(module->text, "\n      tileopt_block_barrier();", "\n", barriers)) {
      SCOPED_TRACE(std::string(name) + ", barrier " + std::to_string(barriers++));
      const CheckReport report = check(*program, *text, {{33, 300}, 3, std::int64_t(1) << 16});
      EXPECT_EQ(report.end, IsolatedRun::End::faulty) << report.failure;
      EXPECT_NE(report.failure.find("race in tileopt_kernel_"), std::string::npos) << report.failure;
      EXPECT_NE(report.failure.find(" of the Plan, statement "), std::string::npos) << report.failure;
      break;
    }
  }
}

/// The last bound `tileopt_min(last of the tile, last of the tensor)` of the device code without its second part.
std::optional<SourceText> without_tail_guard(SourceText text) {
  const std::size_t call = text.source.rfind("<= tileopt_min(", text.source.find("#if !defined(__CUDACC_RTC__)"));
  if (call == std::string::npos) return std::nullopt;
  const std::size_t second = text.source.find(", ", call) + 2;
  std::size_t end = second;
  for (int depth = 1; end < text.source.size(); ++end) {
    if (text.source[end] == '(') ++depth;
    if (text.source[end] == ')' && --depth == 0) break;
  }
  text.source.replace(second, end - second, "1000000");
  return text;
}

TEST_F(EmulateChanged, AMissingGuardIsOutOfBoundsOrARace) {
  const std::shared_ptr<const Program> program = parse("benchmarks/kernels/transpose");
  const std::optional<Module> module = compile(program);
  ASSERT_TRUE(module);
  const std::optional<SourceText> text = without_tail_guard(module->text);
  ASSERT_TRUE(text);
  const CheckReport report = check(*program, *text, {{33, 70}, 3, std::int64_t(1) << 19});
  EXPECT_EQ(report.end, IsolatedRun::End::faulty) << report.failure;
  EXPECT_NE(report.failure.find("kernels[0] of the Plan, statement B"), std::string::npos) << report.failure;
}

TEST(PlanContext, NamesTheKernelAndTheStatement) {
  std::vector<PrintFacts> facts(2);
  facts[1].leaves = {{"C_init", {}, {}}, {"C", {}, {}}, {"D", {}, {}}};
  EXPECT_EQ(plan_context("tileopt_kernel_1_0_c", "D[i] = 1.0f;", facts), "kernels[1] of the Plan, statement D");
  EXPECT_EQ(plan_context("tileopt_kernel_1_0_c", "C_value += A[i];", facts), "kernels[1] of the Plan, statement C or C_init");
  EXPECT_EQ(plan_context("tileopt_kernel_1_0_c", "for (;;) {", facts), "kernels[1] of the Plan");
  EXPECT_EQ(plan_context("tileopt_kernel_0_0_a", "D[i] = 1.0f;", facts), "kernels[0] of the Plan");
  EXPECT_EQ(plan_context("tileopt_kernel_7_0_a", "D[i] = 1.0f;", facts), "");
  EXPECT_EQ(plan_context("other", "D[i] = 1.0f;", facts), "");
}

}  // namespace
}  // namespace tileopt::test
