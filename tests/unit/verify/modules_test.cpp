/// Several kernels in launch order: values pass from one to the next, and arrays that share bytes are not alive together.
#include "builder.h"

namespace tileopt::test {
namespace {

/// P = X, Q = P, R = Q, Y = R (+ P where `reads_first`): a chain through local tensors, one kernel each.
struct Chain {
  bool reads_first = false;

  Program program(isl::ctx ctx) const {
    ProgramWriter w(ctx, "chain", {"N"}, "N >= 1");
    w.tensor("X", TensorRole::in, {"N"});
    for (const char* local : {"P", "Q", "R"}) w.tensor(local, TensorRole::local, {"N"});
    w.tensor("Y", TensorRole::out, {"N"});
    w.statement("P", {"i"}, "0 <= i < N", "P[i]", Combine::assign, {"X[i]"}, 2);
    w.statement("Q", {"i"}, "0 <= i < N", "Q[i]", Combine::assign, {"P[i]"}, 3);
    w.statement("R", {"i"}, "0 <= i < N", "R[i]", Combine::assign, {"Q[N - 1 - i]"}, 4);
    if (reads_first)
      w.statement("Y", {"i"}, "0 <= i < N", "Y[i]", Combine::assign, {"R[i]", "P[i]"}, 5);
    else
      w.statement("Y", {"i"}, "0 <= i < N", "Y[i]", Combine::assign, {"R[i]"}, 5);
    return w.build("(P: i ; Q: i ; R: i ; Y: i)");
  }

  static Ast copy_kernel(const std::string& name, const std::string& to,
                         const std::vector<std::pair<std::string, std::string>>& from) {
    std::vector<std::pair<std::string, std::size_t>> ranks;
    std::vector<std::vector<std::string>> reads;
    for (const auto& [tensor, subscript] : from) {
      ranks.emplace_back(tensor, 1);
      reads.push_back({subscript});
    }
    return kernel(name, {}, {scalar(to, 1, to, 1, ranks)}, loop("i", "0", "N - 1", leaf(to, {"i"}, {"i"}, reads), "thread"));
  }
  std::vector<Ast> kernels() const {
    std::vector<std::pair<std::string, std::string>> last = {{"R", "i"}};
    if (reads_first) last.emplace_back("P", "i");
    return {copy_kernel("first", "P", {{"X", "i"}}), copy_kernel("second", "Q", {{"P", "i"}}),
            copy_kernel("third", "R", {{"Q", "N - 1 - i"}}), copy_kernel("fourth", "Y", last)};
  }
};

class ModuleTest : public ::testing::Test {
 protected:
  /// `shared`: tensors that lie in one region.
  Certificate check_sharing(const Chain& chain, const std::vector<std::string>& shared) {
    const Program program = chain.program(ctx_);
    const std::vector<Ast> kernels = chain.kernels();
    std::vector<PrintFacts> facts;
    for (const Ast& ast : kernels) facts.push_back(faithful_facts(program, ast));
    for (const std::string& tensor : shared) facts[0].buffers.push_back({tensor, "workspace", 0, 1, "locals", 0});
    return verify(program, kernels, facts, machine(), "test", patient());
  }

