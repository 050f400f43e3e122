// Loops over an index from memory run one value; bindings broken on purpose are refuted.
#include <gtest/gtest.h>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "verify/verify.h"

namespace tileopt {
namespace {

const char* const histogram =
    "def f(key: i32[N], other: i32[N], H: inout[i32[B]]):\n"
    "    assume(0 <= key[:] < B and 0 <= other[:] < B)\n"
    "    for i in range(N):\n"
    "        H[key[i]] += other[i]\n";

class Bindings : public ::testing::Test {
 protected:
  /// Compiles with the default Plan for the given pins.
  Module compile(const std::string& text, const std::string& pins = "") {
    program_ = std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0));
    Request request;
    machine_ = find_machine("x86-64-v3");
    request.machine = machine_;
    request.resolve.threads = 1;
    if (!pins.empty()) request.pins = parse_pins(pins, "pins");
    Trace trace;
    Candidate<Outcome> outcome = resolve_and_compile(program_, request, trace);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) {
      ADD_FAILURE() << to_string(*refused);
      return {};
    }
    return std::move(std::get<Outcome>(outcome).module);
  }
  /// The first refuted obligation where the Ast's bound loop is changed.
  Obligation refuted(const Module& module, const std::function<void(AstFor&)>& change) {
    std::vector<Ast> asts = module.asts;
    bool changed = false;
    for (Ast& ast : asts) ast.root = rewrite(ast.root, change, changed);
    EXPECT_TRUE(changed) << "no bound loop";
    const Certificate certificate = verify(*program_, asts, {}, machine_, "test");
    for (const Obligation& o : certificate.obligations)
      if (o.verdict == Verdict::refuted) return o;
    ADD_FAILURE() << "nothing is refuted";
    return {};
  }
  /// The first refuted obligation where every node that `change` gives something else for is replaced.
  Obligation refuted_nodes(const Module& module, const std::function<AstNodePtr(const AstNodePtr&)>& change) {
    std::vector<Ast> asts = module.asts;
    bool changed = false;
    for (Ast& ast : asts) ast.root = rewrite_nodes(ast.root, change, changed);
    EXPECT_TRUE(changed) << "nothing was changed";
    const Certificate certificate = verify(*program_, asts, {}, machine_, "test");
    for (const Obligation& o : certificate.obligations)
      if (o.verdict == Verdict::refuted) return o;
    ADD_FAILURE() << "nothing is refuted";
    return {};
  }
  static AstNodePtr rewrite_nodes(const AstNodePtr& node, const std::function<AstNodePtr(const AstNodePtr&)>& change, bool& changed) {
    if (node == nullptr) return node;
    if (AstNodePtr other = change(node); other != node) {
      changed = true;
      return other;
    }
    const auto below = [&](const AstNodePtr& child) { return rewrite_nodes(child, change, changed); };
    if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      AstFor copy = *loop;
      copy.body = below(copy.body);
      return make_node(std::move(copy));
    }
    if (const auto* block = std::get_if<AstBlock>(&node->node)) {
      AstBlock copy;
      for (const AstNodePtr& child : block->children) copy.children.push_back(below(child));
      return make_node(std::move(copy));
    }
    if (const auto* branch = std::get_if<AstIf>(&node->node))
      return make_node(AstIf{branch->condition, below(branch->then_body), below(branch->else_body)});
    if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) return make_node(AstAllocate{allocate->arrays, below(allocate->body)});
    return node;
  }
  static const AstLeaf* leaf_of(const AstNodePtr& node, const std::string& statement) {
    const auto* leaf = std::get_if<AstLeaf>(&node->node);
    return leaf != nullptr && leaf->statement == statement ? leaf : nullptr;
  }
  static AstNodePtr rewrite(const AstNodePtr& node, const std::function<void(AstFor&)>& change, bool& changed) {
    if (node == nullptr) return node;
    if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      AstFor copy = *loop;
      if (copy.binding && !changed) {
        changed = true;
        change(copy);
      }
      copy.body = rewrite(copy.body, change, changed);
      return make_node(std::move(copy));
    }
    if (const auto* block = std::get_if<AstBlock>(&node->node)) {
      AstBlock copy;
      for (const AstNodePtr& child : block->children) copy.children.push_back(rewrite(child, change, changed));
      return make_node(std::move(copy));
    }
    if (const auto* branch = std::get_if<AstIf>(&node->node))
      return make_node(AstIf{branch->condition, rewrite(branch->then_body, change, changed), rewrite(branch->else_body, change, changed)});
    if (const auto* allocate = std::get_if<AstAllocate>(&node->node))
      return make_node(AstAllocate{allocate->arrays, rewrite(allocate->body, change, changed)});
    return node;
  }

  poly::Context context_;
  std::shared_ptr<const Program> program_;
  Machine machine_;
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(Bindings, AHistogramHasOneLoop) {
  const Module module = compile(histogram);
  EXPECT_TRUE(module.certificate.proved());
  EXPECT_NE(module.text.source.find("const int64_t key_at = "), std::string::npos) << module.text.source;
  const std::string kernel = module.text.source.substr(module.text.source.find("tileopt_kernel_0"));
  EXPECT_EQ(count_of(kernel.substr(0, kernel.find("\n}\n")), "for ("), 1u) << kernel;
}

