#include "frontends/tile_text/bounds.h"

#include "frontends/tile_text/printer.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

/// Where the subscript of one dimension is inside its extent. { [iterators] }
isl::set inside(const isl::pw_aff& value, const isl::pw_aff& extent) {
  const isl::pw_aff limit = lift(extent, value.domain().space());
  return value.ge_set(limit.sub(limit)).intersect(value.lt_set(limit));
}

/// The affine form of a value that is one, else null.
isl::aff as_affine(const isl::pw_aff& value) {
  if (isl_pw_aff_isa_aff(value.get()) != isl_bool_true) return isl::aff();
  return value.as_aff();
}

/// Largest value on a set over all sizes; nullopt where unbounded or not affine.
std::optional<long> largest(const isl::set& domain, const isl::pw_aff& value) {
  const isl::aff affine = as_affine(value);
  if (affine.is_null()) return std::nullopt;
  const isl::val most = isl::manage(isl_set_max_val(domain.get(), affine.get()));
  if (most.is_null() || !most.is_int()) return std::nullopt;
  return isl_val_get_num_si(most.get());
}

std::vector<std::size_t> iterators_of(const isl::pw_aff& value, std::size_t count) {
  std::vector<std::size_t> involved;
  for (std::size_t i = 0; i < count; ++i)
    if (isl_pw_aff_involves_dims(value.get(), isl_dim_in, static_cast<unsigned>(i), 1) == isl_bool_true) involved.push_back(i);
  return involved;
}

bool is_number(const isl::pw_aff& value) { return isl_pw_aff_is_cst(value.get()) == isl_bool_true; }

/// `-1`, which Python counts from the end.
bool is_negative_number(const ExpressionPtr& index) {
  const auto* unary = syntax::as<syntax::Unary>(index);
  return unary != nullptr && unary->op == UnaryOp::negate && syntax::as<syntax::IntegerLiteral>(unary->operand) != nullptr;
}

class BoundsReport {
 public:
  BoundsReport(Scope& scope, const Nest& nest, const TensorSymbol& symbol, const std::vector<ExpressionPtr>& indices,
               const std::vector<isl::pw_aff>& values, const isl::set& domain)
      : scope_(scope), nest_(nest), symbol_(symbol), indices_(indices), values_(values), domain_(domain) {}

  void report(std::size_t dimension, const isl::set& outside) {
    const isl::pw_aff& value = values_[dimension];
    const isl::pw_aff limit = lift(extent(dimension), value.domain().space());
    const std::string subscript = "`" + print(indices_[dimension]) + "`";
    const std::string witness = witness_text(outside, nest_.iterators, iterators_of(value, nest_.iterators.size()));
    const bool below = !outside.intersect(value.lt_set(limit.sub(limit))).is_empty();
    const std::optional<long> excess = largest(domain_, value.sub(limit));
    if (below && !outside.intersect(value.ge_set(limit)).is_empty())
      return add(ErrorCode::out_of_bounds, dimension, subscript + " leaves " + place(dimension) + " on both sides",
                 narrow_hint(dimension, false, std::nullopt), witness);
    if (below && is_negative_number(indices_[dimension]))
      return add(ErrorCode::out_of_bounds, dimension, subscript + " is negative: subscripts count from 0",
                 "the last element is `" + symbol_.extent_text[dimension] + " - 1`", witness);
    if (below) {
      const std::optional<long> deficit = largest(domain_, value.neg());
      return add(ErrorCode::out_of_bounds, dimension, subscript + " can be negative in " + place(dimension),
                 narrow_hint(dimension, true, deficit), witness);
    }
    if (excess) {
      const std::optional<long> count = *excess + 1;
      return add(ErrorCode::out_of_bounds, dimension, subscript + " leaves " + place(dimension),
                 narrow_hint(dimension, false, count), witness);
    }
    const std::string exchange = find_exchange(dimension);
    const bool bare = syntax::as<syntax::Name>(indices_[dimension]) != nullptr;
    const std::string message = subscript + range_text(value) + " leaves " + place(dimension);
    const std::string hint = exchange.empty()
                                 ? "loop over the array's own extent, or state how the sizes relate with assume(...)"
                                 : "the subscripts look swapped: write `" + exchange + "`";
    add(bare ? ErrorCode::shape_mismatch : ErrorCode::out_of_bounds, dimension,
        message + (bare ? ": the sizes do not agree" : ""), hint, witness);
  }

