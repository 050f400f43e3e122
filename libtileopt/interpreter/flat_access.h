/// A tensor access at concrete sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interpreter/domain_bounds.h"
#include "interpreter/flat_affine.h"
#include "interpreter/traced_array.h"
#include "ir/program.h"

namespace tileopt {

/// Gives the row-major offset of the element that an instance accesses. An access whose subscripts are plain affine and stay
/// inside the tensor over the statement's box is one expression; any other is evaluated and checked subscript by subscript.
class FlatAccess {
 public:
  /// `domain`: { S[iterators] }, parameters fixed; `box` contains it. `access` and `array` must outlive this.
  FlatAccess(const Access& access, TracedArray& array, const isl::set& domain, const std::vector<Interval>& box, const Sizes& sizes);

  const Access& source() const { return *access_; }
  TracedArray& array() const { return *array_; }
  /// Slots needed behind the iterators.
  std::size_t slots() const { return count_divs(function_); }

  /// Nothing where the access is not performed. @throws Errors(out_of_bounds).
  std::optional<std::int64_t> offset(std::int64_t* values, std::size_t iterators) const {
    if (whole_) return whole_->sum(values);
    return checked_offset(values, iterators);
  }

 private:
  std::optional<FlatLinear> whole_offset(const std::vector<Interval>& box) const;
  std::optional<std::int64_t> checked_offset(std::int64_t* values, std::size_t iterators) const;
  [[noreturn]] void fail_bounds(std::size_t dimension, std::int64_t subscript) const;

  const Access* access_;
  TracedArray* array_;
  FlatFunction function_;
  std::optional<FlatLinear> whole_;  ///< offset of every instance, proved inside the tensor
};

}  // namespace tileopt
