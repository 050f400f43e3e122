/// isl's affine objects at concrete sizes as flat integer data, so that millions of instances are evaluated without isl.
/// Parameters are folded into the constants. Every evaluation is checked for 64-bit overflow.
#pragma once

#include <cstdint>
#include <vector>

#include "interpreter/host_array.h"
#include "poly/isl.h"

namespace tileopt {

/// floor((constant + sum coefficient * values[slot]) / denominator); slots 0.. are iterators, then the floor terms.
struct FlatLinear {
  struct Term {
    std::uint32_t slot;
    std::int64_t coefficient;
  };
  std::int64_t constant = 0;
  std::int64_t denominator = 1;  ///< > 0
  std::vector<Term> terms;

  /// @throws Errors(invalid_size) on 64-bit overflow.
  std::int64_t value(const std::int64_t* values) const;
  /// The numerator alone.
  std::int64_t sum(const std::int64_t* values) const;
};

/// An affine expression over iterators with floor terms ("divs"), evaluated in order into the slots behind the iterators.
struct FlatAffine {
  std::vector<FlatLinear> divs;
  FlatLinear result;

  /// `values` holds the iterators in front and room for `divs` behind them.
  std::int64_t value(std::int64_t* values, std::size_t iterators) const;
};

/// Conjunction of constraints over iterators and floor terms.
struct FlatBasicSet {
  std::vector<FlatLinear> divs;
  std::vector<FlatLinear> equalities;    ///< sum == 0
  std::vector<FlatLinear> inequalities;  ///< sum >= 0

  bool contains(std::int64_t* values, std::size_t iterators) const;
};

/// Union of basic sets; exact.
struct FlatSet {
  std::vector<FlatBasicSet> pieces;

  bool contains(std::int64_t* values, std::size_t iterators) const;
  bool has_divs() const;
};

/// Piecewise affine tuple { [iterators] -> [(outputs)] }.
struct FlatFunction {
  struct Piece {
    FlatSet domain;
    bool covers = false;  ///< `domain` holds for every point that is evaluated: it need not be tested
    std::vector<FlatAffine> outputs;
  };
  std::vector<Piece> pieces;

  /// Piece that holds at the point, or null.
  const Piece* find(std::int64_t* values, std::size_t iterators) const;
};

/// { [params] -> S[iterators] } with the parameters fixed and removed.
isl::set fix_parameters(isl::set set, const Sizes& sizes);

FlatSet flatten_set(const isl::set& set);
/// `domain`: the points where the function will be evaluated, parameters already fixed. { S[iterators] }
FlatFunction flatten_function(const isl::pw_multi_aff& function, const isl::set& domain, const Sizes& sizes);
FlatFunction flatten_function(const isl::pw_aff& function, const isl::set& domain, const Sizes& sizes);

/// Slots that evaluating `function` or `set` needs behind the iterators.
std::size_t count_divs(const FlatFunction& function);
std::size_t count_divs(const FlatSet& set);

/// Value of an expression over the parameters alone, e.g. an extent.
std::int64_t evaluate_parametric(const isl::pw_aff& value, const Sizes& sizes);

}  // namespace tileopt