TEST_F(Bindings, RowsOfASparseMatrixAreBoundOnceForTheRow) {
  const Module module = compile(
      "def f(start: i32[R + 1], column: i32[Z], value: f32[Z], x: f32[N], y: out[f32[R]]):\n"
      "    assume(0 <= start[:] <= Z and 0 <= column[:] < N)\n"
      "    for r in range(R):\n"
      "        y[r] = sum(value[k] * x[column[k]] for k in range(start[r], start[r + 1]))\n");
  EXPECT_TRUE(module.certificate.proved());
  for (const char* name : {"start_at", "start_at_2", "column_at"})
    EXPECT_NE(module.text.source.find(std::string("const int64_t ") + name + " = "), std::string::npos) << name << "\n" << module.text.source;
}

TEST_F(Bindings, TheWrongElementIsRefuted) {
  const Module module = compile(histogram);
  const Obligation o = refuted(module, [](AstFor& loop) { loop.binding->reads.begin()->second[0] = parse_ast_expr("N - 1 - i", ""); });
  EXPECT_EQ(o.name, "coverage");
  EXPECT_NE(o.reason.find("is not guarded by it"), std::string::npos) << o.reason;
}

TEST_F(Bindings, AnElementOutsideItsTensorIsRefuted) {
  const Module module = compile(histogram);
  const Obligation o = refuted(module, [](AstFor& loop) { loop.binding->reads.begin()->second[0] = parse_ast_expr("i + 1", ""); });
  EXPECT_EQ(o.name, "coverage");
  EXPECT_NE(o.reason.find("outside key"), std::string::npos) << o.reason;
}

TEST_F(Bindings, AValueThatDependsOnItsOwnLoopIsRefuted) {
  const Module module = compile(histogram);
  const Obligation o = refuted(module, [](AstFor& loop) { loop.binding->reads.begin()->second[0] = ast_name(loop.variable); });
  EXPECT_NE(o.reason.find("not known where it starts"), std::string::npos) << o.reason;
}

TEST_F(Bindings, AStepBesideOneIsRefuted) {
  const Module module = compile(histogram);
  EXPECT_EQ(refuted(module, [](AstFor& loop) { loop.step = 2; }).name, "coverage");
}

TEST_F(Bindings, AMovedInstanceIsRefuted) {
  const Module module = compile(histogram);
  std::vector<Ast> asts = module.asts;
  bool changed = false;
  // The loop starts one later: the first key would never be counted.
  const Obligation o = refuted(module, [](AstFor& loop) { loop.lower = ast_integer(1); });
  EXPECT_EQ(o.name, "coverage") << changed;
}

TEST_F(Bindings, AForgottenTestIsRefuted) {
  const Module module = compile(
      "def f(A: f32[N], B: inout[f32[N]]):\n"
      "    for i in range(N):\n"
      "        if A[i] > 0:\n"
      "            B[i] = A[i]\n");
  std::vector<PrintFacts> facts = module.text.facts;
  EXPECT_EQ(facts.at(0).leaves.at(0).tested, (std::vector<std::string>{"predicate"}));
  EXPECT_TRUE(verify(*program_, module.asts, facts, machine_, "test").proved());
  facts[0].leaves[0].tested.clear();
  const Certificate certificate = verify(*program_, module.asts, facts, machine_, "test");
  EXPECT_FALSE(certificate.proved());
}

TEST_F(Bindings, WithoutItsLoopInPlaceAGuardIsTested) {
  const Module module = compile(histogram, "order(\"key_at\", \"i\")");
  EXPECT_TRUE(module.certificate.proved());
  EXPECT_NE(module.text.source.find("if ("), std::string::npos);
  EXPECT_EQ(module.text.facts.at(0).leaves.at(0).tested, (std::vector<std::string>{"guard 0"}));
}

