#include "passes/leaf_functions.h"

#include <algorithm>

#include "poly/owned.h"
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

isl::pw_aff dimension_function(const isl::space& space, std::size_t position) {
  return isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(isl_local_space_from_space(space.copy()), isl_dim_set, static_cast<unsigned>(position))));
}

isl::pw_aff constant_function(const isl::space& space, long value) {
  isl_local_space* local = isl_local_space_from_space(space.copy());
  return isl::manage(isl_pw_aff_from_aff(isl_aff_val_on_domain(local, isl_val_int_from_si(isl::space(space).ctx().get(), value))));
}

isl::pw_multi_aff tuple_of(const isl::space& domain, const std::string& name, const std::vector<isl::pw_aff>& values) {
  isl_space* space = isl_space_add_dims(isl_space_from_domain(domain.copy()), isl_dim_out, static_cast<unsigned>(values.size()));
  space = isl_space_set_tuple_name(space, isl_dim_out, name.c_str());
  isl_pw_aff_list* list = isl_pw_aff_list_alloc(isl::space(domain).ctx().get(), static_cast<int>(values.size()));
  for (const isl::pw_aff& value : values) list = isl_pw_aff_list_add(list, value.copy());
  return isl::manage(isl_pw_multi_aff_from_multi_pw_aff(isl_multi_pw_aff_from_pw_aff_list(space, list)));
}

isl::pw_multi_aff instance_function(const StatementSpace& statement) { return poly::as_function(statement.to_program); }