 private:
  const isl::pw_aff& extent(std::size_t dimension) const { return symbol_.tensor.shape[symbol_.shifts.size() + dimension]; }
  std::string place(std::size_t dimension) const {
    const std::string& text = symbol_.extent_text[dimension];
    return "dimension " + std::to_string(dimension) + " of `" + symbol_.source_name + "`, whose extent is " + text;
  }
  void add(ErrorCode code, std::size_t dimension, const std::string& message, const std::string& hint,
           const std::string& witness) {
    scope_.diagnostics().add(code, indices_[dimension]->where, message, hint, witness);
  }

  /// ", which runs to K - 1," for a bare iterator.
  std::string range_text(const isl::pw_aff& value) const {
    const std::vector<std::size_t> involved = iterators_of(value, nest_.iterators.size());
    if (involved.size() != 1 || !nest_.iterators[involved[0]].upper) return "";
    const Iterator& iterator = nest_.iterators[involved[0]];
    return ", with `" + iterator.source_name + "` below " + affine_text(*iterator.upper, nest_.iterators) + ",";
  }

  /// The access with two subscripts exchanged, where that stays inside the array; else "".
  std::string find_exchange(std::size_t first) const {
    for (std::size_t second = 0; second < indices_.size(); ++second) {
      if (second == first) continue;
      std::vector<std::size_t> order(indices_.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::swap(order[first], order[second]);
      bool fits = true;
      for (std::size_t i = 0; i < order.size() && fits; ++i) fits = domain_.is_subset(inside(values_[order[i]], extent(i)));
      if (!fits) continue;
      std::string text = symbol_.source_name + "[";
      for (std::size_t i = 0; i < order.size(); ++i) text += (i ? ", " : "") + print(indices_[order[i]]);
      return text + "]";
    }
    return "";
  }

  /// What to change when the subscript passes an end by `count` elements (unknown: nullopt).
  std::string narrow_hint(std::size_t dimension, bool below, std::optional<long> count) const {
    const isl::aff affine = as_affine(values_[dimension]);
    const std::vector<std::size_t> involved = iterators_of(values_[dimension], nest_.iterators.size());
    if (involved.empty()) {
      const std::string index = print(indices_[dimension]);
      if (is_number(values_[dimension]) && is_number(extent(dimension)))
        return below ? "subscripts count from 0" : "the last element is `" + symbol_.extent_text[dimension] + " - 1`";
      return "say which sizes are allowed: `assume(" + index + (below ? " >= 0" : " < " + symbol_.extent_text[dimension]) +
             ")`";
    }
    if (!count || affine.is_null() || isl_aff_dim(affine.get(), isl_dim_div) != 0)
      return "narrow the loops or the condition around it, or add an assume(...) on the sizes";
    const std::size_t last = involved.back();
    const isl::val factor = isl::manage(isl_aff_get_coefficient_val(affine.get(), isl_dim_in, static_cast<int>(last)));
    const Iterator& iterator = nest_.iterators[last];
    if (below) {
      if (!factor.is_one() || iterator.value) return "make the subscript start at 0, or narrow the loops around it";
      return "start `" + iterator.source_name + "` " + std::to_string(*count) + " later, or add " + std::to_string(*count) +
             " to the subscript";
    }
    std::string hint;
    if (factor.is_one() && iterator.upper && isl_pw_aff_isa_aff(iterator.upper->get()) == isl_bool_true) {
      const isl::val step = isl::manage(isl_val_int_from_si(scope_.ctx().get(), -*count));
      const isl::pw_aff narrowed = isl::manage(isl_pw_aff_add_constant_val(iterator.upper->copy(), step.copy()));
      hint = "use range(" + affine_text(narrowed, nest_.iterators) + ") for `" + iterator.source_name + "`, or ";
    }
    const isl::val more = isl::manage(isl_val_int_from_si(scope_.ctx().get(), *count));
    const isl::pw_aff wider = isl::manage(isl_pw_aff_add_constant_val(extent(dimension).copy(), more.copy()));
    return hint + "declare the extent as " + affine_text(wider, {});
  }

  Scope& scope_;
  const Nest& nest_;
  const TensorSymbol& symbol_;
  const std::vector<ExpressionPtr>& indices_;
  const std::vector<isl::pw_aff>& values_;
  const isl::set& domain_;
};

}  // namespace

