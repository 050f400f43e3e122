/// Random programs under random Plans: every stage runs in the tree interpreter and agrees with the reference interpreter, or the
/// Plan is refused with a reason. A thousand pairs in the suite; TILEOPT_PAIRS=20000 runs that many in all.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <random>

#include "cost_models/machines.h"
#include "driver/check_stages.h"
#include "driver/pipeline.h"
#include "passes/pass_limit.h"
#include "random_pair.h"

namespace tileopt {
namespace {
using namespace testing;

constexpr int shards = 8;
constexpr int plans_each = 8;        // of a program, whose dependences and choices they share
constexpr int largest_size = 17;     // whole tiles and edges; most of a run's time is isl's, not the iterations'
constexpr int first_program = 100000;
constexpr int default_pairs = 1040;  // that ran, in all shards together
constexpr int least_feasible = 60;   // percent of the Plans tried
constexpr int least_share = 10;      // percent of the programs that have each feature

int wanted_pairs() {
  const char* wanted = std::getenv("TILEOPT_PAIRS");
  return (wanted == nullptr ? default_pairs : std::atoi(wanted)) / shards;
}

// How many of the pairs that ran have each feature.
class FeatureCounts {
 public:
  void add(const ProgramFeatures& f, const PlanFeatures& p) {
    ++pairs_;
    count({{"triangular", f.triangular}, {"strided", f.strided}, {"in-place", f.in_place}, {"multi-statement", f.multi_statement},
           {"reduction", f.reduction}, {"conditional", f.conditional}, {"local", f.local}, {"may-write", f.may_write}, {"indexed", f.indexed}}, common_);
    count({{"descending", f.descending}, {"monoid", f.monoid}, {"contraction", f.contraction}, {"time loop", f.time_loop}, {"tiled", p.tiled}, {"interchanged", p.interchanged},
           {"parallel", p.parallel}, {"lockstep", p.lockstep}, {"promoted", p.promoted}, {"split layout", p.split_layout},
           {"atom", p.atom}, {"nested", p.nested}}, others_);
  }
  // Where there are enough pairs, each common feature in a tenth of them; the others in some.
  void print_and_check(bool enough, bool plans = true) const {
    for (const auto& [name, count] : common_) {
      std::cout << "  " << name << ": " << count << " of " << pairs_ << "\n";
      if (enough) {
        EXPECT_GE(count * 100, pairs_ * least_share) << name;
      }
    }
    for (const auto& [name, count] : others_) {
      std::cout << "  " << name << ": " << count << " of " << pairs_ << "\n";
      if (plans && pairs_ >= 100) {
        EXPECT_GT(count, 0) << name;
      }
    }
  }

 private:
  static void count(const std::vector<std::pair<std::string, bool>>& features, std::map<std::string, int>& counts) {
    for (const auto& [name, holds] : features) counts[name] += holds;
  }
  int pairs_ = 0;
  std::map<std::string, int> common_, others_;
};

// Where the time goes, in seconds of the processor.
class Phases {
 public:
  // What passed since the last call belongs to `phase`.
  void add(const std::string& phase) {
    const std::clock_t now = std::clock();
    seconds_[phase] += static_cast<double>(now - last_) / CLOCKS_PER_SEC;
    last_ = now;
  }
  std::string text() const {
    std::string text;
    for (const auto& [phase, seconds] : seconds_) text += "; " + phase + " " + std::to_string(seconds).substr(0, 5) + " s";
    return text;
  }

 private:
  std::clock_t last_ = std::clock();
  std::map<std::string, double> seconds_;
};

class TreePlans : public ::testing::TestWithParam<int> {
 protected:
  // Runs one plan's stages. "" where they ran; else why it was refused.
  std::string run_plan(RandomCase& random, std::uint64_t seed, FeatureCounts& counts) {
    PlanFeatures features;
    const Plan plan = random.plan(seed, &features);
    phases_.add("plans");
    Trace trace;
    const auto candidate = compile_stages(random.program(), plan, machine_, trace, {}, random.dependences());
    phases_.add("stages");
    if (const auto* refused = std::get_if<Infeasible>(&candidate)) {
      EXPECT_FALSE(refused->reason.empty());
      return refused->stage + ": " + refused->code;
    }
    const Program& program = *random.program();
    std::vector<Sizes> sizes = random_sizes(seed, program.parameters(), largest_size);
    sizes.resize(3);  // large, small, any
    const StagesReport report = check_stages(program, machine_, runnable_stages(std::get<0>(candidate)), sizes, seed, StagesEffort::quick);
    phases_.add("runs");
    EXPECT_FALSE(report.deviation.has_value()) << "seed " << seed << ": " << report.text() << "\n" << pair_text(program, plan);
    counts.add(random.features(), features);
    return "";
  }

