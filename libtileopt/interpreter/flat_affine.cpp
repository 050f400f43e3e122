#include "interpreter/flat_affine.h"

#include <algorithm>
#include <string>

#include "interpreter/number.h"
#include "poly/owned.h"
#include "support/error.h"

namespace tileopt {

namespace {
[[noreturn]] void fail_overflow() {
  throw Errors(Diagnostic{ErrorCode::invalid_size, {}, "a subscript or loop bound overflows 64 bits at these sizes",
                          "choose smaller sizes", ""});
}

/// a + b * c with overflow refused.
std::int64_t add_product(std::int64_t a, std::int64_t b, std::int64_t c) {
  std::int64_t product, sum;
  if (__builtin_mul_overflow(b, c, &product) || __builtin_add_overflow(a, product, &sum)) [[unlikely]] fail_overflow();
  return sum;
}

std::int64_t integer_of(const isl::val& value) {
  TILEOPT_CHECK(isl_val_is_int(value.get()) == isl_bool_true, "an affine coefficient is no integer");
  if (isl_val_n_abs_num_chunks(value.get(), 8) > 1 || value.abs().gt(isl::val(value.ctx(), long(1) << 62))) fail_overflow();
  return isl_val_get_num_si(value.get());
}

std::int64_t size_of(const std::string& parameter, const Sizes& sizes) {
  const auto found = sizes.find(parameter);
  if (found == sizes.end())
    throw Errors(Diagnostic{ErrorCode::invalid_size, {}, "size `" + parameter + "` has no value", "give `" + parameter + "`", ""});
  return found->second;
}

/// Numerator and denominator of `aff`, without its floor terms. Local variables follow the `iterators` slots.
FlatLinear flatten_linear(const isl::aff& aff, const Sizes& sizes) {
  TILEOPT_CHECK(isl_aff_is_nan(aff.get()) == isl_bool_false, "an affine expression is undefined");
  const isl::val denominator = isl::manage(isl_aff_get_denominator_val(aff.get()));
  FlatLinear flat;
  flat.denominator = integer_of(denominator);
  flat.constant = integer_of(isl::manage(isl_aff_get_constant_val(aff.get())).mul(denominator));
  const auto coefficient = [&](isl_dim_type type, int position) {
    return integer_of(isl::manage(isl_aff_get_coefficient_val(aff.get(), type, position)).mul(denominator));
  };
  const int parameters = isl_aff_dim(aff.get(), isl_dim_param);
  for (int p = 0; p < parameters; ++p) {
    const std::int64_t c = coefficient(isl_dim_param, p);
    const std::string name = isl_aff_get_dim_name(aff.get(), isl_dim_param, static_cast<unsigned>(p));
    if (c != 0) flat.constant = add_product(flat.constant, c, size_of(name, sizes));
  }
  const int iterators = isl_aff_dim(aff.get(), isl_dim_in);
  for (int i = 0; i < iterators; ++i)
    if (const std::int64_t c = coefficient(isl_dim_in, i)) flat.terms.push_back({static_cast<std::uint32_t>(i), c});
  const int divs = isl_aff_dim(aff.get(), isl_dim_div);
  for (int d = 0; d < divs; ++d)
    if (const std::int64_t c = coefficient(isl_dim_div, d)) flat.terms.push_back({static_cast<std::uint32_t>(iterators + d), c});
  return flat;
}

std::vector<FlatLinear> flatten_divs(const isl::aff& aff, const Sizes& sizes) {
  std::vector<FlatLinear> divs;
  const int count = isl_aff_dim(aff.get(), isl_dim_div);
  for (int d = 0; d < count; ++d) divs.push_back(flatten_linear(isl::manage(isl_aff_get_div(aff.get(), d)), sizes));
  return divs;
}

FlatBasicSet flatten_basic_set(const isl::basic_set& set) {
  FlatBasicSet flat;
  const poly::OwnedConstraintList constraints(isl_basic_set_get_constraint_list(set.get()));
  const int count = isl_constraint_list_size(constraints.get());
  for (int i = 0; i < count; ++i) {
    const poly::OwnedConstraint constraint(isl_constraint_list_get_at(constraints.get(), i));
    const bool equality = isl_constraint_is_equality(constraint.get()) == isl_bool_true;
    const isl::aff aff = isl::manage(isl_constraint_get_aff(constraint.get()));
    if (flat.divs.empty()) flat.divs = flatten_divs(aff, {});
    (equality ? flat.equalities : flat.inequalities).push_back(flatten_linear(aff, {}));
  }
  return flat;
}

bool pieces_nonempty(const isl::set& set) { return !set.is_empty(); }

std::size_t count_divs(const FlatAffine& affine) { return affine.divs.size(); }
}  // namespace

std::int64_t FlatLinear::sum(const std::int64_t* values) const {
  std::int64_t total = constant;
  for (const Term& term : terms) total = add_product(total, term.coefficient, values[term.slot]);
  return total;
}

std::int64_t FlatLinear::value(const std::int64_t* values) const {
  const std::int64_t total = sum(values);
  return denominator == 1 ? total : floor_quotient(total, denominator);
}

std::int64_t FlatAffine::value(std::int64_t* values, std::size_t iterators) const {
  for (std::size_t d = 0; d < divs.size(); ++d) values[iterators + d] = divs[d].value(values);
  return result.value(values);
}

bool FlatBasicSet::contains(std::int64_t* values, std::size_t iterators) const {
  for (std::size_t d = 0; d < divs.size(); ++d) values[iterators + d] = divs[d].value(values);
  for (const FlatLinear& c : equalities)
    if (c.sum(values) != 0) return false;
  for (const FlatLinear& c : inequalities)
    if (c.sum(values) < 0) return false;
  return true;
}

bool FlatSet::contains(std::int64_t* values, std::size_t iterators) const {
  for (const FlatBasicSet& piece : pieces)
    if (piece.contains(values, iterators)) return true;
  return false;
}

bool FlatSet::has_divs() const {
  return std::any_of(pieces.begin(), pieces.end(), [](const FlatBasicSet& piece) { return !piece.divs.empty(); });
}

const FlatFunction::Piece* FlatFunction::find(std::int64_t* values, std::size_t iterators) const {
  for (const Piece& piece : pieces)
    if (piece.covers || piece.domain.contains(values, iterators)) return &piece;
  return nullptr;
}

isl::set fix_parameters(isl::set set, const Sizes& sizes) {
  const std::vector<std::string> names = poly::parameters(set);
  isl_set* fixed = set.release();
  for (std::size_t p = 0; p < names.size(); ++p) {
    const auto found = sizes.find(names[p]);
    if (found == sizes.end()) {
      isl_set_free(fixed);
      size_of(names[p], sizes);
    }
    isl_val* value = isl_val_int_from_si(isl_set_get_ctx(fixed), found->second);
    fixed = isl_set_fix_val(fixed, isl_dim_param, static_cast<unsigned>(p), value);
  }
  fixed = isl_set_project_out(fixed, isl_dim_param, 0, static_cast<unsigned>(names.size()));
  return isl::manage(isl_set_coalesce(fixed));
}

FlatSet flatten_set(const isl::set& set) {
  TILEOPT_CHECK(isl_set_dim(set.get(), isl_dim_param) == 0, "flattening a set whose parameters are not fixed");
  const isl::set explicit_divs = isl::manage(isl_set_compute_divs(set.copy()));
  FlatSet flat;
  explicit_divs.foreach_basic_set([&](isl::basic_set piece) {
    if (!piece.is_empty()) flat.pieces.push_back(flatten_basic_set(piece));
  });
  return flat;
}

FlatFunction flatten_function(const isl::pw_multi_aff& function, const isl::set& domain, const Sizes& sizes) {
  FlatFunction flat;
  function.foreach_piece([&](isl::set piece_domain, isl::multi_aff outputs) {
    isl::set fixed = fix_parameters(piece_domain, sizes);
    if (!pieces_nonempty(domain.intersect(fixed))) return;
    FlatFunction::Piece piece;
    piece.covers = domain.is_subset(fixed);
    if (!piece.covers) piece.domain = flatten_set(fixed);
    const int count = isl_multi_aff_dim(outputs.get(), isl_dim_out);
    for (int i = 0; i < count; ++i) {
      const isl::aff output = outputs.at(i);
      piece.outputs.push_back({flatten_divs(output, sizes), flatten_linear(output, sizes)});
    }
    flat.pieces.push_back(std::move(piece));
  });
  return flat;
}

FlatFunction flatten_function(const isl::pw_aff& function, const isl::set& domain, const Sizes& sizes) {
  return flatten_function(isl::manage(isl_pw_multi_aff_from_pw_aff(function.copy())), domain, sizes);
}

std::size_t count_divs(const FlatFunction& function) {
  std::size_t most = 0;
  for (const FlatFunction::Piece& piece : function.pieces) {
    most = std::max(most, count_divs(piece.domain));
    for (const FlatAffine& output : piece.outputs) most = std::max(most, count_divs(output));
  }
  return most;
}

std::size_t count_divs(const FlatSet& set) {
  std::size_t most = 0;
  for (const FlatBasicSet& piece : set.pieces) most = std::max(most, piece.divs.size());
  return most;
}

std::int64_t evaluate_parametric(const isl::pw_aff& value, const Sizes& sizes) {
  isl::set domain = fix_parameters(value.domain(), sizes);
  const FlatFunction flat = flatten_function(value, domain, sizes);
  std::vector<std::int64_t> slots(count_divs(flat) + 1);
  const FlatFunction::Piece* piece = flat.find(slots.data(), 0);
  if (piece == nullptr)
    throw Errors(Diagnostic{ErrorCode::invalid_size, {}, "the extent " + poly::to_text(value) + " is undefined at these sizes",
                            "choose sizes that satisfy the program's assumptions", ""});
  return piece->outputs.front().value(slots.data(), 0);
}

}  // namespace tileopt
