#include "interpreter/flat_access.h"

#include "support/error.h"

namespace tileopt {

namespace {
/// Whether `linear` stays in [0, extent) over the box.
bool stays_inside(const FlatLinear& linear, const std::vector<Interval>& box, std::int64_t extent) {
  __int128 low = linear.constant, high = linear.constant;
  for (const FlatLinear::Term& term : linear.terms) {
    const __int128 a = static_cast<__int128>(term.coefficient) * box[term.slot].low;
    const __int128 b = static_cast<__int128>(term.coefficient) * box[term.slot].high;
    low += a < b ? a : b;
    high += a < b ? b : a;
  }
  return low >= 0 && high < extent;
}

/// total = total * extent + linear.
bool append_dimension(FlatLinear& total, std::int64_t extent, const FlatLinear& linear) {
  if (__builtin_mul_overflow(total.constant, extent, &total.constant)) return false;
  if (__builtin_add_overflow(total.constant, linear.constant, &total.constant)) return false;
  for (FlatLinear::Term& term : total.terms)
    if (__builtin_mul_overflow(term.coefficient, extent, &term.coefficient)) return false;
  for (const FlatLinear::Term& added : linear.terms) {
    FlatLinear::Term* same = nullptr;
    for (FlatLinear::Term& term : total.terms)
      if (term.slot == added.slot) same = &term;
    if (same == nullptr) total.terms.push_back(added);
    else if (__builtin_add_overflow(same->coefficient, added.coefficient, &same->coefficient)) return false;
  }
  return true;
}
}  // namespace

FlatAccess::FlatAccess(const Access& access, TracedArray& array, const isl::set& domain, const std::vector<Interval>& box,
                       const Sizes& sizes)
    : access_(&access), array_(&array), function_(flatten_function(access.index, domain, sizes)), whole_(whole_offset(box)) {}

std::optional<FlatLinear> FlatAccess::whole_offset(const std::vector<Interval>& box) const {
  if (function_.pieces.size() != 1 || !function_.pieces.front().covers) return std::nullopt;
  for (const Interval& interval : box)
    if (interval.low > interval.high) return std::nullopt;
  const std::vector<std::int64_t>& shape = array_->shape();
  FlatLinear total;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const FlatAffine& subscript = function_.pieces.front().outputs[d];
    if (!subscript.divs.empty() || subscript.result.denominator != 1) return std::nullopt;
    if (!stays_inside(subscript.result, box, shape[d]) || !append_dimension(total, shape[d], subscript.result)) return std::nullopt;
  }
  return total;
}

std::optional<std::int64_t> FlatAccess::checked_offset(std::int64_t* values, std::size_t iterators) const {
  const FlatFunction::Piece* piece = function_.find(values, iterators);
  if (piece == nullptr) return std::nullopt;
  std::int64_t offset = 0;
  const std::vector<std::int64_t>& shape = array_->shape();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t subscript = piece->outputs[d].value(values, iterators);
    if (subscript < 0 || subscript >= shape[d]) [[unlikely]] fail_bounds(d, subscript);
    offset = offset * shape[d] + subscript;
  }
  return offset;
}

void FlatAccess::fail_bounds(std::size_t dimension, std::int64_t subscript) const {
  throw Errors(Diagnostic{ErrorCode::out_of_bounds, access_->where,
                          "subscript " + std::to_string(dimension) + " of `" + access_->tensor + "` is " + std::to_string(subscript) +
                              ", outside [0, " + std::to_string(array_->shape()[dimension]) + ")",
                          "every access must stay inside the declared shape", ""});
}

}  // namespace tileopt
