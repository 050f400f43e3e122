/// Affine functions of digits: instances, accesses, their steps along the digits of an atom's box, and box extents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/stages.h"

namespace tileopt {

/// { space[dims] -> [(dims[position])] }
isl::pw_aff dimension_function(const isl::space& space, std::size_t position);

/// { space[dims] -> [(value)] }
isl::pw_aff constant_function(const isl::space& space, long value);

/// { domain[dims] -> name[values] }; the values are functions on `domain`.
isl::pw_multi_aff tuple_of(const isl::space& domain, const std::string& name, const std::vector<isl::pw_aff>& values);

/// { S[digits] -> S[iterators] } on the exact digit domain.
isl::pw_multi_aff instance_function(const StatementSpace& statement);

/// The function without its domain, where one affine piece describes it everywhere.
std::optional<isl::pw_multi_aff> extend_function(const isl::pw_multi_aff& function);

/// Change of every output per unit of every named input dimension; nullopt where it is not constant.
std::optional<std::vector<std::vector<long>>> constant_steps(const isl::pw_multi_aff& function, const std::vector<std::string>& dims,
                                                             const std::vector<std::string>& box);

/// The same over the points of `domain` alone, where a division need not show: floor((8 i + b) / 64) stands still along b < 8.
std::optional<std::vector<std::vector<long>>> constant_steps_inside(const isl::pw_multi_aff& function, const isl::set& domain,
                                                                    const std::vector<std::string>& dims, const std::vector<std::string>& box);

/// Points left along every box dimension: { out[outer] -> [(extent)] }, when `points` is { 0 <= b_d < min(extent_d, radix_d) }
/// for every outer point; nullopt where it is no such box. `points`: { X[dims] }; the outer dimensions are those not in `box`.
std::optional<std::vector<isl::pw_aff>> box_extents(const isl::set& points, const std::vector<std::string>& dims,
                                                    const std::vector<FittedSchedule::BoxDigit>& box, const std::string& outer_name);

/// { from[dims] -> to[kept] }, a projection by dimension names.
isl::map keep_dims(const isl::space& from, const std::vector<std::string>& dims, const std::vector<std::string>& kept, const std::string& to);

/// `set` with the named dimension's values replaced by all of [0, radix).
isl::set fill_box(const isl::set& set, const std::vector<std::string>& dims, const std::vector<FittedSchedule::BoxDigit>& box);

/// Names every dimension of the set's tuple (for dumps only).
isl::set with_dim_names(const isl::set& set, const std::vector<std::string>& dims);

}  // namespace tileopt
