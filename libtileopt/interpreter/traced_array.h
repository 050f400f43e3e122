/// A tensor's elements during a run: declared values, shadow, error bounds, and which were written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interpreter/host_array.h"
#include "interpreter/traced_value.h"
#include "ir/program.h"

namespace tileopt {

/// An array of tuples has one TracedArray for each component.
class TracedArray {
 public:
  /// `initial`: the argument, or null for a local. `has_sums`: some statement sums into it in an order that is free.
  TracedArray(const Tensor& tensor, std::vector<std::int64_t> shape, const HostArray* initial, bool has_sums);

  ElementType type() const { return type_; }  ///< of the first component, for tuples
  std::size_t components() const { return 1 + others_.size(); }
  TracedArray& component(std::size_t index) { return index == 0 ? *this : others_[index - 1]; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t elements() const { return static_cast<std::int64_t>(values_.size()); }
  bool written(std::int64_t offset) const { return written_[static_cast<std::size_t>(offset)]; }
  /// The element holds a value: it was written, or the caller passed it in.
  bool initialised(std::int64_t offset) const { return passed_in_ || written(offset); }

  TracedValue load(std::int64_t offset) const;
  void assign(std::int64_t offset, const TracedValue& value);
  /// element = an element of `from`, of the same type: what is summed there goes on here, so that bounds of a scan hold for every order too.
  void copy(std::int64_t offset, const TracedArray& from, std::int64_t source);
  /// element = element (+) value, by a built-in combine. `any_order`: a sum's bound must hold for every order of its terms.
  void combine(std::int64_t offset, Combine combine, const TracedValue& value, const ErrorModel& model, bool any_order);

  /// Writes declared values of written elements into `array`.
  void copy_written(HostArray& array) const;
  std::vector<double> shadow() const;
  std::vector<double> bound() const;
  /// Largest |value - shadow| of a written element of a float type, in units in the last place of the largest one; elements that
  /// are not finite left out.
  double largest_error() const;
  std::vector<bool> written() const { return written_; }

 private:
  union Scalar {
    double real;
    std::int64_t integer;
  };
  /// Terms of a sum since the last assignment: every order of adding them stays within
  /// terms * roundoff * magnitude of the exact sum (Jeannerod and Rump), and is exact while
  /// magnitude <= 2^(lowest_bit + digits).
  struct Sum {
    double magnitude = 0;
    double terms = 0;
    int lowest_bit = 0;
  };
  double sum_bound(const Sum& sum, double terms_bound) const;
  void add_term(std::size_t offset, const TracedValue& value, const ErrorModel& model);
  void set(std::size_t offset, const TracedValue& value);

  ElementType type_;
  bool real_;
  bool passed_in_;
  std::vector<std::int64_t> shape_;
  std::vector<Scalar> values_;
  std::vector<double> shadows_;  ///< empty while equal to the values (inputs), and for integers
  std::vector<double> bounds_;   ///< of the terms alone where a sum is open; empty for inputs
  std::vector<Sum> sums_;        ///< empty where nothing sums into the tensor
  std::vector<bool> written_;
  std::vector<TracedArray> others_;  ///< components of a tuple after the first
};

/// Exponent of the lowest set bit of a finite value: the value is an integer multiple of 2^lowest_bit. Large for 0.
int lowest_bit(double value);

}  // namespace tileopt
