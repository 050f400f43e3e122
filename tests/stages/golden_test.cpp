// What every stage of a few kernels looks like. The Plans are part of the goldens, so that a better resolve_plan does not change
// them; a pass that derives something else does. TILEOPT_UPDATE_GOLDENS=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt::test {
namespace {

namespace fs = std::filesystem;

const std::string root = TILEOPT_SOURCE_DIR;
/// A folder of goldens: a kernel of the collection on a machine.
struct Case {
  const char* folder;
  const char* kernel;
  const char* machine;
};

bool updating() { return std::getenv("TILEOPT_UPDATE_GOLDENS") != nullptr; }

class GoldenTest : public ::testing::TestWithParam<Case> {
 protected:
  GoldenTest() : dumps_(fs::temp_directory_path() / ("tileopt_golden_" + std::to_string(getpid()))) {}
  ~GoldenTest() override {
    std::error_code ignored;
    fs::remove_all(dumps_, ignored);
  }
  fs::path golden(const std::string& name) const { return fs::path(root) / "tests/stages" / GetParam().folder / name; }

  // The Plan of the golden folder; when updating, one that is resolved now.
  Plan plan(const std::shared_ptr<const Program>& program, const Machine& machine) const {
    if (!updating()) return Plan::read(parse_json(read_file(golden("plan.json").string()), "plan.json"), "plan.json");
    const Candidate<ResolvedPlan> resolved = resolve_plan(*program, {}, machine, {});
    if (const auto* refused = std::get_if<Infeasible>(&resolved)) throw std::runtime_error(to_string(*refused));
    return std::get<ResolvedPlan>(resolved).plan;
  }

  void expect_golden(const std::string& name, const std::string& text) const {
    const fs::path path = golden(name);
    if (updating()) {
      fs::create_directories(path.parent_path());
      write_file(path.string(), text);
      return;
    }
    ASSERT_TRUE(fs::exists(path)) << path << " is missing: run with TILEOPT_UPDATE_GOLDENS=1";
    EXPECT_TRUE(read_file(path.string()) == text) << path << " differs:\n" << first_difference(read_file(path.string()), text);
  }

  static std::string first_difference(const std::string& expected, const std::string& got) {
    std::istringstream a(expected), b(got);
    std::string x, y;
    for (int line = 1;; ++line) {
      const bool more_a = static_cast<bool>(std::getline(a, x)), more_b = static_cast<bool>(std::getline(b, y));
      if (!more_a && !more_b) return "";
      if (more_a != more_b || x != y) return "line " + std::to_string(line) + "\n- " + (more_a ? x : "") + "\n+ " + (more_b ? y : "");
    }
  }

  // What a dump shows of its own: the rest is the program and the Plan.
  std::string own_part(const fs::path& dump) const {
    const StageDump stage = StageDump::read(read_file(dump.string()), dump.string());
    return to_yaml(stage.stage == "60-ast" ? stage.decisions : stage.facts);
  }

  fs::path dumps_;
};

TEST_P(GoldenTest, EveryStage) {
  poly::Context context;
  const std::string kernel_file = std::string(GetParam().kernel) + ".tile";
  const auto program = std::make_shared<const Program>(parse_tile_file(context.get(), read_file(root + "/benchmarks/kernels/" + kernel_file), kernel_file).programs.at(0));
  Request request;
  request.machine = find_machine(GetParam().machine);
  request.backend = request.machine.backend;
  const std::string source = "70-source" + find_backend(request.backend).extension();
  request.plan = plan(program, request.machine);
  Trace trace({dumps_.string(), ""});
  const Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
  ASSERT_TRUE(std::holds_alternative<Outcome>(outcome)) << to_string(std::get<Infeasible>(outcome));
  EXPECT_EQ(unproved_text(std::get<Outcome>(outcome).module.certificate), "");

  for (const std::string& name : {std::string("plan.json"), source, std::string("70-source.h")}) expect_golden(name, read_file((dumps_ / name).string()));
  for (const char* stage : {"10-dependences", "15-kernels"}) expect_golden(std::string(stage) + ".yaml", own_part(dumps_ / (std::string(stage) + ".yaml")));
  for (const KernelPlan& kernel : request.plan->kernels)
    for (const char* stage : {"20-schedule", "30-digits", "40-fitted", "50-promoted", "55-pipelined", "58-synchronized", "60-ast"})
      expect_golden(kernel.name + "/" + stage + ".yaml", own_part(dumps_ / kernel.name / (std::string(stage) + ".yaml")));
}

INSTANTIATE_TEST_SUITE_P(Kernels, GoldenTest,
                         ::testing::Values(Case{"gemm", "gemm", "x86-64-v3"}, Case{"gemm_bf16", "gemm_bf16", "x86-64-v3"}, Case{"conv2d", "conv2d", "x86-64-v3"},
                                           Case{"softmax", "softmax", "x86-64-v3"}, Case{"jacobi_2d", "jacobi_2d", "x86-64-v3"}, Case{"transpose", "transpose", "x86-64-v3"},
                                           Case{"cuda_softmax", "softmax", "h200"}, Case{"cuda_gemm", "gemm", "h200"}, Case{"cuda_gemm_bf16", "gemm_bf16", "h200"}, Case{"cuda_jacobi_2d", "jacobi_2d", "h200"},
                                           Case{"hip_softmax", "softmax", "mi300x"}),
                         [](const auto& info) { return std::string(info.param.folder); });

}  // namespace
}  // namespace tileopt::test
