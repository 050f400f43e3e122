#include "space/space.h"

#include <algorithm>
#include <numeric>

#include "support/document.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr int kMostRejections = 1000000;

/// Constraints of a variant by the last choice that they look at: checked as soon as that is known.
std::vector<std::vector<const Constraint*>> constraints_by_choice(const Variant& variant) {
  std::vector<std::vector<const Constraint*>> by_choice(variant.choices.size());
  for (const Constraint& constraint : variant.constraints) {
    const std::size_t last =
        constraint.choices.empty() ? 0 : *std::max_element(constraint.choices.begin(), constraint.choices.end());
    if (last < by_choice.size()) by_choice[last].push_back(&constraint);
  }
  return by_choice;
}

std::string constraint_title(const Constraint& constraint) {
  return constraint_kind_name(constraint.kind) + ": " + constraint.name;
}

/// Counts the points of one variant. Choices that no constraint looks at multiply; sets of choices that constraints tie
/// together are walked, each set by itself.
class Counter {
 public:
  Counter(const Variant& variant, double most_steps)
      : variant_(variant), by_choice_(constraints_by_choice(variant)), most_steps_(most_steps) {
    values_ = variant.planned_values();
    set_of_.resize(variant.choices.size());
    std::iota(set_of_.begin(), set_of_.end(), std::size_t{0});
    for (const Constraint& constraint : variant.constraints)
      for (const std::size_t c : constraint.choices) join_sets(set_of_[constraint.choices.front()], set_of_[c]);
  }

  /// False where it would take too long.
  bool run(SpaceCount& count) {
    double points = 1, raw_after = variant_.raw_points();
    std::map<std::string, double> pruned;
    for (std::size_t set = 0; set < set_of_.size(); ++set) {
      walked_.clear();
      for (std::size_t c = 0; c < set_of_.size(); ++c)
        if (set_of_[c] == set) walked_.push_back(c);
      if (walked_.empty()) continue;
      inside_.assign(walked_.size() + 1, 1);
      for (std::size_t w = walked_.size(); w-- > 0;)
        inside_[w] = inside_[w + 1] * double(variant_.choices[walked_[w]].values.size());
      raw_after /= inside_[0];
      points_ = 0;
      pruned_.clear();
      const bool constrained =
          std::any_of(walked_.begin(), walked_.end(), [&](std::size_t c) { return !by_choice_[c].empty(); });
      if (!constrained)
        points_ = inside_[0];
      else if (!walk(0))
        return false;
      // A point that two sets rule out counts for the first one.
      for (const auto& [title, number] : pruned_) pruned[title] += number * points * raw_after;
      points *= points_;
    }
    count.points += points;
    for (const auto& [title, number] : pruned) count.pruned[title] += number;
    return true;
  }

 private:
  void join_sets(std::size_t a, std::size_t b) {
    const std::size_t low = std::min(a, b), high = std::max(a, b);
    std::replace(set_of_.begin(), set_of_.end(), high, low);
  }

  bool walk(std::size_t w) {
    if (w == walked_.size()) {
      points_ += 1;
      return true;
    }
    const std::size_t c = walked_[w];
    for (std::size_t v = 0; v < variant_.choices[c].values.size(); ++v) {
      if (++steps_ > most_steps_) return false;
      values_[c] = v;
      const auto broken =
          std::find_if(by_choice_[c].begin(), by_choice_[c].end(), [&](const Constraint* k) { return !k->allows(values_); });
      if (broken != by_choice_[c].end()) {
        pruned_[constraint_title(**broken)] += inside_[w + 1];
        continue;
      }
      if (!walk(w + 1)) return false;
    }
    return true;
  }

  const Variant& variant_;
  std::vector<std::vector<const Constraint*>> by_choice_;
  double most_steps_, steps_ = 0, points_ = 0;
  std::vector<std::size_t> set_of_;  ///< choice -> its set, named by the smallest choice in it
  std::vector<std::size_t> walked_, values_;
  std::vector<double> inside_;
  std::map<std::string, double> pruned_;
};

bool one_exchange(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (a[i] != b[i]) different.push_back(i);
  return different.size() == 2 && different[1] == different[0] + 1;
}

}  // namespace

std::string choice_kind_name(ChoiceKind kind) {
  switch (kind) {
    case ChoiceKind::tile:
      return "tile";
    case ChoiceKind::order:
      return "order";
    case ChoiceKind::parallel:
      return "parallel";
    case ChoiceKind::promotion:
      return "promotion";
  }
  return "?";
}

std::string constraint_kind_name(ConstraintKind kind) {
  switch (kind) {
    case ConstraintKind::capacity:
      return "capacity";
    case ConstraintKind::legality:
      return "legality";
    case ConstraintKind::pin:
      return "pin";
    case ConstraintKind::machine:
      return "machine";
    case ConstraintKind::size:
      return "size";
  }
  return "?";
}

double Variant::raw_points() const {
  double points = 1;
  for (const Choice& choice : choices) points *= double(choice.values.size());
  return points;
}

std::vector<std::size_t> Variant::planned_values() const {
  std::vector<std::size_t> values;
  for (const Choice& choice : choices) values.push_back(choice.planned);
  return values;
}

std::vector<std::size_t> near_values(const Choice& choice, std::size_t value) {
  std::vector<std::size_t> near;
  for (std::size_t v = 0; v < choice.values.size(); ++v) {
    if (v == value) continue;
    bool close = true;
    switch (choice.kind) {
      case ChoiceKind::tile:
        close = v + 1 == value || value + 1 == v;
        break;
      case ChoiceKind::order:
        close = one_exchange(choice.values[v].permutation, choice.values[value].permutation);
        break;
      case ChoiceKind::parallel:
      case ChoiceKind::promotion:
        break;
    }
    if (close) near.push_back(v);
  }
  return near;
}

