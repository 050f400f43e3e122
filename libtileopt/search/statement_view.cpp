#include "search/statement_view.h"

#include <algorithm>

#include "support/text.h"

namespace tileopt {
namespace {

constexpr std::int64_t kTypicalSize = 1024;

std::optional<long> to_long(const isl::val& value) {
  if (isl_val_is_int(value.get()) != isl_bool_true) return std::nullopt;
  return isl_val_get_num_si(value.get());
}

/// Largest (or smallest) value of dimension `position` of `set` { [x...] }.
std::optional<long> extreme(const isl::set& set, std::size_t position, bool largest) {
  isl_val* value = largest ? isl_set_dim_max_val(set.copy(), static_cast<int>(position))
                           : isl_set_dim_min_val(set.copy(), static_cast<int>(position));
  return value ? to_long(isl::manage(value)) : std::nullopt;
}

isl::set fix_parameters(isl::set set, const TypicalSizes& sizes) {
  for (const auto& [name, value] : sizes) {
    const int position = isl_set_find_dim_by_name(set.get(), isl_dim_param, name.c_str());
    if (position < 0) continue;
    set = isl::manage(isl_set_fix_si(set.release(), isl_dim_param, static_cast<unsigned>(position), static_cast<int>(value)));
  }
  return set;
}

isl::set forget_parameters(isl::set set) {
  const auto count = static_cast<unsigned>(std::max(0, static_cast<int>(isl_set_dim(set.get(), isl_dim_param))));
  return isl::manage(isl_set_project_out(set.release(), isl_dim_param, 0, count));
}

/// The affine expression of a function with one piece, its domain forgotten.
std::optional<isl::aff> only_piece(const isl::pw_aff& function) {
  if (isl_pw_aff_n_piece(function.get()) != 1) return std::nullopt;
  std::optional<isl::aff> piece;
  function.foreach_piece([&](const isl::set&, const isl::multi_aff& aff) { piece = aff.at(0); });
  return piece;
}

/// Coefficients of one subscript { [members] -> [(s)] }, or nothing where it is piecewise or has divisions.
std::optional<std::vector<long>> coefficients_of(const isl::pw_aff& subscript, std::size_t members) {
  const auto aff = only_piece(subscript);
  if (!aff || isl_aff_dim(aff->get(), isl_dim_div) != 0) return std::nullopt;
  std::vector<long> result;
  for (std::size_t m = 0; m < members; ++m) {
    const auto value = to_long(isl::manage(isl_aff_get_coefficient_val(aff->get(), isl_dim_in, static_cast<int>(m))));
    if (!value) return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

AccessView view_access(const Program& program, const Access& access, bool write, const isl::pw_multi_aff& instance,
                       std::size_t members) {
  AccessView view;
  view.tensor = access.tensor;
  view.write = write;
  const Tensor& tensor = program.tensor(access.tensor);
  view.element_bytes = size_bytes(tensor.type);
  view.order = tensor.storage_order();
  view.contiguous = tensor.contiguous_dim();
  const isl::pw_multi_aff subscripts = isl::pw_multi_aff(access.index).pullback(instance);
  const int dims = isl_pw_multi_aff_dim(subscripts.get(), isl_dim_out);
  for (int d = 0; d < dims; ++d) {
    const auto row = coefficients_of(isl::manage(isl_pw_multi_aff_get_pw_aff(subscripts.get(), d)), members);
    if (!row) {
      view.coefficients.clear();
      return view;
    }
    view.coefficients.push_back(*row);
  }
  view.affine = true;
  return view;
}

}  // namespace

bool AccessView::moves_with(std::size_t member) const { return !affine || !dims_of(member).empty(); }

std::vector<std::size_t> AccessView::dims_of(std::size_t member) const {
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < coefficients.size(); ++d) {
    if (coefficients[d][member] != 0) dims.push_back(d);
  }
  return dims;
}

bool AccessView::unit_stride(std::size_t member) const {
  return affine && contiguous && dims_of(member) == std::vector<std::size_t>{*contiguous} && coefficients[*contiguous][member] == 1;
}

std::size_t StatementView::member_index(const std::string& member) const {
  return static_cast<std::size_t>(std::find(members.begin(), members.end(), member) - members.begin());
}

/// { [m] -> S[i] }. The members alone mostly determine the instance; iterators that the domain fixes may be missing from them.
static isl::map inverse(const isl::map& map, const isl::set& domain) {
  const isl::map whole = map.reverse();
  return whole.is_single_valued() ? whole : map.intersect_domain(domain).reverse();
}

StatementView view_statement(const Program& program, const std::string& name, const StatementMembers& members,
                             const TypicalSizes& sizes) {
  const Statement& statement = program.statement(name);
  StatementView view;
  view.statement = name;
  view.members = members.members;
  const isl::map map(program.ctx(), members.map);  // { S[i] -> [m] }
  const isl::set domain = statement.domain.intersect_params(program.context());
  const isl::set values = isl::manage(isl_set_reset_tuple_id(domain.apply(map).release()));  // { [m] }
  const isl::set typical = fix_parameters(values, sizes), any = forget_parameters(values);
  const isl::set instances = fix_parameters(domain, sizes);
  for (std::size_t m = 0; m < view.members.size(); ++m) {
    MemberRange range;
    view.iterators.push_back(bound_iterator(program, name, members, m));
    const auto iterator = std::find(statement.iterators.begin(), statement.iterators.end(), view.iterators.back());
    const bool bound = iterator != statement.iterators.end();
    const std::size_t at = bound ? static_cast<std::size_t>(iterator - statement.iterators.begin()) : m;
    const auto low = extreme(bound ? instances : typical, at, false), high = extreme(bound ? instances : typical, at, true);
    view.guarded.push_back(bound && statement.guard_of(at) != nullptr);
    if (low && high && !view.guarded.back()) range.typical = std::max(1.0, double(*high) - double(*low) + 1);
    range.least = extreme(any, m, false);
    const auto most = extreme(any, m, true);
    if (range.least && most) range.constant = *most - *range.least + 1;
    view.ranges.push_back(range);
  }
  const isl::pw_multi_aff instance = poly::as_function(inverse(map, domain));
  const std::size_t count = view.members.size();
  view.accesses.push_back(view_access(program, statement.write, true, instance, count));
  for (const Access& read : statement.reads) view.accesses.push_back(view_access(program, read, false, instance, count));
  return view;
}

std::string bound_iterator(const Program& program, const std::string& name, const StatementMembers& members, std::size_t member) {
  const Statement& statement = program.statement(name);
  const isl::pw_multi_aff function = poly::as_function(isl::map(program.ctx(), members.map));  // { S[i] -> [m] }
  const auto value = only_piece(isl::manage(isl_pw_multi_aff_get_pw_aff(function.get(), static_cast<int>(member))));
  if (!value || isl_aff_dim(value->get(), isl_dim_div) != 0) return "";
  for (std::size_t i = statement.iterators.size(); i-- > 0;) {
    const isl::val c = isl::manage(isl_aff_get_coefficient_val(value->get(), isl_dim_in, static_cast<int>(i)));
    if (c.is_zero()) continue;
    return c.is_one() || c.is_negone() ? statement.iterators[i] : "";
  }
  return "";
}

StatementMembers iterator_members(const Statement& statement) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < statement.iterators.size(); ++i) values.push_back("(" + statement.iterators[i] + ")");
  return {statement.iterators,
          "{ " + statement.name + "[" + join(statement.iterators, ", ") + "] -> [" + join(values, ", ") + "] }"};
}