const char* const ragged =
    "@numerics(contract=True)\n"
    "def f(X: f32[T, K], W: f32[G, K, N], start: i32[G + 1], Y: out[f32[T, N]]):\n"
    "    assume(0 <= start[:] <= T and monotone(start))\n"
    "    for g in range(G):\n"
    "        for t in range(start[g], start[g + 1]):\n"
    "            for n in range(N):\n"
    "                Y[t, n] = sum(X[t, k] * W[g, k, n] for k in range(K))\n";

TEST_F(Bindings, CopiesBelowABoundLoopStoreWhatTheyLoaded) {
  const Module module = compile(ragged);
  const AstNodePtr nothing = make_node(AstBlock{});
  const Obligation dropped = refuted_nodes(module, [&](const AstNodePtr& node) { return leaf_of(node, "copy_in_Y_tile") ? nothing : node; });
  EXPECT_EQ(dropped.name, "coverage");
  EXPECT_NE(dropped.reason.find("stores what was not loaded before"), std::string::npos) << dropped.reason;
  const Obligation moved = refuted_nodes(module, [&](const AstNodePtr& node) {
    const AstLeaf* leaf = leaf_of(node, "copy_in_Y_tile");
    if (leaf == nullptr) return node;
    AstLeaf other = *leaf;
    other.reads[0][0] = parse_ast_expr("start_at", "");
    return make_node(std::move(other));
  });
  EXPECT_EQ(moved.name, "coverage");
  EXPECT_NE(moved.reason.find("loaded from another element"), std::string::npos) << moved.reason;
}

TEST_F(Bindings, AnArrayThatOutlivesABoundLoopIsNotCopiedInIt) {
  const Module module = compile(ragged);
  // Without its node an array lives as long as the kernel.
  const Obligation o = refuted_nodes(module, [&](const AstNodePtr& node) {
    const auto* allocate = std::get_if<AstAllocate>(&node->node);
    return allocate != nullptr ? allocate->body : node;
  });
  EXPECT_EQ(o.name, "coverage");
  EXPECT_NE(o.reason.find("outlives it"), std::string::npos) << o.reason;
}

TEST_F(Bindings, ABoxRunsUnderBoundLoopsOnly) {
  const Module module = compile(ragged);
  EXPECT_TRUE(module.certificate.proved());
  for (const char* variable : {"start_at", "start_at_2"}) {
    const Obligation o = refuted_nodes(module, [&](const AstNodePtr& node) {
      const auto* loop = std::get_if<AstFor>(&node->node);
      if (loop == nullptr || loop->variable != variable) return node;
      AstFor dense = *loop;
      dense.binding.reset();
      return make_node(std::move(dense));
    });
    EXPECT_EQ(o.name, "coverage");
    EXPECT_NE(o.reason.find("have conditions that no loop around it settles"), std::string::npos) << o.reason;
  }
}

TEST_F(Bindings, ABoxUnderTheWrongGroupIsRefuted) {
  const Module module = compile(ragged);
  const Obligation o = refuted(module, [](AstFor& loop) { loop.binding->reads.begin()->second[0] = parse_ast_expr("g + 1", ""); });
  EXPECT_EQ(o.name, "coverage");
  EXPECT_NE(o.reason.find("is not guarded by it"), std::string::npos) << o.reason;
}

TEST_F(Bindings, ALocalUnderABoundLoopKeepsNoOldContent) {
  const std::string text =
      "def f(row: i32[N], X: f32[V, M], y: out[f32[N]]):\n"
      "    assume(0 <= row[:] < V)\n"
      "    for i in range(N):\n"
      "        for z in range(1):\n"
      "            s: f32 = sum(X[row[i], m] for m in range(M))\n"
      "            y[i] = s * X[row[i], 0] if M > 0 else 0\n";
  const Module module = compile(text, "atom(s, \"scalar\")");
  EXPECT_TRUE(module.certificate.proved());
  EXPECT_NE(module.text.source.find("s_value"), std::string::npos) << module.text.source;
  EXPECT_EQ(module.text.source.find("copy"), std::string::npos);
  for (const auto& [name, statement] : module.asts.at(0).statements) EXPECT_NE(statement.write_array, "s") << name;
  // Without the binding the old content would matter.
  const Obligation o = refuted(module, [](AstFor& loop) { loop.binding.reset(); });
  EXPECT_EQ(o.name, "values");
  // In vectors, which run under bound loops only.
  const Module vectors = compile(text);
  EXPECT_TRUE(vectors.certificate.proved());
  EXPECT_EQ(refuted(vectors, [](AstFor& loop) { loop.binding.reset(); }).name, "coverage");
}

}  // namespace
}  // namespace tileopt
