// Every mutant of right kernels is refuted by an obligation that was named beforehand, or is right: shown by enumeration, which
// shares nothing with verify. A sample in the suite; TILEOPT_MUTATION=all runs the whole campaign and prints its table, TILEOPT_MUTATION=later
// the same over the later kernels of the collection alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "campaign.h"
#include "support/document.h"
#include "tests/collection.h"
#include "verify/verify.h"

namespace tileopt::mutation {
namespace {

const char* wanted() { return std::getenv("TILEOPT_MUTATION"); }
bool wants(const std::string& what) { return wanted() != nullptr && wanted() == what; }
// A campaign over many kernels; otherwise a sample, or one operator alone.
bool wants_campaign() { return wants("all") || wants("later"); }
Kernels wanted_kernels() { return wants("later") ? Kernels::later : wanted() != nullptr ? Kernels::all : Kernels::suite; }

class MutationTest : public ::testing::Test {
 protected:
  poly::Context context_;
};

TEST_F(MutationTest, TheDocumentHoldsWhatIsExpected) {
  const std::vector<Operator> operators = all_operators();
  EXPECT_GE(operators.size(), 25u);
  std::set<std::string> names;
  for (const Operator& op : operators) EXPECT_TRUE(names.insert(op.name).second) << op.name;
  const std::string document = read_file(std::string(TILEOPT_SOURCE_DIR) + "/docs/mutation.md");
  EXPECT_NE(document.find(expectations(operators)), std::string::npos) << "docs/mutation.md should hold:\n" << expectations(operators);
}

TEST_F(MutationTest, EnumerationAgreesThatTheKernelsAreRight) {
  Campaign campaign(load_subjects(context_.get(), wants_campaign() ? wanted_kernels() : Kernels::suite));
  ASSERT_GE(campaign.subjects().size(), wants("later") ? test::later_kernels().size() : 30u);
  for (const Subject& subject : campaign.subjects()) {
    const auto start = std::chrono::steady_clock::now();
    const auto fault = campaign.enumerate(subject, subject.asts, subject.facts);
    EXPECT_FALSE(fault.has_value()) << subject.name() << ": " << fault->obligation << ": " << fault->text;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (wanted() != nullptr) std::cout << "  " << subject.name() << ": " << seconds << " s" << std::endl;
  }
}

TEST_F(MutationTest, EveryMutantIsRefutedAsExpectedOrRight) {
  const std::string only = wanted() != nullptr && !wants_campaign() ? wanted() : "";
  Campaign campaign(load_subjects(context_.get(), wanted_kernels()));
  const std::vector<Operator> operators = all_operators();
  std::vector<Judged> judged;
  for (const Operator& op : operators) {
    if (!only.empty() && op.name != only) continue;
    const std::vector<Judged> some = wanted() != nullptr ? campaign.run(op, wants_campaign() ? 7 : 10, 1, 1) : campaign.run(op, 1, 1, 1);
    if (wants("all")) {
      std::set<std::string> kernels;
      for (const Judged& j : some) kernels.insert(j.subject.substr(0, j.subject.find(' ')));
      EXPECT_GE(kernels.size(), 5u) << op.name;
    }
    EXPECT_FALSE(some.empty() && !wants("later")) << op.name;
    for (const Judged& j : some) {
      EXPECT_NE(j.judgement, Judgement::hole) << j.text();
      EXPECT_NE(j.judgement, Judgement::unexpected) << j.text();
      if (wanted() != nullptr) std::cout << "  " << j.text() << " [" << j.seconds << " s]" << std::endl;
    }
    judged.insert(judged.end(), some.begin(), some.end());
  }
  EXPECT_GE(judged.size(), only.empty() ? operators.size() : 1u);
  if (wants_campaign()) {
    EXPECT_GE(judged.size(), 200u);
  }
  if (wants("later")) {
    std::set<std::string> kernels;
    for (const Judged& j : judged) kernels.insert(j.subject);
    EXPECT_EQ(kernels, test::later_kernels());
  }
  std::cout << table(operators, judged);
}

}  // namespace
}  // namespace tileopt::mutation
