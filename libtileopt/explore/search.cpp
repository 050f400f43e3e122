#include "explore/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "backends/openmp/runner.h"
#include "records/record_file.h"

namespace tileopt {
namespace {

constexpr int kIdleBatches = 20;  ///< batches without a new Plan after which the space counts as used up
const char* const final_origin = "finalist";

double relative_deviation(const std::vector<double>& values, double middle) {
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::fabs(value - middle));
  return middle > 0 ? median(distances) / middle : 0;
}

void take_outcome(Trial& trial, const Record& record) {
  trial.outcome = record.outcome;
  trial.detail = record.detail;
  trial.seconds = record.seconds;
  trial.noise = record.noise;
}

/// What the file of records knows of one key.
class KnownRecords {
 public:
  KnownRecords(const std::string& path, const std::string& key_hash) {
    if (path.empty() || !std::filesystem::exists(path)) return;
    scan_records(path, [&](const Record& record, std::int64_t) {
      if (record.key.hash() != key_hash) return;
      (record.origin == final_origin ? finals_ : trials_).emplace(record.plan_hash(), record);
    });
  }
  const Record* trial(const std::string& plan) const { return find(trials_, plan); }
  const Record* final(const std::string& plan) const { return find(finals_, plan); }

 private:
  static const Record* find(const std::map<std::string, Record>& records, const std::string& plan) {
    const auto found = records.find(plan);
    return found == records.end() ? nullptr : &found->second;
  }
  std::map<std::string, Record> trials_, finals_;
};

class Search {
 public:
  Search(const PlanSpace& space, PointScorer& scorer, const Resolver& resolve, Trials& trials, const SearchOptions& options,
         const SearchProgress& progress)
      : scorer_(scorer),
        resolve_(resolve),
        trials_(trials),
        options_(options),
        progress_(progress),
        strategy_(make_strategy(options.strategy, space, scorer, options.seed)),
        known_(options.records, trials.key().hash()),
        start_(std::chrono::steady_clock::now()) {}

  SearchResult run() {
    std::vector<Started> batch = start_batch(), next;
    while (!batch.empty() && !stopped()) {
      if (options_.overlap)
        next = start_batch();
      else
        settle(batch);
      for (Started& started : batch) {
        if (!finish(started)) return interrupted();
      }
      batch = options_.overlap ? std::move(next) : start_batch();
      next.clear();
    }
    settle(batch);
    if (stopped()) {
      // Started, but not timed.
      if (!batch.empty()) result_.trials.resize(batch.front().trial);
      return interrupted();
    }
    choose_finalists();
    return std::move(result_);
  }

 private:
  /// A trial whose outcome is not known yet.
  struct Started {
    std::size_t trial = 0;
    std::unique_ptr<Build> build;  ///< null: known
  };

  bool stopped() const { return options_.stop && options_.stop(); }
  bool out_of_time() const {
    return options_.seconds > 0 &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >= options_.seconds;
  }
  SearchResult interrupted() {
    result_.interrupted = true;
    return std::move(result_);
  }
  static void settle(std::vector<Started>& batch) {
    for (Started& started : batch)
      if (started.build) started.build->settle();
  }

  std::vector<Started> start_batch();
  void start_point(const Point& point, std::vector<Started>& batch);
  bool finish(Started& started);
  void learn(const Trial& trial);
  void choose_finalists();

