/// Agents without rings: threads that exchange through an array and a barrier, and what roles and rings may not do.
#include "ring_kernels.h"

namespace tileopt::test {
namespace {

/// Y[i] = X[i] + X[i + 1] of eight neighbours, each element loaded by one thread and used by two.
struct Exchange {
  bool meets = true, meets_late = false;
  std::string space = "shared";
  std::string neighbour = "t + 1";

  static Program program(isl::ctx ctx) {
    ProgramWriter w(ctx, "exchange", {"N"}, "N >= 1");
    w.tensor("X", TensorRole::in, {"8 * N + 8"});
    w.tensor("Y", TensorRole::out, {"8 * N"});
    w.statement("Y", {"i"}, "0 <= i < 8 * N", "Y[i]", Combine::assign, {"X[i]", "X[i + 1]"}, 2);
    return w.build("i");
  }
  Ast ast() const {
    const AstStatement load = copy("load", "copy_in", "part", "X", {}, {{}}, {{}});
    const AstStatement sum = compute("Y", "Y", {"part", "part"}, {}, {{}}, {{}}, {{{}}, {{}}});
    const AstNodePtr copies = loop("t", "0", "8", leaf("load", {}, {"t"}, {{"8 * b + t"}}), "thread");
    const AstNodePtr sums = loop("t", "0", "7", leaf("Y", {"8 * b + t"}, {"8 * b + t"}, {{"t"}, {neighbour}}), "thread");
    std::vector<AstNodePtr> body{copies};
    if (meets && !meets_late) body.push_back(sync("meet"));
    body.push_back(sums);
    if (meets && meets_late) body.push_back(sync("meet"));
    Ast ast = kernel("exchange", {promoted("part", "X", space, {9})}, {load, sum},
                     loop("b", "0", "N - 1", allocate({"part"}, block(body)), "grid"));
    ast.barriers = {{"all", BarrierScope::block, "", 0}};
    ast.synchronizations["meet"] = {"meet", SyncKind::barrier, "all"};
    return ast;
  }
};

class AgentsTest : public ::testing::Test {
 protected:
  Certificate check_exchange(const Exchange& exchange) {
    return check(Exchange::program(ctx_), {exchange.ast()}, asynchronous_machine());
  }

  poly::Context context_;
  isl::ctx ctx_ = context_.get();
};

TEST_F(AgentsTest, ExchangeAcrossABarrierIsProved) { expect_proved(check_exchange({})); }

TEST_F(AgentsTest, ExchangeWithoutABarrier) {
  for (const bool late : {false, true}) {
    Exchange exchange;
    exchange.meets = late;
    exchange.meets_late = late;
    const Obligation o = expect_refuted(check_exchange(exchange), "races",
                                        "Y reads part with nothing that orders it after load, which writes it");
    EXPECT_NE(o.witness.find("load at b = 0, t = 1"), std::string::npos) << o.witness;
  }
}

TEST_F(AgentsTest, ThreadsNeedNoBarrierForWhatIsTheirOwn) {
  Exchange exchange;
  exchange.meets = false;
  exchange.neighbour = "t";
  const Certificate certificate = check_exchange(exchange);  // computes something else, but nothing races
  for (const Obligation& o : certificate.obligations)
    if (o.name == "races") EXPECT_EQ(o.verdict, Verdict::proved) << o.subject << ": " << o.reason;
}

TEST_F(AgentsTest, ABarrierDoesNotShareRegisters) {
  Exchange exchange;
  exchange.space = "register";
  expect_refuted(check_exchange(exchange), "races", "Y reads part in registers of another agent");
}

/// The barrier orders one iteration; without one at its end the next load overwrites what others still read.
TEST_F(AgentsTest, OneArrayForAllIterations) {
  const auto body = [&](bool twice) {
    Exchange exchange;
    Ast ast = exchange.ast();
    const auto& blocks = std::get<AstFor>(ast.root->node);
    AstBlock inner = std::get<AstBlock>(std::get<AstAllocate>(blocks.body->node).body->node);
    if (twice) inner.children.push_back(sync("meet"));
    ast.root = allocate({"part"}, loop("b", "0", "N - 1", make_node(inner)));
    return ast;
  };
  expect_proved(check(Exchange::program(ctx_), {body(true)}, asynchronous_machine()));
  expect_refuted(check(Exchange::program(ctx_), {body(false)}, asynchronous_machine()), "races",
                 "load writes part with nothing that orders it after Y, which reads it");
}

TEST_F(AgentsTest, BytesSharedByAgentsAreNotDecided) {
  const Program program = Exchange::program(ctx_);
  Ast ast = Exchange{}.ast();
  ast.arrays.push_back(promoted("other", "X", "shared", {9}));
  std::vector<PrintFacts> facts{faithful_facts(program, ast)};
  for (PrintFacts::Buffer& buffer : facts[0].buffers) buffer.region = "shared";
  const Certificate certificate = verify(program, {ast}, facts, asynchronous_machine(), "test", patient());
  EXPECT_FALSE(certificate.proved());
  EXPECT_FALSE(certificate.refuted());
}

/// What two roles have is there at once.
TEST_F(AgentsTest, ArraysOfAllRolesCount) {
  const RoleRing ring;
  Machine machine = asynchronous_machine();
  Ast ast = ring.ast();
  for (Array& array : ast.arrays)
    if (array.name == "acc") array.space = "shared";
  const long bytes = 4 * (4 * 8 + 4 * 8 + 16);
  const auto capacity = [&](double available) {
    for (Space& space : machine.spaces)
      if (space.name == "shared") space.capacity = available;
    return check(ring_product(ctx_), {ast}, machine);
  };
  expect_refuted(capacity(static_cast<double>(bytes - 1)), "capacity",
                 "arrays in shared need " + std::to_string(bytes) + " bytes");
  for (const Obligation& o : capacity(static_cast<double>(bytes)).obligations)
    if (o.name == "capacity") EXPECT_EQ(o.verdict, Verdict::proved) << o.reason;
}

/// A tile that all threads of a role share is not theirs in order: they must meet.
TEST_F(AgentsTest, ThreadsOfARoleShareWhatIsNoRegister) {
  const RoleRing ring;
  Ast ast = ring.ast();
  for (Array& array : ast.arrays)
    if (array.name == "acc") array.space = "shared";
  expect_refuted(check(ring_product(ctx_), {ast}, asynchronous_machine()), "races", "acc");
}

TEST_F(AgentsTest, RingsInsideAgentsAreNotRead) {
  const RoleRing ring;
  Ast ast = ring.ast();
  ast.root = loop("w", "0", "1", ast.root, "warpgroup");
  const Certificate certificate = check(ring_product(ctx_), {ast}, asynchronous_machine());
  EXPECT_FALSE(certificate.proved());
  EXPECT_NE(certificate.obligations[0].reason.find("ring ring inside loop w over agents"), std::string::npos)
      << certificate.obligations[0].reason;
}

}  // namespace
}  // namespace tileopt::test
