#include "verify/digit_equations.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

namespace tileopt::proof {

namespace {

/// Coefficients and bounds beyond this are left to isl: nothing here may overflow.
constexpr long kMost = 1L << 40;

/// Takes `value`. Nothing here throws: isl's own loops are around it.
std::optional<long> small_value(isl_val* value) {
  std::optional<long> number;
  if (value != nullptr && isl_val_is_int(value) == isl_bool_true && isl_val_cmp_si(value, kMost) <= 0 && isl_val_cmp_si(value, -kMost) >= 0)
    number = isl_val_get_num_si(value);
  isl_val_free(value);
  return number;
}

struct Interval {
  std::optional<long> least, most;
};

/// c_0 x_0 + ... + constant (= 0, or >= 0). Variables: inputs, outputs, parameters, integer divisions, in this order.
struct Row {
  std::vector<long> coefficients;
  long constant = 0;
};

/// One basic map as rows of numbers. Empty where a number is too large.
class Rows {
 public:
  explicit Rows(isl_basic_map* map) : map_(map) {
    for (const isl_dim_type type : {isl_dim_in, isl_dim_out, isl_dim_param, isl_dim_div})
      counts_.push_back(static_cast<std::size_t>(std::max(0, isl_basic_map_dim(map, type))));
  }

  std::size_t variables() const { return std::accumulate(counts_.begin(), counts_.end(), std::size_t{0}); }
  /// Inputs and outputs, which come first, are digits; the others have no constant bounds, or no name to say an equation with.
  std::size_t digits() const { return counts_[0] + counts_[1]; }

  bool read() {
    for (const bool equalities : {true, false}) {
      isl_mat* matrix = equalities ? isl_basic_map_equalities_matrix(map_, isl_dim_in, isl_dim_out, isl_dim_param, isl_dim_div, isl_dim_cst)
                                   : isl_basic_map_inequalities_matrix(map_, isl_dim_in, isl_dim_out, isl_dim_param, isl_dim_div, isl_dim_cst);
      std::vector<Row>& rows = equalities ? equations : inequalities;
      bool complete = matrix != nullptr;
      for (int r = 0; complete && r < isl_mat_rows(matrix); ++r) {
        Row row;
        for (int c = 0; complete && c < isl_mat_cols(matrix); ++c) {
          const std::optional<long> value = small_value(isl_mat_get_element_val(matrix, r, c));
          complete = value.has_value();
          row.coefficients.push_back(value.value_or(0));
        }
        if (!complete) break;
        row.constant = row.coefficients.back();
        row.coefficients.pop_back();
        rows.push_back(std::move(row));
      }
      isl_mat_free(matrix);
      if (!complete) return false;
    }
    return true;
  }

  /// Constant bounds that inequalities of one variable give.
  std::vector<Interval> bounds() const {
    std::vector<Interval> result(variables());
    for (const Row& row : inequalities) {
      const auto is_used = [](long c) { return c != 0; };
      const auto first = std::find_if(row.coefficients.begin(), row.coefficients.end(), is_used);
      if (first == row.coefficients.end() || std::any_of(first + 1, row.coefficients.end(), is_used)) continue;
      Interval& interval = result[static_cast<std::size_t>(first - row.coefficients.begin())];
      if (*first == 1) interval.least = std::max(interval.least.value_or(-row.constant), -row.constant);
      if (*first == -1) interval.most = std::min(interval.most.value_or(row.constant), row.constant);
    }
    return result;
  }

  /// Bounds of a variable that the equation gives (its coefficient is 1 or -1): isl has put the other side of the equation in its place, so that
  /// they are inequalities over what is left of it.
  void add_bounds_of_solved(const Row& equation, std::size_t variable, Interval& interval) const {
    const long c = equation.coefficients[variable];
    if (c != 1 && c != -1) return;
    long divisor = 0;
    for (std::size_t i = 0; i < equation.coefficients.size(); ++i)
      if (i != variable) divisor = std::gcd(divisor, equation.coefficients[i]);
    if (divisor == 0) return;
    for (const Row& row : inequalities)
      for (const long sign : {1L, -1L}) {
        bool same = row.coefficients[variable] == 0 && std::abs(row.constant) <= kMost / divisor;
        for (std::size_t i = 0; same && i < row.coefficients.size(); ++i)
          same = i == variable || row.coefficients[i] == sign * (equation.coefficients[i] / divisor);
        if (!same) continue;
        // The rest r of the equation: c x + r + constant = 0, and sign r / divisor + row.constant >= 0.
        const long bound = -sign * row.constant * divisor;  // r >= bound where sign is 1, else r <= bound
        const long value = -c * (bound + equation.constant);
        if (sign * c > 0) interval.most = std::min(interval.most.value_or(value), value);
        else interval.least = std::max(interval.least.value_or(value), value);
      }
  }

