#include "interpreter/domain_bounds.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "interpreter/number.h"
#include "support/error.h"

namespace tileopt {

namespace {
constexpr std::int64_t saturated = std::numeric_limits<std::int64_t>::max();

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? saturated : sum;
}
std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? saturated : product;
}

/// Projection of `domain` onto the iterators `kept` (ascending), without floor terms: contains the exact projection.
isl::set project_onto(const isl::set& domain, const std::vector<std::uint32_t>& kept) {
  isl_set* set = domain.copy();
  for (int d = isl_set_dim(domain.get(), isl_dim_set); d-- > 0;)
    if (!std::binary_search(kept.begin(), kept.end(), static_cast<std::uint32_t>(d)))
      set = isl_set_project_out(set, isl_dim_set, static_cast<unsigned>(d), 1);
  set = isl_set_remove_divs(set);
  return isl::manage(isl_set_coalesce(set));
}

/// Counts by walking levels; gives up when the step budget is spent.
class Counter {
 public:
  explicit Counter(const DomainBounds& bounds) : bounds_(bounds), values_(bounds.depth() + bounds.extra_slots() + 1) {}

  /// Nothing when the budget is spent.
  std::optional<std::int64_t> count(std::int64_t* budget) {
    budget_ = budget;
    const std::int64_t total = count_level(0);
    return *budget_ < 0 ? std::nullopt : std::optional(total);
  }

 private:
  std::int64_t count_level(std::size_t level) {
    if (--*budget_ < 0) return 0;
    if (level == bounds_.depth()) return bounds_.exact() || bounds_.contains(values_.data()) ? 1 : 0;
    std::int64_t low, high;
    if (!bounds_.range(level, values_.data(), &low, &high)) return 0;
    const std::uint32_t iterator = bounds_.iterator(level);
    if (bounds_.exact() && !bounds_.used_deeper(level)) {
      values_[iterator] = low;
      const std::int64_t width = saturating_add(saturating_add(high, -low), 1);
      return saturating_multiply(width, count_level(level + 1));
    }
    std::int64_t total = 0;
    for (std::int64_t x = low; x <= high && *budget_ >= 0; ++x) {
      values_[iterator] = x;
      total = saturating_add(total, count_level(level + 1));
    }
    return total;
  }

  const DomainBounds& bounds_;
  std::vector<std::int64_t> values_;
  std::int64_t* budget_ = nullptr;
};

std::int64_t count_box(const isl::set& set) {
  std::int64_t total = 1;
  for (const Interval& interval : bounding_box(set))
    total = saturating_multiply(total, saturating_add(saturating_add(interval.high, -interval.low), 1));
  return total;
}
}  // namespace

DomainBounds::DomainBounds(const isl::set& implicit, std::vector<std::uint32_t> order) : order_(std::move(order)) {
  // Existentials may turn out to be none: the bounds must come from the very set whose membership they imply.
  const isl::set domain = isl::manage(isl_set_compute_divs(implicit.copy()));
  domain_ = flatten_set(domain);
  TILEOPT_CHECK(static_cast<std::size_t>(isl_set_dim(domain.get(), isl_dim_set)) == order_.size(),
                "the order binds other iterators than the domain " + poly::to_text(domain) + " has");
  TILEOPT_CHECK(isl_set_is_bounded(domain.get()) == isl_bool_true, "the domain " + poly::to_text(domain) + " is unbounded");
  exact_ = domain_.pieces.size() <= 1 && !domain_.has_divs();
  used_deeper_.assign(order_.size(), false);
  if (empty()) return;
  for (std::size_t level = 0; level < order_.size(); ++level) add_level(domain, level);
}

