#include "measure/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cost_models/machines.h"
#include "support/error.h"

namespace tileopt {
namespace {

const CalibratedFact& fact_of(const Calibration& calibration, const std::string& name) {
  const auto found = std::find_if(calibration.facts.begin(), calibration.facts.end(), [&](const CalibratedFact& fact) { return fact.fact == name; });
  EXPECT_NE(found, calibration.facts.end()) << name;
  return *found;
}

TEST(Calibrate, PutsWhatWasMeasuredIntoTheFile) {
  const Machine host = detect_host();
  const Calibration calibration = calibrate(host, 0.02, 4 << 20);
  EXPECT_EQ(calibration.facts.size(), host.memories.size() + 1);
  const CalibratedFact& frequency = fact_of(calibration, "frequency");
  EXPECT_EQ(frequency.before, host.frequency);
  EXPECT_EQ(calibration.machine.frequency, frequency.after);
  EXPECT_NE(frequency.after, frequency.before) << frequency.how;
  EXPECT_GT(frequency.after, 1e7);
  EXPECT_LT(frequency.after, 1e10) << "no more multiplications than there are multipliers";
  const CalibratedFact& nearest = fact_of(calibration, "memories.L1.bandwidth");
  EXPECT_EQ(calibration.machine.find_memory("L1")->bandwidth, nearest.after);
  EXPECT_GT(nearest.after, 1e8) << nearest.how;
  EXPECT_LT(nearest.after, 2e12) << nearest.how;
  Machine otherwise = calibration.machine;
  otherwise.frequency = host.frequency;
  otherwise.memories = host.memories;
  EXPECT_EQ(otherwise.write(), host.write()) << "nothing else changes";
}

TEST(Calibrate, WhatIsTooLargeOrTooSmallIsNotMeasured) {
  Machine host = detect_host();
  host.memories = {{"L1", 32 << 10, 1e9, 64, 8, false}, {"L2", 48 << 10, 2e9, 64, 8, false}, {"DRAM", 0, 3e9, 64, 1, true}};
  const Calibration calibration = calibrate(host, 0.01, 64 << 10);
  EXPECT_EQ(fact_of(calibration, "memories.L2.bandwidth").after, 2e9);
  EXPECT_EQ(fact_of(calibration, "memories.L2.bandwidth").how, "not measured: half of it is no larger than the memory before");
  EXPECT_EQ(fact_of(calibration, "memories.DRAM.bandwidth").after, 3e9);
  EXPECT_EQ(fact_of(calibration, "memories.DRAM.bandwidth").how, "not measured: it takes an array of 192 KB");
}

TEST(Calibrate, GpusAreRefused) {
  try {
    calibrate(find_machine("h200"), 0.01);
    FAIL();
  } catch (const Errors& errors) {
    EXPECT_EQ(errors.diagnostics().at(0).message, "machine h200 is a GPU: only processors are calibrated");
  }
}

TEST(Calibrate, AMachineThatIsNotHereIsRefused) {
  Machine other = detect_host();
  other.features = {"no_such_feature"};
  EXPECT_THROW(calibrate(other, 0.01), ToolchainError);
}

}  // namespace
}  // namespace tileopt
