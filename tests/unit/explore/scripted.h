/// Searches whose kernels are a script: times follow from the Plan, faults are planted, nothing is compiled.
#pragma once

#include <unistd.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "cost_models/machines.h"
#include "explore/search.h"
#include "tests/unit/records/sample_record.h"

namespace tileopt {

/// Three tiles, an order, and a constraint: 6 * 6 * 6 * 6 points less those whose tiles are too large together; and one point
/// apart.
inline PlanSpace scripted_space() {
  Variant tiles;
  tiles.name = "tiles";
  for (const char* name : {"a", "b", "c"}) {
    Choice choice{name, ChoiceKind::tile, {}, 2};
    for (const long number : {8, 16, 32, 64, 128, 256}) choice.values.push_back({std::to_string(number), number, {}});
    tiles.choices.push_back(choice);
  }
  Choice order{"order", ChoiceKind::order, {}, 0};
  for (const std::vector<int>& p : {std::vector<int>{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}})
    order.values.push_back({std::to_string(order.values.size()), 0, p});
  tiles.choices.push_back(order);
  for (const Choice& choice : tiles.choices) tiles.edits.emplace_back(choice.values.size());
  tiles.constraints.push_back(
      {ConstraintKind::capacity, "cache", "a x b fits the cache", {0, 1}, [](const auto& v) { return v[0] + v[1] <= 8; }});
  Variant plain;
  plain.name = "as written";
  return PlanSpace("scripted", {tiles, plain}, {});
}

/// A Plan that says which point it is; nothing else is asked of it.
inline Candidate<Plan> scripted_plan(const PlanSpace& space, const Point& point) {
  Plan plan;
  plan.program = "scripted";
  plan.program_hash = space.key(point);
  plan.machine = "x86-64-v3";
  return plan;
}

/// Best at (32 .. 64, 128, 16) and the fourth order, with bumps, so that it is not found by walking downhill alone.
inline double scripted_seconds(const PlanSpace& space, const Point& point) {
  if (point.variant == 1) return 1;
  const auto distance = [&](std::size_t c, double best) { return std::pow(double(point.values[c]) - best, 2); };
  const double bump = double(std::stoull(space.key(point).substr(0, 8), nullptr, 16) % 1000) / 1000;
  return 1e-3 * (1 + distance(0, 2.4) + distance(1, 4) + 0.5 * distance(2, 1) + (point.values[3] == 3 ? 0 : 2) + 0.4 * bump);
}

class ScriptedTrials : public Trials {
 public:
  using Script = std::function<Record(const Plan& plan)>;
  explicit ScriptedTrials(Script script, int microseconds = 0) : script_(std::move(script)), microseconds_(microseconds) {
    key_.program = "scripted";
  }

  const RecordKey& key() const override { return key_; }
  std::unique_ptr<Build> begin(const Plan& plan, const std::string& origin) override {
    ++begun_;
    auto build = std::make_unique<Scripted>();
    build->plan = plan;
    build->origin = origin;
    return build;
  }
  Record time(Build& build) override {
    auto& own = static_cast<Scripted&>(build);
    if (microseconds_ > 0) usleep(static_cast<unsigned>(microseconds_));
    ++timed_;
    Record record = script_(own.plan);
    record.key = key_;
    record.plan = own.plan.write();
    record.origin = own.origin;
    return record;
  }
  Record time_again(Build& build) override { return time(build); }
  int begun() const { return begun_; }
  int timed() const { return timed_; }

 private:
  struct Scripted : Build {
    Plan plan;
    std::string origin;
    void settle() override {}
  };
  RecordKey key_;
  Script script_;
  int microseconds_, begun_ = 0, timed_ = 0;
};

/// A search over the scripted space, with the times above and `faults` by plan (its program_hash).
class ScriptedSearch {
 public:
  ScriptedSearch() : space_(scripted_space()), machine_(find_machine("x86-64-v3")) {
    for (auto point = space_.first(); point; point = space_.next(*point)) points_.emplace(space_.key(*point), *point);
  }
  const PlanSpace& space() const { return space_; }
  const std::map<std::string, Point>& points() const { return points_; }
  std::map<std::string, RecordOutcome> faults;

  Record script(const Plan& plan) const {
    Record record;
    const auto fault = faults.find(plan.program_hash);
    if (fault != faults.end()) {
      record.outcome = fault->second;
      record.detail = "planted: " + outcome_name(fault->second);
      return record;
    }
    record.seconds = scripted_seconds(space_, points_.at(plan.program_hash));
    record.samples = {record.seconds, record.seconds, record.seconds};
    return record;
  }

  SearchResult run(const SearchOptions& options, ScriptedTrials& trials, const SearchProgress& progress = nullptr) {
    PointScorer scorer(space_, machine_, 1);
    return run_search(
        space_, scorer, [&](const Point& point) { return scripted_plan(space_, point); }, trials, options, progress);
  }
  SearchResult run(const SearchOptions& options) {
    ScriptedTrials trials([&](const Plan& plan) { return script(plan); });
    return run(options, trials);
  }
  double best_possible() const {
    double best = 1;
    for (const auto& [key, point] : points_) best = std::min(best, scripted_seconds(space_, point));
    return best;
  }

 private:
  PlanSpace space_;
  Machine machine_;
  std::map<std::string, Point> points_;
};

}  // namespace tileopt
