/// Accesses of several elements: printed where they are aligned, and refuted where the facts claim more than that.
#include <gtest/gtest.h>

#include <functional>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "verify/verify.h"

namespace tileopt::test {
namespace {

class WideAccesses : public ::testing::Test {
 protected:
  const Module& compile(const std::string& text) {
    program_ = std::make_shared<const Program>(parse_tile_file(context_.get(), text, "t.tile").programs.at(0));
    machine_ = find_machine("h200");
    Request request;
    request.machine = machine_;
    request.backend = "cuda";
    Trace trace({"", ""});
    Candidate<Outcome> outcome = resolve_and_compile(program_, request, trace);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) throw std::runtime_error(to_string(*refused));
    outcome_ = std::get<Outcome>(std::move(outcome));
    return outcome_->module;
  }
  /// What `text` says of the module with changed facts: "" where it is proved.
  std::string refuted(const std::function<void(PrintFacts&)>& change) {
    std::vector<PrintFacts> facts = outcome_->module.text.facts;
    change(facts.at(0));
    for (const Obligation& obligation : verify(*program_, outcome_->module.asts, facts, machine_, "test", {}).obligations)
      if (obligation.name == "text" && obligation.verdict == Verdict::refuted) return obligation.reason + " | " + obligation.witness;
    return "";
  }
  static PrintFacts::Wide& read(PrintFacts& facts) { return facts.leaves.at(0).wide.at(1); }

