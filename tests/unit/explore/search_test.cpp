/// The search itself: budgets, seeds, faults, interruption, and what a kill leaves.
#include "explore/search.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <random>

#include "records/record_file.h"
#include "tests/unit/explore/scripted.h"

namespace tileopt {
namespace {

SearchOptions options_for(const std::string& strategy, int trials) {
  SearchOptions options;
  options.strategy = strategy;
  options.trials = trials;
  options.jobs = 4;
  return options;
}

std::vector<Point> points_of(const SearchResult& result) {
  std::vector<Point> points;
  for (const Trial& trial : result.trials) points.push_back(trial.point);
  return points;
}

class EveryStrategy : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryStrategy, TriesEveryPointOnceAndThePlannersFirst) {
  ScriptedSearch search;
  const SearchResult result = search.run(options_for(GetParam(), 150));
  EXPECT_EQ(result.trials.size(), 150u);
  EXPECT_EQ(result.trials.front().point, search.space().planned_points().front());
  const std::vector<Point> points = points_of(result);
  EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), points.size());
  for (const Point& point : points) EXPECT_EQ(search.space().violated(point), nullptr);
  EXPECT_EQ(result.tally().at(RecordOutcome::measured), 150);
  ASSERT_TRUE(result.best());
  EXPECT_LE(result.finalists.front().seconds, result.finalists.back().seconds);
}

TEST_P(EveryStrategy, FollowsItsSeed) {
  ScriptedSearch search;
  SearchOptions options = options_for(GetParam(), 60);
  const std::vector<Point> first = points_of(search.run(options)), again = points_of(search.run(options));
  EXPECT_EQ(first, again);
  options.seed = 2;
  EXPECT_NE(points_of(search.run(options)), first);
}

TEST_P(EveryStrategy, ListsASmallSpaceToItsEnd) {
  ScriptedSearch search;
  const SearchResult result = search.run(options_for(GetParam(), 100000));
  EXPECT_EQ(result.trials.size(), search.points().size());
  EXPECT_TRUE(result.exhausted);
  EXPECT_DOUBLE_EQ(result.best_seconds(), search.best_possible());
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy, ::testing::ValuesIn(strategy_names()),
                         [](const auto& info) { return info.param; });

TEST(Search, GuidedStrategiesBeatChance) {
  ScriptedSearch search;
  double random = 0, beam = 0, evolutionary = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const auto& [name, sum] :
         {std::pair<std::string, double*>{"random", &random}, {"beam", &beam}, {"evolutionary", &evolutionary}}) {
      SearchOptions options = options_for(name, 120);
      options.seed = seed;
      *sum += search.run(options).best_seconds() / search.best_possible() / 10;
    }
  }
  EXPECT_LT(beam, 0.95 * random);
  EXPECT_LT(evolutionary, 0.95 * random);
  EXPECT_LT(evolutionary, 1.1) << "a tenth above the best of all points; chance: " << random << ", beam: " << beam;
}

