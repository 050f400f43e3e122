// Copies that run ahead: kernels with any number of slots are proved and agree with the interpreter in the emulator; single faults in what
// awaits, joins and numbers their slots are refuted by the obligation that was named beforehand, and seen by the emulator.
#include <gtest/gtest.h>

#include <functional>

#include "support/text.h"
#include "tests/emulate/gpu_fixture.h"

namespace tileopt::test {
namespace {

constexpr const char* kGemm = R"(@numerics(contract=True)
def gemm(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))
)";
/// Of a column-major A, both factors are copied as they lie.
constexpr const char* kTransposed = R"(@numerics(contract=True)
def gemm_tn(A: f32[K, M], B: f32[K, N], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[k, i] * B[k, j] for k in range(K))
)";

/// Both factors lie along the sum: both copies turn their tile, and zeros fill both of them beyond the data.
constexpr const char* kBothAlong = R"(@numerics(contract=True)
def gemm_nt(A: f32[M, K], B: f32[N, K], C: out[f32[M, N]]):
    for i, j in grid(M, N):
        C[i, j] = sum(A[i, k] * B[j, k] for k in range(K))
)";

class PipelinesTest : public GpuTest {
 protected:
  /// No iteration, one, fewer than the slots, several; whole tiles and cut ones; rows that are aligned and rows that are not.
  static std::vector<Sizes> sizes() {
    std::vector<Sizes> result;
    for (const long k : {0L, 1L, 16L, 20L, 33L, 80L}) result.push_back({{"M", k % 2 == 0 ? 64 : 37}, {"N", k % 3 == 0 ? 132 : 70}, {"K", k}});
    result.push_back({{"M", 128}, {"N", 128}, {"K", 96}});
    return result;
  }
  void expect_right(const std::string& program_text, const std::string& pins, const std::string& machine = "h200") { GpuTest::expect_right(program_text, pins, sizes(), machine); }
};

TEST_F(PipelinesTest, APlanCopiesContractionsAhead) {
  const Module module = compile(parse(kGemm), "");
  ASSERT_EQ(module.plan.kernels.front().pipelines.size(), 1u);
  const Pipelining& pipelining = module.plan.kernels.front().pipelines.front();
  ASSERT_EQ(pipelining.copies.size(), 2u);
  EXPECT_EQ(pipelining.copies[0].atom, "");  // A lies along the sum: its tile is turned on the way
  EXPECT_EQ(pipelining.copies[1].atom, "copy_async");
  EXPECT_NE(module.text.source.find("tileopt_async_wait(" + std::to_string(pipelining.ahead() - 1) + ");"), std::string::npos);
  for (const Pipelining::Copy& copy : compile(parse(kTransposed), "").plan.kernels.front().pipelines.front().copies) EXPECT_EQ(copy.atom, "copy_async");
  for (const Pipelining::Copy& copy : compile(parse(kGemm), "", "mi300x").plan.kernels.front().pipelines.front().copies) EXPECT_EQ(copy.atom, "");
}

TEST_F(PipelinesTest, AnyNumberOfSlotsIsProvedAndRight) {
  for (const char* pins : {"", "pipeline(\"k\", slots=2)", "pipeline(\"k\", slots=3)", "pipeline(\"k\", slots=4, distance=2)", "pipeline(\"k\", slots=1)"}) expect_right(kGemm, pins);
  expect_right(kTransposed, "");
  expect_right(kTransposed, "pipeline(\"k\", slots=2)");
}

TEST_F(PipelinesTest, TilesFilledOnBothSidesRunInNoOtherBlocks) {
  EXPECT_EQ(compile(parse(kBothAlong), "").plan.kernels.front().pipelines.size(), 1u);
  EXPECT_EQ(compile(parse(kBothAlong), "", "a100").plan.kernels.front().pipelines.size(), 1u);
  expect_right(kBothAlong, "");
}

TEST_F(PipelinesTest, OrdinaryLoadsRunAheadOnEveryGpu) {
  expect_right(kGemm, "", "mi300x");
  expect_right(kGemm, "pipeline(\"k\", slots=3)", "mi300x");
}

