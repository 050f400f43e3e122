/// Affine expressions and conditions over iterators and sizes, as isl values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontends/tile_text/scope.h"

namespace tileopt::tile_text {

/// Largest coefficient or constant of an affine expression: far beyond any array, far below 64-bit overflow.
constexpr long largest_coefficient = 1'000'000'000'000;

/// What an affine expression is for; messages say so.
enum class AffineRole { extent, stride, loop_bound, subscript, condition, assumption, index_value };

/// An integer constant folded from literals, or nullopt (also where the value exceeds largest_coefficient).
std::optional<long> fold_constant(const syntax::ExpressionPtr& expression);

/// Reads expressions in one space; every error is reported once, at the smallest expression that is not affine.
class AffineReader {
 public:
  /// `space`: [params] -> { : }, or a set space whose leading dimensions are `iterators`.
  AffineReader(Scope& scope, const std::vector<Iterator>& iterators, isl::space space, AffineRole role)
      : scope_(scope), iterators_(iterators), space_(std::move(space)), role_(role) {}
  /// Over sizes alone.
  AffineReader(Scope& scope, AffineRole role) : AffineReader(scope, no_iterators(), scope.params_space(), role) {}

  std::optional<isl::pw_aff> value(const syntax::ExpressionPtr& expression);   ///< { space -> [(value)] }
  std::optional<isl::set> condition(const syntax::ExpressionPtr& expression);  ///< where it holds
  isl::pw_aff constant(long value) const;
  /// False where a coefficient or the constant exceeds largest_coefficient: reported.
  bool check_numbers(const isl::pw_aff& value, syntax::Position where);

 private:
  std::optional<isl::pw_aff> read(const syntax::ExpressionPtr& expression);  ///< `value` without the check of its numbers
  isl::pw_aff read_iterator(std::size_t position) const;
  std::optional<isl::pw_aff> read_name(const syntax::ExpressionPtr& expression, const std::string& name);
  std::optional<isl::pw_aff> read_binary(const syntax::ExpressionPtr& expression, const syntax::Binary& binary);
  std::optional<isl::pw_aff> read_product(const syntax::ExpressionPtr& expression, const syntax::Binary& binary);
  std::optional<isl::pw_aff> read_division(const syntax::ExpressionPtr& expression, const syntax::Binary& binary);
  std::optional<isl::pw_aff> read_call(const syntax::ExpressionPtr& expression, const syntax::Call& call);
  std::optional<isl::set> read_comparison(const syntax::Comparison& comparison);
  std::nullopt_t reject(ErrorCode code, syntax::Position where, const std::string& message, const std::string& hint);
  std::string text(const syntax::ExpressionPtr& expression) const;
  std::string role() const;  ///< "a subscript", ...
  static const std::vector<Iterator>& no_iterators();

  Scope& scope_;
  const std::vector<Iterator>& iterators_;
  isl::space space_;
  AffineRole role_;
};

/// Source-like text of an affine function, e.g. "2 * N + k - 1"; dimensions are called after `iterators`.
std::string affine_text(const isl::pw_aff& function, const std::vector<Iterator>& iterators);

/// The function on the parameters alone moved onto `space`: [params] -> { [(v)] } becomes { space -> [(v)] }.
isl::pw_aff lift(const isl::pw_aff& function, const isl::space& space);

}  // namespace tileopt::tile_text
