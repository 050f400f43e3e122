/// What is planned for GPUs: threads that move several elements at once, tiles that are turned in shared memory, padding by counted rounds of banks.
#include <gtest/gtest.h>

#include "plan_case.h"
#include "search/bank_rounds.h"

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

}  // namespace
}  // namespace tileopt::test
