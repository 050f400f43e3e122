#include "frontends/tile_text/access.h"

#include <algorithm>

#include "frontends/tile_text/bounds.h"
#include "frontends/tile_text/printer.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

isl::id make_id(isl::ctx ctx, const std::string& name) { return isl::manage(isl_id_alloc(ctx.get(), name.c_str(), nullptr)); }

std::string dimensions_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " dimension" : " dimensions"); }

bool check_arity(Scope& scope, const TensorSymbol& symbol, const ExpressionPtr& expression,
                 const std::vector<ExpressionPtr>& indices) {
  if (indices.size() == symbol.rank()) return true;
  std::string extents;
  for (const std::string& extent : symbol.extent_text) extents += (extents.empty() ? "" : ", ") + extent;
  const std::string shape = symbol.rank() == 0 ? "" : " (" + extents + ")";
  scope.diagnostics().add(
      ErrorCode::shape_mismatch, expression->where,
      "`" + symbol.source_name + "` has " + dimensions_text(symbol.rank()) + shape + ", but " + std::to_string(indices.size()) +
          (indices.size() == 1 ? " subscript is given" : " subscripts are given"),
      symbol.rank() == 0 ? "write `" + symbol.source_name + "` without subscripts"
      : indices.empty()  ? "name an element, in a loop over all of them: `" + symbol.source_name + (symbol.rank() == 1 ? "[i]`" : "[i, ...]`")
                         : "give one subscript per dimension");
  return false;
}

}  // namespace

Subscripts leading_subscripts(const Nest& nest, const TensorSymbol& symbol) {
  Subscripts result;
  const isl::space space = nest.domain.space();
  for (std::size_t i = 0; i < symbol.shifts.size(); ++i) {
    isl_local_space* local = isl_local_space_from_space(space.copy());
    const auto loop = std::find_if(nest.iterators.begin(), nest.iterators.end(),
                                   [&](const Iterator& it) { return it.loop == symbol.leading_loops[i]; });
    const auto position = static_cast<unsigned>(loop - nest.iterators.begin());
    const isl::pw_aff iterator = isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, position)));
    const bool shifted =
        isl_pw_aff_plain_is_equal(symbol.shifts[i].get(), symbol.shifts[i].sub(symbol.shifts[i]).get()) != isl_bool_true;
    result.values.push_back(shifted ? iterator.sub(lift(symbol.shifts[i], space)) : iterator);
  }
  return result;
}

std::optional<Subscripts> read_subscripts(Scope& scope, const Nest& nest, const TensorSymbol& symbol,
                                          const ExpressionPtr& expression) {
  std::vector<ExpressionPtr> indices;
  if (const auto* subscript = syntax::as<syntax::Subscript>(expression)) indices = subscript->indices;
  AffineReader reader(scope, nest.iterators, nest.domain.space(), AffineRole::subscript);
  std::vector<isl::pw_aff> values;
  bool fine = true;
  for (const ExpressionPtr& index : indices) {
    const std::optional<isl::pw_aff> value = reader.value(index);
    fine = fine && value;
    if (value) values.push_back(*value);
  }
  fine = check_arity(scope, symbol, expression, indices) && fine;
  if (!fine || !nest.known || !symbol.known) return std::nullopt;
  if (!check_bounds(scope, nest, symbol, indices, values)) return std::nullopt;
  Subscripts result = leading_subscripts(nest, symbol);
  result.values.insert(result.values.end(), values.begin(), values.end());
  return result;
}

isl::pw_multi_aff access_relation(const Scope& scope, const Nest& nest, const TensorSymbol& symbol,
                                  const Subscripts& subscripts, const std::string& statement) {
  const auto rank = static_cast<unsigned>(subscripts.values.size());
  isl_space* space = isl_space_from_domain(nest.domain.space().release());
  space = isl_space_add_dims(space, isl_dim_out, rank);
  space = isl_space_set_tuple_name(space, isl_dim_out, symbol.tensor.name.c_str());
  bool affine = true;
  for (const isl::pw_aff& value : subscripts.values) affine = affine && isl_pw_aff_isa_aff(value.get()) == isl_bool_true;
  isl_pw_multi_aff* relation = nullptr;
  if (affine) {
    isl_aff_list* list = isl_aff_list_alloc(scope.ctx().get(), static_cast<int>(rank));
    for (const isl::pw_aff& value : subscripts.values) list = isl_aff_list_add(list, isl_pw_aff_as_aff(value.copy()));
    isl_multi_aff* function = isl_multi_aff_from_aff_list(space, list);
    relation = isl_pw_multi_aff_alloc(nest.domain.copy(), function);
  } else {
    isl_pw_aff_list* list = isl_pw_aff_list_alloc(scope.ctx().get(), static_cast<int>(rank));
    for (const isl::pw_aff& value : subscripts.values) list = isl_pw_aff_list_add(list, value.copy());
    relation = isl_pw_multi_aff_from_multi_pw_aff(isl_multi_pw_aff_from_pw_aff_list(space, list));
    relation = isl_pw_multi_aff_intersect_domain(relation, nest.domain.copy());
  }
  return isl::manage(isl_pw_multi_aff_set_tuple_id(relation, isl_dim_in, make_id(scope.ctx(), statement).release()));
}

}  // namespace tileopt::tile_text
