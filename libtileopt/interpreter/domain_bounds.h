/// Loop bounds of a statement's domain at concrete sizes, for iterators that are bound one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "interpreter/flat_affine.h"
#include "poly/isl.h"

namespace tileopt {

/// Bounds are exact where the domain is one conjunction without floor terms, and otherwise contain the domain: then `contains`
/// decides at the innermost level.
class DomainBounds {
 public:
  /// `domain`: { S[iterators] }, parameters fixed. `order`: positions of the iterators, outermost first, each once.
  DomainBounds(const isl::set& domain, std::vector<std::uint32_t> order);

  std::size_t depth() const { return order_.size(); }
  /// Iterator bound at `level`.
  std::uint32_t iterator(std::size_t level) const { return order_[level]; }
  bool empty() const { return domain_.pieces.empty(); }
  /// Membership is implied by the bounds of all levels.
  bool exact() const { return exact_; }
  /// Smallest and largest value of the iterator of `level`, given the outer ones in `values`. False where there is none.
  bool range(std::size_t level, const std::int64_t* values, std::int64_t* low, std::int64_t* high) const;
  bool contains(std::int64_t* values) const { return domain_.contains(values, order_.size()); }
  /// Slots that `contains` needs behind the iterators.
  std::size_t extra_slots() const { return count_divs(domain_); }
  /// Whether the bounds of a deeper level refer to the iterator of `level`.
  bool used_deeper(std::size_t level) const { return used_deeper_[level]; }

 private:
  /// One conjunction of a level: low = max lower, high = min upper, provided all guards are >= 0.
  struct Conjunction {
    std::vector<FlatLinear> lower;  ///< the bound is -value
    std::vector<FlatLinear> upper;
    std::vector<FlatLinear> guards;
  };
  void add_level(const isl::set& domain, std::size_t level);

  std::vector<std::uint32_t> order_;
  std::vector<std::vector<Conjunction>> levels_;
  std::vector<bool> used_deeper_;
  FlatSet domain_;
  bool exact_ = true;
};

/// Values from `low` to `high`; empty where low > high.
struct Interval {
  std::int64_t low, high;
};
/// Smallest box around `domain` ({ S[iterators] }, parameters fixed), or a larger one; one interval per iterator.
std::vector<Interval> bounding_box(const isl::set& domain);

/// Points of `domain` ({ S[iterators] }, parameters fixed), saturating at the largest int64. Rectangular levels are multiplied,
/// others walked; beyond 2^26 steps the answer is the size of the bounding box, an upper bound.
std::int64_t count_points(const isl::set& domain);

}  // namespace tileopt
