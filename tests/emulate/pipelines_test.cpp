// Copies that run ahead: kernels with any number of slots are proved and agree with the interpreter in the emulator; single faults in what
// awaits, joins and numbers their slots are refuted by the obligation that was named beforehand, and seen by the emulator.
#include <gtest/gtest.h>

#include <functional>

#include "backends/runner/emulated_kernel.h"
#include "cost_models/machines.h"
#include "driver/check_kernel.h"
#include "driver/request.h"
#include "driver/resume.h"
#include "driver/stage_dump.h"
#include "frontends/tile_text/tile_text.h"
#include "support/text.h"
#include "verify/verify.h"

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

class PipelinesTest : public testing::Test {
 protected:
  std::shared_ptr<const Program> parse(const std::string& text) { return std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0)); }

  Module compile(const std::shared_ptr<const Program>& program, const std::string& pins, const std::string& machine = "h200") {
    Request request;
    request.machine = find_machine(machine);
    request.backend = request.machine.backend;
    request.proof.attempt = false;
    if (!pins.empty()) request.pins = parse_pins(pins, "test");
    Trace trace;
    Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) throw std::runtime_error(to_string(*refused));
    return std::move(std::get<Outcome>(outcome).module);
  }
  Certificate prove(const Program& program, const std::vector<Ast>& asts, const SourceText& text, const std::string& machine = "h200") {
    return verify(program, asts, text.facts, find_machine(machine), TILEOPT_VERSION);
  }
  CheckReport emulate(const Program& program, const SourceText& text, const std::vector<Sizes>& sizes, const std::string& machine = "h200") {
    const EmulatedKernel kernel = EmulatedKernel::compile(program, text);
    std::vector<EmulatedKernel> settings;
    for (const emulator::Settings& setting : check_settings(find_machine(machine), 5)) settings.push_back(kernel.with(setting));
    return check_kernels(program, {&settings[0], &settings[1]}, sizes, 7, 0);
  }
  SourceText print(const Program& program, const std::vector<Ast>& asts, const std::string& machine = "h200") {
    const Machine target = find_machine(machine);
    Candidate<SourceText> text = find_backend(target.backend).print(program, asts, target, TILEOPT_VERSION);
    if (const auto* refused = std::get_if<Infeasible>(&text)) throw std::runtime_error(to_string(*refused));
    return std::get<SourceText>(std::move(text));
  }
  /// No iteration, one, fewer than the slots, several; whole tiles and cut ones; rows that are aligned and rows that are not.
  static std::vector<Sizes> sizes() {
    std::vector<Sizes> result;
    for (const long k : {0L, 1L, 16L, 20L, 33L, 80L}) result.push_back({{"M", k % 2 == 0 ? 64 : 37}, {"N", k % 3 == 0 ? 132 : 70}, {"K", k}});
    result.push_back({{"M", 128}, {"N", 128}, {"K", 96}});
    return result;
  }
  void expect_right(const std::string& program_text, const std::string& pins, const std::string& machine = "h200") {
    const std::shared_ptr<const Program> program = parse(program_text);
    const Module module = compile(program, pins, machine);
    int unproved = 0;
    const Certificate certificate = prove(*program, module.asts, module.text, machine);
    const Obligation* first = first_unproved(certificate, unproved);
    EXPECT_EQ(unproved, 0) << pins << ": " << (first == nullptr ? "" : unproved_text(certificate));
    const CheckReport report = emulate(*program, module.text, sizes(), machine);
    EXPECT_EQ(report.failure, "") << pins;
    EXPECT_GT(report.runs, 0);
  }
  poly::Context context_;
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

TEST_F(PipelinesTest, OrdinaryLoadsRunAheadOnEveryGpu) {
  expect_right(kGemm, "", "mi300x");
  expect_right(kGemm, "pipeline(\"k\", slots=3)", "mi300x");
}