  Phases phases_;
  // A machine file, not the host: the same pairs everywhere.
  const Machine machine_ = find_machine("x86-64-v3");
};

// Seed s is plan s of program s / plans_each.
TEST_P(TreePlans, EveryStageAgreesOrThePlanIsRefused) {
  FeatureCounts counts;
  std::map<std::string, int> refusals;
  const int wanted = wanted_pairs();
  std::pair<double, std::uint64_t> slowest{0, 0};  // seconds, seed
  int ran = 0, tried = 0, too_large = 0;
  for (int number = 0; ran < wanted && tried * least_feasible <= (wanted + 5) * 100; ++number) {
    const std::uint64_t program = static_cast<std::uint64_t>(first_program + GetParam() + shards * number);
    try {
      poly::Context context;
      std::optional<RandomCase> random = RandomCase::make(context.get(), program, machine_);
      phases_.add("programs");
      if (!random) ++too_large;
      for (int p = 0; random && p < plans_each && ran < wanted; ++p) {
        ++tried;
        const std::clock_t start = std::clock();
        const std::string refusal = run_plan(*random, program * plans_each + static_cast<std::uint64_t>(p), counts);
        const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        if (seconds > slowest.first) slowest = {seconds, program * plans_each + static_cast<std::uint64_t>(p)};
        if (refusal.empty()) ++ran;
        else ++refusals[refusal];
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << "program " << program << ": " << error.what() << "\n" << random_program(program);
    }
  }
  std::cout << ran << " pairs of " << tried << " ran (" << (tried == 0 ? 0 : ran * 100 / tried) << " %)";
  for (const auto& [reason, count] : refusals) std::cout << "; " << reason << " " << count;
  std::cout << "; " << too_large << " programs too large to analyse; slowest: seed " << slowest.second << ", " << slowest.first << " s" << phases_.text() << "\n";
  EXPECT_GE(ran * 100, tried * least_feasible) << "too few of the plans are feasible";
  EXPECT_EQ(ran, wanted);
  counts.print_and_check(wanted >= 1000);
}

// Inside a spent limit isl's calls fail, in every pass and at every point of it: a refusal must come of it, or the same stages.
TEST(TreePlanLimits, EndInARefusalWhereverTheyAreHit) {
  const Machine machine = find_machine("x86-64-v3");
  const unsigned long usual = pass_operations;
  std::map<std::string, int> refusals;
  int ran = 0;
  for (std::uint64_t program = 0; program < 24; ++program) {
    poly::Context context;
    std::optional<RandomCase> random = RandomCase::make(context.get(), program, machine);
    if (!random) continue;
    PlanFeatures features;
    const Plan plan = random->plan(program * plans_each, &features);
    const auto stages = [&](unsigned long operations) {
      pass_operations = operations;
      Trace trace;
      auto result = compile_stages(random->program(), plan, machine, trace, {}, random->dependences());
      pass_operations = usual;
      return result;
    };
    const auto whole = stages(usual);
    std::minstd_rand numbers(static_cast<unsigned>(program));
    for (int n = 0; n < 12; ++n) {
      const auto limited = stages(50ul << (numbers() % 12) | numbers() % 64);
      if (const auto* refused = std::get_if<Infeasible>(&limited)) {
        ++refusals[refused->code];
        if (feasible(whole)) EXPECT_EQ(refused->code, "limit") << "program " << program << ": " << to_string(*refused);
        continue;
      }
      ++ran;
      ASSERT_TRUE(feasible(whole)) << "program " << program;
      for (std::size_t k = 0; k < std::get<0>(whole).size(); ++k)
        EXPECT_EQ(std::get<0>(limited)[k].ast.write().dump(), std::get<0>(whole)[k].ast.write().dump()) << "program " << program;
    }
  }
  EXPECT_GE(refusals["limit"], 50);
  EXPECT_GE(ran, 20);
}

// The programs of all shards of the suite together.
TEST(TreePlanPrograms, EachKindIsATenth) {
  FeatureCounts counts;
  for (int program = 0; program < default_pairs / plans_each; ++program) {
    ProgramFeatures features;
    random_program(static_cast<std::uint64_t>(first_program + program), &features);
    counts.add(features, {});
  }
  counts.print_and_check(true, false);
}

// TILEOPT_SEED=400020 test_properties --gtest_filter='*TreePlanSeed*': one pair alone, for whoever mends it.
using TreePlanSeed = TreePlans;
TEST_P(TreePlanSeed, Alone) {
  const char* text = std::getenv("TILEOPT_SEED");
  if (text == nullptr) GTEST_SKIP() << "TILEOPT_SEED names no seed";
  const std::uint64_t seed = std::stoull(text);
  FeatureCounts counts;
  poly::Context context;
  std::optional<RandomCase> random = RandomCase::make(context.get(), seed / plans_each, machine_);
  const std::string refusal = random ? run_plan(*random, seed, counts) : "dependences: quota";
  std::cout << (refusal.empty() ? "ran" : refusal) << "\n";
}

INSTANTIATE_TEST_SUITE_P(Shard, TreePlans, ::testing::Range(0, shards));
INSTANTIATE_TEST_SUITE_P(One, TreePlanSeed, ::testing::Values(0));

}  // namespace
}  // namespace tileopt