bool check_bounds(Scope& scope, const Nest& nest, const TensorSymbol& symbol, const std::vector<ExpressionPtr>& indices,
                  const std::vector<isl::pw_aff>& values) {
  const isl::set domain = nest.domain.intersect_params(scope.context());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const isl::set allowed = inside(values[i], symbol.tensor.shape[symbol.shifts.size() + i]);
    if (domain.is_subset(allowed)) continue;
    BoundsReport(scope, nest, symbol, indices, values, domain).report(i, domain.subtract(allowed));
    return false;
  }
  return true;
}

namespace {

/// What a dimension of `point` (a set of one) means in the source: of a stepped range the value, not the number of the iteration.
isl::val value_at(const isl::set& point, const Iterator& iterator, unsigned position) {
  const isl::set plain = isl::manage(isl_set_reset_tuple_id(point.copy()));
  if (!iterator.value) return isl::manage(isl_set_dim_max_val(plain.copy(), static_cast<int>(position)));
  const auto known = static_cast<unsigned>(isl_pw_aff_dim(iterator.value->get(), isl_dim_in));
  const auto wanted = static_cast<unsigned>(isl_set_dim(plain.get(), isl_dim_set));
  const isl::pw_aff value = isl::manage(isl_pw_aff_insert_dims(iterator.value->copy(), isl_dim_in, known, wanted - known));
  return isl::manage(isl_set_dim_max_val(plain.apply(value.as_map()).release(), 0));
}

}  // namespace

std::string witness_text(const isl::set& points, const std::vector<Iterator>& iterators,
                         const std::vector<std::size_t>& solve) {
  if (points.is_empty()) return "";
  std::string solved;
  for (const std::size_t i : solve) {
    if (iterators[i].value) continue;
    const isl::pw_aff least = isl::manage(isl_set_dim_min(points.copy(), static_cast<int>(i)));
    const isl::pw_aff most = isl::manage(isl_set_dim_max(points.copy(), static_cast<int>(i)));
    if (least.is_null() || isl_pw_aff_is_equal(least.get(), most.get()) != isl_bool_true ||
        isl_pw_aff_n_piece(least.get()) != 1)
      continue;
    const isl::pw_aff total = isl::manage(isl_pw_aff_gist(least.copy(), least.domain().release()));
    solved += (solved.empty() ? "" : ", ") + iterators[i].name + " = " + affine_text(total, {});
  }
  const isl::point point = isl::manage(isl_set_sample_point(points.copy()));
  const isl::set one = isl::manage(isl_set_from_point(point.copy()));
  const auto add = [](std::string& list, const std::string& name, const isl::val& value) {
    list += (list.empty() ? "" : ", ") + name + " = " + poly::to_text(value);
  };
  std::string sizes, values;
  const int parameters = isl_set_dim(one.get(), isl_dim_param), dimensions = isl_set_dim(one.get(), isl_dim_set);
  for (int i = 0; i < parameters; ++i)
    add(sizes, isl_set_get_dim_name(points.get(), isl_dim_param, static_cast<unsigned>(i)),
        isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_param, i)));
  for (int i = 0; i < dimensions; ++i) {
    const Iterator& iterator = iterators[static_cast<std::size_t>(i)];
    add(values, iterator.name, value_at(one, iterator, static_cast<unsigned>(i)));
  }
  std::string text = solved;
  if (!solved.empty() && !(sizes.empty() && values.empty())) text += "; for example ";
  text += sizes;
  if (!values.empty()) text += (sizes.empty() ? "" : ": ") + values;
  return text;
}

}  // namespace tileopt::tile_text
