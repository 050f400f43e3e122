// Products whose rows, and whose sums, run along several loops (convolutions): boxes of a tensor that are shifted from tile to tile; kernels are proved
// and agree with the interpreter in the emulator, single faults are refuted by the obligation that was named beforehand, and seen by the emulator.
#include "tests/collection.h"
#include "tests/emulate/gpu_fixture.h"

namespace tileopt::test {
namespace {

std::string convolution(const std::string& weights, const std::string& read, const std::string& known = "C % 8 == 0 and F % 8 == 0", const std::string& channels = "C", const std::string& step = "") {
  const std::string border = step.empty() ? " + 2, " : " + 1, ";
  return "@numerics(contract=True, flush_subnormals=True)\ndef conv(I: f16[N, " + (step.empty() ? "H" : step + " * H") + border + (step.empty() ? "W" : step + " * W") + border + channels + "], G: f16[" + weights +
         "], O: out[f16[N, H, W, F]]):\n    assume(" + known + ")\n    for n, h, w, f in grid(N, H, W, F):\n        acc: f32 = sum(f32(I[n, " + (step.empty() ? "h" : step + " * h") + " + r, " + (step.empty() ? "w" : step + " * w") +
         " + s, c]) * f32(" + read + ") for r, s, c in grid(3, 3, " + channels + "))\n        O[n, h, w, f] = f16(acc)\n";
}
std::string conv() { return convolution("3, 3, C, F", "G[r, s, c, f]"); }
const Sizes kMaps = {{"N", 32}, {"H", 56}, {"W", 56}, {"C", 256}, {"F", 256}};

class ConvolutionsTest : public GpuTest {
 protected:
  /// All notes of the planner.
  std::string reasons(const std::string& text, const Sizes& typical) {
    Request request;
    request.machine = find_machine("h200");
    request.backend = "cuda";
    request.proof.attempt = false;
    for (const auto& [name, size] : typical) request.resolve.typical_sizes[name] = size;
    Trace trace;
    Candidate<Outcome> outcome = resolve_and_compile(parse(text), request, trace);
    EXPECT_TRUE(feasible(outcome));
    return join(std::get<Outcome>(outcome).reasons, "\n");
  }
};

TEST_F(ConvolutionsTest, RowsRunAlongSeveralLoopsAndTilesAlongTheWholeSum) {
  const Module module = compile(parse(conv()), "", "h200", kMaps);
  const KernelPlan& plan = module.plan.kernels.front();
  EXPECT_EQ(plan.atoms.at("acc").atom, "wgmma_f16");
  EXPECT_EQ(plan.pipelines.front().after, "s");
  // Maps of 56x56 are cut into whole tiles: 8 columns, 8 rows, 2 images. One box of I holds them all.
  EXPECT_NE(module.text.source.find("tileopt_map_tensor(&I_map, I, 2, 4, tileopt_list{C, W + 2, H + 2, N}, tileopt_list{64, 8, 8, 2}, 128)"), std::string::npos);
  // The ring goes on from one tap to the next: one loop, filled once.
  EXPECT_NE(module.text.source.find("for (int64_t s_line = 0; s_line <= 9 * tileopt_floord(C - 8, 64) + 8; s_line += 1)"), std::string::npos);
}

/// Tiles that are cut along every side; channels that are no whole tile; fewer tiles than slots.
TEST_F(ConvolutionsTest, EverySideMayBeCut) {
  expect_right(conv(), "", {{{"N", 3}, {"H", 5}, {"W", 9}, {"C", 72}, {"F", 72}}, {{"N", 1}, {"H", 1}, {"W", 1}, {"C", 8}, {"F", 8}}}, "h200", kMaps);
  if (takes_all()) expect_right(conv(), "", {{{"N", 3}, {"H", 9}, {"W", 11}, {"C", 136}, {"F", 264}}}, "h200", kMaps);
}

TEST_F(ConvolutionsTest, RowsOfOneLoopMayBeShiftedToo) {
  const Sizes wide = {{"N", 8}, {"H", 4}, {"W", 1024}, {"C", 64}, {"F", 256}};
  const std::shared_ptr<const Program> program = parse(conv());
  EXPECT_NE(compile(program, "", "h200", wide).text.source.find("tileopt_list{64, 128, 1, 1}, 128)"), std::string::npos);
  if (takes_all()) expect_right(conv(), "", {{{"N", 2}, {"H", 2}, {"W", 131}, {"C", 72}, {"F", 72}}}, "h200", wide);
}

/// Maps of 28 x 28 are no whole tiles of columns or rows; 128 images are.
TEST_F(ConvolutionsTest, RowsMayRunAlongImages) {
  const Sizes images = {{"N", 128}, {"H", 28}, {"W", 28}, {"C", 128}, {"F", 128}};
  EXPECT_NE(compile(parse(conv()), "", "h200", images).text.source.find("tileopt_list{64, 1, 1, 128}, 128)"), std::string::npos);
  expect_right(conv(), "", {{{"N", 3}, {"H", 2}, {"W", 3}, {"C", 72}, {"F", 72}}, {{"N", 130}, {"H", 1}, {"W", 1}, {"C", 8}, {"F", 8}}}, "h200", images);
}

/// Any number of channels: boxes where their rows start at multiples of 16 bytes, plain loops elsewhere.
TEST_F(ConvolutionsTest, SizesChooseBetweenBoxesAndLoops) {
  const std::string text = convolution("F, 3, 3, C", "G[f, r, s, c]", "C >= 0");
  const Module module = compile(parse(text), "", "h200", kMaps);
  ASSERT_EQ(module.plan.kernels.size(), 2u);
  EXPECT_EQ(module.plan.kernels[0].atoms.at("acc").atom, "wgmma_f16");
  EXPECT_EQ(module.plan.kernels[1].atoms.count("acc"), 0u);
  expect_right(text, "", {{{"N", 2}, {"H", 3}, {"W", 5}, {"C", 72}, {"F", 40}}, {{"N", 2}, {"H", 3}, {"W", 5}, {"C", 7}, {"F", 5}}}, "h200", kMaps);
}

TEST_F(ConvolutionsTest, WeightsMayLieAnyWay) {
  const std::vector<Sizes> sizes = {{{"N", 1}, {"H", 5}, {"W", 9}, {"C", 64}, {"F", 40}}};
  expect_right(convolution("F, 3, 3, C", "G[f, r, s, c]", "C % 8 == 0"), "", sizes, "h200", kMaps);
  // One tile of channels: the line of tiles is that of the taps.
  if (takes_all()) expect_right(convolution("3, 3, 64, F", "G[r, s, c, f]", "F % 8 == 0", "64"), "", {{{"N", 2}, {"H", 5}, {"W", 9}, {"F", 40}}}, "h200", {{"N", 32}, {"H", 56}, {"W", 56}, {"F", 256}});
}

/// ptxas would run products one after the other where it knows that there are some.
TEST_F(ConvolutionsTest, NobodyIsToldThatALoopOfProductsRuns) {
  const std::string text = convolution("F, 3, 3, 128", "G[f, r, s, c]", "F % 8 == 0", "128");
  EXPECT_NE(compile(parse(text), "", "h200", kMaps).text.source.find("if (tileopt_unknown(0 <= 17)) {"), std::string::npos);
  expect_right(text, "", {{{"N", 1}, {"H", 2}, {"W", 3}, {"F", 8}}}, "h200", kMaps);
}

/// Few filters are the rows of a tile: its lanes are what the weights are read once for.
TEST_F(ConvolutionsTest, FewFiltersAreRows) {
  const Sizes few = {{"N", 32}, {"H", 224}, {"W", 224}, {"C", 64}, {"F", 64}};
  EXPECT_NE(compile(parse(conv()), "", "h200", few).text.source.find("tileopt_wgmma_f16_n256"), std::string::npos);
  expect_right(conv(), "", {{{"N", 1}, {"H", 2}, {"W", 131}, {"C", 72}, {"F", 40}}}, "h200", few);
}

/// Of the input every second column and row: boxes leave the others out.
TEST_F(ConvolutionsTest, RowsMayLieApart) {
  const std::string text = convolution("F, 3, 3, C", "G[f, r, s, c]", "C % 8 == 0", "C", "2");
  const std::shared_ptr<const Program> program = parse(text);
  const Module module = compile(program, "", "h200", kMaps);
  EXPECT_NE(module.text.source.find("tileopt_list{64, 16, 16, 2}, 128, tileopt_list{1, 2, 2, 1})"), std::string::npos);
  expect_right(text, "", {{{"N", 1}, {"H", 5}, {"W", 9}, {"C", 72}, {"F", 40}}}, "h200", kMaps);
  if (!takes_all()) return;
  expect_right(text, "", {{{"N", 3}, {"H", 1}, {"W", 1}, {"C", 8}, {"F", 8}}, {{"N", 2}, {"H", 9}, {"W", 17}, {"C", 136}, {"F", 72}}}, "h200", kMaps);
  SourceText text_of_others = module.text;
  for (PrintFacts::Leaf& leaf : text_of_others.facts.front().leaves)
    if (leaf.box_copy && leaf.box_copy->tensor == "I") leaf.box_copy->apart[1] = 1;
  const Certificate certificate = prove(*program, module.asts, text_of_others);
  EXPECT_TRUE(std::any_of(certificate.obligations.begin(), certificate.obligations.end(), [](const Obligation& o) { return o.name == "text" && o.verdict == Verdict::refuted; }));
}

/// One of two sums has a number of terms that is known.
TEST_F(ConvolutionsTest, ProductsMaySumAlongSeveralLoops) {
  const auto text = [](const std::string& k, const std::string& shape) {
    return "@numerics(contract=True, flush_subnormals=True)\ndef product(A: bf16[M, " + shape + "], B: bf16[" + shape + ", N], C: out[bf16[M, N]]):\n    assume(N % 8 == 0" + (shape.find("L") != std::string::npos ? " and L % 8 == 0" : "") +
           ")\n    for i, j in grid(M, N):\n        acc: f32 = sum(f32(A[i, k, l]) * f32(B[k, l, j]) for k, l in grid(" + k + "))\n        C[i, j] = bf16(acc)\n";
  };
  expect_right(text("K, 64", "K, 64"), "", {{{"M", 72}, {"N", 72}, {"K", 5}}});
  if (takes_all()) expect_right(text("K, 72", "K, 72"), "", {{{"M", 72}, {"N", 72}, {"K", 5}}});
  if (takes_all()) expect_right(text("3, L", "3, L"), "", {{{"M", 136}, {"N", 72}, {"L", 136}}});
  EXPECT_NE(reasons(text("K, L", "K, L"), {}).find("a block runs loop l once for every value of k, and both have as many iterations as the sizes say"), std::string::npos);
}

/// What is made of the result reads tiles of others along the same rows.
TEST_F(ConvolutionsTest, EpiloguesReadTilesOfOthers) {
  const std::string text =
      "@numerics(contract=True, flush_subnormals=True)\ndef conv(I: f16[N, H + 2, W + 2, C], G: f16[F, 3, 3, C], R: f16[N, H, W, F], b: f32[F], O: out[f16[N, H, W, F]]):\n    assume(C % 8 == 0)\n"
      "    for n, h, w, f in grid(N, H, W, F):\n        acc: f32 = sum(f32(I[n, h + r, w + s, c]) * f32(G[f, r, s, c]) for r, s, c in grid(3, 3, C))\n"
      "        O[n, h, w, f] = f16(max(acc + b[f] + f32(R[n, h, w, f]), f32(0.0)))\n";
  EXPECT_EQ(compile(parse(text), "", "h200", kMaps).plan.kernels.front().atoms.at("acc").atom, "wgmma_f16");
  if (takes_all()) expect_right(text, "", {{{"N", 3}, {"H", 5}, {"W", 9}, {"C", 64}, {"F", 72}}}, "h200", kMaps);
}

TEST_F(ConvolutionsTest, WhatIsNoTileIsSaid) {
  const std::string line = "@numerics(contract=True, flush_subnormals=True)\ndef conv(I: f16[9 * W, C], G: f16[F, 3, C], O: out[f16[W, F]]):\n    assume(C % 8 == 0)\n    for w, f in grid(W, F):\n"
                           "        acc: f32 = sum(f32(I[9 * w + s, c]) * f32(G[f, s, c]) for s, c in grid(3, C))\n        O[w, f] = f16(acc)\n";
  EXPECT_NE(reasons(line, {{"W", 4096}, {"C", 256}, {"F", 256}}).find("I is read in steps of 9 along w, and what copies its tiles takes neighbours"), std::string::npos);
  // Nobody is given a plan whose proof would end at a limit.
  const std::string large = "@numerics(contract=True, flush_subnormals=True)\ndef conv(I: f16[N, H + 4, W + 4, C], G: f16[F, 5, 5, C], O: out[f16[N, H, W, F]]):\n    assume(C % 8 == 0)\n    for n, h, w, f in grid(N, H, W, F):\n"
                            "        acc: f32 = sum(f32(I[n, h + r, w + s, c]) * f32(G[f, r, s, c]) for r, s, c in grid(5, 5, C))\n        O[n, h, w, f] = f16(acc)\n";
  EXPECT_NE(reasons(large, kMaps).find("the last tile of each of 25 runs of c is cut as the sizes say"), std::string::npos);
  const Module loops = compile(parse(large), "", "h200", kMaps);
  EXPECT_EQ(loops.plan.kernels.size(), 1u);
  EXPECT_EQ(loops.plan.kernels.front().atoms.count("acc"), 0u);
  EXPECT_NE(reasons(convolution("F, 3, 3, C", "G[f, r, s, c]", "C >= 0"), kMaps).find("tiles of several sums are copied as boxes where one has as many terms as the sizes say: rows of I may start between multiples of 16 bytes"), std::string::npos);
}

std::vector<Fault> faults() {
  const auto copies = [](const std::string& statement, const std::function<void(AstLeaf&)>& change) {
    return [=](Ast& ast) {
      ast.root = edited(ast.root, [&](const AstNodePtr& node) {
        const auto* leaf = std::get_if<AstLeaf>(&node->node);
        if (leaf == nullptr || leaf->statement != statement) return node;
        AstLeaf changed = *leaf;
        change(changed);
        return make_node(std::move(changed));
      });
    };
  };
  const auto more = [](const AstExprPtr& value) { return ast_operation(AstExpr::Kind::add, {value, ast_integer(1)}); };
  return {
      {"boxes of the next column", {"values"}, copies("copy_in_I_shared", [=](AstLeaf& leaf) { leaf.reads[0][2] = more(leaf.reads[0][2]); })},
      {"taps exchanged", {"values"}, copies("copy_in_G_shared", [](AstLeaf& leaf) { std::swap(leaf.reads[0][0], leaf.reads[0][1]); })},
      {"boxes of the next row", {"values"}, copies("copy_in_I_shared", [=](AstLeaf& leaf) { leaf.reads[0][1] = more(leaf.reads[0][1]); })},
      {"a slot fewer", {"slots"}, [](Ast& ast) {
         for (Ring& ring : ast.rings) --ring.slots;
         for (Array& array : ast.arrays) array.slots -= array.ring.empty() ? 0 : 1;
       }},
      {"the line of tiles ends a tap early", {"coverage", "waits"}, [](Ast& ast) {
         ast.root = edited(ast.root, [&](const AstNodePtr& node) {
           const auto* loop = std::get_if<AstFor>(&node->node);
           if (loop == nullptr || loop->variable != "s_line") return node;
           AstFor changed = *loop;
           changed.upper = ast_operation(AstExpr::Kind::sub, {loop->upper, ast_integer(1)});
           return make_node(std::move(changed));
         });
       }},
  };
}

TEST_F(ConvolutionsTest, FaultsAreRefutedAndSeen) {
  const std::shared_ptr<const Program> program = parse(conv());
  const Module module = compile(program, "", "h200", kMaps);
  const std::vector<Fault> all = faults();
  for (std::size_t f = 0; f < (takes_all() ? all.size() : 2); ++f) expect_refuted(*program, module, all[f], {{"N", 1}, {"H", 5}, {"W", 9}, {"C", 136}, {"F", 40}});
}

/// What the engine was told otherwise than the Ast says is refuted by `text`.
TEST_F(ConvolutionsTest, AnEngineToldOtherwiseIsRefuted) {
  const std::shared_ptr<const Program> program = parse(conv());
  const Module module = compile(program, "", "h200", kMaps);
  const auto refuted = [&](const char* what, const std::function<void(PrintFacts::BoxCopy&)>& change) {
    SCOPED_TRACE(what);
    SourceText text = module.text;
    for (PrintFacts::Leaf& leaf : text.facts.front().leaves)
      if (leaf.box_copy && leaf.box_copy->tensor == "I") change(*leaf.box_copy);
    const Certificate certificate = prove(*program, module.asts, text);
    EXPECT_TRUE(std::any_of(certificate.obligations.begin(), certificate.obligations.end(), [](const Obligation& o) { return o.name == "text" && o.verdict == Verdict::refuted; }));
  };
  refuted("rows and images exchanged", [](PrintFacts::BoxCopy& copy) { std::swap(copy.box[2], copy.box[3]); });
  if (!takes_all()) return;
  refuted("a row fewer", [](PrintFacts::BoxCopy& copy) { --copy.box[2]; });
  refuted("one tap further", [](PrintFacts::BoxCopy& copy) { copy.coordinates[1] += " + 1"; });
}

}  // namespace
}  // namespace tileopt::test
