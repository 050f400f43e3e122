#include <benchmark/benchmark.h>

#include <cmath>

#include "row.h"

namespace tileopt::table {

std::string check(const Instance& instance) {
  std::vector<float> expected;
  std::string first;
  for (const Contender& contender : instance.contenders) {
    contender.run();
    if (!contender.checked || !instance.output) continue;
    const std::vector<float> found = instance.output();
    if (first.empty()) {
      first = contender.name;
      expected = found;
      continue;
    }
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
      const double difference = std::abs(static_cast<double>(found[i]) - expected[i]);
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
    if (worst > instance.tolerance * largest)
      return contender.name + " differs from " + first + " by " + std::to_string(worst) + " of " + std::to_string(largest);
  }
  return "";
}

namespace {

class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(std::vector<Timing>& timings) : timings_(timings) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.iterations == 0) continue;
      for (Timing& timing : timings_)
        if (timing.contender == run.run_name.function_name) timing.seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
    }
  }

 private:
  std::vector<Timing>& timings_;
};

}  // namespace

std::vector<Timing> measure(const Instance& instance, int repetitions, double seconds) {
  std::vector<Timing> timings;
  for (const Contender& contender : instance.contenders) {
    timings.push_back({contender.name, {}});
    benchmark::RegisterBenchmark(contender.name.c_str(), [run = contender.run](benchmark::State& state) {
      for (auto _ : state) run();
    })->UseRealTime()->Repetitions(repetitions)->MinTime(seconds);
  }
  std::string interleave = "--benchmark_enable_random_interleaving=true", program = "table";
  char* words[] = {program.data(), interleave.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, words);
  Collector collector(timings);
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::Shutdown();
  return timings;
}

}  // namespace tileopt::table
