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

void emit_init(Lowering& lowering, const Nest& nest, const ReductionTarget& target, const Reduction& reduction, const std::string& base,
               std::vector<Tree::Branch>& out) {
  const std::string name = lowering.scope.names().init_statement(base);
  LoweredStatement init = start_statement(nest, name, lowering.scope.diagnostics().locate(target.where));
  init.ir.write = {target.symbol.tensor.name, access_relation(lowering.scope, nest, target.symbol, target.subscripts, name),
                   init.ir.where};
  const ElementType type = target.symbol.tensor.type;
  init.ir.body = reduction.monoid ? reduction.monoid->identity : make_expr(type, combine_identity(reduction.combine, type));
  ValueLowering value(lowering, nest, name, target.symbol.source_name);
  if (!value.add_conditions(init.ir)) return;
  out.insert(out.end(), value.before().begin(), value.before().end());
  if (lowering.statements.add(lowering.scope, std::move(init))) out.push_back({{name}, Tree::leaf()});
}

/// Whether a built-in reduction is defined for values of `type`.
bool combines(Combine combine, ElementType type) {
  if (combine == Combine::any || combine == Combine::all) return type == ElementType::boolean;
  return is_float(type) || is_integer(type);
}

}  // namespace

bool emit_reduction(Lowering& lowering, const Nest& nest, const ReductionTarget& target, const syntax::Generator& generator,
                    const Reduction& reduction, std::vector<Tree::Branch>& out) {
  Scope& scope = lowering.scope;
  const ElementType type = target.symbol.tensor.type;
  const std::string name = scope.names().statement(target.symbol.tensor.name);
  const bool known = nest.known && target.symbol.known;
  if (known && target.init) emit_init(lowering, nest, target, reduction, name, out);
  const Nest inner = enter_clauses(lowering, nest, generator);
  ValueLowering value(lowering, inner, name, target.symbol.source_name);
  ExprPtr body = value.lower(generator.element, type);
  if (body && !reduction.monoid && !combines(reduction.combine, type)) {
    const bool truth = reduction.combine == Combine::any || reduction.combine == Combine::all;
    scope.diagnostics().add(ErrorCode::type_mismatch, generator.element->where,
                            "`" + reduction.name() + "` is not defined for " + type_name(type),
                            truth            ? "compare the value, e.g. with 0"
                            : is_tuple(type) ? "reduce one component, or declare a `@monoid`"
                                             : "cast the value: i32(...)");
    body = nullptr;
  }
  if (reduction.monoid) lowering.monoids.emplace(reduction.monoid->name, *reduction.monoid);
  if (!known || !inner.known) return false;
  LoweredStatement statement = start_statement(inner, name, scope.diagnostics().locate(target.where));
  const Subscripts subscripts = move_inside(target.subscripts, nest, inner);
  statement.ir.write = {target.symbol.tensor.name, access_relation(scope, inner, target.symbol, subscripts, name),
                        statement.ir.where};
  statement.ir.combine = reduction.combine;
  if (reduction.monoid) statement.ir.monoid = reduction.monoid->name;
  if (!value.add_conditions(statement.ir)) body = nullptr;
  statement.ir.body = body;
  statement.own_read_initialised = target.init;
  std::vector<Tree::Branch> pieces = std::move(value.before());
  if (lowering.statements.add(scope, std::move(statement))) {
    pieces.push_back({{name}, Tree::leaf()});
    if (reduction.scan) lowering.scans.push_back({name, *reduction.scan});
  }
  if (!pieces.empty()) out.push_back(in_bands(inner, nest.iterators.size(), in_sequence(std::move(pieces))));
  return body != nullptr;
}

Literal no_position(bool descending) { return descending ? least_value(ElementType::i64) : largest_value(ElementType::i64); }

Monoid extreme_search(ElementType element, bool greatest, bool descending) {
  const ElementType boolean = ElementType::boolean, index = ElementType::i64;
  const auto binary = [&](BinaryOp op, const ExprPtr& a, const ExprPtr& b) { return make_expr(boolean, Binary{op, a, b}); };
  const auto both = [&](const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::logical_and, a, b); };
  const auto either = [&](const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::logical_or, a, b); };
  const auto negate = [&](const ExprPtr& a) { return make_expr(boolean, Unary{UnaryOp::logical_not, a}); };
  Monoid monoid;
  monoid.name = std::string(greatest ? "tileopt_argmax_" : "tileopt_argmin_") + (descending ? "descending_" : "") + type_name(element);
  monoid.type = tuple_type({element, index});
  monoid.commutative = monoid.exact = true;
  monoid.identity = make_expr(monoid.type, MakeTuple{{make_expr(element, greatest ? least_value(element) : largest_value(element)),
                                                      make_expr(index, no_position(descending))}});
  const ExprPtr left = make_expr(monoid.type, Read{0}), right = make_expr(monoid.type, Read{1});
  const ExprPtr a = make_expr(element, Component{left, 0}), b = make_expr(element, Component{right, 0});
  const ExprPtr i = make_expr(index, Component{left, 1}), j = make_expr(index, Component{right, 1});
  ExprPtr wins = binary(greatest ? BinaryOp::gt : BinaryOp::lt, b, a);
  ExprPtr ties = binary(BinaryOp::eq, a, b);
  if (is_float(element)) {
    const ExprPtr a_is_nan = binary(BinaryOp::ne, a, a), b_is_nan = binary(BinaryOp::ne, b, b);
    wins = both(negate(a_is_nan), either(b_is_nan, wins));
    ties = either(both(a_is_nan, b_is_nan), ties);
  }
  const ExprPtr earlier = binary(descending ? BinaryOp::gt : BinaryOp::lt, j, i);
  monoid.combine = make_expr(monoid.type, Select{either(wins, both(ties, earlier)), right, left});
  return monoid;
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

const TensorSymbol& add_local(Scope& scope, const Nest& nest, const std::string& name, ElementType type, syntax::Position where) {
  TensorSymbol symbol;
  symbol.where = where;
  symbol.known = nest.known;
  symbol.tensor.type = type;
  symbol.tensor.role = TensorRole::local;
  symbol.tensor.where = scope.diagnostics().locate(where);
  symbol.tensor.name = symbol.source_name = name;
  expand_over(scope, nest, symbol);
  return scope.add_unnamed(std::move(symbol));
}

}  // namespace tileopt::tile_text