TEST_F(PipelinesTest, TheDumpSaysHowAndItsSlotsMayBeEdited) {
  const std::shared_ptr<const Program> program = parse(kGemm);
  const Module module = resumed_after(program, "55-pipelined", [](StageDump& dump) {
    EXPECT_EQ(dump.facts["slots"]["B_shared"].get<long>(), 4);
    EXPECT_EQ(dump.facts["pipelines"][0]["iteration"].dump(),
              R"(["await kb","meet","fetch_A_shared of kb + 3","copy_in_B_shared of kb + 3","commit","compute kb","copy_in_A_shared of kb + 3"])");
    dump.decisions["pipelines"][0]["slots"] = 3;
  });
  EXPECT_EQ(module.plan.kernels.front().pipelines.front().slots, 3);
  EXPECT_NE(module.text.source.find("tileopt_async_wait(1);"), std::string::npos);
  EXPECT_EQ(emulate(*program, module.text, sizes()).failure, "");
}

TEST_F(PipelinesTest, WhatCannotRunAheadIsRefused) {
  const auto refusal = [&](const std::function<void(Pipelining&)>& edit) -> std::string {
    const std::shared_ptr<const Program> program = parse(kGemm);
    Request request;
    request.machine = find_machine("h200");
    request.backend = "cuda";
    request.plan = compile(program, "").plan;
    edit(request.plan->kernels.front().pipelines.front());
    Trace trace;
    const Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
    return feasible(outcome) ? "" : std::get<Infeasible>(outcome).reason;
  };
  EXPECT_NE(refusal([](Pipelining& p) { p.slots = 64; }).find("with all their slots need"), std::string::npos);
  EXPECT_NE(refusal([](Pipelining& p) { p.copies[0].atom = "copy_async"; }).find("does not lie side by side"), std::string::npos);
  EXPECT_NE(refusal([](Pipelining& p) { p.copies[1].atom = "thread_tile"; }).find("no atom `thread_tile` that copies asynchronously"), std::string::npos);
  EXPECT_NE(refusal([](Pipelining& p) { p.after = "kk"; }).find("copies run ahead along sequential loops, and digit kk is on level unroll"), std::string::npos);
  EXPECT_NE(refusal([](Pipelining& p) { p.copies = {{"C_tile", ""}}; }).find("lives below"), std::string::npos);
}

// --- faults

std::vector<Fault> faults() {
  const auto nothing = [](const AstSync&) { return make_node(AstBlock{}); };
  return {
      {"slots - 1", {"slots", "races"}, [](Ast& ast) {
         for (Ring& ring : ast.rings) --ring.slots;
         for (Array& array : ast.arrays)
           if (!array.ring.empty()) --array.slots;
       }},
      {"one group too many in flight", {"races", "slots", "waits"}, at_sync("await_kb_ring", [](AstSync sync) {
         ++sync.pending;
         return make_node(std::move(sync));
       })},
      {"no await", {"races", "slots"}, at_sync("await_kb_ring", nothing)},
      {"no commit", {"races", "slots"}, at_sync("commit_kb_ring", nothing)},
      {"no barrier", {"races", "slots", "waits"}, at_sync("meet_kb_ring", nothing)},
      {"copies one iteration too far ahead", {"values", "bounds", "races", "slots", "coverage"}, [](Ast& ast) {
         ast.root = edited(ast.root, [](const AstNodePtr& node) {
           const auto* leaf = std::get_if<AstLeaf>(&node->node);
           if (leaf == nullptr || leaf->statement != "copy_in_B_shared") return node;
           AstLeaf later = *leaf;
           later.write.front() = ast_operation(AstExpr::Kind::add, {later.write.front(), ast_integer(1)});
           return make_node(std::move(later));
         });
       }},
  };
}

TEST_F(PipelinesTest, AwaitsOfOtherBlocksDoNotCount) {
  const std::shared_ptr<const Program> program = parse(kGemm);
  std::vector<Ast> asts = compile(program, "").asts;
  for (const Fault& fault : faults())
    if (fault.name == std::string("one group too many in flight")) fault.apply(asts.front());
  const Certificate certificate = prove(*program, asts, print(*program, asts));
  const auto landed = std::find_if(certificate.obligations.begin(), certificate.obligations.end(),
                                   [](const Obligation& o) { return o.subject.rfind("the end of what is in flight on B_shared", 0) == 0; });
  ASSERT_NE(landed, certificate.obligations.end());
  EXPECT_EQ(landed->verdict, Verdict::refuted);
}

TEST_F(PipelinesTest, SingleFaultsAreRefutedAndSeen) {
  const std::shared_ptr<const Program> program = parse(kGemm);
  const Module module = compile(program, "");
  for (const Fault& fault : faults()) expect_refuted(*program, module, fault, {{"M", 64}, {"N", 128}, {"K", 104}});
}

}  // namespace
}  // namespace tileopt::test
