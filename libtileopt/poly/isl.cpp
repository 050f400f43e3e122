#include "poly/isl.h"

#include <isl/ctx.h>
#include <isl/id.h>
#include <isl/printer.h>
#include <isl/val.h>

#include <algorithm>
#include <map>

namespace tileopt::poly {

Context::Context() : context_(isl_ctx_alloc()) {
  isl_options_set_on_error(context_, ISL_ON_ERROR_CONTINUE);
}
Context::~Context() { isl_ctx_free(context_); }

QuotaGuard::QuotaGuard(isl::ctx context, unsigned long max_operations)
    : context_(context.get()), previous_(isl_ctx_get_max_operations(context_)) {
  isl_ctx_reset_operations(context_);
  isl_ctx_set_max_operations(context_, max_operations);
}
QuotaGuard::~QuotaGuard() {
  isl_ctx_set_max_operations(context_, previous_);
  isl_ctx_reset_operations(context_);
  isl_ctx_reset_error(context_);
}

/// Inside a spent limit every allocation fails, and isl also in other ways than by its quota exception.
bool quota_exceeded(isl::ctx context) {
  if (isl_ctx_last_error(context.get()) == isl_error_quota) return true;
  isl_val* probe = isl_val_int_from_si(context.get(), 1);
  isl_val_free(probe);
  return probe == nullptr;
}

Flow compute_flow(const isl::union_map& sink, const isl::union_map& must_source, const isl::union_map& may_source,
                  const isl::union_map& kill, const isl::union_map& order) {
  isl_union_access_info* info = isl_union_access_info_from_sink(sink.copy());
  if (!must_source.is_null()) info = isl_union_access_info_set_must_source(info, must_source.copy());
  if (!may_source.is_null()) info = isl_union_access_info_set_may_source(info, may_source.copy());
  if (!kill.is_null()) info = isl_union_access_info_set_kill(info, kill.copy());
  info = isl_union_access_info_set_schedule_map(info, order.copy());
  const isl::union_flow flow = isl::manage(isl_union_access_info_compute_flow(info));
  Flow result;
  result.must = isl::manage(isl_union_flow_get_must_dependence(flow.get()));
  result.may = isl::manage(isl_union_flow_get_may_dependence(flow.get()));
  result.no_source = isl::manage(isl_union_flow_get_must_no_source(flow.get()));
  return result;
}

namespace {
template <class T>
std::vector<T> sort_by_space(std::vector<T> pieces) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const T& a, const T& b) { return to_text(a.space()) < to_text(b.space()); });
  return pieces;
}
}  // namespace

std::vector<isl::map> sorted_maps(const isl::union_map& union_map) {
  std::vector<isl::map> maps;
  union_map.foreach_map([&](isl::map m) { maps.push_back(m); });
  return sort_by_space(std::move(maps));
}

std::vector<isl::set> sorted_sets(const isl::union_set& union_set) {
  std::vector<isl::set> sets;
  union_set.foreach_set([&](isl::set s) { sets.push_back(s); });
  return sort_by_space(std::move(sets));
}

std::optional<long> constant_of(const isl::pw_aff& function) {
  if (isl_pw_aff_is_cst(function.get()) != isl_bool_true || isl_pw_aff_n_piece(function.get()) != 1) return std::nullopt;
  isl_set* anywhere = isl_pw_aff_domain(function.copy());
  const isl::set domain = isl::manage(anywhere);
  if (!domain.complement().is_empty()) return std::nullopt;
  const isl::val value = isl::manage(isl_pw_aff_max_val(function.copy()));
  if (isl_val_is_int(value.get()) != isl_bool_true) return std::nullopt;
  return isl_val_get_num_si(value.get());
}

std::string input_name(const isl::map& map) {
  return isl_map_has_tuple_name(map.get(), isl_dim_in) ? isl_map_get_tuple_name(map.get(), isl_dim_in) : "";
}
std::string output_name(const isl::map& map) {
  return isl_map_has_tuple_name(map.get(), isl_dim_out) ? isl_map_get_tuple_name(map.get(), isl_dim_out) : "";
}
std::string tuple_name(const isl::set& set) {
  return isl_set_has_tuple_name(set.get()) ? isl_set_get_tuple_name(set.get()) : "";
}

std::vector<std::string> parameters(const isl::set& set) {
  std::vector<std::string> names;
  const int count = isl_set_dim(set.get(), isl_dim_param);
  for (int i = 0; i < count; ++i) names.emplace_back(isl_set_get_dim_name(set.get(), isl_dim_param, i));
  return names;
}

isl::pw_multi_aff as_function(const isl::map& map) {
  return isl::manage(isl_pw_multi_aff_from_map(isl_map_detect_equalities(map.copy()))).coalesce();
}

std::string sample_text(const isl::set& set) {
  if (set.is_empty()) return "";
  isl::set point = isl::manage(isl_set_from_point(isl_set_sample_point(set.copy())));
  std::string values;
  const int count = isl_set_dim(point.get(), isl_dim_param);
  for (int i = 0; i < count; ++i) {
    isl::val value = isl::manage(isl_set_plain_get_val_if_fixed(point.get(), isl_dim_param, static_cast<unsigned>(i)));
    if (isl_val_is_int(value.get()) != isl_bool_true) continue;
    values += std::string(isl_set_get_dim_name(point.get(), isl_dim_param, static_cast<unsigned>(i))) + " = " + to_text(value) + ", ";
  }
  isl::set bare = point;
  bare = isl::manage(isl_set_project_out(bare.release(), isl_dim_param, 0, static_cast<unsigned>(count)));
  if (isl_set_is_params(bare.get()) == isl_bool_true && !values.empty()) return values.substr(0, values.size() - 2);
  std::string text = to_text(bare);
  const std::size_t open = text.find('{');
  const std::size_t close = text.rfind('}');
  if (open != std::string::npos && close != std::string::npos) text = text.substr(open + 2, close - open - 3);
  return values + text;
}
std::string sample_text(const isl::union_set& set) {
  for (const isl::set& piece : sorted_sets(set))
    if (!piece.is_empty()) return sample_text(piece);
  return "";
}
std::string sample_text(const isl::map& map) { return sample_text(map.wrap()); }
std::string sample_text(const isl::union_map& map) {
  for (const isl::map& piece : sorted_maps(map))
    if (!piece.is_empty()) return sample_text(piece);
  return "";
}

isl::union_set empty_union_set(isl::ctx context) { return isl::manage(isl_union_set_empty_ctx(context.get())); }
isl::union_map empty_union_map(isl::ctx context) { return isl::manage(isl_union_map_empty_ctx(context.get())); }

isl::union_map lex_lt(const isl::union_map& first, const isl::union_map& second) {
  return isl::manage(isl_union_map_lex_lt_union_map(first.copy(), second.copy()));
}

std::string isl_version_text() {
  std::string text = isl_version();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace tileopt::poly
