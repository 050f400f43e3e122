// Boxes of tensors that one thread copies, counted by barriers in memory (TMA): kernels are proved and agree with the interpreter in the emulator;
// single faults are refuted by the obligation that was named beforehand, and seen by the emulator.
#include "tests/collection.h"
#include "tests/emulate/gpu_fixture.h"

namespace tileopt::test {
namespace {

std::string product(const std::string& a, const std::string& a_shape, const std::string& b, const std::string& b_shape, const std::string& known, const std::string& type = "bf16") {
  return "@numerics(contract=True, flush_subnormals=True)\ndef product(A: " + type + "[" + a_shape + "], B: " + type + "[" + b_shape + "], C: out[" + type + "[M, N]]):\n    assume(" + known +
         ")\n    for i, j in grid(M, N):\n        acc: f32 = sum(f32(" + a + ") * f32(" + b + ") for k in range(K))\n        C[i, j] = " + type + "(acc)\n";
}
std::string nt() { return product("A[i, k]", "M, K", "B[j, k]", "N, K", "K % 8 == 0"); }
std::string nn() { return product("A[i, k]", "M, K", "B[k, j]", "K, N", "K % 8 == 0 and N % 8 == 0"); }
std::string tn() { return product("A[k, i]", "K, M", "B[k, j]", "K, N", "M % 8 == 0 and N % 8 == 0"); }
std::string tt() { return product("A[k, i]", "K, M", "B[j, k]", "N, K", "M % 8 == 0 and K % 8 == 0", "f16"); }
std::string batched() {
  return "@numerics(contract=True, flush_subnormals=True)\ndef product(A: bf16[H, M, K], B: bf16[H, N, K], C: out[bf16[H, M, N]]):\n    assume(K % 8 == 0)\n    for h, i, j in grid(H, M, N):\n"
         "        acc: f32 = sum(f32(A[h, i, k]) * f32(B[h, j, k]) for k in range(K))\n        C[h, i, j] = bf16(acc)\n";
}

class BoxesTest : public GpuTest {
 protected:
  /// No term, one tile of them, as many as slots and more; tiles that are cut along every side.
  static std::vector<Sizes> sizes() { return {{{"M", 8}, {"N", 8}, {"K", 0}}, {{"M", 128}, {"N", 128}, {"K", 64}}, {{"M", 200}, {"N", 136}, {"K", 328}}}; }
};

TEST_F(BoxesTest, WhereRowsStartAlignedOneThreadCopiesBoxes) {
  const Module module = compile(parse(nt()), "");
  EXPECT_EQ(module.plan.kernels.front().pipelines.front().copies.front().atom, "copy_tensor");
  EXPECT_NE(module.text.source.find("cp.async.bulk.tensor.2d.shared::cluster.global"), std::string::npos);
  EXPECT_NE(module.text.source.find("tileopt_wgmma_wait(1);"), std::string::npos) << "products of one tile run while those of the next are issued";
  EXPECT_EQ(module.text.source.find("tileopt_wgmma_memory_fence();"), std::string::npos) << "no thread writes what the products read";
  EXPECT_NE(module.text.header.find("starts at a multiple of 16 bytes"), std::string::npos);
  // Rows of a tensor may start anywhere where nothing is known of them.
  const Module other = compile(parse(product("A[i, k]", "M, K", "B[j, k]", "N, K", "K >= 0")), "versions(\"off\")");
  EXPECT_EQ(other.plan.kernels.front().pipelines.front().copies.front().atom, "copy_async");
}

TEST_F(BoxesTest, EveryWayThatFactorsLieIsProvedAndRight) {
  for (const std::string& text : takes_all() ? std::vector<std::string>{nt(), nn(), tn(), tt()} : std::vector<std::string>{tn()}) {
    SCOPED_TRACE(text);
    expect_right(text, "", sizes());
  }
}

TEST_F(BoxesTest, BoxesOfThreeDimensions) { expect_right(batched(), "", {{{"H", 3}, {"M", 72}, {"N", 40}, {"K", 72}}}); }

TEST_F(BoxesTest, SlotsAndHowFarAheadMayBeChosen) {
  expect_right(nt(), "pipeline(\"k\", slots=2)", {sizes().back()});
  if (takes_all()) expect_right(nt(), "pipeline(\"k\", slots=4, distance=2)", {sizes().back()});
}

/// Few rows are the lanes of a tile: the columns are its rows, so that there are blocks enough to read the large factor.
TEST_F(BoxesTest, FewRowsAreLanes) {
  const Sizes typical = {{"M", 16}, {"N", 8192}, {"K", 8192}};
  const Module module = compile(parse(nt()), "", "h200", typical);
  EXPECT_NE(module.text.source.find("tileopt_wgmma_bf16_n16<0, 0>(acc_tile, tileopt_matrix(B_shared"), std::string::npos);
  EXPECT_NE(module.text.source.find("__launch_bounds__(128"), std::string::npos);
  expect_right(nt(), "", {{{"M", 16}, {"N", 136}, {"K", 136}}}, "h200", typical);
  // A factor that lies along the lanes has one slab.
  expect_right(tn(), "", {{{"M", 16}, {"N", 136}, {"K", 72}}}, "h200", typical);
  if (takes_all()) expect_right(nn(), "", {{{"M", 40}, {"N", 136}, {"K", 136}}}, "h200", {{"M", 128}, {"N", 8192}, {"K", 8192}});
}

/// So are many rows beside few columns: a wide tile reads less of the block's memory for a product.
TEST_F(BoxesTest, FewColumnsAreRowsOfATile) {
  const auto tall = [](long columns) { return Sizes{{"M", 65536}, {"N", columns}, {"K", 4096}}; };
  const std::string one = compile(parse(nt()), "", "h200", tall(64)).text.source, two = compile(parse(nt()), "", "h200", tall(128)).text.source;
  EXPECT_NE(one.find("tileopt_wgmma_bf16_n256<0, 0>(acc_tile, tileopt_matrix(B_shared"), std::string::npos);
  EXPECT_NE(one.find("__launch_bounds__(128"), std::string::npos);
  EXPECT_NE(two.find("__launch_bounds__(256"), std::string::npos);
  expect_right(nt(), "", {{{"M", 300}, {"N", 40}, {"K", 136}}}, "h200", tall(64));
  if (takes_all()) expect_right(nn(), "", {{{"M", 300}, {"N", 104}, {"K", 136}}}, "h200", tall(128));
}

/// Three groups of threads fetch less for a product: where rows lie across lines of the caches, or where fewer waves of blocks come of it.
TEST_F(BoxesTest, RowsAcrossLinesWantLargerTiles) {
  const Sizes odd = {{"M", 5000}, {"N", 3000}, {"K", 7000}};
  EXPECT_NE(compile(parse(nt()), "", "h200", odd).text.source.find("__launch_bounds__(384"), std::string::npos);
  EXPECT_NE(compile(parse(nt()), "", "h200", {{"M", 4096}, {"N", 4096}, {"K", 4096}}).text.source.find("__launch_bounds__(256"), std::string::npos);
  expect_right(nt(), "", {{{"M", 200}, {"N", 264}, {"K", 136}}}, "h200", odd);
  if (takes_all()) expect_right(nn(), "", {{{"M", 8}, {"N", 8}, {"K", 0}}, {{"M", 392}, {"N", 136}, {"K", 328}}}, "h200", odd);
}

/// Nothing to write a local for: the result of the sum is what is stored.
TEST_F(BoxesTest, AResultOfTheSumsTypeAccumulatesInALocal) {
  const std::shared_ptr<const Program> program = parse(
      "@numerics(contract=True, flush_subnormals=True)\ndef product(A: bf16[M, K], B: bf16[N, K], C: out[f32[M, N]]):\n    assume(K % 8 == 0)\n    for i, j in grid(M, N):\n"
      "        C[i, j] = sum(f32(A[i, k]) * f32(B[j, k]) for k in range(K))\n");
  const Module module = compile(program, "");
  ASSERT_EQ(module.plan.rewrites.size(), 1u);
  EXPECT_EQ(to_string(module.plan.rewrites.front()), "local(\"C\")");
  EXPECT_EQ(module.plan.kernels.front().atoms.at("C").atom, "wgmma_bf16");
  EXPECT_EQ(emulate(*program, module.text, {{{"M", 72}, {"N", 72}, {"K", 72}}}).failure, "");
  // Where nothing multiplies together, the sum accumulates in its result.
  EXPECT_TRUE(compile(program, "", "a100").plan.rewrites.empty());
}

TEST_F(BoxesTest, SlotsAndTheRasterMayBeEditedInDumps) {
  const std::shared_ptr<const Program> program = parse(nt());
  const Module fewer = resumed_after(program, "55-pipelined", [](StageDump& dump) {
    EXPECT_EQ(dump.facts["pipelines"][0]["iteration"].dump(),
              R"(["wait kb","compute kb","await kb - 1","meet","expect 32768 bytes of kb + 5","copy_in_A_shared of kb + 5","copy_in_B_shared of kb + 5"])");
    dump.decisions["pipelines"][0]["slots"] = 3;
  });
  EXPECT_NE(fewer.text.source.find("tileopt_phases_begin(kb_full, 3, 1);"), std::string::npos);
  EXPECT_EQ(emulate(*program, fewer.text, {sizes().back()}).failure, "");
  if (!takes_all()) return;
  // Blocks along the rows that run beside each other: two instead of sixteen.
  const Module narrow = resumed_after(program, "30-digits", [](StageDump& dump) {
    for (auto& digit : dump.decisions["digits"]["i"])
      if (digit["name"] == "ia") digit["radix"] = 2;
  });
  EXPECT_EQ(narrow.plan.kernels.front().find_digit("ia")->radix, 2);
  EXPECT_EQ(emulate(*program, narrow.text, {sizes().back()}).failure, "");
}

std::vector<Fault> faults() {
  const auto nothing = [](const AstSync&) { return make_node(AstBlock{}); };
  const auto moved = [](long amount) {
    return [=](const AstSync& sync) { return make_node(AstSync{sync.statement, ast_operation(AstExpr::Kind::add, {sync.position, ast_integer(amount)}), sync.pending}); };
  };
  const auto pending = [](long count) { return [=](const AstSync& sync) { return sync.pending == 0 ? make_node(sync) : make_node(AstSync{sync.statement, sync.position, count}); }; };
  const auto copies = [](const std::function<void(AstLeaf&)>& change) {
    return [=](Ast& ast) {
      ast.root = edited(ast.root, [&](const AstNodePtr& node) {
        const auto* leaf = std::get_if<AstLeaf>(&node->node);
        if (leaf == nullptr || leaf->statement != "copy_in_A_shared") return node;
        AstLeaf changed = *leaf;
        change(changed);
        return make_node(std::move(changed));
      });
    };
  };
  return {
      {"nobody waits for boxes", {"races", "slots"}, at_sync("wait_kb_ring", nothing)},
      {"a wait for the phase before", {"races", "waits"}, at_sync("wait_kb_ring", moved(-1))},
      {"fewer bytes are announced", {"waits"}, [](Ast& ast) { ast.synchronizations.at("expect_kb_ring").bytes -= 128; }},
      {"a slot fewer", {"slots"}, [](Ast& ast) {
         for (Ring& ring : ast.rings) --ring.slots;
         for (Array& array : ast.arrays) array.slots -= array.ring.empty() ? 0 : 1;
       }},
      {"threads do not meet before the next box", {"slots"}, at_sync("meet_kb_ring", nothing)},
      {"two groups of products in flight", {"slots"}, at_sync("await_wgmma_kb_ring", pending(2))},
      {"more bytes are announced", {"waits"}, [](Ast& ast) { ast.synchronizations.at("expect_kb_ring").bytes += 128; }},
      {"a phase wants two arrivals", {"waits"}, [](Ast& ast) {
         for (Barrier& barrier : ast.barriers) barrier.arrivals += barrier.scope == BarrierScope::mbarrier ? 1 : 0;
       }},
      {"boxes of the next columns", {"values"}, copies([](AstLeaf& leaf) { leaf.reads[0][1] = ast_operation(AstExpr::Kind::add, {leaf.reads[0][1], ast_integer(8)}); })},
      {"a box is counted in the next phase", {"waits", "races"}, copies([](AstLeaf& leaf) { leaf.signal_position = ast_operation(AstExpr::Kind::add, {leaf.signal_position, ast_integer(1)}); })},
  };
}

constexpr std::size_t kFewFaults = 4;  ///< that the suite takes; the others are much like them

TEST_F(BoxesTest, FaultsAreRefutedAndSeen) {
  const std::shared_ptr<const Program> program = parse(nt());
  const Module module = compile(program, "");
  const std::vector<Fault> all = faults();
  for (std::size_t f = 0; f < (takes_all() ? all.size() : kFewFaults); ++f) expect_refuted(*program, module, all[f], {{"M", 136}, {"N", 136}, {"K", 456}});
}

/// What the engine was told otherwise than the Ast says is refuted by `text`.
TEST_F(BoxesTest, AnEngineToldOtherwiseIsRefuted) {
  const std::shared_ptr<const Program> program = parse(nt());
  const Module module = compile(program, "");
  const auto refuted = [&](const char* what, const std::function<void(PrintFacts&)>& change) {
    SCOPED_TRACE(what);
    SourceText text = module.text;
    change(text.facts.front());
    const Certificate certificate = prove(*program, module.asts, text);
    EXPECT_TRUE(std::any_of(certificate.obligations.begin(), certificate.obligations.end(), [](const Obligation& o) { return o.name == "text" && o.verdict == Verdict::refuted; }));
  };
  const auto box = [](PrintFacts& facts) -> PrintFacts::BoxCopy& {
    return *std::find_if(facts.leaves.begin(), facts.leaves.end(), [](const PrintFacts::Leaf& leaf) { return leaf.box_copy.has_value(); })->box_copy;
  };
  refuted("a narrower box", [&](PrintFacts& facts) { box(facts).box.front() /= 2; });
  refuted("barriers are not made ready", [](PrintFacts& facts) { facts.phases.clear(); });
  refuted("another slot's barrier", [&](PrintFacts& facts) {
    for (PrintFacts::Leaf& leaf : facts.leaves)
      if (leaf.box_copy) leaf.signal_slot = "0";
  });
  if (!takes_all()) return;
  refuted("sides exchanged", [&](PrintFacts& facts) { std::reverse(box(facts).box.begin(), box(facts).box.end()); });
  refuted("coordinates exchanged", [&](PrintFacts& facts) { std::reverse(box(facts).coordinates.begin(), box(facts).coordinates.end()); });
  refuted("a longer row", [&](PrintFacts& facts) { box(facts).extents.front() += " + 8"; });
  refuted("the other tensor", [&](PrintFacts& facts) { box(facts).tensor = box(facts).tensor == "A" ? "B" : "A"; });
  refuted("rows of 64 bytes", [&](PrintFacts& facts) { box(facts).swizzle = 64; });
  refuted("no box", [&](PrintFacts& facts) {
    for (PrintFacts::Leaf& leaf : facts.leaves) leaf.box_copy.reset();
  });
  refuted("a barrier of another slot", [](PrintFacts& facts) {
    for (PrintFacts::Sync& sync : facts.syncs)
      if (!sync.phase.empty()) sync.slot = "0";
  });
}

}  // namespace
}  // namespace tileopt::test