  std::vector<Row> equations, inequalities;

 private:
  isl_basic_map* map_;
  std::vector<std::size_t> counts_;
};

/// `part` = value, where the equation allows that value alone: the digits of least weight, of which the others are multiples.
struct Split {
  std::vector<long> part;
  long value = 0;
};

std::optional<Split> split(const Row& equation, const Rows& rows, std::vector<Interval> bounds) {
  const std::size_t digits = rows.digits();
  for (std::size_t i = 0; i < digits; ++i) rows.add_bounds_of_solved(equation, i, bounds[i]);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < equation.coefficients.size(); ++i)
    if (equation.coefficients[i] != 0) order.push_back(i);
  const auto weight = [&](std::size_t i) { return std::abs(equation.coefficients[i]); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weight(a) < weight(b); });
  Split found{std::vector<long>(equation.coefficients.size(), 0), 0};
  long least = 0, most = 0;
  for (std::size_t taken = 0; taken + 1 < order.size(); ++taken) {
    const std::size_t i = order[taken];
    if (i >= digits || !bounds[i].least || !bounds[i].most) return std::nullopt;
    const long c = equation.coefficients[i];
    if (std::max(std::abs(*bounds[i].least), std::abs(*bounds[i].most)) > kMost / std::abs(c)) return std::nullopt;
    least += c > 0 ? c * *bounds[i].least : c * *bounds[i].most;
    most += c > 0 ? c * *bounds[i].most : c * *bounds[i].least;
    found.part[i] = c;
    if (weight(order[taken + 1]) == weight(i)) continue;
    long divisor = 0;
    for (std::size_t rest = taken + 1; rest < order.size(); ++rest) divisor = std::gcd(divisor, equation.coefficients[order[rest]]);
    // The smallest value from `least` on that the rest can make up for.
    const long rest = ((-equation.constant - least) % divisor + divisor) % divisor;
    const long first = least + rest;
    if (first > most || first + divisor > most) {
      // Where no value is left the relation is empty, which any value outside of the interval says.
      found.value = first;
      return found;
    }
  }
  return std::nullopt;
}

isl_basic_map* add_equation(isl_basic_map* map, const Split& split, std::size_t inputs) {
  isl_constraint* equation = isl_constraint_alloc_equality(isl_basic_map_get_local_space(map));
  for (std::size_t i = 0; i < split.part.size(); ++i) {
    if (split.part[i] == 0) continue;
    const bool input = i < inputs;
    equation = isl_constraint_set_coefficient_val(equation, input ? isl_dim_in : isl_dim_out, static_cast<int>(input ? i : i - inputs),
                                                  isl_val_int_from_si(isl_basic_map_get_ctx(map), split.part[i]));
  }
  equation = isl_constraint_set_constant_val(equation, isl_val_int_from_si(isl_basic_map_get_ctx(map), -split.value));
  return isl_basic_map_add_constraint(map, equation);
}

/// Takes `map`. A new equation that is not implied by the others takes one variable away, so that there are no more rounds than variables.
isl_basic_map* split_all(isl_basic_map* map) {
  const auto inputs = static_cast<std::size_t>(std::max(0, isl_basic_map_dim(map, isl_dim_in)));
  bool changed = true;
  for (std::size_t round = 0; changed && map != nullptr && isl_basic_map_plain_is_empty(map) == isl_bool_false; ++round) {
    changed = false;
    Rows rows(map);
    if (round > rows.variables()) break;
    if (!rows.read()) return map;
    const std::vector<Interval> bounds = rows.bounds();
    for (const Row& equation : rows.equations)
      if (const auto found = split(equation, rows, bounds)) {
        map = add_equation(map, *found, inputs);
        changed = true;
      }
  }
  return map;
}

}  // namespace

isl::map split_equations(const isl::map& map) {
  isl_map* result = isl_map_empty(isl_map_get_space(map.get()));
  const isl_stat complete = isl_map_foreach_basic_map(
      map.get(),
      [](isl_basic_map* piece, void* user) {
        auto* all = static_cast<isl_map**>(user);
        *all = isl_map_union(*all, isl_map_from_basic_map(split_all(piece)));
        return *all == nullptr ? isl_stat_error : isl_stat_ok;
      },
      &result);
  // A piece that is missing would make a relation too small, and what is asked of it too easily true.
  if (complete != isl_stat_ok) result = isl_map_free(result);
  return isl::manage(result);
}

}  // namespace tileopt::proof
