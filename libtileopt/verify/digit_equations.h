/// Equations between numbers that are written in digits.
#pragma once

#include "poly/isl.h"

namespace tileopt::proof {

/// The same relation, where equations like 16 i + ii = 16 i' + ii' with 0 <= ii, ii' < 16 are written as i = i' and ii = ii'. What isl finds by
/// looking for integer points (`detect_equalities`), and takes most of a proof's time for, follows from coefficients and constant bounds alone:
/// of  p + g r + c = 0  with an integer r and p in an interval that has one value v with v + c a multiple of g,  p = v.
isl::map split_equations(const isl::map& map);

}  // namespace tileopt::proof
