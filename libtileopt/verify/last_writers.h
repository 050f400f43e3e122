/// Who wrote what a leaf reads: last writers on the final arrays, in the order of the printed kernels.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "verify/execution.h"

namespace tileopt::proof {

/// Where the content of the elements that one reader touches comes from.
struct Origin {
  isl::union_map writers;  ///< { R[..] -> W[..] } the last write before the read, single-valued
  isl::map unwritten;      ///< { R[..] -> X[..] } no write precedes
};

/// Elements that a leaf touches: { L[..] -> X[..] }.
struct TimedAccess {
  const Leaf* leaf = nullptr;
  isl::map element;
};

/// Last writers of `sink` among `sources`, by lexmax over the time that sink and source share.
Origin find_last_writers(const TimedAccess& sink, const std::vector<TimedAccess>& sources);

/// { first[..] -> second[..] : same element }. Elements cut into tiles leave equations like 6 i + ii = 6 i' + ii': detecting
/// the equalities that they imply makes everything after this fast.
isl::map same_element(const isl::map& first, const isl::map& second);

/// Memoised origins of reads of the final arrays.
class LastWriters {
 public:
  static constexpr std::size_t own_read = static_cast<std::size_t>(-1);

  explicit LastWriters(const Execution& execution) : execution_(execution) {}

  /// Read number `slot` of a leaf, or the own read of a reduction; at all points, padding included.
  const Origin& of_read(std::size_t leaf, std::size_t slot);
  /// Leaves that write array `array`.
  std::vector<std::size_t> leaves_writing(std::size_t array) const;

 private:
  const Execution& execution_;
  /// { L[v, b] -> X[..] } what leaf number `leaf` writes, but for points that leave the element as it was (verify/neutral_points.h).
  const isl::map& changes(std::size_t leaf);

  std::map<std::pair<std::size_t, std::size_t>, Origin> reads_;
  std::map<std::size_t, isl::map> changes_;
};

}  // namespace tileopt::proof
