/// isl spaces and functions over the points of leaves and the elements of arrays.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "poly/isl.h"

namespace tileopt::proof {

/// [sizes] -> { name[dims] }
isl::space named_space(const Program& program, const std::string& name, unsigned dims);
/// { domain -> name[values] }
isl::pw_multi_aff tuple_function(const isl::space& domain, const std::string& name, const std::vector<isl::pw_aff>& values);
/// { key[o.., x0, ..] : 0 <= x_d < extents_d } behind `outer` unconstrained dimensions.
isl::set promoted_elements(const Program& program, const std::string& key, std::size_t outer, const std::vector<long>& extents);

}  // namespace tileopt::proof