TEST(Search, FiveHundredCandidatesWithSixtyFaults) {
  ScriptedSearch search;
  const RecordFolder folder;
  std::vector<RecordOutcome> kinds = all_outcomes();
  kinds.erase(kinds.begin());  // measured
  std::mt19937 random(5);
  std::vector<std::string> keys;
  for (const auto& [key, point] : search.points()) keys.push_back(key);
  SearchOptions options = options_for("random", 500);
  options.records = folder.file();
  // Sixty of those that this seed visits: seen in a run without faults.
  const SearchResult clean = search.run(options_for("random", 500));
  std::map<RecordOutcome, int> planted;
  while (search.faults.size() < 60) {
    const Trial& trial = clean.trials[random() % clean.trials.size()];
    const RecordOutcome kind = kinds[search.faults.size() % kinds.size()];
    if (search.faults.emplace(search.space().key(trial.point), kind).second) ++planted[kind];
  }
  const SearchResult result = search.run(options);
  EXPECT_EQ(result.trials.size(), 500u);
  int wrong = 0;
  for (const Trial& trial : result.trials) {
    const auto fault = search.faults.find(search.space().key(trial.point));
    const RecordOutcome expected = fault == search.faults.end() ? RecordOutcome::measured : fault->second;
    wrong += trial.outcome == expected ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
  const std::map<RecordOutcome, int> tally = result.tally();
  for (const auto& [kind, count] : planted) EXPECT_EQ(tally.at(kind), count) << outcome_name(kind);
  // Nothing is lost: each is a record, the finalists once more.
  std::map<RecordOutcome, int> recorded;
  std::set<std::string> plans;
  for (const Record& record : read_records(folder.file())) {
    if (record.origin == "finalist") continue;
    ++recorded[record.outcome];
    EXPECT_TRUE(plans.insert(record.plan_hash()).second);
    EXPECT_EQ(record.detail.empty(), record.outcome == RecordOutcome::measured);
  }
  EXPECT_EQ(recorded, tally);
  for (const Finalist& finalist : result.finalists) EXPECT_EQ(result.trials[finalist.trial].outcome, RecordOutcome::measured);
}

TEST(Search, PointsWithoutAPlanAreTalliedByTheirReason) {
  ScriptedSearch search;
  PointScorer scorer(search.space(), find_machine("x86-64-v3"), 1);
  ScriptedTrials trials([&](const Plan& plan) { return search.script(plan); });
  const auto resolve = [&](const Point& point) -> Candidate<Plan> {
    if (point.variant == 0 && point.values[3] == 5)
      return Infeasible{"legality", "digitize", "k", "tree", "the last order is illegal"};
    return scripted_plan(search.space(), point);
  };
  const SearchResult result = run_search(search.space(), scorer, resolve, trials, options_for("random", 200));
  EXPECT_EQ(result.trials.size(), 200u);
  ASSERT_EQ(result.refused.size(), 1u);
  EXPECT_EQ(result.refused.begin()->first, "legality: the last order is illegal");
  EXPECT_GT(result.refused.begin()->second, 10);
}

TEST(Search, TwoPointsOfOnePlanAreOneTrial) {
  ScriptedSearch search;
  PointScorer scorer(search.space(), find_machine("x86-64-v3"), 1);
  ScriptedTrials trials([&](const Plan&) {
    Record record;
    record.seconds = 1;
    record.samples = {1, 1, 1};
    return record;
  });
  const auto resolve = [&](const Point& point) -> Candidate<Plan> {
    Plan plan;
    plan.program_hash = std::to_string(point.values.empty() ? 9 : point.values[3]);
    return plan;
  };
  const SearchResult result = run_search(search.space(), scorer, resolve, trials, options_for("evolutionary", 50));
  EXPECT_EQ(result.trials.size(), 7u) << "six orders and the plain one";
  EXPECT_GT(result.repeated, 20);
  EXPECT_TRUE(result.exhausted);
}

TEST(Search, AStopEndsWithTheBestSoFar) {
  ScriptedSearch search;
  const RecordFolder folder;
  SearchOptions options = options_for("evolutionary", 300);
  options.records = folder.file();
  int timed = 0;
  ScriptedTrials trials([&](const Plan& plan) {
    ++timed;
    return search.script(plan);
  });
  options.stop = [&] { return timed >= 31; };
  const SearchResult result = search.run(options, trials);
  EXPECT_TRUE(result.interrupted);
  // What was being timed when the stop came is dropped: it may be the stop's doing.
  EXPECT_EQ(result.trials.size(), 30u);
  EXPECT_EQ(read_records(folder.file()).size(), 30u);
  ASSERT_TRUE(result.best());
  EXPECT_EQ(result.trials[*result.best()].outcome, RecordOutcome::measured);
  // It goes on where it stopped.
  options.stop = nullptr;
  ScriptedTrials rest([&](const Plan& plan) { return search.script(plan); });
  const SearchResult whole = search.run(options, rest);
  EXPECT_EQ(whole.trials.size(), 300u);
  EXPECT_EQ(std::count_if(whole.trials.begin(), whole.trials.end(), [](const Trial& t) { return t.resumed; }), 30);
}

TEST(Search, ATimeBudgetEndsIt) {
  ScriptedSearch search;
  SearchOptions options = options_for("random", 100000);
  options.seconds = 0.2;
  options.finalists = 0;
  ScriptedTrials trials([&](const Plan& plan) { return search.script(plan); }, 5000);
  const SearchResult result = search.run(options, trials);
  EXPECT_GT(result.trials.size(), 5u);
  EXPECT_LT(result.trials.size(), 100u);
}

TEST(Search, FinalistsTakeTurns) {
  ScriptedSearch search;
  std::vector<std::string> turns;
  SearchOptions options = options_for("random", 30);
  options.finalists = 3;
  options.rounds = 4;
  ScriptedTrials trials([&](const Plan& plan) {
    turns.push_back(plan.program_hash);
    return search.script(plan);
  });
  const SearchResult result = search.run(options, trials);
  ASSERT_GE(result.finalists.size(), 3u);
  const std::size_t n = result.finalists.size();
  ASSERT_EQ(turns.size(), 30 + 4 * n);
  for (std::size_t i = 30; i + n < turns.size(); ++i) EXPECT_EQ(turns[i], turns[i + n]);
  EXPECT_TRUE(std::any_of(result.finalists.begin(), result.finalists.end(), [](const Finalist& f) { return f.trial == 0; }))
      << "the planner's own is among them";
}

TEST(Search, OverlapVisitsAllTheSame) {
  ScriptedSearch search;
  SearchOptions options = options_for("random", 80);
  const std::vector<Point> apart = points_of(search.run(options));
  options.overlap = true;
  EXPECT_EQ(points_of(search.run(options)), apart);
}

// Killed at thirty moments and started again, a search ends as one that was left alone.
TEST(Search, SurvivesKills) {
  for (const std::string strategy : {"evolutionary", "beam"}) {
    ScriptedSearch search;
    SearchOptions options = options_for(strategy, 150);
    const SearchResult alone = search.run(options);
    const RecordFolder folder;
    options.records = folder.file();
    std::mt19937 random(9);
    int killed = 0;
    for (int moment = 0; moment < 15; ++moment) {
      const pid_t child = fork();
      if (child == 0) {
        ScriptedTrials slow([&](const Plan& plan) { return search.script(plan); }, 2000);
        search.run(options, slow);
        _exit(0);
      }
      usleep(3000 + random() % 40000);
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      killed += WIFSIGNALED(status) ? 1 : 0;
    }
    EXPECT_GE(killed, 10);
    const std::size_t before = read_records(folder.file()).size();
    EXPECT_GT(before, 10u) << "it goes forward between kills";
    const SearchResult resumed = search.run(options);
    EXPECT_EQ(points_of(resumed), points_of(alone));
    ASSERT_TRUE(resumed.best());
    EXPECT_EQ(resumed.trials[*resumed.best()].plan_hash, alone.trials[*alone.best()].plan_hash);
    EXPECT_EQ(resumed.best_seconds(), alone.best_seconds());
    std::set<std::string> trials, finals;
    for (const Record& record : read_records(folder.file()))
      EXPECT_TRUE((record.origin == "finalist" ? finals : trials).insert(record.plan_hash()).second) << "a double record";
    EXPECT_EQ(trials.size(), 150u);
    EXPECT_EQ(finals.size(), alone.finalists.size());
  }
}

TEST(Search, ForeignAndDamagedLinesAreNoRecordsOfIt) {
  ScriptedSearch search;
  const RecordFolder folder;
  SearchOptions options = options_for("random", 40);
  options.records = folder.file();
  append_record(folder.file(), sample_record(1));
  search.run(options);
  FILE* file = fopen(folder.file().c_str(), "a");
  fputs("garbage\n{\"format\": \"tileopt-record/1\"}\n", file);
  fclose(file);
  ScriptedTrials trials([&](const Plan& plan) { return search.script(plan); });
  const SearchResult again = search.run(options, trials);
  EXPECT_EQ(trials.begun(), 0) << "all is known";
  EXPECT_EQ(again.trials.size(), 40u);
}

}  // namespace
}  // namespace tileopt