  PointScorer& scorer_;
  const Resolver& resolve_;
  Trials& trials_;
  const SearchOptions& options_;
  const SearchProgress& progress_;
  std::unique_ptr<Strategy> strategy_;
  KnownRecords known_;
  std::chrono::steady_clock::time_point start_;
  SearchResult result_;
  std::map<std::string, std::size_t> by_plan_;          ///< plan hash -> trial
  std::vector<std::pair<Point, std::size_t>> waiting_;  ///< points that gave the Plan of a trial whose time is not known yet
};

std::vector<Search::Started> Search::start_batch() {
  std::vector<Started> batch;
  for (int idle = 0; batch.empty() && idle < kIdleBatches; ++idle) {
    const auto left = static_cast<std::size_t>(std::max(0, options_.trials - static_cast<int>(result_.trials.size())));
    const std::size_t wanted = std::min(left, static_cast<std::size_t>(std::max(1, options_.jobs)));
    if (wanted == 0 || out_of_time()) return batch;
    const std::vector<Point> points = strategy_->propose(wanted);
    if (points.empty()) break;
    for (const Point& point : points) {
      if (stopped()) return batch;
      start_point(point, batch);
    }
  }
  if (batch.empty()) result_.exhausted = true;
  return batch;
}

void Search::start_point(const Point& point, std::vector<Started>& batch) {
  const Candidate<Plan> resolved = resolve_(point);
  if (const auto* refused = std::get_if<Infeasible>(&resolved)) {
    ++result_.refused[refused->code + ": " + refused->reason];
    strategy_->learn(point, std::nullopt);
    return;
  }
  Trial trial;
  trial.point = point;
  trial.plan = std::get<Plan>(resolved);
  Record probe;
  probe.plan = trial.plan.write();
  trial.plan_hash = probe.plan_hash();
  trial.predicted = scorer_.seconds(point);
  if (const auto same = by_plan_.find(trial.plan_hash); same != by_plan_.end()) {
    ++result_.repeated;
    waiting_.emplace_back(point, same->second);
    return;
  }
  const std::string origin = result_.trials.empty() ? "resolve" : options_.strategy;
  by_plan_.emplace(trial.plan_hash, result_.trials.size());
  Started started{result_.trials.size(), nullptr};
  if (const Record* record = known_.trial(trial.plan_hash)) {
    take_outcome(trial, *record);
    trial.resumed = true;
  } else {
    started.build = trials_.begin(trial.plan, origin);
  }
  result_.trials.push_back(std::move(trial));
  batch.push_back(std::move(started));
}

/// Times a trial and writes its record. False: stopped meanwhile, and what came out may be the stop's doing.
bool Search::finish(Started& started) {
  Trial& trial = result_.trials[started.trial];
  if (started.build) {
    const auto drop = [&] {
      result_.trials.resize(started.trial);
      return false;
    };
    if (stopped()) return drop();
    Record record = trials_.time(*started.build);
    started.build.reset();
    if (stopped()) return drop();
    record.predicted = trial.predicted;
    if (!options_.records.empty()) append_record(options_.records, record, true);
    take_outcome(trial, record);
  }
  learn(trial);
  if (progress_) progress_(result_);
  return true;
}

void Search::learn(const Trial& trial) {
  const std::optional<double> seconds = trial.outcome == RecordOutcome::measured ? std::optional(trial.seconds) : std::nullopt;
  strategy_->learn(trial.point, seconds);
  const auto number = static_cast<std::size_t>(&trial - result_.trials.data());
  std::erase_if(waiting_, [&](const auto& entry) {
    if (entry.second > number) return false;
    const Trial& same = result_.trials[entry.second];
    strategy_->learn(entry.first, same.outcome == RecordOutcome::measured ? std::optional(same.seconds) : std::nullopt);
    return true;
  });
}

/// The best ones and the planner's own take turns, so that what disturbs the machine meets all alike.
void Search::choose_finalists() {
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < result_.trials.size(); ++t)
    if (result_.trials[t].outcome == RecordOutcome::measured) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Trial &x = result_.trials[a], &y = result_.trials[b];
    return x.seconds != y.seconds ? x.seconds < y.seconds : x.plan_hash < y.plan_hash;
  });
  const auto wanted = static_cast<std::size_t>(std::max(0, options_.finalists));
  const bool planned = !order.empty() && std::find(order.begin(), order.end(), 0) != order.end();
  if (order.size() > wanted) order.resize(wanted);
  if (wanted > 0 && planned && std::find(order.begin(), order.end(), 0) == order.end()) order.push_back(0);

  struct Turn {
    std::size_t trial;
    std::unique_ptr<Build> build;
    Record record;
    std::vector<double> samples;
  };
  std::vector<Turn> turns;
  for (const std::size_t t : order) {
    const Trial& trial = result_.trials[t];
    if (const Record* record = known_.final(trial.plan_hash)) {
      if (record->outcome == RecordOutcome::measured) result_.finalists.push_back({t, record->seconds, record->noise});
      continue;
    }
    turns.push_back({t, trials_.begin(trial.plan, final_origin), {}, {}});
  }
  for (Turn& turn : turns) turn.build->settle();
  for (int round = 0; round < options_.rounds && !stopped(); ++round) {
    for (Turn& turn : turns) {
      if (stopped() || (round > 0 && turn.record.outcome != RecordOutcome::measured)) continue;
      turn.record = round == 0 ? trials_.time(*turn.build) : trials_.time_again(*turn.build);
      turn.samples.insert(turn.samples.end(), turn.record.samples.begin(), turn.record.samples.end());
    }
  }
  if (stopped()) {
    result_.interrupted = true;
    return;
  }
  for (Turn& turn : turns) {
    turn.record.samples = turn.samples;
    turn.record.seconds = median(turn.samples);
    turn.record.noise = relative_deviation(turn.samples, turn.record.seconds);
    turn.record.origin = final_origin;
    turn.record.predicted = result_.trials[turn.trial].predicted;
    if (!options_.records.empty()) append_record(options_.records, turn.record, true);
    if (turn.record.outcome == RecordOutcome::measured)
      result_.finalists.push_back({turn.trial, turn.record.seconds, turn.record.noise});
  }
  std::stable_sort(result_.finalists.begin(), result_.finalists.end(), [&](const Finalist& a, const Finalist& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds
                                  : result_.trials[a.trial].plan_hash < result_.trials[b.trial].plan_hash;
  });
}

}  // namespace

std::map<RecordOutcome, int> SearchResult::tally() const {
  std::map<RecordOutcome, int> counts;
  for (const Trial& trial : trials) ++counts[trial.outcome];
  return counts;
}

std::optional<std::size_t> SearchResult::best() const {
  if (!finalists.empty()) return finalists.front().trial;
  std::optional<std::size_t> best;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    if (trials[t].outcome != RecordOutcome::measured || trials[t].seconds <= 0) continue;
    if (!best || trials[t].seconds < trials[*best].seconds) best = t;
  }
  return best;
}

double SearchResult::best_seconds() const {
  if (!finalists.empty()) return finalists.front().seconds;
  const auto at = best();
  return at ? trials[*at].seconds : 0;
}

SearchResult run_search(const PlanSpace& space, PointScorer& scorer, const Resolver& resolve, Trials& trials,
                        const SearchOptions& options, const SearchProgress& progress) {
  return Search(space, scorer, resolve, trials, options, progress).run();
}

}  // namespace tileopt
