// Scans and scatters on GPUs: what the planner makes of them is proved, and the emulator agrees with the interpreter.
#include "rewrites/apply_rewrites.h"
#include "tests/collection.h"
#include "tests/emulate/gpu_fixture.h"

namespace tileopt::test {
namespace {

class GpuScans : public GpuTest {
 protected:
  /// What the kernels are about.
  static std::shared_ptr<const Program> rewritten(const std::shared_ptr<const Program>& source, const Module& module) {
    return std::get<RewrittenProgram>(apply_rewrites(source, module.plan.rewrites)).program;
  }
  /// The rewritten program is proved, and the source agrees with the emulator.
  void expect_scan(const std::string& text, const std::string& pins, const std::vector<Sizes>& sizes, const Sizes& typical, const std::string& machine = "h200") {
    const std::shared_ptr<const Program> program = parse(text);
    const Module module = compile(program, pins, machine, typical);
    EXPECT_FALSE(module.plan.rewrites.empty());
    const Certificate certificate = prove(*rewritten(program, module), module.asts, module.text, machine);
    EXPECT_EQ(unproved_text(certificate), "") << pins;
    const CheckReport report = emulate(*program, module.text, sizes, machine);
    EXPECT_EQ(report.failure, "") << pins;
    EXPECT_GT(report.runs, 0);
  }
  static bool takes(const Module& module, const std::string& rewrite) {
    return std::any_of(module.plan.rewrites.begin(), module.plan.rewrites.end(), [&](const Rewriting& r) { return r.name == rewrite; });
  }
  static const Promotion* promoted(const Module& module, const std::string& tensor) {
    for (const KernelPlan& kernel : module.plan.kernels)
      for (const Promotion& promotion : kernel.promotions)
        if (promotion.tensor == tensor) return &promotion;
    return nullptr;
  }
};

const char* kRows = "def cumsum(X: f32[R, N], Y: out[f32[R, N]]):\n    for r, i in grid(R, N):\n        Y[r, i] = scan(sum(X[r, j] for j in range(i + 1)))\n";

TEST_F(GpuScans, ABlockScansARow) {
  const Module module = compile(parse(kRows), "", "h200", {{"R", 64}, {"N", 8192}});
  EXPECT_TRUE(takes(module, "chained_scan"));
  const KernelPlan& kernel = module.plan.kernels.front();
  EXPECT_EQ(kernel.atoms.at("Y").atom, "vector_box");
  EXPECT_EQ(kernel.find_digit("i_run_t")->radix, 256);
  ASSERT_NE(promoted(module, "Y_part"), nullptr);
  EXPECT_EQ(promoted(module, "Y_part")->space, "shared");
  ASSERT_NE(promoted(module, "X"), nullptr);
  EXPECT_EQ(promoted(module, "X")->space, "stack");
  expect_scan(kRows, "", {{{"R", 0}, {"N", 5}}, {{"R", 2}, {"N", 0}}, {{"R", 3}, {"N", 1}}, {{"R", 2}, {"N", 1023}}, {{"R", 1}, {"N", 1024}}, {{"R", 2}, {"N", 2053}}}, {{"R", 64}, {"N", 8192}});
}

TEST_F(GpuScans, ShortRowsTakeFewerThreads) {
  const Module module = compile(parse(kRows), "", "h200", {{"R", 4096}, {"N", 100}});
  EXPECT_EQ(module.plan.kernels.front().find_digit("i_run_t")->radix, 32);
  expect_scan(kRows, "", {{{"R", 3}, {"N", 100}}, {{"R", 2}, {"N", 131}}}, {{"R", 4096}, {"N", 100}});
}

TEST_F(GpuScans, OtherTypesAndMonoids) {
  const Sizes typical = {{"N", 1 << 15}};
  const std::vector<Sizes> sizes = {{{"N", 0}}, {{"N", 1}}, {{"N", 777}}, {{"N", 2500}}};
  expect_scan("def exclusive(x: i64[N], y: out[i64[N]]):\n    for i in range(N):\n        y[i] = scan(sum(x[j] for j in range(i)))\n", "", sizes, typical);
  expect_scan("def most(x: f32[N], y: out[f32[N]]):\n    for i in range(N):\n        y[i] = scan(max(x[j] for j in range(i + 1)))\n", "", sizes, typical);
}

TEST_F(GpuScans, BlocksShareALongVector) {
  const char* vector = "def cumsum(X: f32[N], Y: out[f32[N]]):\n    for i in range(N):\n        Y[i] = scan(sum(X[j] for j in range(i + 1)))\n";
  const Sizes typical = {{"N", 1 << 20}};
  const Module module = compile(parse(vector), "", "h200", typical);
  EXPECT_TRUE(takes(module, "reduce_scan"));
  EXPECT_GE(std::count_if(module.plan.rewrites.begin(), module.plan.rewrites.end(), [](const Rewriting& r) { return r.name == "chained_scan"; }), 1);
  expect_scan(vector, "", {{{"N", 0}}, {{"N", 1}}, {{"N", 8192}}, {{"N", 17001}}}, typical);
}

TEST_F(GpuScans, BlocksStandAsCloseAsTheirThreadsAllow) {
  const Module module = compile(parse(kRows), "", "h200", {{"R", 64}, {"N", 8192}});
  EXPECT_NE(module.text.source.find("__launch_bounds__(256, 8)"), std::string::npos);
}

TEST_F(GpuScans, MI300XScansRowsToo) { expect_scan(kRows, "", {{{"R", 2}, {"N", 1500}}}, {{"R", 64}, {"N", 8192}}, "mi300x"); }

TEST_F(GpuScans, AMissingBarrierIsRefuted) {
  const auto source = parse(kRows);
  const Module module = compile(source, "", "h200", {{"R", 64}, {"N", 8192}});
  const auto program = rewritten(source, module);
  std::size_t barriers = 0;
  edited(module.asts.front().root, [&](const AstNodePtr& node) {
    barriers += std::holds_alternative<AstSync>(node->node) ? 1 : 0;
    return node;
  });
  ASSERT_GE(barriers, 4u);
  for (std::size_t gone = 0; gone < barriers; ++gone) {
    std::vector<Ast> asts = module.asts;
    std::size_t at = 0;
    asts.front().root = edited(asts.front().root, [&](const AstNodePtr& node) {
      return std::holds_alternative<AstSync>(node->node) && at++ == gone ? make_node(AstBlock{}) : node;
    });
    const SourceText text = print(*program, asts);
    const Certificate certificate = prove(*program, asts, text);
    EXPECT_TRUE(std::any_of(certificate.obligations.begin(), certificate.obligations.end(), [](const Obligation& o) { return o.verdict == Verdict::refuted; })) << "barrier " << gone;
    EXPECT_NE(emulate(*source, text, {{{"R", 1}, {"N", 2100}}}).failure, "") << "barrier " << gone;
  }
}

const char* kCounts =
    "def counts(key: i32[N], count: inout[i32[B]]):\n    assume(0 <= key[:] < B)\n    for i in range(N):\n        count[key[i]] += 1\n";
const char* kWeights =
    "def weights(key: i32[N], w: f32[N], S: out[f32[16]]):\n    assume(0 <= key[:] < 16)\n    for b in range(16):\n        S[b] = 1\n"
    "    for i in range(N):\n        if w[i] > 0:\n            S[key[i]] += w[i]\n";

TEST_F(GpuScans, ABlockCountsInItsOwnMemory) {
  const Sizes many = {{"N", 1 << 24}, {"B", 256}};
  const Module module = compile(parse(kCounts), "", "h200", many);
  EXPECT_TRUE(takes(module, "split"));
  const Promotion* copy = promoted(module, "count_partial");
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->space, "shared");
  ASSERT_EQ(module.plan.kernels.size(), 2u);  // few elements, and many
  for (const KernelPlan& kernel : module.plan.kernels)
    for (const auto& [statement, choice] : kernel.atoms) EXPECT_EQ(choice.atom, statement == "count_partial_init" ? "vector_box" : "atomic_update") << statement;
  // More elements than a copy holds are counted where they lie, by whole blocks.
  bool shares = false;
  for (const auto& [member, digits] : module.plan.kernels[1].digits)
    for (const Digit& digit : digits) shares = shares || (digit.level == "thread" && digit.radix == 256);
  EXPECT_TRUE(shares);
  expect_scan(kCounts, "", {{{"N", 0}, {"B", 3}}, {{"N", 777}, {"B", 40}}, {{"N", 300}, {"B", 4097}}}, many);
}

TEST_F(GpuScans, RoundsOfChunks) {
  const std::string pins = "rewrite(\"split\", count, \"i\", chunk=64, parts=3, most=100)";
  expect_scan(kCounts, pins, {{{"N", 1}, {"B", 1}}, {{"N", 3}, {"B", 0}}, {{"N", 191}, {"B", 100}}, {{"N", 1000}, {"B", 7}}, {{"N", 500}, {"B", 101}}}, {{"N", 1 << 20}, {"B", 64}});
}

TEST_F(GpuScans, SumsOfFloatsWhereDataDecidesTwice) {
  const Module module = compile(parse(kWeights), "", "h200", {{"N", 1 << 24}});
  EXPECT_TRUE(takes(module, "split"));
  ASSERT_NE(promoted(module, "S_partial"), nullptr);
  expect_scan(kWeights, "", {{{"N", 0}}, {{"N", 1}}, {{"N", 1500}}}, {{"N", 1 << 24}});
}

TEST_F(GpuScans, FewUpdatesOrManyElementsAreLeftWhereTheyAre) {
  for (const Sizes& typical : {Sizes{{"N", 1000}, {"B", 256}}, Sizes{{"N", 1 << 24}, {"B", 1 << 20}}}) EXPECT_FALSE(takes(compile(parse(kCounts), "", "h200", typical), "split"));
}

TEST_F(GpuScans, UpdatesOfACopyThatAreNotAtomicAreRefuted) {
  const auto source = parse(kCounts);
  const Module module = compile(source, "rewrite(\"split\", count, \"i\", chunk=64, parts=2, most=100)", "h200", {{"N", 1 << 20}, {"B", 64}});
  const auto program = rewritten(source, module);
  for (const std::string statement : {"count_partial", "count"}) {
    ASSERT_EQ(module.asts.front().statements.count(statement), 1u);
    expect_refuted(*program, module, {statement.c_str(), {"races"}, [&](Ast& ast) { ast.statements.at(statement).atom = ""; }}, {{"N", 300}, {"B", 5}});
  }
}

TEST_F(GpuScans, ACopyOfAThreadIsNotUpdatedAtomically) {
  try {
    compile(parse(kCounts), "rewrite(\"split\", count, \"i\", chunk=64, parts=2, most=100)\npromote(count_partial, \"stack\", after=\"i_chunk\")\natom(count_partial, \"atomic_update\")", "h200",
            {{"N", 1 << 20}, {"B", 64}});
    ADD_FAILURE() << "accepted";
  } catch (const std::runtime_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("is a copy in space stack"), std::string::npos) << refused.what();
  }
}

}  // namespace
}  // namespace tileopt::test
