// Products that threads compute together (wgmma): whatever way the factors lie, kernels are proved and agree with the interpreter in the
// emulator; single faults are refuted by the obligation that was named beforehand, and seen by the emulator.
#include "tests/collection.h"
#include "tests/emulate/gpu_fixture.h"

namespace tileopt::test {
namespace {

std::string product(const std::string& a, const std::string& a_shape, const std::string& b, const std::string& b_shape, const std::string& type) {
  return "@numerics(contract=True, flush_subnormals=True)\ndef product(A: " + type + "[" + a_shape + "], B: " + type + "[" + b_shape + "], C: out[" + type +
         "[M, N]]):\n    for i, j in grid(M, N):\n        acc: f32 = sum(f32(" + a + ") * f32(" + b + ") for k in range(K))\n        C[i, j] = " + type + "(acc)\n";
}
std::string nn(const std::string& type = "bf16") { return product("A[i, k]", "M, K", "B[k, j]", "K, N", type); }
std::string nt(const std::string& type = "bf16") { return product("A[i, k]", "M, K", "B[j, k]", "N, K", type); }
std::string tn(const std::string& type = "bf16") { return product("A[k, i]", "K, M", "B[k, j]", "K, N", type); }
std::string tt(const std::string& type = "bf16") { return product("A[k, i]", "K, M", "B[j, k]", "N, K", type); }

/// The version for all sizes, in which threads copy pieces: boxes, and both in one module, have tests of their own.
class CollectivesTest : public GpuTest {
 protected:
  static std::string for_all_sizes(const std::string& pins) { return pins + (pins.empty() ? "" : "\n") + "versions(\"off\")"; }
  Module compile(const std::shared_ptr<const Program>& program, const std::string& pins, const std::string& machine = "h200") { return GpuTest::compile(program, for_all_sizes(pins), machine); }
  void expect_right(const std::string& text, const std::string& pins, const std::vector<Sizes>& sizes) { GpuTest::expect_right(text, for_all_sizes(pins), sizes); }
  /// No term, one tile of them, several; whole tiles and cut ones; rows that are aligned and rows that are not.
  static std::vector<Sizes> sizes() { return {{{"M", 5}, {"N", 3}, {"K", 0}}, {{"M", 128}, {"N", 128}, {"K", 64}}, {{"M", 136}, {"N", 72}, {"K", 136}}, {{"M", 33}, {"N", 131}, {"K", 203}}}; }
  static std::string atom_of(const Module& module, const std::string& statement) {
    const auto found = module.plan.kernels.front().atoms.find(statement);
    return found == module.plan.kernels.front().atoms.end() ? "" : found->second.atom;
  }
};

TEST_F(CollectivesTest, APlanMultipliesByThreadsTogether) {
  const Module module = compile(parse(nn()), "");
  EXPECT_EQ(atom_of(module, "acc"), "wgmma_bf16");
  EXPECT_EQ(atom_of(compile(parse(nn("f16")), ""), "acc"), "wgmma_f16");
  EXPECT_EQ(module.plan.kernels.size(), 1u);
  EXPECT_NE(module.text.source.find("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"), std::string::npos);
  EXPECT_NE(module.text.source.find("tileopt_wgmma_bf16_n128<0, 1>("), std::string::npos) << "A lies along the sum, B across";
  EXPECT_NE(compile(parse(tt()), "").text.source.find("tileopt_wgmma_bf16_n128<1, 0>("), std::string::npos);
  // What other machines have.
  EXPECT_NE(atom_of(compile(parse(nn()), "", "a100"), "acc"), "wgmma_bf16");
  EXPECT_EQ(atom_of(compile(parse(nn()), "atom(acc, \"scalar\")"), "acc"), "");
}

TEST_F(CollectivesTest, EveryWayThatFactorsLieIsProvedAndRight) {
  // The golden of gemm_bf16 is proved, and the emulator runs it, elsewhere.
  for (const std::string& text : takes_all() ? std::vector<std::string>{nt(), tn(), nn(), tt(), nn("f16")} : std::vector<std::string>{nt(), tn()}) {
    SCOPED_TRACE(text);
    expect_right(text, "", sizes());
  }
}

/// What is made of the result at once: the last line of the program, with what it reads.
std::string followed_by(const std::string& tensors, const std::string& lines, const std::string& known = "K >= 0") {
  return "@numerics(contract=True, flush_subnormals=True)\ndef product(A: bf16[M, K], B: bf16[N, K], " + tensors + "C: out[bf16[M, N]]):\n    assume(" + known +
         ")\n    for i, j in grid(M, N):\n        acc: f32 = sum(f32(A[i, k]) * f32(B[j, k]) for k in range(K))\n" + lines;
}

TEST_F(CollectivesTest, WhatIsMadeOfTheResultReadsTilesOfOthers) {
  const std::string gelu = followed_by("bias: f32[N], ", "        C[i, j] = bf16(f32(0.5) * (acc + bias[j]) * (f32(1.0) + tanh(f32(0.8) * (acc + bias[j]))))\n", "K % 8 == 0");
  const std::string residual = followed_by("D: bf16[M, N], s: f32, ", "        C[i, j] = bf16(s * acc + f32(D[i, j]))\n");
  const std::string turned = followed_by("D: bf16[N, M], r: f32[M], ", "        C[i, j] = bf16(r[i] * acc + f32(D[j, i]))\n");
  std::string bytes = followed_by("D: i8[N], ", "        C[i, j] = i8(acc + f32(D[j]))\n");
  bytes.replace(bytes.find("out[bf16"), 8, "out[i8");
  for (const std::string& text : takes_all() ? std::vector<std::string>{gelu, residual, turned, bytes} : std::vector<std::string>{gelu, turned}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(atom_of(compile(parse(text), ""), "acc"), "wgmma_bf16");
    expect_right(text, "", {{{"M", 72}, {"N", 72}, {"K", 136}}});
  }
  // Who reads the result again is proved where another way computes it.
  EXPECT_EQ(atom_of(compile(parse("@numerics(contract=True, flush_subnormals=True)\ndef product(A: bf16[M, K], B: bf16[N, K], C: out[f32[M, N]], E: out[f32[M, N]]):\n    for i, j in grid(M, N):\n"
                                  "        C[i, j] = sum(f32(A[i, k]) * f32(B[j, k]) for k in range(K))\n    for i, j in grid(M, N):\n        E[i, j] = C[i, j] * 2\n"), ""), "C").find("wgmma"), std::string::npos);
  // What moves otherwise than tiles do is no part of it.
  EXPECT_EQ(atom_of(compile(parse(followed_by("D: f32[M], ", "        C[i, j] = bf16(acc * D[0])\n", "M >= 1")), ""), "acc").find("wgmma"), std::string::npos);
}

TEST_F(CollectivesTest, SlotsMayBeChosen) { expect_right(nt(), "pipeline(\"k\", slots=2)", {sizes().back()}); }

constexpr std::size_t kFewFaults = 5;  ///< that the suite takes; the others are much like them

std::vector<Fault> faults() {
  const auto nothing = [](const AstSync&) { return make_node(AstBlock{}); };
  const auto at_array = [](const std::string& name, const std::function<void(Array&)>& change) {
    return [=](Ast& ast) {
      for (Array& array : ast.arrays)
        if (array.name == name) change(array);
    };
  };
  return {
      {"no fence between copies and products", {"races"}, at_sync("fence_wgmma", nothing)},
      {"registers are not opened", {"races"}, at_sync("open_wgmma", nothing)},
      {"no await of products", {"races", "slots"}, at_sync("await_wgmma_kb_ring", nothing)},
      {"the left tile is not swizzled", {"collectives"}, at_array("A_shared", [](Array& array) { array.swizzle = {}; })},
      {"the right factor starts a step of the sum too late", {"values", "bounds"}, [](Ast& ast) {
         ast.root = edited(ast.root, [](const AstNodePtr& node) {
           const auto* leaf = std::get_if<AstLeaf>(&node->node);
           if (leaf == nullptr || leaf->statement != "acc") return node;
           AstLeaf later = *leaf;
           for (auto& read : later.reads)
             if (&read == &later.reads.back()) read[read.size() - 3] = ast_operation(AstExpr::Kind::add, {read[read.size() - 3], ast_integer(8)});
           return make_node(std::move(later));
         });
       }},
      {"no commit of products", {"races", "slots"}, at_sync("commit_wgmma", nothing)},
      {"the right tile is swizzled by other rows", {"collectives"}, at_array("B_shared", [](Array& array) { array.swizzle.by = 1; })},
      {"rows of the left tile are apart", {"collectives", "capacity"}, at_array("A_shared", [](Array& array) {
         array.swizzle = {};
         array.strides = {4 * 8 * 72, 8 * 72, 72, 8, 1};
       })},
  };
}

TEST_F(CollectivesTest, SingleFaultsAreRefutedAndSeen) {
  const std::shared_ptr<const Program> program = parse(nn());
  const Module module = compile(program, "");
  const std::vector<Fault> all = faults();
  const std::size_t count = takes_all() ? all.size() : kFewFaults;
  for (std::size_t i = 0; i < count; ++i) expect_refuted(*program, module, all[i], {{"M", 128}, {"N", 128}, {"K", 256}});
}

TEST_F(CollectivesTest, OtherRegistersAreRefuted) {
  const std::shared_ptr<const Program> program = parse(nn());
  std::vector<Ast> asts = compile(program, "").asts;
  // The two rows of a thread change places: the tile means the same, and the instruction does not know.
  for (auto& [name, statement] : asts.front().statements) {
    if (statement.write_array == "acc_tile") std::swap(statement.write_steps[6], statement.write_steps[7]);
    for (std::size_t r = 0; r < statement.read_arrays.size(); ++r)
      if (statement.read_arrays[r] == "acc_tile") std::swap(statement.read_steps[r][6], statement.read_steps[r][7]);
  }
  const Certificate certificate = prove(*program, asts, print(*program, asts));
  const auto found = std::find_if(certificate.obligations.begin(), certificate.obligations.end(), [](const Obligation& o) { return o.name == "collectives"; });
  ASSERT_NE(found, certificate.obligations.end());
  EXPECT_EQ(found->verdict, Verdict::refuted);
}

TEST_F(CollectivesTest, ThreadsThatPartAtAnEdgeAreRefused) {
  const std::shared_ptr<const Program> program = parse(nn());
  Plan plan = compile(program, "").plan;
  plan.kernels.front().atoms.at("acc").whole.pop_back();
  Request request;
  request.machine = find_machine("h200");
  request.backend = "cuda";
  request.plan = plan;
  Trace trace;
  const Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
  const auto* refused = std::get_if<Infeasible>(&outcome);
  ASSERT_NE(refused, nullptr);
  EXPECT_NE(refused->reason.find("may leave some of the agents out that run atom wgmma_bf16 together"), std::string::npos) << refused->reason;
}

}  // namespace
}  // namespace tileopt::test
