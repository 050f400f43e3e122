/// Order is a matter of runs: whether one point of a leaf comes before another depends neither on the points of its box nor on loops that
/// stand inside of all that it shares with others. Without these dimensions the same questions have half of the variables.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "verify/execution.h"

namespace tileopt::proof {

/// Leaves without dimensions that order does not depend on. Asked of the leaf that is given instead of the leaf itself, `before`, `same_agent`,
/// `Ordering` and `in_one_block` give the relation R' of which { (x, y) : (x', y') in R' } is the leaf's own, x' and y' the points without
/// those dimensions: so a set of pairs lies in the leaf's own relation exactly where its projection lies in R'.
class Runs {
 public:
  explicit Runs(const Execution& execution) : execution_(execution) {}

  /// What is to be compared with `other` and with synchronisation. The same object for the same dimensions, as long as this lives.
  const Leaf& of(const Leaf& leaf, const Leaf& other);
  /// `pairs` { A[..] -> B[..] } between two leaves, as pairs between what `of` gave for them.
  static isl::map of_pairs(const isl::map& pairs, const Leaf& first, const Leaf& second);

 private:
  /// The outermost loops of `leaf` that its order against `other`, and against synchronisation, depends on.
  std::size_t loops_that_order(const Leaf& leaf, const Leaf& other) const;

  /// The leaf with its `count` outermost loops alone.
  static Leaf outer_part(const Leaf& leaf, std::size_t count);

  const Execution& execution_;
  std::map<std::pair<const Leaf*, std::size_t>, std::unique_ptr<Leaf>> known_;
};

}  // namespace tileopt::proof