TEST_F(PipelinesTest, TheDumpSaysHowAndItsSlotsMayBeEdited) {
  const std::shared_ptr<const Program> program = parse(kGemm);
  const std::string folder = testing::TempDir() + "pipelines_dump";
  Request request;
  request.machine = find_machine("h200");
  request.backend = "cuda";
  request.proof.attempt = false;
  TraceOptions dumped;
  dumped.dump_dir = folder;
  Trace trace(dumped);
  ASSERT_TRUE(feasible(resolve_and_compile(program, request, trace)));
  const std::string path = folder + "/gemm/55-pipelined.yaml";
  StageDump dump = StageDump::read(read_file(path), path);
  EXPECT_EQ(dump.facts["slots"]["B_shared"].get<long>(), 4);
  EXPECT_EQ(dump.facts["pipelines"][0]["iteration"].dump(),
            R"(["await kb","meet","fetch_A_shared of kb + 3","copy_in_B_shared of kb + 3","commit","compute kb","copy_in_A_shared of kb + 3"])");
  dump.decisions["pipelines"][0]["slots"] = 3;
  const std::string edited = folder + "/edited.yaml";
  write_file(edited, dump.write());
  const Resumed resumed = resume_from(context_.get(), edited);
  EXPECT_EQ(resumed.plan.kernels.front().pipelines.front().slots, 3);
  request.plan = resumed.plan;
  request.proof.attempt = true;
  Trace again;
  const Candidate<Outcome> outcome = resolve_and_compile(resumed.program, request, again);
  ASSERT_TRUE(feasible(outcome));
  const Module& module = std::get<Outcome>(outcome).module;
  int unproved = 0;
  first_unproved(module.certificate, unproved);
  EXPECT_EQ(unproved, 0) << unproved_text(module.certificate);
  EXPECT_NE(module.text.source.find("tileopt_async_wait(1);"), std::string::npos);
  EXPECT_EQ(emulate(*resumed.program, module.text, sizes()).failure, "");
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

/// `node` with `change` applied to every node below it that it changes.
AstNodePtr edited(const AstNodePtr& node, const std::function<AstNodePtr(const AstNodePtr&)>& change) {
  if (node == nullptr) return nullptr;
  const AstNodePtr here = change(node);
  if (here != node) return here;
  if (const auto* block = std::get_if<AstBlock>(&node->node)) {
    AstBlock result;
    for (const AstNodePtr& child : block->children) result.children.push_back(edited(child, change));
    return make_node(std::move(result));
  }
  if (const auto* loop = std::get_if<AstFor>(&node->node)) {
    AstFor result = *loop;
    result.body = edited(loop->body, change);
    return make_node(std::move(result));
  }
  if (const auto* branch = std::get_if<AstIf>(&node->node)) return make_node(AstIf{branch->condition, edited(branch->then_body, change), edited(branch->else_body, change)});
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) return make_node(AstAllocate{allocate->arrays, edited(allocate->body, change), allocate->rings});
  return node;
}

/// Every `statement` replaced by what `change` makes of it; without it: nothing.
std::function<void(Ast&)> at_sync(const std::string& statement, const std::function<AstNodePtr(AstSync)>& change) {
  return [=](Ast& ast) {
    ast.root = edited(ast.root, [&](const AstNodePtr& node) {
      const auto* sync = std::get_if<AstSync>(&node->node);
      return sync != nullptr && sync->statement == statement ? change(*sync) : node;
    });
  };
}

struct Fault {
  const char* name;
  std::vector<std::string> expected;  ///< obligations, any of which refutes it
  std::function<void(Ast&)> apply;
};

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
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.name);
    std::vector<Ast> asts = module.asts;
    fault.apply(asts.front());
    ASSERT_NE(asts.front().write(), module.asts.front().write());
    const SourceText text = print(*program, asts);
    const Certificate certificate = prove(*program, asts, text);
    std::vector<std::string> refuted;
    for (const Obligation& obligation : certificate.obligations)
      if (obligation.verdict == Verdict::refuted && !contains(refuted, obligation.name)) refuted.push_back(obligation.name);
    EXPECT_TRUE(std::any_of(fault.expected.begin(), fault.expected.end(), [&](const std::string& name) { return contains(refuted, name); })) << "refuted: " << join(refuted, ", ");
    const CheckReport report = emulate(*program, text, {{{"M", 64}, {"N", 128}, {"K", 104}}});
    EXPECT_NE(report.failure, "");
  }
}

}  // namespace
}  // namespace tileopt::test
