// The handed cases and the kernels of the collection, compiled by the default Plan and as written, proved, run, and compared with the interpreter.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "backends/openmp/runner.h"
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

// Wrong on purpose: the first error at this line.
const std::map<std::string, int> wrong_on_purpose = {{"error_bounds", 5}, {"error_shape", 4}, {"error_uninitialised", 6}};
// Compiled and inspected, not run.
const std::vector<std::string> too_large = {"wide_index"};

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root + folder))
    if (entry.path().extension() == ".tile") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> runnable_cases() {
  std::vector<std::string> names;
  for (const std::string& name : names_in("/tests/cases"))
    if (!wrong_on_purpose.contains(name) && !contains(too_large, name)) names.push_back("tests/cases/" + name);
  for (const std::string& name : suite_kernels()) names.push_back("benchmarks/kernels/" + name);
  return names;
}

std::shared_ptr<const Program> parse(isl::ctx ctx, const std::string& name) {
  const std::string file = root + "/" + name + ".tile";
  return std::make_shared<const Program>(parse_tile_file(ctx, read_file(file), file).programs.at(0));
}

Request request_for_host(const std::string& pins, int threads) {
  Request request;
  request.machine = find_machine("host");
  request.resolve.threads = threads;
  if (!pins.empty()) request.pins = parse_pins(pins, "pins");
  return request;
}

// The module, or a failed test.
std::optional<Module> compile_proved(const std::shared_ptr<const Program>& program, const Request& request) {
  Trace trace;
  Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
  if (const auto* refused = std::get_if<Infeasible>(&outcome)) {
    ADD_FAILURE() << to_string(*refused);
    return std::nullopt;
  }
  Module module = std::move(std::get<Outcome>(outcome).module);
  EXPECT_EQ(unproved_text(module.certificate), "");
  return module;
}

SizeSpread handed_sizes() { return {{0, 1, 2, 3, 7, 8, 16, 31, 32, 33, 64, 100, 104, 127, 128, 129, 250, 1000, 1024}}; }

class CaseTest : public ::testing::TestWithParam<std::string> {
 protected:
  poly::Context context_;
};

TEST_P(CaseTest, EqualsTheInterpreter) {
  const std::shared_ptr<const Program> program = parse(context_.get(), GetParam());
  std::vector<CompiledKernel> kernels;
  const std::vector<std::pair<std::string, int>> ways = {{"", 1}, {"schedule(\"original\")", 1}, {"", 2}};
  for (const auto& [pins, threads] : ways) {
    const Request request = request_for_host(pins, threads);
    const std::optional<Module> module = compile_proved(program, request);
    if (!module) return;
    kernels.push_back(CompiledKernel::compile(*program, module->text, request.machine, {"", {"-Wall", "-Werror", "-Wno-unused-function"}}));
  }
  std::vector<const IsolatedKernel*> pointers;
  for (const CompiledKernel& kernel : kernels) pointers.push_back(&kernel);
  const std::vector<Sizes> sizes = spread_sizes(*program, handed_sizes());
  ASSERT_FALSE(sizes.empty());
  const CheckReport report = check_kernels(*program, pointers, sizes, 11, 1 << 16);
  EXPECT_EQ(report.failure, "") << (report.kernel == 0 ? "default plan" : report.kernel == 1 ? "original schedule" : "two threads");
  RecordProperty("runs", report.runs);
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) { return fs::path(info.param).stem().string(); }
INSTANTIATE_TEST_SUITE_P(Handed, CaseTest, ::testing::ValuesIn(runnable_cases()), test_name);

TEST(Cases, EveryListedSizeIsTriedWhereItFits) {
  poly::Context context;
  for (const std::string& name : runnable_cases()) {
    const std::shared_ptr<const Program> program = parse(context.get(), name);
    std::set<std::int64_t> tried;
    const std::vector<Sizes> vectors = spread_sizes(*program, handed_sizes());
    EXPECT_LE(vectors.size(), 24u);
    for (const Sizes& sizes : vectors)
      for (const auto& [parameter, value] : sizes) tried.insert(value);
    for (const std::int64_t value : handed_sizes().values) {
      if (tried.contains(value)) continue;
      for (const std::string& anchor : program->parameters()) {
        Sizes smallest;
        for (const std::string& parameter : program->parameters()) smallest[parameter] = parameter == anchor ? value : 1;
        EXPECT_FALSE(sizes_fit(*program, smallest, handed_sizes())) << name << " was not tried at " << anchor << " = " << value;
      }
    }
  }
}

TEST(Cases, WhatIsWrongOnPurposeIsRefusedWithAPosition) {
  for (const auto& [name, line] : wrong_on_purpose) {
    poly::Context context;
    try {
      parse(context.get(), "tests/cases/" + name);
      ADD_FAILURE() << name << " is accepted";
    } catch (const Errors& errors) {
      EXPECT_EQ(errors.diagnostics().front().where.line, line) << name << ": " << errors.what();
      EXPECT_FALSE(errors.diagnostics().front().hint.empty()) << name;
    }
  }
}

TEST(Cases, TheWideIndexIsSixtyFourBits) {
  poly::Context context;
  const std::shared_ptr<const Program> program = parse(context.get(), "tests/cases/wide_index");
  const std::optional<Module> module = compile_proved(program, request_for_host("", 1));
  ASSERT_TRUE(module);
  const std::vector<PrintFacts>& facts = module->text.facts;
  ASSERT_FALSE(facts.empty());
  for (const PrintFacts& kernel : facts)
    for (const PrintFacts::Loop& loop : kernel.loops) EXPECT_NE(loop.header.find("int64_t "), std::string::npos) << loop.header;
  CompiledKernel::compile(*program, module->text, find_machine("host"));
}

}  // namespace
}  // namespace tileopt::test
