/// What is planned for GPUs: threads that move several elements at once, tiles that are turned in shared memory, padding by counted rounds of banks.
#include <gtest/gtest.h>

#include "plan_case.h"
#include "search/bank_rounds.h"
#include "search/statement_view.h"

namespace tileopt::test {
namespace {

const Multiprocessor kBanks;  // 32 banks of 4 bytes

std::vector<long> lanes(long step) {
  std::vector<long> addresses;
  for (long lane = 0; lane < 32; ++lane) addresses.push_back(lane * step);
  return addresses;
}

TEST(BankRounds, CountWordsOfOneBank) {
  EXPECT_EQ(count_bank_rounds(lanes(4), 4, kBanks), 1);
  EXPECT_EQ(count_bank_rounds(lanes(0), 4, kBanks), 1) << "one word for all lanes";
  EXPECT_EQ(count_bank_rounds(lanes(8), 4, kBanks), 2);
  EXPECT_EQ(count_bank_rounds(lanes(128), 4, kBanks), 32);
  EXPECT_EQ(count_bank_rounds(lanes(132), 4, kBanks), 1);
  EXPECT_EQ(count_bank_rounds(lanes(2), 2, kBanks), 1) << "two lanes share a word";
  EXPECT_EQ(count_bank_rounds(lanes(16), 16, kBanks), 4) << "wide accesses take turns";
  EXPECT_EQ(count_bank_rounds(lanes(32), 16, kBanks), 8);
}

TEST(BankRounds, PaddingIsTheLeastOneThatHelps) {
  const SharedAccess along = {[](long lane, long) { return lane; }}, across = {[](long lane, long row) { return lane * row; }};
  EXPECT_EQ(choose_padding({along}, 32, 4, kBanks), 0);
  EXPECT_EQ(choose_padding({along, across}, 32, 4, kBanks), 1);
  EXPECT_EQ(choose_padding({along, across}, 33, 4, kBanks), 0);
}

TEST(GpuPlans, ThreadsMoveNeighboursAtOnce) {
  const KernelPlan kernel = PlanCase(kernel_file("softmax")).kernel("", "h200");
  EXPECT_EQ(kernel.atoms.at("Y").atom, "vector_box");
  EXPECT_EQ(kernel.atoms.at("m_partial").atom, "vector_reduce");
  EXPECT_EQ(kernel.atoms.at("l_partial").atom, "vector_reduce");
}

const char* const kScale = "def scale(X: bf16[R, N], Y: out[bf16[R, N]]):\n    for i, j in grid(R, N):\n        Y[i, j] = X[i, j] * X[i, j]\n";

TEST(GpuPlans, ABoxFillsOneAccess) {
  const KernelPlan kernel = PlanCase(kScale).kernel("", "h200");
  EXPECT_EQ(kernel.atoms.at("Y").atom, "vector_box");
  EXPECT_EQ(digits_text(kernel, "j"), "jb:0@block jt:128@thread jv:8@atom");
}

TEST(GpuPlans, PinsComeFirst) {
  EXPECT_EQ(PlanCase(kScale).kernel("atom(Y, \"scalar\")", "h200").atoms.count("Y"), 0u);
  EXPECT_EQ(digits_text(PlanCase(kScale).kernel("tile(\"block\", j=256)", "h200"), "j"), "jb:0@block jt:32@thread jv:8@atom");
}

TEST(GpuPlans, WhatIsReadAcrossIsTurnedInSharedMemory) {
  const KernelPlan kernel = PlanCase(kernel_file("transpose")).kernel("", "h200");
  const Promotion* tile = find_promotion(kernel, "A");
  ASSERT_NE(tile, nullptr);
  EXPECT_EQ(tile->space, "shared");
  EXPECT_EQ(tile->pad, 1);
  EXPECT_EQ(digits_text(kernel, "i"), "ib:0@block it:16@thread iv:4@atom");
  EXPECT_EQ(digits_text(kernel, "j"), "jb:0@block js:4@serial jt:16@thread");
}

TEST(GpuPlans, WhatIsReadAlongStaysWhereItIs) {
  EXPECT_TRUE(PlanCase(kScale).kernel("", "h200").promotions.empty());
}

/// The rewrites that are taken on h200 at these sizes.
std::vector<std::string> rewrites(const std::string& text, const TypicalSizes& sizes) {
  ResolveOptions options;
  options.typical_sizes = sizes;
  const PlanCase program(text);
  const auto candidate = program.resolve("", "h200", options);
  if (!feasible(candidate)) {
    ADD_FAILURE() << to_string(std::get<Infeasible>(candidate));
    return {};
  }
  std::vector<std::string> found;
  for (const Rewriting& rewriting : std::get<ResolvedPlan>(candidate).plan.rewrites) found.push_back(to_string(rewriting));
  return found;
}

std::string row_sums(const std::string& type, const std::string& columns) {
  return "def rows(X: " + type + "[R, " + columns + "], S: out[f32[R]]):\n    for r in range(R):\n        S[r] = sum(f32(X[r, j]) for j in range(" + columns + "))\n";
}

TEST(GpuPlans, AThreadOfARowHasFourAccessesToWaitFor) {
  EXPECT_EQ(rewrites(row_sums("f32", "N"), {{"R", 16384}, {"N", 8192}}).at(0), "split(\"S\", \"j\", chunk=4, parts=512, shared=1)");
  EXPECT_EQ(rewrites(row_sums("bf16", "N"), {{"R", 16384}, {"N", 8192}}).at(0), "split(\"S\", \"j\", chunk=8, parts=256, shared=1)");
  EXPECT_EQ(rewrites(row_sums("bf16", "N"), {{"R", 16384}, {"N", 65536}}).at(0), "split(\"S\", \"j\", chunk=8, parts=512, shared=1)");
  EXPECT_EQ(rewrites(row_sums("f32", "N"), {{"R", 16384}, {"N", 1024}}).at(0), "split(\"S\", \"j\", chunk=4, parts=64, shared=1)");
}

TEST(GpuPlans, AWarpSharesAShortRow) {
  const std::vector<std::string> taken = rewrites(row_sums("f32", "128"), {{"R", 16384}});
  EXPECT_EQ(taken, (std::vector<std::string>{"split(\"S\", \"j\", chunk=4, parts=32, shared=1)"}));
  EXPECT_TRUE(rewrites(row_sums("f32", "48"), {{"R", 16384}}).empty());
  const KernelPlan kernel = PlanCase(row_sums("f32", "128")).kernel("", "h200");
  EXPECT_EQ(kernel.atoms.at("S_partial").atom, "vector_reduce");
}

TEST(GpuPlans, BlocksShareOneLongSum) {
  const std::string matrix = "def whole(X: f32[M, N], S: out[f32]):\n    S = sum(X[i, j] for i, j in grid(M, N))\n";
  const std::vector<std::string> taken = rewrites(matrix, {{"M", 16384}, {"N", 8192}});
  ASSERT_EQ(taken.size(), 4u);
  EXPECT_EQ(taken[0], "split(\"S\", \"i\", chunk=1, parts=512)");
  EXPECT_EQ(taken[1], "split(\"S_partial\", \"j\", chunk=4, parts=512, shared=1)") << "one block a part, whatever rows it has";
  const std::string vector = "def whole(X: f32[N], S: out[f32]):\n    S = sum(X[i] for i in range(N))\n";
  EXPECT_EQ(rewrites(vector, {{"N", 100000000}}).at(0), "split(\"S\", \"i\", chunk=8192, parts=512)");
  EXPECT_EQ(rewrites(vector, {{"N", 10000}}).at(0), "split(\"S\", \"i\", chunk=4, parts=512)") << "short enough for one block";
}

}  // namespace
}  // namespace tileopt::test
