/// Barriers of planned kernels: every one of them is needed, and the proof says so when it is gone.
#include <gtest/gtest.h>

#include <filesystem>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "rewrites/apply_rewrites.h"
#include "verify/verify.h"

namespace tileopt::test {
namespace {

/// `node` without its barrier number `at`, which counts down to -1.
AstNodePtr without_barrier(const AstNodePtr& node, int& at) {
  if (node == nullptr) return nullptr;
  if (const auto* block = std::get_if<AstBlock>(&node->node)) {
    AstBlock kept;
    for (const AstNodePtr& child : block->children) {
      if (std::holds_alternative<AstSync>(child->node) && at-- == 0) continue;
      kept.children.push_back(without_barrier(child, at));
    }
    return make_node(std::move(kept));
  }
  if (const auto* loop = std::get_if<AstFor>(&node->node)) {
    AstFor result = *loop;
    result.body = without_barrier(loop->body, at);
    return make_node(std::move(result));
  }
  if (const auto* branch = std::get_if<AstIf>(&node->node)) {
    AstIf result = *branch;
    result.then_body = without_barrier(branch->then_body, at);
    result.else_body = without_barrier(branch->else_body, at);
    return make_node(std::move(result));
  }
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
    AstAllocate result = *allocate;
    result.body = without_barrier(allocate->body, at);
    return make_node(std::move(result));
  }
  return node;
}

class BarrierTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<const Program> program(const std::string& name) {
    const std::string file = std::string(TILEOPT_SOURCE_DIR) + "/benchmarks/kernels/" + name + ".tile";
    return std::make_shared<const Program>(parse_tile_file(context_.get(), read_file(file), name + ".tile").programs.at(0));
  }
  poly::Context context_;
};

TEST_P(BarrierTest, EveryOneIsNeeded) {
  Request request;
  request.machine = find_machine("h200");
  request.backend = "cuda";
  Trace trace({"", ""});
  const auto source = program(GetParam());
  const Candidate<Outcome> outcome = resolve_and_compile(source, request, trace);
  ASSERT_TRUE(feasible(outcome)) << to_string(std::get<Infeasible>(outcome));
  const Module& module = std::get<Outcome>(outcome).module;
  ASSERT_EQ(module.asts.size(), 1u);
  const auto rewritten = apply_rewrites(source, module.plan.rewrites);
  ASSERT_TRUE(feasible(rewritten));
  const Program& program = *std::get<RewrittenProgram>(rewritten).program;
  int barriers = 0;
  for (;; ++barriers) {
    int at = barriers;
    Ast mutant = module.asts[0];
    mutant.root = without_barrier(mutant.root, at);
    if (at >= 0) break;  // there was none of this number
    const Candidate<SourceText> text = find_backend("cuda").print(program, {mutant}, request.machine, "test");
    ASSERT_TRUE(feasible(text)) << to_string(std::get<Infeasible>(text));
    const Certificate certificate = verify(program, {mutant}, std::get<SourceText>(text).facts, request.machine, "test", {});
    bool races = false;
    for (const Obligation& obligation : certificate.obligations) races = races || (obligation.name == "races" && obligation.verdict == Verdict::refuted);
    EXPECT_TRUE(races) << "without barrier " << barriers;
  }
  EXPECT_GE(barriers, 2);
}

INSTANTIATE_TEST_SUITE_P(Kernels, BarrierTest, ::testing::Values("softmax", "layernorm", "gemm"));

}  // namespace
}  // namespace tileopt::test
