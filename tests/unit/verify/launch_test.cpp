/// Launches: agents with numbers, storage of a block that is used again, arrays that agents hold, dependences between launches.
#include "builder.h"

namespace tileopt::test {
namespace {

/// Blocks of agents; `shared` belongs to a block, registers to an agent.
Machine launching_machine() {
  Machine machine = asynchronous_machine();
  machine.levels = {{"grid", LevelKind::independent, 0},   {"thread", LevelKind::barrier, 1024}, {"serial", LevelKind::sequential, 0},
                    {"unroll", LevelKind::unrolled, 0}, {"atom", LevelKind::atom, 0}};
  machine.spaces = {{"workspace", 0}, {"stack", 0, "thread"}, {"register", 0, "thread"}, {"shared", 1 << 16, "grid"}};
  return machine;
}

AstNodePtr agents(const std::string& variable, long count, AstNodePtr body) {
  AstFor loop{variable, variable, "thread", expr("0"), expr(std::to_string(count - 1)), 1, std::move(body)};
  loop.agents = count;
  return make_node(std::move(loop));
}

Ast with_barrier(Ast ast) {
  ast.barriers = {{"all", BarrierScope::block, "", 0}};
  ast.synchronizations["meet"] = {"meet", SyncKind::barrier, "all"};
  return ast;
}

class LaunchTest : public ::testing::Test {
 protected:
  Certificate run(const Program& program, const Ast& ast) { return check(program, {ast}, launching_machine()); }
  poly::Context context_;
  isl::ctx ctx_ = context_.get();
};

/// Y[i] = X[i], through `part`: loaded by agents that are cut as 4 x 2 (or 2 x 4), used by agents in one loop.
Program copy_program(isl::ctx ctx) {
  ProgramWriter w(ctx, "move", {"N"}, "N >= 1");
  w.tensor("X", TensorRole::in, {"8 * N"});
  w.tensor("Y", TensorRole::out, {"8 * N"});
  w.statement("Y", {"i"}, "0 <= i < 8 * N", "Y[i]", Combine::assign, {"X[i]"}, 2);
  return w.build("i");
}

Ast copy_kernel(bool rows_first, bool meets) {
  const AstStatement load = copy("load", "copy_in", "part", "X", {}, {{}}, {{}});
  const AstStatement use = compute("Y", "Y", {"part"}, {}, {{}}, {{}}, {{{}}});
  const AstNodePtr element = leaf("load", {}, {"2 * u + v"}, {{"8 * b + 2 * u + v"}});
  std::vector<AstNodePtr> body = {rows_first ? agents("u", 4, agents("v", 2, element)) : agents("v", 2, agents("u", 4, element))};
  if (meets) body.push_back(sync("meet"));
  body.push_back(agents("t", 8, leaf("Y", {"8 * b + t"}, {"8 * b + t"}, {{"t"}})));
  return with_barrier(kernel("move", {promoted("part", "X", "shared", {8})}, {load, use}, loop("b", "0", "N - 1", allocate({"part"}, block(body)), "grid")));
}

TEST_F(LaunchTest, TwoCutsOfOneAgentNeedNoBarrier) { expect_proved(run(copy_program(ctx_), copy_kernel(true, false))); }

TEST_F(LaunchTest, TwoCutsOfDifferentAgentsDo) {
  expect_refuted(run(copy_program(ctx_), copy_kernel(false, false)), "races", "Y reads part with nothing that orders it after load, which writes it");
  expect_proved(run(copy_program(ctx_), copy_kernel(false, true)));
}

TEST_F(LaunchTest, ABarrierUnderAgentsIsNotUniform) {
  Ast ast = copy_kernel(false, true);
  const auto& blocks = std::get<AstFor>(ast.root->node);
  AstBlock body = std::get<AstBlock>(std::get<AstAllocate>(blocks.body->node).body->node);
  body.children[1] = agents("w", 4, sync("meet"));
  ast.root = loop("b", "0", "N - 1", allocate({"part"}, make_node(body)), "grid");
  expect_refuted(run(copy_program(ctx_), ast), "waits", "barrier all of the whole block is reached by loop w alone");
}

/// The array is allocated anew for every k, and lies where it lay before: the next load must wait for the last use.
TEST_F(LaunchTest, StorageOfABlockIsUsedAgain) {
  const auto repeated = [&](bool meets_twice) {
    Ast ast = copy_kernel(false, true);
    const auto& blocks = std::get<AstFor>(ast.root->node);
    AstBlock body = std::get<AstBlock>(std::get<AstAllocate>(blocks.body->node).body->node);
    if (meets_twice) body.children.push_back(sync("meet"));
    ast.root = loop("c", "0", "0", loop("b", "0", "N - 1", allocate({"part"}, make_node(body))), "grid");
    return ast;
  };
  expect_refuted(run(copy_program(ctx_), repeated(false)), "races", "load writes part with nothing that orders it after Y, which reads it");
  expect_proved(run(copy_program(ctx_), repeated(true)));
}

/// T[i] = X[i], then Y[i] = T[7 - i]: another block's element.
Program reversing_program(isl::ctx ctx) {
  ProgramWriter w(ctx, "reverse", {}, "1 = 1");
  w.tensor("X", TensorRole::in, {"8"});
  w.tensor("T", TensorRole::local, {"8"});
  w.tensor("Y", TensorRole::out, {"8"});
  w.statement("T", {"i"}, "0 <= i < 8", "T[i]", Combine::assign, {"X[i]"}, 2);
  w.statement("Y", {"i"}, "0 <= i < 8", "Y[i]", Combine::assign, {"T[7 - i]"}, 3);
  return w.build("(T: i ; Y: i)");
}

TEST_F(LaunchTest, TheEndOfALaunchOrders) {
  const std::vector<AstStatement> statements = {scalar("T", 1, "T", 1, {{"X", 1}}), scalar("Y", 1, "Y", 1, {{"T", 1}})};
  const AstNodePtr first = agents("t", 4, leaf("T", {"4 * b + t"}, {"4 * b + t"}, {{"4 * b + t"}}));
  const auto second = [&](const std::string& b) {
    const std::string i = "4 * " + b + " + s";
    return agents("s", 4, leaf("Y", {i}, {i}, {{"7 - (" + i + ")"}}));
  };
  expect_proved(run(reversing_program(ctx_), kernel("reverse", {}, statements, block({loop("b", "0", "1", first, "grid"), loop("d", "0", "1", second("d"), "grid")}))));
  expect_refuted(run(reversing_program(ctx_), with_barrier(kernel("reverse", {}, statements, loop("b", "0", "1", block({first, sync("meet"), second("b")}), "grid")))), "races",
                 "T writes and Y reads the same element of T");
}

/// Agents hold four elements each; one that touches a neighbour's is refuted.
TEST_F(LaunchTest, AgentsHoldTheirElements) {
  const auto held = [&](const std::string& holder) {
    const AstStatement load = copy("load", "copy_in", "part", "X", {}, {{}, {}}, {{}});
    const AstStatement use = compute("Y", "Y", {"part"}, {}, {{}}, {{}}, {{{}, {}}});
    Array part = promoted("part", "X", "stack", {2, 4});
    part.agent_dims = 1;
    const std::string element = "8 * b + 4 * " + holder + " + r";
    const auto inner = [&](AstNodePtr body) { return agents("t", 2, loop("r", "0", "3", std::move(body))); };
    return kernel("move", {part}, {load, use},
                  loop("b", "0", "N - 1", allocate({"part"}, block({inner(leaf("load", {}, {"t", "r"}, {{"8 * b + 4 * t + r"}})),
                                                                   inner(leaf("Y", {element}, {element}, {{holder, "r"}}))})),
                       "grid"));
  };
  expect_proved(run(copy_program(ctx_), held("t")));
  expect_refuted(run(copy_program(ctx_), held("(1 - t)")), "bounds", "Y touches elements of part that other agents hold");
}

}  // namespace
}  // namespace tileopt::test
