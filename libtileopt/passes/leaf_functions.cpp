#include "passes/leaf_functions.h"

#include <algorithm>

#include "support/error.h"
#include "support/text.h"

namespace tileopt {

namespace {
unsigned position_of(const std::vector<std::string>& dims, const std::string& dim) {
  const auto found = std::find(dims.begin(), dims.end(), dim);
  TILEOPT_CHECK(found != dims.end(), "no dimension " + dim + " among " + join(dims, ", "));
  return static_cast<unsigned>(found - dims.begin());
}

/// Coefficient of an input dimension, or nullopt where the dimension is inside a floor or the coefficient is no integer.
std::optional<long> coefficient(const isl::aff& aff, unsigned position) {
  const int divs = isl_aff_dim(aff.get(), isl_dim_div);
  for (int i = 0; i < divs; ++i) {
    const isl::val weight = isl::manage(isl_aff_get_coefficient_val(aff.get(), isl_dim_div, i));
    if (weight.is_zero()) continue;
    const isl::aff div = isl::manage(isl_aff_get_div(aff.get(), i));
    if (isl_aff_involves_dims(div.get(), isl_dim_in, position, 1) == isl_bool_true) return std::nullopt;
  }
  const isl::val c = isl::manage(isl_aff_get_coefficient_val(aff.get(), isl_dim_in, static_cast<int>(position)));
  if (!c.is_int()) return std::nullopt;
  return c.num_si();
}

std::vector<isl::aff> pieces_of(const isl::pw_aff& function) {
  std::vector<isl::aff> pieces;
  isl_pw_aff_foreach_piece(
      function.get(),
      [](isl_set* set, isl_aff* aff, void* user) {
        isl_set_free(set);
        static_cast<std::vector<isl::aff>*>(user)->push_back(isl::manage(aff));
        return isl_stat_ok;
      },
      &pieces);
  return pieces;
}
}  // namespace

isl::pw_multi_aff instance_function(const StatementSpace& statement) { return poly::as_function(statement.to_program); }

std::optional<isl::pw_multi_aff> extend_function(const isl::pw_multi_aff& function) {
  if (isl_pw_multi_aff_n_piece(function.get()) != 1) return std::nullopt;
  return isl::manage(isl_pw_multi_aff_from_multi_aff(isl_pw_multi_aff_as_multi_aff(function.copy())));
}

std::optional<std::vector<std::vector<long>>> constant_steps(const isl::pw_multi_aff& function, const std::vector<std::string>& dims,
                                                             const std::vector<std::string>& box) {
  const int outputs = isl_pw_multi_aff_dim(function.get(), isl_dim_out);
  std::vector<std::vector<long>> steps;
  for (int o = 0; o < outputs; ++o) {
    const std::vector<isl::aff> pieces = pieces_of(isl::manage(isl_pw_multi_aff_get_pw_aff(function.get(), o)));
    std::vector<long> row;
    for (const std::string& digit : box) {
      std::optional<long> step = pieces.empty() ? std::optional<long>(0) : coefficient(pieces.front(), position_of(dims, digit));
      for (const isl::aff& piece : pieces)
        if (coefficient(piece, position_of(dims, digit)) != step) step = std::nullopt;
      if (!step) return std::nullopt;
      row.push_back(*step);
    }
    steps.push_back(row);
  }
  return steps;
}

isl::map keep_dims(const isl::space& from, const std::vector<std::string>& dims, const std::vector<std::string>& kept, const std::string& to) {
  isl_aff_list* values = isl_aff_list_alloc(isl::space(from).ctx().get(), static_cast<int>(kept.size()));
  for (const std::string& dim : kept)
    values = isl_aff_list_add(values, isl_aff_var_on_domain(isl_local_space_from_space(from.copy()), isl_dim_set, position_of(dims, dim)));
  isl_space* space = isl_space_add_dims(isl_space_from_domain(from.copy()), isl_dim_out, static_cast<unsigned>(kept.size()));
  space = isl_space_set_tuple_name(space, isl_dim_out, to.c_str());
  return isl::manage(isl_map_from_multi_aff(isl_multi_aff_from_aff_list(space, values)));
}

isl::set fill_box(const isl::set& set, const std::vector<std::string>& dims, const std::vector<FittedSchedule::BoxDigit>& box) {
  isl_set* filled = set.copy();
  for (const FittedSchedule::BoxDigit& digit : box) {
    const unsigned position = position_of(dims, digit.name);
    filled = isl_set_eliminate(filled, isl_dim_set, position, 1);
    filled = isl_set_lower_bound_si(filled, isl_dim_set, position, 0);
    filled = isl_set_upper_bound_si(filled, isl_dim_set, position, static_cast<int>(digit.radix - 1));
  }
  return isl::manage(filled);
}

std::optional<std::vector<isl::pw_aff>> box_extents(const isl::set& points, const std::vector<std::string>& dims,
                                                    const std::vector<std::string>& box, const std::string& outer_name) {
  std::vector<std::string> outer;
  for (const std::string& dim : dims)
    if (!contains(box, dim)) outer.push_back(dim);
  const isl::map to_outer = keep_dims(points.space(), dims, outer, outer_name).intersect_domain(points);
  std::vector<isl::pw_aff> extents;
  isl::set rebuilt = to_outer.reverse().range();  // the points themselves, to be compared with the box of the extents
  isl::map box_map = keep_dims(points.space(), dims, outer, outer_name).intersect_range(to_outer.range());
  for (const std::string& digit : box) {
    const isl::map value = to_outer.reverse().apply_range(keep_dims(points.space(), dims, {digit}, ""));  // { outer -> [digit] }
    isl::pw_multi_aff last = isl::manage(isl_map_lexmax_pw_multi_aff(value.copy())).coalesce();
    isl::pw_aff extent = isl::manage(isl_pw_multi_aff_get_pw_aff(last.get(), 0)).add_constant(isl::val::one(points.ctx()));
    extents.push_back(extent.coalesce());
    // 0 <= b < extent(outer)
    isl::pw_aff digit_value = isl::manage(isl_pw_multi_aff_get_pw_aff(poly::as_function(keep_dims(points.space(), dims, {digit}, "")).get(), 0));
    const isl::pw_multi_aff outer_of = poly::as_function(keep_dims(points.space(), dims, outer, outer_name));
    const isl::pw_aff extent_here = isl::manage(isl_pw_aff_pullback_pw_multi_aff(extent.copy(), outer_of.copy()));
    const isl::pw_aff zero = isl::manage(isl_pw_aff_zero_on_domain(isl_local_space_from_space(isl_set_get_space(points.get()))));
    box_map = box_map.intersect_domain(digit_value.lt_set(extent_here).intersect(digit_value.ge_set(zero)));
  }
  if (!box_map.domain().is_equal(rebuilt)) return std::nullopt;
  return extents;
}

isl::set with_dim_names(const isl::set& set, const std::vector<std::string>& dims) {
  isl_set* named = set.copy();
  for (std::size_t i = 0; i < dims.size(); ++i) named = isl_set_set_dim_name(named, isl_dim_set, static_cast<unsigned>(i), dims[i].c_str());
  return isl::manage(named);
}

}  // namespace tileopt
