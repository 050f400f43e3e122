/// Who wrote what a leaf reads: flow analysis on the final arrays in the order of the printed kernels.
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

/// A relation { X[..] -> element } of one leaf, or of the reader after the last kernel (leaf == nullptr).
struct TimedAccess {
  const Leaf* leaf = nullptr;
  isl::map element;
};

/// Last writers of `sink` among `sources`. Time entries before `first_time` are equal for all of them.
Origin find_last_writers(const Execution& execution, const TimedAccess& sink, const std::vector<TimedAccess>& sources,
                         std::size_t first_time);

/// Memoised origins of reads of the final arrays.
class LastWriters {
 public:
  static constexpr std::size_t own_read = static_cast<std::size_t>(-1);

  explicit LastWriters(const Execution& execution) : execution_(execution) {}

  /// Read number `slot` of a leaf, or the own read of a reduction; at all points, padding included.
  const Origin& of_read(std::size_t leaf, std::size_t slot);
  /// The elements of a program tensor after the last kernel: { final_T[x] -> .. }.
  const Origin& at_end(std::size_t array);
  /// Leaves that write array `array`.
  std::vector<std::size_t> leaves_writing(std::size_t array) const;

 private:
  std::vector<TimedAccess> sources(std::size_t array) const;

  const Execution& execution_;
  std::map<std::pair<std::size_t, std::size_t>, Origin> reads_;
  std::map<std::size_t, Origin> ends_;
};

/// { final_T[x] -> T[x] } on the elements of tensor number `array`.
isl::map final_reads(const Execution& execution, std::size_t array);

}  // namespace tileopt::proof
