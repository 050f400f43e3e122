// Products without a word about their sizes on Hopper: one version whose rows boxes may be copied from, and one for the others. Both are proved,
// and the emulator runs both (docs/decisions/031).
#include "search/resolve_plan.h"
#include "tests/collection.h"
#include "tests/emulate/gpu_fixture.h"

namespace tileopt::test {
namespace {

std::string product(const std::string& a, const std::string& a_shape, const std::string& b, const std::string& b_shape, const std::string& more = "", const std::string& value = "acc") {
  return "@numerics(contract=True, flush_subnormals=True)\ndef product(A: bf16[" + a_shape + "], B: bf16[" + b_shape + "], " + more +
         "C: out[bf16[M, N]]):\n    for i, j in grid(M, N):\n        acc: f32 = sum(f32(" + a + ") * f32(" + b + ") for k in range(K))\n        C[i, j] = bf16(" + value + ")\n";
}
std::string nt() { return product("A[i, k]", "M, K", "B[j, k]", "N, K"); }
std::string nn() { return product("A[i, k]", "M, K", "B[k, j]", "K, N"); }
std::string tn() { return product("A[k, i]", "K, M", "B[k, j]", "K, N"); }
std::string tt() { return product("A[k, i]", "K, M", "B[j, k]", "N, K"); }

class HopperVersionsTest : public GpuTest {
 protected:
  static std::string copies_of(const KernelPlan& kernel) { return kernel.pipelines.front().copies.front().atom; }
  /// Two kernels, for the sizes of `holds` and for the others; boxes in the first alone.
  void expect_versions(const Module& module, const std::string& holds) {
    ASSERT_EQ(module.plan.kernels.size(), 2u);
    const KernelPlan &boxes = module.plan.kernels[0], &pieces = module.plan.kernels[1];
    const isl::set first(context_.get(), boxes.when), second(context_.get(), pieces.when), wanted(context_.get(), holds);
    EXPECT_TRUE(first.is_equal(wanted)) << boxes.when;
    EXPECT_TRUE(second.is_equal(wanted.complement())) << pieces.when;
    EXPECT_EQ(copies_of(boxes), "copy_tensor");
    EXPECT_EQ(copies_of(pieces), "copy_async");
    EXPECT_EQ(boxes.name, "product");
    EXPECT_EQ(pieces.name, "product_fallback");
  }
};

TEST_F(HopperVersionsTest, SizesChooseBetweenBoxesAndPieces) {
  const std::shared_ptr<const Program> program = parse(nt());
  const Module module = compile(program, "");
  expect_versions(module, "[K] -> { : K mod 8 = 0 }");
  EXPECT_NE(module.text.header.find("starts at a multiple of 16 bytes where mod(K, 8) == 0"), std::string::npos) << module.text.header;
  EXPECT_EQ(compile(parse(nt()), "").text.source, module.text.source);
  const Certificate certificate = prove(*program, module.asts, module.text);
  EXPECT_EQ(unproved_text(certificate), "");
  EXPECT_TRUE(std::any_of(certificate.obligations.begin(), certificate.obligations.end(), [](const Obligation& o) { return o.name == "versions"; }));
  const std::vector<Sizes> whole = {{{"M", 8}, {"N", 8}, {"K", 0}}, {{"M", 136}, {"N", 72}, {"K", 136}}}, cut = {{{"M", 72}, {"N", 136}, {"K", 131}}};
  EXPECT_EQ(emulate(*program, module.text, whole).failure, "");
  EXPECT_EQ(emulate(*program, module.text, cut).failure, "");
  // Which one ran shows when one of them is wrong.
  for (const std::size_t wrong : {0, 1}) {
    std::vector<Ast> asts = module.asts;
    asts[wrong].root = edited(asts[wrong].root, [](const AstNodePtr& node) {
      const auto* leaf = std::get_if<AstLeaf>(&node->node);
      return leaf != nullptr && leaf->statement.starts_with("copy_out") ? make_node(AstBlock{}) : node;
    });
    const SourceText text = print(*program, asts);
    EXPECT_EQ(emulate(*program, text, {whole.back()}).failure.empty(), wrong == 1);
    EXPECT_EQ(emulate(*program, text, cut).failure.empty(), wrong == 0);
  }
}

TEST_F(HopperVersionsTest, EveryWayThatFactorsLie) {
  expect_versions(compile(parse(nn()), ""), "[K, N] -> { : K mod 8 = 0 and N mod 8 = 0 }");
  expect_versions(compile(parse(tn()), ""), "[M, N] -> { : M mod 8 = 0 and N mod 8 = 0 }");
  expect_versions(compile(parse(tt()), ""), "[M, K] -> { : M mod 8 = 0 and K mod 8 = 0 }");
  const std::vector<Sizes> sizes = {{{"M", 72}, {"N", 136}, {"K", 136}}, {{"M", 72}, {"N", 131}, {"K", 72}}};
  for (const std::string& text : takes_all() ? std::vector<std::string>{nn(), tn(), tt()} : std::vector<std::string>{tn()}) {
    SCOPED_TRACE(text);
    expect_right(text, "", sizes);
  }
}

TEST_F(HopperVersionsTest, EpiloguesAndFewRowsHaveThemToo) {
  const std::string gelu = product("A[i, k]", "M, K", "B[j, k]", "N, K", "bias: f32[N], ", "f32(0.5) * (acc + bias[j]) * (f32(1.0) + tanh(f32(0.8) * (acc + bias[j])))");
  expect_versions(compile(parse(gelu), ""), "[K] -> { : K mod 8 = 0 }");
  if (takes_all()) expect_right(gelu, "", {{{"M", 72}, {"N", 72}, {"K", 136}}, {{"M", 40}, {"N", 72}, {"K", 133}}});
  const Sizes few = {{"M", 16}, {"N", 8192}, {"K", 8192}};
  expect_versions(compile(parse(nt()), "", "h200", few), "[K] -> { : K mod 8 = 0 }");
  expect_right(nt(), "", {{{"M", 16}, {"N", 136}, {"K", 136}}, {{"M", 16}, {"N", 72}, {"K", 133}}}, "h200", few);
}

TEST_F(HopperVersionsTest, PinsAreOfBothAndMayAskForOne) {
  const Module two = compile(parse(nt()), "pipeline(\"k\", slots=2)");
  ASSERT_EQ(two.plan.kernels.size(), 2u);
  for (const KernelPlan& kernel : two.plan.kernels) EXPECT_EQ(kernel.pipelines.front().slots, 2);
  const Module one = compile(parse(nt()), "versions(\"off\")");
  ASSERT_EQ(one.plan.kernels.size(), 1u);
  EXPECT_EQ(one.plan.kernels.front().when, "");
  EXPECT_EQ(copies_of(one.plan.kernels.front()), "copy_async");
  EXPECT_EQ(compile(parse(nt()), "atom(acc, \"scalar\")").plan.kernels.size(), 1u) << "what makes the difference is pinned away";
  EXPECT_EQ(compile(parse(nt()), "", "a100").plan.kernels.size(), 1u) << "no boxes there";
  std::string known = nt();
  known.insert(known.find("    for i, j"), "    assume(K % 8 == 0)\n");
  EXPECT_EQ(compile(parse(known), "").plan.kernels.size(), 1u);
  known.replace(known.find("% 8 == 0"), 8, "% 8 == 3");
  EXPECT_EQ(compile(parse(known), "").plan.kernels.size(), 1u) << "no sizes for boxes";

  const auto reasons = [&](const std::string& pins) {
    const Candidate<ResolvedPlan> resolved = resolve_plan(*parse(nt()), parse_pins(pins, "test"), find_machine("h200"), {});
    return join(std::get<ResolvedPlan>(resolved).reasons, "\n");
  };
  EXPECT_NE(reasons("").find("kernel product: two versions, of which the sizes choose: product for [K] -> {  : (K) mod 8 = 0 }, product_fallback for the others; for one alone: "
                             "assume(...) where others never come, or versions(\"off\")"), std::string::npos) << reasons("");
  EXPECT_NE(reasons("versions(\"off\")").find("kernel product: one version for all sizes: versions(\"off\"); for [K] -> {  : (K) mod 8 = 0 } alone a better one is known"), std::string::npos) << reasons("versions(\"off\")");
}

/// A kernel beside it that has one version, before and behind; each goes on from its own dump.
TEST_F(HopperVersionsTest, VersionsMayBeEditedInDumps) {
  const std::shared_ptr<const Program> program = parse(nt());
  const Module fewer = resumed_after(program, "55-pipelined", [](StageDump& dump) { dump.decisions["pipelines"][0]["slots"] = 3; });
  ASSERT_EQ(fewer.plan.kernels.size(), 2u);
  EXPECT_EQ(fewer.plan.kernels[0].pipelines.front().slots, 3);
  EXPECT_NE(fewer.plan.kernels[1].pipelines.front().slots, 3);
  EXPECT_EQ(emulate(*program, fewer.text, {{{"M", 72}, {"N", 72}, {"K", 136}}}).failure, "");
}

}  // namespace
}  // namespace tileopt::test
