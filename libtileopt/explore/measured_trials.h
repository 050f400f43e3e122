/// Trials by the Measurer: proved, checked against the interpreter, timed in processes of their own.
#pragma once

#include "explore/trials.h"
#include "measure/measure_plan.h"

namespace tileopt {

class MeasuredTrials : public Trials {
 public:
  /// @throws as Measurer.
  MeasuredTrials(std::shared_ptr<const Program> program, const Machine& machine, const MeasureOptions& options);

  const RecordKey& key() const override { return measurer_.key(); }
  std::unique_ptr<Build> begin(const Plan& plan, const std::string& origin) override;
  Record time(Build& build) override;
  Record time_again(Build& build) override;
  const Work& work() const { return measurer_.work(); }

 private:
  Measurer measurer_;
};

}  // namespace tileopt