  poly::Context context_;
  isl::ctx ctx_ = context_.get();
};

TEST_F(ModuleTest, ValuesPassFromKernelToKernel) {
  const Chain chain;
  expect_proved(check(chain.program(ctx_), chain.kernels()));
}

TEST_F(ModuleTest, KernelsInAnotherOrder) {
  const Chain chain;
  const std::vector<Ast> k = chain.kernels();
  const Obligation o =
      expect_refuted(check(chain.program(ctx_), {k[0], k[2], k[1], k[3]}), "order", "flow dependence of R on Q is reversed");
  EXPECT_NE(o.witness.find("R at i = "), std::string::npos) << o.witness;
  expect_refuted(check(chain.program(ctx_), {k[3], k[0], k[1], k[2]}), "order", "flow dependence of Y on R is reversed");
}

TEST_F(ModuleTest, AKernelIsMissing) {
  const Chain chain;
  const std::vector<Ast> k = chain.kernels();
  expect_refuted(check(chain.program(ctx_), {k[0], k[2], k[3]}), "coverage", "an instance of Q never runs");
}

TEST_F(ModuleTest, AKernelReadsTheTensorOfTheWrongKernel) {
  const Chain chain;
  std::vector<Ast> kernels = chain.kernels();
  kernels[2] = Chain::copy_kernel("third", "R", {{"P", "N - 1 - i"}});
  EXPECT_FALSE(check(chain.program(ctx_), kernels).proved());
  kernels = chain.kernels();
  kernels[2] = Chain::copy_kernel("third", "R", {{"Q", "i"}});
  expect_refuted(check(chain.program(ctx_), kernels), "values", "R reads Q");
}

/// A kernel that keeps its part of what an earlier kernel made: followed through the copy to that kernel.
TEST_F(ModuleTest, CopiesOfWhatEarlierKernelsMade) {
  const Chain chain;
  const auto kept = [&](const std::string& tensor) {
    const AstStatement load = copy("load", "copy_in", "Q_part", tensor, {}, {{}}, {{}});
    const AstNodePtr body = block({leaf("load", {}, {"0"}, {{"N - 1 - i"}}), leaf("R", {"i"}, {"i"}, {{"0"}})});
    return kernel("third", {promoted("Q_part", "Q", "stack", {1})}, {load, scalar("R", 1, "R", 1, {{"Q_part", 1}})},
                  loop("i", "0", "N - 1", allocate({"Q_part"}, body), "thread"));
  };
  std::vector<Ast> kernels = chain.kernels();
  kernels[2] = kept("Q");
  expect_proved(check(chain.program(ctx_), kernels));
  std::swap(kernels[1], kernels[2]);
  expect_refuted(check(chain.program(ctx_), kernels), "order", "flow dependence of R on Q is reversed");
  kernels = chain.kernels();
  kernels[2] = kept("P");
  expect_refuted(check(chain.program(ctx_), kernels), "values", "R reads Q in Q_part: the value comes from elsewhere");
}

TEST_F(ModuleTest, ALocalTensorMayTakeTheBytesOfADeadOne) { expect_proved(check_sharing({}, {"P", "R"})); }

TEST_F(ModuleTest, TwoLiveTensorsShareBytes) {
  const Obligation o = expect_refuted(check_sharing({}, {"P", "Q"}), "lifetimes", "Q lies on bytes of P while that is alive");
  EXPECT_NE(o.witness.find("then Q"), std::string::npos) << o.witness;
}

TEST_F(ModuleTest, ATensorIsReadAfterItsBytesWereReused) {
  Chain chain;
  chain.reads_first = true;
  expect_proved(check(chain.program(ctx_), chain.kernels()));
  const Obligation o =
      expect_refuted(check_sharing(chain, {"P", "R"}), "lifetimes", "R lies on bytes of P while that is alive");
  EXPECT_NE(o.witness.find("R at i = "), std::string::npos) << o.witness;
  EXPECT_NE(o.witness.find("then Y"), std::string::npos) << o.witness;
}

// ---- promoted arrays in the workspace

struct SharedBuffer {
  std::string array;
  long offset = 0;
};

class WorkspaceTest : public ModuleTest {
 protected:
  /// P[i] = X[i] and Q[i] = P[i], each through an array of the workspace, in one kernel or in two.
  AstNodePtr through(const std::string& to, const std::string& array, bool scoped) const {
    const AstNodePtr body = block({loop("c", "0", "N - 1", leaf("load_" + array, {}, {"c"}, {{"c"}})),
                                   loop("i", "0", "N - 1", leaf(to, {"i"}, {"i"}, {{"i"}}))});
    return scoped ? allocate({array}, body) : body;
  }
  static std::vector<AstStatement> statements(const std::string& to, const std::string& from, const std::string& array) {
    return {copy("load_" + array, "copy_in", array, from, {}, {{}}, {{}}), scalar(to, 1, to, 1, {{array, 1}})};
  }
  Program program() const {
    ProgramWriter w(ctx_, "pair", {"N"}, "1 <= N <= 8");
    w.tensor("X", TensorRole::in, {"N"});
    w.tensor("P", TensorRole::local, {"N"});
    w.tensor("Q", TensorRole::out, {"N"});
    w.statement("P", {"i"}, "0 <= i < N", "P[i]", Combine::assign, {"X[i]"}, 2);
    w.statement("Q", {"i"}, "0 <= i < N", "Q[i]", Combine::assign, {"P[i]"}, 3);
    return w.build("(P: i ; Q: i)");
  }
  static std::vector<AstStatement> all(std::vector<AstStatement> first, const std::vector<AstStatement>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  Certificate check_offsets(const std::vector<Ast>& kernels, const std::vector<SharedBuffer>& buffers) {
    const Program subject = program();
    std::vector<PrintFacts> facts;
    for (const Ast& ast : kernels) facts.push_back(faithful_facts(subject, ast));
    for (PrintFacts& printed : facts)
      for (PrintFacts::Buffer& buffer : printed.buffers)
        for (const SharedBuffer& shared : buffers)
          if (shared.array == buffer.array) {
            buffer.region = "workspace";
            buffer.offset = shared.offset;
          }
    return verify(subject, kernels, facts, machine(), "test", patient());
  }
  Array array(const std::string& name, const std::string& tensor) const { return promoted(name, tensor, "workspace", {8}); }
};

TEST_F(WorkspaceTest, KernelsMayShareBytes) {
  const Ast first = kernel("first", {array("a", "X")}, statements("P", "X", "a"), through("P", "a", false));
  const Ast second = kernel("second", {array("b", "P")}, statements("Q", "P", "b"), through("Q", "b", false));
  expect_proved(check_offsets({first, second}, {{"a", 0}, {"b", 0}}));
  expect_proved(check_offsets({first, second}, {{"a", 0}, {"b", 16}}));
}

TEST_F(WorkspaceTest, LifetimesOfOneKernelMayFollowEachOther) {
  const Ast both = kernel("both", {array("a", "X"), array("b", "P")}, all(statements("P", "X", "a"), statements("Q", "P", "b")),
                          block({through("P", "a", true), through("Q", "b", true)}));
  expect_proved(check_offsets({both}, {{"a", 0}, {"b", 0}}));
}

TEST_F(WorkspaceTest, OverlappingLifetimesMayNotShareBytes) {
  // b is loaded between the load of a and its last use.
  const AstNodePtr body = block(
      {loop("c", "0", "N - 1", leaf("load_a", {}, {"c"}, {{"c"}})),
       loop("i", "0", "N - 1",
            block({leaf("P", {"i"}, {"i"}, {{"i"}}), leaf("load_b", {}, {"i"}, {{"i"}}), leaf("Q", {"i"}, {"i"}, {{"i"}})}))});
  const Ast both =
      kernel("both", {array("a", "X"), array("b", "P")}, all(statements("P", "X", "a"), statements("Q", "P", "b")), body);
  expect_proved(check_offsets({both}, {{"a", 0}, {"b", 32}}));
  for (const long offset : {0L, 28L}) {
    const Obligation o = expect_refuted(check_offsets({both}, {{"a", 0}, {"b", offset}}), "lifetimes",
                                        "b of kernel both lies on bytes of a of kernel both while that is alive");
    EXPECT_NE(o.witness.find("load_b at i = "), std::string::npos) << o.witness;
  }
}

/// One after the other in the loops as written, but the two iterations run at once.
TEST_F(WorkspaceTest, IterationsThatRunAtOnceMayNotShareBytes) {
  const auto kernels = [&](const std::string& level) {
    return kernel("both", {array("a", "X"), array("b", "P")}, all(statements("P", "X", "a"), statements("Q", "P", "b")),
                  loop("part", "0", "1", branch("part == 0", through("P", "a", false), through("Q", "b", false)), level));
  };
  expect_proved(check_offsets({kernels("serial")}, {{"a", 0}, {"b", 0}}));
  expect_refuted(check_offsets({kernels("thread")}, {{"a", 0}, {"b", 0}}), "lifetimes",
                 "share bytes below loop part, whose iterations run at once");
}

}  // namespace
}  // namespace tileopt::test
