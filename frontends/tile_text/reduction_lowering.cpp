#include "frontends/tile_text/reduction_lowering.h"

#include "frontends/tile_text/literals.h"
#include "frontends/tile_text/symbols.h"

namespace tileopt::tile_text {

namespace {

/// Subscripts over an outer nest, on the space of a nest with more iterators.
Subscripts move_inside(const Subscripts& outer, const Nest& from, const Nest& to) {
  Subscripts moved;
  const auto first = static_cast<unsigned>(from.iterators.size());
  const auto count = static_cast<unsigned>(to.iterators.size()) - first;
  for (const isl::pw_aff& value : outer.values)
    moved.values.push_back(isl::manage(isl_pw_aff_insert_dims(value.copy(), isl_dim_in, first, count)));
  return moved;
}

Literal identity(Combine combine, ElementType type) {
  switch (combine) {
    case Combine::assign:
    case Combine::sum:
      return Literal{0, 0};
    case Combine::prod:
      return Literal{1, 1};
    case Combine::min:
      return extreme_literal(Extreme::largest, type);
    case Combine::max:
      return extreme_literal(Extreme::least, type);
  }
  return Literal{0, 0};
}

/// The nest inside all clauses of a generator, with the symbols that the clauses and the element need.
Nest enter_clauses(Lowering& lowering, const Nest& outer, const syntax::Generator& generator) {
  Nest nest = outer;
  for (const syntax::Clause& clause : generator.clauses) {
    if (const auto* call = syntax::as<syntax::Call>(clause.iterable)) nest = enter_symbols(lowering.scope, nest, call->arguments, {});
    nest = enter_loop(lowering.scope, nest, clause.targets, clause.iterable);
    for (const syntax::ExpressionPtr& condition : clause.conditions) {
      std::vector<std::string> names;
      for (const Iterator& iterator : nest.iterators) names.push_back(iterator.source_name);
      if (lowering.kinds.is_affine_condition(condition, names)) {
        nest = restrict(lowering.scope, nest, condition);
        continue;
      }
      nest = enter_symbols(lowering.scope, nest, {}, {condition});
      nest.conditions.push_back({condition, false, nullptr});
    }
  }
  return enter_symbols(lowering.scope, nest, {}, {generator.element});
}

void emit_init(Lowering& lowering, const Nest& nest, const ReductionTarget& target, Combine combine, const std::string& base,
               std::vector<Tree::Branch>& out) {
  const std::string name = lowering.scope.names().init_statement(base);
  LoweredStatement init = start_statement(nest, name, lowering.scope.diagnostics().locate(target.where));
  init.ir.write = {target.symbol.tensor.name, access_relation(lowering.scope, nest, target.symbol, target.subscripts, name),
                   init.ir.where};
  init.ir.body = make_expr(target.symbol.tensor.type, identity(combine, target.symbol.tensor.type));
  ValueLowering value(lowering, nest, name, target.symbol.source_name);
  if (!value.add_conditions(init.ir)) return;
  out.insert(out.end(), value.before().begin(), value.before().end());
  if (lowering.statements.add(lowering.scope, std::move(init))) out.push_back({{name}, Tree::leaf()});
}

}  // namespace

bool emit_reduction(Lowering& lowering, const Nest& nest, const ReductionTarget& target, const syntax::Generator& generator,
                    Combine combine, std::vector<Tree::Branch>& out) {
  Scope& scope = lowering.scope;
  const ElementType type = target.symbol.tensor.type;
  const std::string name = scope.names().statement(target.symbol.tensor.name);
  const bool known = nest.known && target.symbol.known;
  if (known && target.init) emit_init(lowering, nest, target, combine, name, out);
  const Nest inner = enter_clauses(lowering, nest, generator);
  ValueLowering value(lowering, inner, name, target.symbol.source_name);
  ExprPtr body = value.lower(generator.element, type);
  if (body && type == ElementType::boolean) {
    scope.diagnostics().add(ErrorCode::type_mismatch, generator.element->where,
                            "`" + combine_name(combine) + "` is not defined for bool", "cast the value: i32(...)");
    body = nullptr;
  }
  if (!known || !inner.known) return false;
  LoweredStatement statement = start_statement(inner, name, scope.diagnostics().locate(target.where));
  const Subscripts subscripts = move_inside(target.subscripts, nest, inner);
  statement.ir.write = {target.symbol.tensor.name, access_relation(scope, inner, target.symbol, subscripts, name),
                        statement.ir.where};
  statement.ir.combine = combine;
  if (!value.add_conditions(statement.ir)) body = nullptr;
  statement.ir.body = body;
  statement.own_read_initialised = target.init;
  std::vector<Tree::Branch> pieces = std::move(value.before());
  if (lowering.statements.add(scope, std::move(statement))) pieces.push_back({{name}, Tree::leaf()});
  if (!pieces.empty()) out.push_back(in_bands(inner, nest.iterators.size(), in_sequence(std::move(pieces))));
  return body != nullptr;
}

void expand_over(const Scope& scope, const Nest& nest, TensorSymbol& symbol) {
  if (!nest.known) symbol.known = false;
  std::vector<isl::pw_aff> leading;
  for (std::size_t i = 0; i < nest.iterators.size(); ++i) {
    if (!nest.known) break;
    if (nest.iterators[i].symbol) continue;  // one of its values has an effect, so there is one local for all of them
    const LeadingDimension dimension = expand_dimension(scope, nest, i);
    leading.push_back(dimension.extent);
    symbol.shifts.push_back(dimension.shift);
    symbol.leading_loops.push_back(nest.iterators[i].loop);
  }
  symbol.tensor.shape.insert(symbol.tensor.shape.begin(), leading.begin(), leading.end());
}

}  // namespace tileopt::tile_text