std::optional<isl::pw_multi_aff> extend_function(const isl::pw_multi_aff& function) {
  if (isl_pw_multi_aff_n_piece(function.get()) != 1) return std::nullopt;
  isl_multi_aff* piece = nullptr;
  isl_pw_multi_aff_foreach_piece(
      function.get(),
      [](isl_set* set, isl_multi_aff* value, void* user) {
        isl_set_free(set);
        *static_cast<isl_multi_aff**>(user) = value;
        return isl_stat_ok;
      },
      &piece);
  return isl::manage(isl_pw_multi_aff_from_multi_aff(piece));
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

std::optional<std::vector<std::vector<long>>> constant_steps_inside(const isl::pw_multi_aff& function, const isl::set& domain,
                                                                    const std::vector<std::string>& dims, const std::vector<std::string>& box) {
  const int outputs = isl_pw_multi_aff_dim(function.get(), isl_dim_out);
  std::vector<std::vector<long>> steps(static_cast<std::size_t>(outputs));
  for (int o = 0; o < outputs; ++o) {
    const isl::map value = isl::manage(isl_map_from_pw_aff(isl_pw_multi_aff_get_pw_aff(function.get(), o))).intersect_domain(domain);
    for (const std::string& digit : box) {
      isl_map* next = isl_map_universe(isl_space_map_from_set(isl_set_get_space(domain.get())));  // { X[d] -> X[d + 1 along the digit] }
      for (unsigned d = 0; d < dims.size(); ++d) {
        isl_constraint* equal = isl_constraint_alloc_equality(isl_local_space_from_space(isl_map_get_space(next)));
        equal = isl_constraint_set_coefficient_si(equal, isl_dim_in, static_cast<int>(d), 1);
        equal = isl_constraint_set_coefficient_si(equal, isl_dim_out, static_cast<int>(d), -1);
        if (d == position_of(dims, digit)) equal = isl_constraint_set_constant_si(equal, 1);
        next = isl_map_add_constraint(next, equal);
      }
      const isl::map later = isl::manage(next).apply_range(value);
      const isl::set change = isl::manage(isl_map_deltas(isl_set_unwrap(isl_map_range(isl_map_range_product(value.copy(), later.copy())))));
      if (change.is_empty()) {
        steps[static_cast<std::size_t>(o)].push_back(0);
        continue;
      }
      const isl::val least = isl::manage(isl_set_dim_min_val(change.copy(), 0)), most = isl::manage(isl_set_dim_max_val(change.copy(), 0));
      if (!least.is_int() || !least.eq(most)) return std::nullopt;
      steps[static_cast<std::size_t>(o)].push_back(least.num_si());
    }
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

namespace {
/// Upper bounds of the box dimensions read off the constraints of one basic set.
struct BoxBounds {
  std::vector<std::vector<isl::aff>> upper;  ///< per box dimension: extents { X[dims] -> [(bound + 1)] }, constants left out
  std::vector<long> constant;                ///< per box dimension: the least constant extent, 0 = none
};

/// Nothing where a constraint mixes box dimensions, or a lower bound is not 0.
std::optional<BoxBounds> read_bounds(const isl::basic_set& points, const std::vector<unsigned>& positions) {
  BoxBounds bounds;
  bounds.upper.resize(positions.size());
  bounds.constant.assign(positions.size(), 0);
  const isl::basic_set simple = isl::manage(isl_basic_set_remove_redundancies(points.copy()));
  const poly::OwnedConstraintList list(isl_basic_set_get_constraint_list(simple.get()));
  const int count = isl_constraint_list_n_constraint(list.get());
  bool fits = true;
  for (int c = 0; c < count && fits; ++c) {
    const poly::OwnedConstraint constraint(isl_constraint_list_get_constraint(list.get(), c));
    const isl::aff value = isl::manage(isl_constraint_get_aff(constraint.get()));
    const bool equality = isl_constraint_is_equality(constraint.get()) == isl_bool_true;
    int box_dim = -1;
    for (std::size_t d = 0; d < positions.size(); ++d) {
      if (isl_aff_involves_dims(value.get(), isl_dim_in, positions[d], 1) != isl_bool_true) continue;
      if (box_dim >= 0 || equality) fits = false;
      box_dim = static_cast<int>(d);
    }
    if (box_dim < 0 || !fits) continue;
    const auto d = static_cast<std::size_t>(box_dim);
    const std::optional<long> weight = coefficient(value, positions[d]);
    if (!weight || (*weight != 1 && *weight != -1)) {
      fits = false;
      continue;
    }
    const isl::aff rest = isl::manage(isl_aff_set_coefficient_si(value.copy(), isl_dim_in, static_cast<int>(positions[d]), 0));
    const bool is_constant = isl_aff_is_cst(rest.get()) == isl_bool_true;
    if (*weight == 1) {  // b + rest >= 0
      fits = is_constant && isl::manage(isl_aff_get_constant_val(rest.get())).is_zero();
      continue;
    }
    const isl::aff extent = isl::manage(isl_aff_add_constant_si(rest.copy(), 1));  // b <= rest
    if (!is_constant) {
      bounds.upper[d].push_back(extent);
      continue;
    }
    const long value_here = isl::manage(isl_aff_get_constant_val(extent.get())).num_si();
    bounds.constant[d] = bounds.constant[d] == 0 ? value_here : std::min(bounds.constant[d], value_here);
  }
  if (!fits) return std::nullopt;
  return bounds;
}

/// Extents from the constraints, where every basic set bounds the box alike.
std::optional<std::vector<isl::pw_aff>> plain_extents(const isl::set& points, const std::vector<std::string>& dims,
                                                      const std::vector<FittedSchedule::BoxDigit>& box, const isl::map& to_outer) {
  std::vector<unsigned> positions;
  for (const FittedSchedule::BoxDigit& digit : box) positions.push_back(position_of(dims, digit.name));
  std::vector<isl::basic_set> parts;
  points.foreach_basic_set([&](isl::basic_set b) { parts.push_back(b); });
  std::optional<BoxBounds> common;
  for (const isl::basic_set& part : parts) {
    std::optional<BoxBounds> bounds = read_bounds(part, positions);
    if (!bounds) return std::nullopt;
    if (common) {
      if (common->constant != bounds->constant) return std::nullopt;
      for (std::size_t d = 0; d < box.size(); ++d) {
        if (common->upper[d].size() != bounds->upper[d].size()) return std::nullopt;
        for (std::size_t i = 0; i < bounds->upper[d].size(); ++i)
          if (isl_aff_plain_is_equal(common->upper[d][i].get(), bounds->upper[d][i].get()) != isl_bool_true) return std::nullopt;
      }
    }
    common = std::move(bounds);
  }
  if (!common) return std::nullopt;
  // { outer -> X[outer, box = 0] }: the bounds do not depend on the box.
  isl_map* corner = to_outer.reverse().release();
  for (unsigned position : positions) corner = isl_map_fix_si(corner, isl_dim_out, position, 0);
  const isl::pw_multi_aff embed = *extend_function(poly::as_function(isl::manage(corner)));
  std::vector<isl::pw_aff> extents;
  for (std::size_t d = 0; d < box.size(); ++d) {
    std::vector<isl::aff> bounds = common->upper[d];
    std::optional<isl::pw_aff> extent;
    isl_local_space* space = isl_local_space_from_space(isl_space_range(isl_map_get_space(to_outer.get())));
    const isl::pw_aff constant =
        isl::manage(isl_pw_aff_from_aff(isl_aff_val_on_domain(space, isl_val_int_from_si(points.ctx().get(), common->constant[d]))));
    for (const isl::aff& bound : bounds) {
      const isl::pw_aff here = isl::manage(isl_pw_aff_pullback_pw_multi_aff(isl_pw_aff_from_aff(bound.copy()), embed.copy()));
      extent = extent ? isl::manage(isl_pw_aff_min(extent->copy(), here.copy())) : here;
    }
    if (common->constant[d] != 0 && (common->constant[d] < box[d].radix || !extent))
      extent = extent ? isl::manage(isl_pw_aff_min(extent->copy(), constant.copy())) : constant;
    if (!extent) return std::nullopt;
    extents.push_back(*extent);
  }
  return extents;
}
}  // namespace

std::optional<std::vector<isl::pw_aff>> box_extents(const isl::set& points, const std::vector<std::string>& dims,
                                                    const std::vector<FittedSchedule::BoxDigit>& box_digits, const std::string& outer_name) {
  std::vector<std::string> box, outer;
  for (const FittedSchedule::BoxDigit& digit : box_digits) box.push_back(digit.name);
  for (const std::string& dim : dims)
    if (!contains(box, dim)) outer.push_back(dim);
  const isl::map all_to_outer = keep_dims(points.space(), dims, outer, outer_name);
  if (auto plain = plain_extents(points, dims, box_digits, all_to_outer)) return plain;
  const isl::map to_outer = all_to_outer.intersect_domain(points);
  std::vector<isl::pw_aff> extents;
  isl::map box_map = all_to_outer.intersect_range(to_outer.range());
  const isl::pw_multi_aff outer_of = poly::as_function(all_to_outer);
  for (const std::string& digit : box) {
    const isl::map digit_map = keep_dims(points.space(), dims, {digit}, "");
    const isl::map value = to_outer.reverse().apply_range(digit_map);  // { outer -> [digit] }
    const isl::pw_multi_aff last = isl::manage(isl_map_lexmax_pw_multi_aff(value.copy())).coalesce();
    const isl::pw_aff extent = isl::manage(isl_pw_multi_aff_get_pw_aff(last.get(), 0)).add_constant(isl::val::one(points.ctx())).coalesce();
    extents.push_back(extent);
    // 0 <= b < extent(outer)
    const isl::pw_aff digit_value = isl::manage(isl_pw_multi_aff_get_pw_aff(poly::as_function(digit_map).get(), 0));
    const isl::pw_aff extent_here = isl::manage(isl_pw_aff_pullback_pw_multi_aff(extent.copy(), outer_of.copy()));
    const isl::pw_aff zero = isl::manage(isl_pw_aff_zero_on_domain(isl_local_space_from_space(isl_set_get_space(points.get()))));
    box_map = box_map.intersect_domain(digit_value.lt_set(extent_here).intersect(digit_value.ge_set(zero)));
  }
  if (!box_map.domain().is_equal(points)) return std::nullopt;
  return extents;
}

isl::set with_dim_names(const isl::set& set, const std::vector<std::string>& dims) {
  isl_set* named = set.copy();
  for (std::size_t i = 0; i < dims.size(); ++i) named = isl_set_set_dim_name(named, isl_dim_set, static_cast<unsigned>(i), dims[i].c_str());
  return isl::manage(named);
}

}  // namespace tileopt