void DomainBounds::add_level(const isl::set& domain, std::size_t level) {
  std::vector<std::uint32_t> kept(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(level) + 1);
  std::sort(kept.begin(), kept.end());
  const FlatSet projected = flatten_set(project_onto(domain, kept));
  const auto note_use = [&](const FlatLinear& linear) {
    for (std::size_t outer = 0; outer < level; ++outer)
      for (const FlatLinear::Term& term : linear.terms)
        if (term.slot == order_[outer]) used_deeper_[outer] = true;
  };
  /// The constraint's iterators as slots of the whole instance, `bound` removed; returns its coefficient.
  const auto split = [&](FlatLinear& linear) {
    std::int64_t coefficient = 0;
    std::vector<FlatLinear::Term> others;
    for (FlatLinear::Term term : linear.terms) {
      term.slot = kept[term.slot];
      if (term.slot == order_[level]) coefficient = term.coefficient;
      else others.push_back(term);
    }
    linear.terms = std::move(others);
    return coefficient;
  };
  const auto negate = [](FlatLinear linear) {
    linear.constant = -linear.constant;
    for (FlatLinear::Term& term : linear.terms) term.coefficient = -term.coefficient;
    return linear;
  };
  std::vector<Conjunction> conjunctions;
  for (const FlatBasicSet& piece : projected.pieces) {
    Conjunction conjunction;
    const auto add = [&](FlatLinear linear) {
      const std::int64_t coefficient = split(linear);
      // In one conjunction a constraint on outer iterators alone is already one of their own bounds.
      if (coefficient == 0 && exact_ && level > 0) return;
      note_use(linear);
      linear.denominator = coefficient == 0 ? 1 : std::abs(coefficient);
      (coefficient == 0 ? conjunction.guards : coefficient > 0 ? conjunction.lower : conjunction.upper).push_back(std::move(linear));
    };
    for (const FlatLinear& c : piece.inequalities) add(c);
    for (const FlatLinear& c : piece.equalities) {
      add(c);
      add(negate(c));
    }
    TILEOPT_CHECK(!conjunction.lower.empty() && !conjunction.upper.empty(), "a level of " + poly::to_text(domain) + " is unbounded");
    conjunctions.push_back(std::move(conjunction));
  }
  levels_.push_back(std::move(conjunctions));
}

bool DomainBounds::range(std::size_t level, const std::int64_t* values, std::int64_t* low, std::int64_t* high) const {
  bool any = false;
  for (const Conjunction& c : levels_[level]) {
    bool holds = true;
    for (const FlatLinear& guard : c.guards) holds = holds && guard.sum(values) >= 0;
    if (!holds) continue;
    std::int64_t piece_low = std::numeric_limits<std::int64_t>::min(), piece_high = saturated;
    for (const FlatLinear& bound : c.lower) piece_low = std::max(piece_low, -bound.value(values));
    for (const FlatLinear& bound : c.upper) piece_high = std::min(piece_high, bound.value(values));
    if (piece_low > piece_high) continue;
    *low = any ? std::min(*low, piece_low) : piece_low;
    *high = any ? std::max(*high, piece_high) : piece_high;
    any = true;
  }
  return any;
}

std::vector<Interval> bounding_box(const isl::set& domain) {
  std::vector<Interval> box;
  const int dims = isl_set_dim(domain.get(), isl_dim_set);
  for (int d = 0; d < dims; ++d) {
    const DomainBounds bounds(project_onto(domain, {static_cast<std::uint32_t>(d)}), {0});
    Interval interval{0, -1};
    if (!bounds.empty()) bounds.range(0, nullptr, &interval.low, &interval.high);
    box.push_back(interval);
  }
  return box;
}

std::int64_t count_points(const isl::set& domain) {
  const isl::set disjoint = isl::manage(isl_set_make_disjoint(isl_set_compute_divs(domain.copy())));
  std::int64_t budget = std::int64_t(1) << 26;
  std::int64_t total = 0;
  disjoint.foreach_basic_set([&](isl::basic_set piece) {
    const isl::set set(piece);
    std::vector<std::uint32_t> order(static_cast<std::size_t>(isl_set_dim(set.get(), isl_dim_set)));
    std::iota(order.begin(), order.end(), 0u);
    const DomainBounds bounds(set, order);
    if (bounds.empty()) return;
    const std::optional<std::int64_t> counted = budget >= 0 ? Counter(bounds).count(&budget) : std::nullopt;
    total = saturating_add(total, counted ? *counted : count_box(set));
  });
  return total;
}

}  // namespace tileopt