double count_operations(const Statement& statement) {
  double count = 0;
  walk_expr(statement.body, [&](const Expr& expr) {
    if (std::holds_alternative<Call>(expr.node)) count += 20;
    else if (std::holds_alternative<Binary>(expr.node) || std::holds_alternative<Unary>(expr.node) ||
             std::holds_alternative<Select>(expr.node)) count += 1;
  });
  return count;
}

TypicalSizes complete_sizes(const Program& program, const TypicalSizes& wanted) {
  TypicalSizes sizes;
  isl::set left = program.context();
  for (const std::string& name : program.parameters()) {
    const auto given = wanted.find(name);
    const std::int64_t value = std::clamp<std::int64_t>(given == wanted.end() ? kTypicalSize : given->second, 0, 1 << 30);
    sizes[name] = value;
    const isl::set narrowed = fix_parameters(left, {{name, value}});
    if (!narrowed.is_empty()) {
      left = narrowed;
      continue;
    }
    isl_set* values = isl_set_copy(left.get());
    const int position = isl_set_find_dim_by_name(values, isl_dim_param, name.c_str());
    values = isl_set_move_dims(values, isl_dim_set, 0, isl_dim_param, static_cast<unsigned>(std::max(position, 0)), 1);
    const isl::set moved = forget_parameters(isl::manage(values));
    if (position < 0) continue;
    const isl::set above = isl::manage(isl_set_lower_bound_val(moved.copy(), isl_dim_set, 0, isl_val_int_from_si(moved.ctx().get(), value)));
    const auto next = above.is_empty() ? extreme(moved, 0, true) : extreme(above, 0, false);
    if (next) sizes[name] = *next;
    left = fix_parameters(left, {{name, sizes[name]}});
  }
  return sizes;
}

}  // namespace tileopt
