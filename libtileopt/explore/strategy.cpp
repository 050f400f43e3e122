#include "explore/strategy.h"

#include <algorithm>
#include <limits>

namespace tileopt {
namespace {

constexpr std::size_t kBeamWidth = 8;
constexpr std::size_t kPriorSamples = 2000;  ///< points that are scored to find the beam's first ones
constexpr std::size_t kOffspring = 32;       ///< scored for each one that is proposed
constexpr std::size_t kTournament = 3;
constexpr double kHopeless = 10;  ///< times the cost of the planner's own
constexpr int kFreshAttempts = 200;
constexpr double kSmallSpace = 1e4;

/// What all strategies share: what was proposed, what was learnt, random numbers that are the same everywhere.
class BasicStrategy : public Strategy {
 public:
  BasicStrategy(const PlanSpace& space, PointScorer& scorer, std::uint64_t seed)
      : space_(space), scorer_(scorer), random_(seed) {}

  void learn(const Point& point, std::optional<double> seconds) override {
    if (!seconds) return;
    const Known known{point, *seconds, scorer_.seconds(point)};
    measured_.insert(std::upper_bound(measured_.begin(), measured_.end(), known,
                                      [](const Known& a, const Known& b) { return a.seconds < b.seconds; }),
                     known);
  }

 protected:
  struct Known {
    Point point;
    double seconds = 0, predicted = 0;
  };

  /// What is expected of a point that descends from `parent`: the analytic cost is off there by what it is off by here. Without
  /// a cost, or without a parent, the middle of what was measured stands in.
  double expect(const Point& point, const Known* parent) {
    const double predicted = scorer_.seconds(point);
    const Known* like = parent != nullptr ? parent : measured_.empty() ? nullptr : &measured_[measured_.size() / 2];
    if (like == nullptr) return predicted;
    return predicted > 0 && like->predicted > 0 ? predicted * like->seconds / like->predicted : like->seconds;
  }

  double unit() { return double(random_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t count) { return std::min(count - 1, static_cast<std::size_t>(unit() * double(count))); }
  bool is_new(const Point& point) const { return proposed_.count(point) == 0; }

  /// Takes `point` into the batch unless it was proposed before.
  bool take(const Point& point, std::vector<Point>& batch) {
    if (!proposed_.insert(point).second) return false;
    batch.push_back(point);
    return true;
  }
  /// The planned points of the structures, the planner's own first. Those that the cost expects nothing of are left to chance:
  /// at large sizes loops as written may take minutes.
  void take_planned(bool all, std::size_t count, std::vector<Point>& batch) {
    const std::vector<Point> planned = space_.planned_points();
    const double most = kHopeless * scorer_.seconds(planned.front());
    for (const Point& point : planned) {
      const bool hopeless = most > 0 && scorer_.seconds(point) > most;
      if (batch.size() < count && !hopeless && space_.violated(point) == nullptr) take(point, batch);
      if (!all) return;
    }
  }

  /// A uniform point that is new; nothing where all were proposed, or the rest of a large space is not met by chance.
  std::optional<Point> fresh() {
    for (int attempt = 0; attempt < kFreshAttempts; ++attempt) {
      const auto point = space_.sample(random_);
      if (!point) return std::nullopt;
      if (is_new(*point)) return point;
    }
    if (!small_) {
      const auto counted = space_.count(kSmallSpace);
      small_ = counted.exact && counted.points <= kSmallSpace;
    }
    if (!*small_) return std::nullopt;
    for (auto point = space_.first(); point; point = space_.next(*point)) {
      if (is_new(*point)) return point;
    }
    return std::nullopt;
  }

  void fill_up(std::size_t count, std::vector<Point>& batch) {
    while (batch.size() < count) {
      const auto point = fresh();
      if (!point) return;
      take(*point, batch);
    }
  }

  const PlanSpace& space_;
  PointScorer& scorer_;
  std::mt19937_64 random_;
  std::set<Point> proposed_;
  std::vector<Known> measured_;  ///< best first
  std::optional<bool> small_;    ///< the space can be listed
};

class RandomStrategy : public BasicStrategy {
 public:
  using BasicStrategy::BasicStrategy;
  std::vector<Point> propose(std::size_t count) override {
    std::vector<Point> batch;
    take_planned(false, count, batch);
    fill_up(count, batch);
    return batch;
  }
};

struct Expected {
  Point point;
  double expected = 0;
};

void sort_by_expectation(std::vector<Expected>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Expected& a, const Expected& b) { return a.expected < b.expected; });
}

class BeamStrategy : public BasicStrategy {
 public:
  using BasicStrategy::BasicStrategy;
  std::vector<Point> propose(std::size_t count) override {
    std::vector<Point> batch;
    take_planned(true, count, batch);
    if (!started_) {
      started_ = true;
      find_seeds();
    }
    // Half of the first batches starts elsewhere than at the planner's choice.
    while (batch.size() < count && next_seed_ < seeds_.size()) take(seeds_[next_seed_++].point, batch);
    std::vector<Expected> candidates;
    for (std::size_t k = 0; k < measured_.size() && batch.size() < count; ++k) {
      if (k >= kBeamWidth && candidates.size() >= count) break;
      for (const Point& near : space_.neighbours(measured_[k].point)) {
        if (is_new(near)) candidates.push_back({near, expect(near, &measured_[k])});
      }
    }
    sort_by_expectation(candidates);
    for (const Expected& candidate : candidates) {
      if (batch.size() < count) take(candidate.point, batch);
    }
    fill_up(count, batch);
    return batch;
  }

