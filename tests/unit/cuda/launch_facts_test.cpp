/// What a launch was printed with: shared memory that holds the arrays of a block, side by side, and the agents of a block.
#include <gtest/gtest.h>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "rewrites/apply_rewrites.h"
#include "verify/verify.h"

namespace tileopt::test {
namespace {

class LaunchFactsTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string file = std::string(TILEOPT_SOURCE_DIR) + "/benchmarks/kernels/rmsnorm.tile";
    const auto source = std::make_shared<const Program>(parse_tile_file(context_.get(), read_file(file), "rmsnorm.tile").programs.at(0));
    Request request;
    request.machine = machine_ = find_machine(GetParam());
    request.backend = machine_.backend;
    request.proof.attempt = false;
    Trace trace({"", ""});
    Candidate<Outcome> outcome = resolve_and_compile(source, request, trace);
    ASSERT_TRUE(feasible(outcome)) << to_string(std::get<Infeasible>(outcome));
    module_ = std::move(std::get<Outcome>(outcome).module);
    const auto rewritten = apply_rewrites(source, module_.plan.rewrites);
    ASSERT_TRUE(feasible(rewritten));
    program_ = std::get<RewrittenProgram>(rewritten).program;
    facts_ = module_.text.facts;
    for (std::size_t b = 0; b < facts_.at(0).buffers.size(); ++b)
      if (facts_[0].buffers[b].space == "shared") shared_.push_back(b);
    ASSERT_GE(shared_.size(), 2u);
    ASSERT_EQ(facts_[0].launches.size(), 1u);
  }
  /// The obligations that are not proved of the facts, as they are now.
  std::vector<std::string> unproved() {
    std::vector<std::string> names;
    for (const Obligation& obligation : verify(*program_, module_.asts, facts_, machine_, "test", {}).obligations)
      if (obligation.verdict != Verdict::proved) names.push_back(obligation.name + ": " + obligation.reason);
    return names;
  }
  poly::Context context_;
  Machine machine_;
  Module module_;
  std::shared_ptr<const Program> program_;
  std::vector<PrintFacts> facts_;
  std::vector<std::size_t> shared_;  ///< buffers of the first kernel
};

TEST_P(LaunchFactsTest, AreProvedAsTheyArePrinted) { EXPECT_EQ(unproved(), std::vector<std::string>()); }

TEST_P(LaunchFactsTest, ALaunchThatAsksForTooLittleIsRefuted) {
  const PrintFacts::Buffer& last = facts_[0].buffers[shared_.back()];
  facts_[0].launches[0].shared_bytes = last.offset + last.bytes - 1;
  const std::vector<std::string> names = unproved();
  ASSERT_EQ(names.size(), 1u);
  EXPECT_NE(names[0].find("text: what launch tileopt_kernel_0_0_rmsnorm asks for"), std::string::npos) << names[0];
}

TEST_P(LaunchFactsTest, ArraysOnEachOthersBytesAreNotProved) {
  facts_[0].buffers[shared_[1]].offset = facts_[0].buffers[shared_[0]].offset;
  const std::vector<std::string> names = unproved();
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) EXPECT_EQ(name.rfind("lifetimes: they are used in one ", 0), 0u) << name;
}

TEST_P(LaunchFactsTest, AnArrayThatIsNotAlignedIsRefuted) {
  facts_[0].launches[0].shared_bytes += 8;
  facts_[0].buffers[shared_.back()].offset += 8;
  const std::vector<std::string> names = unproved();
  ASSERT_EQ(names.size(), 1u);
  EXPECT_NE(names[0].find("text: the place of "), std::string::npos) << names[0];
}

TEST_P(LaunchFactsTest, AnArrayOfNoLaunchIsRefuted) {
  facts_[0].buffers[shared_[0]].region = "";
  const std::vector<std::string> names = unproved();
  ASSERT_EQ(names.size(), 1u);
  EXPECT_NE(names[0].find("lies in no launch"), std::string::npos) << names[0];
}

TEST_P(LaunchFactsTest, FewerAgentsThanTheLoopsAreOverAreRefuted) {
  facts_[0].launches[0].threads /= 2;
  const std::vector<std::string> names = unproved();
  ASSERT_EQ(names.size(), 1u);
  EXPECT_NE(names[0].find("the agents of a block of kernel rmsnorm"), std::string::npos) << names[0];
}

INSTANTIATE_TEST_SUITE_P(Machines, LaunchFactsTest, ::testing::Values("h200", "mi300x"));

}  // namespace
}  // namespace tileopt::test
