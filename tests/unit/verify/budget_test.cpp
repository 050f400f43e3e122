// Whatever budget there is, every obligation gets a verdict, and what was not decided says why.
#include "kernels.h"
#include "packed_gemm.h"

namespace tileopt::test {
namespace {

class BudgetTest : public ::testing::Test {
 protected:
  Certificate check_within(const ProofOptions& options) {
    const Program program = PackedGemm::program(context_.get());
    const Ast ast = PackedGemm{}.ast();
    return verify(program, {ast}, {faithful_facts(program, ast)}, machine(), "test", options);
  }
  poly::Context context_;
};

TEST_F(BudgetTest, FewOperationsLeaveObligationsOpenWithTheQuota) {
  ProofOptions options;
  options.operations = 2000;
  const Certificate certificate = check_within(options);
  int open = 0;
  for (const Obligation& o : certificate.obligations) {
    EXPECT_NE(o.verdict, Verdict::refuted) << o.reason;
    if (o.verdict == Verdict::not_attempted) {
      ++open;
      EXPECT_NE(o.reason, "");
    }
  }
  EXPECT_GT(open, 0);
  EXPECT_FALSE(certificate.proved());
}

TEST_F(BudgetTest, NoTimeForAnObligationIsSaid) {
  ProofOptions options;
  options.each = std::chrono::milliseconds(0);
  const Certificate certificate = check_within(options);
  bool said = false;
  for (const Obligation& o : certificate.obligations) said = said || (o.verdict == Verdict::not_attempted && o.reason.find("time limit (0 ms)") != std::string::npos);
  EXPECT_TRUE(said);
  EXPECT_FALSE(certificate.proved());
  EXPECT_FALSE(certificate.refuted());
}

TEST_F(BudgetTest, NoTimeForTheWholeIsSaid) {
  ProofOptions options;
  options.total = std::chrono::milliseconds(0);
  const Certificate certificate = check_within(options);
  int late = 0;
  for (const Obligation& o : certificate.obligations) late += o.reason == "time limit of the whole proof";
  EXPECT_GT(late, 3);
  EXPECT_FALSE(certificate.refuted());
}

TEST_F(BudgetTest, NoProofWantedIsSaidForEveryObligation) {
  ProofOptions options;
  options.attempt = false;
  const Certificate certificate = check_within(options);
  ASSERT_EQ(certificate.obligations.size(), 12u);
  for (const Obligation& o : certificate.obligations) {
    EXPECT_EQ(o.verdict, Verdict::not_attempted);
    EXPECT_EQ(o.reason, proof_not_wanted);
  }
}

TEST_F(BudgetTest, TheProofWorksAgainAfterALimit) {
  ProofOptions options;
  options.each = std::chrono::milliseconds(0);
  check_within(options);
  EXPECT_TRUE(check_within({}).proved());
}

}  // namespace
}  // namespace tileopt::test