PlanSpace::PlanSpace(std::string program, std::vector<Variant> variants, std::vector<RefusedVariant> refused)
    : program_(std::move(program)), variants_(std::move(variants)), refused_(std::move(refused)) {
  for (const Variant& variant : variants_) {
    TILEOPT_CHECK(variant.edits.size() == variant.choices.size(), "every choice of `" + variant.name + "` says what it does");
    for (std::size_t c = 0; c < variant.choices.size(); ++c) {
      TILEOPT_CHECK(variant.choices[c].planned < variant.choices[c].values.size(),
                    "choice " + variant.choices[c].name + " has its planned value");
      TILEOPT_CHECK(variant.edits[c].size() == variant.choices[c].values.size(),
                    "every value of " + variant.choices[c].name + " says what it does");
    }
  }
}

SpaceCount PlanSpace::count(double most_steps) const {
  SpaceCount count;
  for (const Variant& variant : variants_) {
    count.raw += variant.raw_points();
    if (Counter(variant, most_steps).run(count)) continue;
    count.exact = false;
    count.points += variant.raw_points();
  }
  return count;
}

const Constraint* PlanSpace::violated(const Point& point) const {
  for (const Constraint& constraint : variants_.at(point.variant).constraints) {
    if (!constraint.allows(point.values)) return &constraint;
  }
  return nullptr;
}

/// The smallest combination of values from `values` on (behind it where `exclusive`) that satisfies the constraints of the
/// variant. Values are checked as they are set, so that a violated constraint skips all that shares its choices.
bool PlanSpace::search_from(std::size_t v, std::vector<std::size_t> values, bool exclusive, Point& found) const {
  const Variant& variant = variants_[v];
  const auto by_choice = constraints_by_choice(variant);
  const std::size_t n = variant.choices.size();
  if (n == 0) {
    found = {v, {}};
    return !exclusive;
  }
  std::size_t c = exclusive ? n - 1 : 0;
  bool advance = exclusive;
  for (;;) {
    if (advance && ++values[c] == variant.choices[c].values.size()) {
      if (c == 0) return false;
      values[c--] = 0;
      continue;
    }
    const bool allowed =
        std::all_of(by_choice[c].begin(), by_choice[c].end(), [&](const Constraint* k) { return k->allows(values); });
    if (!allowed) {
      std::fill(values.begin() + static_cast<std::ptrdiff_t>(c) + 1, values.end(), 0);
      advance = true;
      continue;
    }
    advance = false;
    if (++c < n) continue;
    found = {v, std::move(values)};
    return true;
  }
}

std::optional<Point> PlanSpace::first() const {
  Point found;
  for (std::size_t v = 0; v < variants_.size(); ++v) {
    if (search_from(v, std::vector<std::size_t>(variants_[v].choices.size(), 0), false, found)) return found;
  }
  return std::nullopt;
}

std::optional<Point> PlanSpace::next(Point point) const {
  Point found;
  if (search_from(point.variant, std::move(point.values), true, found)) return found;
  for (std::size_t v = point.variant + 1; v < variants_.size(); ++v) {
    if (search_from(v, std::vector<std::size_t>(variants_[v].choices.size(), 0), false, found)) return found;
  }
  return std::nullopt;
}

std::optional<Point> PlanSpace::sample(std::mt19937_64& random) const {
  std::vector<double> ends;
  for (const Variant& variant : variants_) ends.push_back((ends.empty() ? 0 : ends.back()) + variant.raw_points());
  if (ends.empty()) return std::nullopt;
  // Not std::uniform_*_distribution: their numbers differ between standard libraries.
  const auto unit = [&] { return double(random() >> 11) * 0x1p-53; };
  for (int attempt = 0; attempt < kMostRejections; ++attempt) {
    const double at = unit() * ends.back();
    Point point;
    while (point.variant + 1 < ends.size() && at >= ends[point.variant]) ++point.variant;
    for (const Choice& choice : variants_[point.variant].choices) {
      const auto count = choice.values.size();
      point.values.push_back(std::min(count - 1, static_cast<std::size_t>(unit() * double(count))));
    }
    if (violated(point) == nullptr) return point;
  }
  return std::nullopt;
}

std::vector<Point> PlanSpace::neighbours(const Point& point) const {
  std::vector<Point> result;
  const Variant& variant = variants_.at(point.variant);
  for (std::size_t c = 0; c < variant.choices.size(); ++c) {
    for (const std::size_t value : near_values(variant.choices[c], point.values[c])) {
      Point near = point;
      near.values[c] = value;
      if (violated(near) == nullptr) result.push_back(std::move(near));
    }
  }
  return result;
}

std::vector<Point> PlanSpace::planned_points() const {
  std::vector<Point> points;
  for (std::size_t v = 0; v < variants_.size(); ++v) points.push_back({v, variants_[v].planned_values()});
  return points;
}

Pins PlanSpace::pins(const Point& point) const {
  const Variant& variant = variants_.at(point.variant);
  Pins pins;
  pins.program = program_;
  pins.pins = variant.pins;
  for (const auto& write : variant.pin_writers) write(point.values, pins.pins);
  return pins;
}

std::string PlanSpace::text(const Point& point) const {
  const Variant& variant = variants_.at(point.variant);
  std::string text = variant.name;
  for (std::size_t c = 0; c < variant.choices.size(); ++c)
    text += "; " + variant.choices[c].name + " = " + variant.choices[c].values[point.values[c]].text;
  return text;
}

std::string PlanSpace::key(const Point& point) const { return hash_text(std::to_string(space_version) + "|" + text(point)); }

}  // namespace tileopt