  poly::Context context_;
  std::shared_ptr<const Program> program_;
  Machine machine_;
  std::optional<Outcome> outcome_;
};

const char* const kScale = "def scale(X: f32[R, N], Y: out[f32[R, N]]):\n    for i, j in grid(R, N):\n        Y[i, j] = X[i, j] * 2.0\n";

TEST_F(WideAccesses, ArePrintedBesideATest) {
  const std::string text = compile(kScale).text.source;
  EXPECT_NE(text.find("const bool X_aligned16 = (uint64_t)X % 16 == 0 && X_s0 % 4 == 0;"), std::string::npos) << text;
  EXPECT_NE(text.find("tileopt_fill16(&X_f[0], &X["), std::string::npos) << text;
  EXPECT_NE(text.find("tileopt_spill16(&Y["), std::string::npos) << text;
  EXPECT_EQ(refuted([](PrintFacts&) {}), "");
}

TEST_F(WideAccesses, MoreThanTheMachineHasIsRefuted) {
  compile(kScale);
  EXPECT_NE(refuted([](PrintFacts& facts) { read(facts).bytes = 32; }).find("the machine has no access of 32 bytes"), std::string::npos);
  EXPECT_NE(refuted([](PrintFacts& facts) { read(facts).bytes = 12; }).find("12 bytes are no part of its box"), std::string::npos);
  EXPECT_NE(refuted([](PrintFacts& facts) { read(facts).digit = 3; }).find("no such digit"), std::string::npos);
  EXPECT_NE(refuted([](PrintFacts& facts) { read(facts).operand = 7; }).find("no such operand"), std::string::npos);
}

TEST_F(WideAccesses, WhatNobodyTestedIsRefuted) {
  compile(kScale);
  EXPECT_NE(refuted([](PrintFacts& facts) { read(facts).tested = false; }).find("no test says how X is aligned"), std::string::npos);
  EXPECT_NE(refuted([](PrintFacts& facts) { read(facts).run = "R"; }).find("the rows of X are not those that were tested (R)"), std::string::npos);
}

TEST_F(WideAccesses, APlaceBetweenTwoMultiplesIsRefuted) {
  const std::string text =
      compile("def shift(X: f32[R, N + 1], Y: out[f32[R, N]]):\n    for i, j in grid(R, N):\n        Y[i, j] = X[i, j + 1] * 2.0\n").text.source;
  EXPECT_EQ(text.find("tileopt_fill16(&"), std::string::npos) << text;
  EXPECT_NE(text.find("tileopt_spill16(&Y["), std::string::npos) << "the result is aligned all the same";
  EXPECT_NE(refuted([](PrintFacts& facts) { facts.leaves.at(0).wide.push_back({1, 0, 16, true, "N + 1"}); }).find("starts between two multiples of its size"),
            std::string::npos);
}

TEST_F(WideAccesses, PaddedRowsAreCompared) {
  compile("def turn(A: f32[M, N], B: out[f32[N, M]]):\n    for i, j in grid(M, N):\n        B[j, i] = A[i, j]\n");
  ASSERT_EQ(outcome_->module.asts.at(0).arrays.at(0).strides, (std::vector<long>{1040, 65, 4, 1}));
  EXPECT_EQ(refuted([](PrintFacts&) {}), "");
  EXPECT_NE(refuted([](PrintFacts& facts) { facts.buffers.at(0).strides = {1024, 64, 4, 1}; }).find("the strides of A_shared"), std::string::npos);
  EXPECT_NE(refuted([](PrintFacts& facts) { facts.buffers.at(0).bytes = 16384; }).find("the storage of A_shared"), std::string::npos);
}

TEST_F(WideAccesses, LoopsRunWholeBoxesWithoutTests) {
  const std::string text = compile("def two(X: f32[R, N], Y: out[f32[R, N]], Z: out[f32[R, N]]):\n    for i in range(R):\n        for j in range(N):\n"
                                   "            Y[i, j] = X[i, j] * 2.0\n        for j in range(N):\n            Z[i, j] = X[i, j] * 3.0\n").text.source;
  EXPECT_NE(text.find("const int64_t jb_whole = Y_aligned16 && X_aligned16 ? "), std::string::npos) << text;
  EXPECT_NE(text.find("for (int64_t jb = tileopt_max(0, jb_whole + 1); "), std::string::npos) << text;
  EXPECT_EQ(refuted([](PrintFacts&) {}), "");
  const auto too_far = [](PrintFacts& facts) {
    for (PrintFacts::Loop& loop : facts.loops)
      if (!loop.whole.empty()) loop.whole = "1000";
  };
  EXPECT_NE(refuted(too_far).find("its box is not whole up to "), std::string::npos) << refuted(too_far);
}

TEST_F(WideAccesses, AnyBodyWillDoThatReadsAllOfThem) {
  const std::string text = compile("def leaky(X: f32[N], Y: out[f32[N]]):\n    for i in range(N):\n        Y[i] = X[i] if X[i] > 0 else 0.01 * X[i]\n").text.source;
  EXPECT_NE(text.find("tileopt_fill16(&X_f[0], &X["), std::string::npos) << text;
  EXPECT_NE(text.find("tileopt_spill16(&Y["), std::string::npos) << text;
  EXPECT_EQ(refuted([](PrintFacts&) {}), "");
}

TEST_F(WideAccesses, WhatAConditionKeepsFromBeingReadIsReadAlone) {
  const std::string text = compile("def late(X: f32[N], Y: out[f32[N]]):\n    for i in range(N):\n        Y[i] = X[i] if i >= 4 else 0.0\n").text.source;
  EXPECT_EQ(text.find("tileopt_fill16(&"), std::string::npos) << text;
}

TEST_F(WideAccesses, AnIndexFromMemoryIsTheSameForNeighbours) {
  const std::string text = compile("def pick(row: i32[T], A: f32[V, D], Y: out[f32[T, D]]):\n    assume(0 <= row[:] < V)\n    for t, d in grid(T, D):\n        Y[t, d] = A[row[t], d]\n").text.source;
  EXPECT_NE(text.find("tileopt_fill16(&A_f[0], &A[row_at"), std::string::npos) << text;
  EXPECT_EQ(refuted([](PrintFacts&) {}), "");
}

TEST_F(WideAccesses, AnIndexFromMemoryForEachNeighbourIsNone) {
  const std::string text = compile("def pick(at: i32[N], A: f32[V], Y: out[f32[N]]):\n    assume(0 <= at[:] < V)\n    for i in range(N):\n        Y[i] = A[at[i]]\n").text.source;
  EXPECT_EQ(text.find("tileopt_fill16(&"), std::string::npos) << text;
}

TEST_F(WideAccesses, OneThreadCombinesThemInTurn) {
  const std::string text = compile("def best(X: f32[R, N], I: out[i32[R]]):\n    for r in range(R):\n        I[r] = argmax(X[r, j] for j in range(N))\n").text.source;
  EXPECT_NE(text.find("tileopt_fill16(&X_f[0], &X["), std::string::npos) << text;
  EXPECT_EQ(refuted([](PrintFacts&) {}), "");
}

TEST_F(WideAccesses, RowsOnTopOfEachOtherAreRefuted) {
  compile("def turn(A: f32[M, N], B: out[f32[N, M]]):\n    for i, j in grid(M, N):\n        B[j, i] = A[i, j]\n");
  outcome_->module.asts.at(0).arrays.at(0).strides = {1040, 63, 4, 1};
  EXPECT_NE(refuted([](PrintFacts& facts) { facts.buffers.at(0).strides = {1040, 63, 4, 1}; }).find("lie on top of each other"), std::string::npos);
}

}  // namespace
}  // namespace tileopt::test