 private:
  void find_seeds() {
    for (std::size_t i = 0; i < kPriorSamples; ++i) {
      const auto point = space_.sample(random_);
      if (!point) break;
      seeds_.push_back({*point, scorer_.seconds(*point)});
    }
    sort_by_expectation(seeds_);
    if (seeds_.size() > kBeamWidth) seeds_.resize(kBeamWidth);
  }

  bool started_ = false;
  std::vector<Expected> seeds_;
  std::size_t next_seed_ = 0;
};

class EvolutionaryStrategy : public BasicStrategy {
 public:
  using BasicStrategy::BasicStrategy;
  std::vector<Point> propose(std::size_t count) override {
    std::vector<Point> batch;
    take_planned(true, count, batch);
    const std::size_t missing = count - batch.size();
    std::vector<Expected> candidates;
    for (std::size_t i = 0; i < missing * kOffspring; ++i) {
      const auto child = descend();
      if (child && is_new(child->point)) candidates.push_back(*child);
    }
    const std::vector<Expected> unsorted = candidates;
    sort_by_expectation(candidates);
    const std::size_t spared = missing / 4;
    for (const Expected& candidate : candidates) {
      if (batch.size() + spared < count) take(candidate.point, batch);
    }
    for (const Expected& candidate : unsorted) {
      if (batch.size() < count) take(candidate.point, batch);
    }
    fill_up(count, batch);
    return batch;
  }

 private:
  const Known* parent() {
    if (measured_.empty()) return nullptr;
    std::size_t best = measured_.size();
    for (std::size_t i = 0; i < kTournament; ++i) best = std::min(best, below(measured_.size()));
    return &measured_[best];
  }

  /// A step, a jump, a child of two, or someone from elsewhere.
  std::optional<Expected> descend() {
    const double kind = unit();
    const Known* one = parent();
    if (one == nullptr || kind < 0.15) {
      const auto point = space_.sample(random_);
      if (!point) return std::nullopt;
      return Expected{*point, expect(*point, nullptr)};
    }
    Point child = one->point;
    const auto& choices = space_.variants()[child.variant].choices;
    if (choices.empty()) return std::nullopt;
    if (kind < 0.4) {
      const Known* other = parent();
      for (std::size_t c = 0; c < choices.size(); ++c) {
        if (other->point.variant == child.variant && unit() < 0.5) child.values[c] = other->point.values[c];
      }
    }
    const std::size_t changes = kind < 0.4 ? below(2) : 1 + below(3);
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t c = below(choices.size());
      const std::vector<std::size_t> near = near_values(choices[c], child.values[c]);
      if (unit() < 0.25)
        child.values[c] = below(choices[c].values.size());
      else if (!near.empty())
        child.values[c] = near[below(near.size())];
    }
    if (space_.violated(child) != nullptr) return std::nullopt;
    return Expected{child, expect(child, one)};
  }
};

}  // namespace

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> names = {"random", "beam", "evolutionary"};
  return names;
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, const PlanSpace& space, PointScorer& scorer,
                                        std::uint64_t seed) {
  if (name == "random") return std::make_unique<RandomStrategy>(space, scorer, seed);
  if (name == "beam") return std::make_unique<BeamStrategy>(space, scorer, seed);
  TILEOPT_CHECK(name == "evolutionary", "there is no strategy `" + name + "`");
  return std::make_unique<EvolutionaryStrategy>(space, scorer, seed);
}

}  // namespace tileopt
