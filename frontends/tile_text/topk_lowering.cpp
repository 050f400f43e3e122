#include "frontends/tile_text/topk_lowering.h"

#include <limits>

#include "frontends/tile_text/literals.h"
#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/reduction_lowering.h"
#include "frontends/tile_text/symbols.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;
using syntax::Position;

namespace {

/// Source expressions that stand for nothing in the source: all at the position of the `topk`.
struct Build {
  Position where;

  ExpressionPtr name(const std::string& name) const { return syntax::make_expression(where, syntax::Name{name}); }
  ExpressionPtr integer(std::uint64_t value) const { return syntax::make_expression(where, syntax::IntegerLiteral{value}); }
  ExpressionPtr negative(const ExpressionPtr& value) const { return syntax::make_expression(where, syntax::Unary{UnaryOp::negate, value}); }
  ExpressionPtr negate(const ExpressionPtr& value) const { return syntax::make_expression(where, syntax::Unary{UnaryOp::logical_not, value}); }
  ExpressionPtr cast(const std::string& type, const ExpressionPtr& value) const {
    return syntax::make_expression(where, syntax::Call{name(type), {value}, {}});
  }
  ExpressionPtr at(const ExpressionPtr& base, const ExpressionPtr& index) const {
    return syntax::make_expression(where, syntax::Subscript{base, {index}});
  }
  ExpressionPtr binary(BinaryOp op, const ExpressionPtr& a, const ExpressionPtr& b) const {
    return syntax::make_expression(where, syntax::Binary{op, where, a, b});
  }
  ExpressionPtr compare(BinaryOp op, const ExpressionPtr& a, const ExpressionPtr& b) const {
    return syntax::make_expression(where, syntax::Comparison{a, {{op, where, b}}});
  }
  ExpressionPtr both(const ExpressionPtr& a, const ExpressionPtr& b) const { return binary(BinaryOp::logical_and, a, b); }
  ExpressionPtr either(const ExpressionPtr& a, const ExpressionPtr& b) const { return binary(BinaryOp::logical_or, a, b); }
  ExpressionPtr tuple(const ExpressionPtr& a, const ExpressionPtr& b) const { return syntax::make_expression(where, syntax::Tuple{{a, b}}); }
  ExpressionPtr choose(const ExpressionPtr& condition, const ExpressionPtr& a, const ExpressionPtr& b) const {
    return syntax::make_expression(where, syntax::Conditional{a, condition, b});
  }
};

ExpressionPtr least(const Build& build, ElementType element) {
  if (is_float(element)) return build.negative(syntax::make_expression(build.where, syntax::RealLiteral{std::numeric_limits<double>::infinity()}));
  if (!is_signed(element)) return build.integer(0);
  return build.negative(build.integer(std::uint64_t{1} << (integer_bits(element) - 1)));
}

/// Whether (value, index) comes after `previous` in the order of the result. An index -1, nothing, comes after every other: as the
/// greatest unsigned number where the loop ascends, as the least number where it descends.
ExpressionPtr comes_after(const Build& build, const ExpressionPtr& previous, const ExpressionPtr& value, const ExpressionPtr& index,
                          ElementType element, ElementType index_type, bool descending) {
  const ExpressionPtr kept = build.at(previous, build.integer(0)), place = build.at(previous, build.integer(1));
  // A comparison with a NaN is false; it is the greatest.
  const auto greater = [&](const ExpressionPtr& x, const ExpressionPtr& y) {
    if (!is_float(element)) return build.compare(BinaryOp::gt, x, y);
    return build.both(build.negate(build.compare(BinaryOp::le, x, y)), build.compare(BinaryOp::eq, y, y));
  };
  const auto ordered = [&](const ExpressionPtr& x) { return descending ? x : build.cast(index_type == ElementType::i32 ? "u32" : "u64", x); };
  const ExpressionPtr later = build.compare(descending ? BinaryOp::lt : BinaryOp::gt, ordered(index), ordered(place));
  return build.either(greater(kept, value), build.both(build.negate(greater(value, kept)), later));
}

bool has_generator(const ExpressionPtr& expression) {
  if (syntax::as<syntax::Generator>(expression)) return true;
  for (const ExpressionPtr& child : syntax::children(*expression))
    if (has_generator(child)) return true;
  return false;
}

/// The monoid of (value, index) pairs that keeps the one which comes first in the result, in the same order.
Monoid first_of_two(ElementType element, ElementType index, bool descending) {
  const ElementType boolean = ElementType::boolean;
  const auto binary = [&](BinaryOp op, const ExprPtr& a, const ExprPtr& b) { return make_expr(boolean, Binary{op, a, b}); };
  const auto negate = [&](const ExprPtr& a) { return make_expr(boolean, Unary{UnaryOp::logical_not, a}); };
  const auto greater = [&](const ExprPtr& x, const ExprPtr& y) {
    if (!is_float(element)) return binary(BinaryOp::gt, x, y);
    return binary(BinaryOp::logical_and, negate(binary(BinaryOp::le, x, y)), binary(BinaryOp::eq, y, y));
  };
  const ElementType order = descending ? index : index == ElementType::i32 ? ElementType::u32 : ElementType::u64;
  const auto place = [&](const ExprPtr& pair) {
    const ExprPtr position = make_expr(index, Component{pair, 1});
    return order == index ? position : make_expr(order, Cast{position});
  };
  Monoid monoid;
  monoid.type = tuple_type({element, index});
  monoid.name = std::string("tileopt_topk_") + (descending ? "descending_" : "") + type_name(element) + "_" + type_name(index);
  monoid.commutative = monoid.exact = true;
  monoid.identity = make_expr(monoid.type, MakeTuple{{make_expr(element, least_value(element)), make_expr(index, Literal{-1, -1})}});
  const ExprPtr left = make_expr(monoid.type, Read{0}), right = make_expr(monoid.type, Read{1});
  const ExprPtr a = make_expr(element, Component{left, 0}), b = make_expr(element, Component{right, 0});
  const ExprPtr earlier = binary(descending ? BinaryOp::gt : BinaryOp::lt, place(right), place(left));
  const ExprPtr wins = binary(BinaryOp::logical_or, greater(b, a), binary(BinaryOp::logical_and, negate(greater(a, b)), earlier));
  monoid.combine = make_expr(monoid.type, Select{wins, right, left});
  return monoid;
}

/// { [iterators] -> [(value of the last one)] }
isl::pw_aff last_value(const Nest& nest) {
  if (nest.iterators.back().value) return *nest.iterators.back().value;
  isl_local_space* local = isl_local_space_from_space(nest.domain.space().release());
  return isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(nest.iterators.size() - 1))));
}

class TopkLowering {
 public:
  TopkLowering(Lowering& lowering, const TensorSymbol& best, const ExpressionPtr& expression)
      : lowering_(lowering), best_(best), call_(*syntax::as<syntax::Call>(expression)), build_{expression->where} {}

  /// False where an error was reported.
  bool lower(const Nest& nest, const ExpressionPtr& extent, std::vector<Tree::Branch>& out) {
    if (!check_form() || !check_types(nest)) return false;
    const ExpressionPtr range = syntax::make_expression(build_.where, syntax::Call{build_.name("range"), {extent}, {}});
    std::set<std::string> used;
    for (const Iterator& iterator : nest.iterators) used.insert(iterator.name);
    const std::string name = lowering_.scope.names().symbol(best_.source_name + "_rank", used);
    const Nest ranks = enter_loop(lowering_.scope, nest, {{name, build_.where}}, range);
    if (!check_range(ranks)) return false;
    const ExpressionPtr rank = build_.name(name), whole = build_.name(best_.source_name);
    const auto subscripts = read_subscripts(lowering_.scope, ranks, best_, build_.at(whole, rank));
    Nest place = ranks;
    place.known = ranks.known && subscripts.has_value();
    std::vector<Tree::Branch> pieces;
    const syntax::Generator pairs = below_the_one_before(build_.at(whole, build_.binary(BinaryOp::sub, rank, build_.integer(1))), rank);
    const bool fine = search(place, pairs, subscripts.value_or(Subscripts{}), pieces);
    if (!pieces.empty()) out.push_back(in_bands(ranks, nest.iterators.size(), in_sequence(std::move(pieces))));
    return fine;
  }

 private:
  bool report(Position where, const std::string& message, const std::string& hint) {
    lowering_.scope.diagnostics().add(ErrorCode::type_mismatch, where, message, hint);
    return false;
  }

  bool check_form() {
    generator_ = call_.arguments.empty() ? nullptr : syntax::as<syntax::Generator>(call_.arguments.front());
    if (generator_ == nullptr || call_.arguments.size() != 1 || !call_.keywords.empty())
      return report(build_.where, "`topk` needs one `for`", "write `topk(A[j] for j in range(N))`; how many are kept is the extent of the array");
    if (generator_->clauses.size() != 1 || generator_->clauses.front().targets.size() != 1)
      return report(generator_->clauses.back().targets.back().where, "`topk` gives the value of one iterator, not of several",
                    "use one `for` with one iterator");
    if (has_generator(generator_->element))
      return report(generator_->element->where, "a reduction inside `topk` would be computed for every kept pair", "assign it to a local first");
    if (best_.tensor.shape.size() - best_.leading_loops.size() != 1)
      return report(build_.where, "`topk` fills an array of one dimension", "declare `best: tuple[f32, i64][K] = topk(...)`");
    if (syntax::mentions(call_.arguments.front(), best_.source_name))
      return report(build_.where, "`topk` reads the array that it fills", "search in another array");
    return true;
  }

  bool check_types(const Nest& nest) {
    const std::vector<ElementType> parts = is_tuple(best_.tensor.type) ? tuple_components(best_.tensor.type) : std::vector<ElementType>{};
    const std::string hint = "declare `" + best_.source_name + ": tuple[f32, i64][K]`: the value and its index, i32 or i64";
    if (parts.size() != 2 || (parts[1] != ElementType::i32 && parts[1] != ElementType::i64))
      return report(build_.where, "`topk` gives pairs of a value and an index, not " + type_name(best_.tensor.type), hint);
    value_ = parts[0], index_ = parts[1];
    const bool ordered = is_integer(value_) || (is_float(value_) && has_infinity(value_));
    if (!ordered) return report(build_.where, "`topk` is not defined for " + type_name(value_), "cast the value: f32(...)");
    std::vector<std::string> inside = {generator_->clauses.front().targets.front().name};
    for (const Iterator& iterator : nest.iterators) inside.push_back(iterator.source_name);
    const Kind found = lowering_.kinds.of(generator_->element, inside);
    if (found.is_typed() && found.type != value_)
      return report(generator_->element->where, "`" + print(generator_->element) + "` is " + type_name(found.type) + "; `" + best_.source_name + "` holds " + type_name(value_),
                    "write `" + type_name(value_) + "(" + print(generator_->element) + ")`");
    return true;
  }

  /// A local of its own accumulates one search, and may stay in registers.
  bool search(const Nest& place, const syntax::Generator& pairs, const Subscripts& subscripts, std::vector<Tree::Branch>& pieces) {
    Scope& scope = lowering_.scope;
    const TensorSymbol& found = add_local(scope, place, scope.names().reduction_tensor(best_.source_name, "topk"), best_.tensor.type, build_.where);
    const Subscripts own = leading_subscripts(place, found);
    const auto monoid = std::make_shared<const Monoid>(first_of_two(value_, index_, descends(generator_->clauses.front().iterable)));
    if (!emit_reduction(lowering_, place, {found, own, build_.where, true}, pairs, {Combine::monoid, monoid}, pieces)) return false;
    const std::string name = scope.names().statement(best_.tensor.name);
    LoweredStatement keep = start_statement(place, name, scope.diagnostics().locate(build_.where));
    keep.ir.write = {best_.tensor.name, access_relation(scope, place, best_, subscripts, name), keep.ir.where};
    ValueLowering value(lowering_, place, name, best_.source_name);
    keep.ir.body = value.read(found, own, build_.where);
    if (!value.add_conditions(keep.ir) || !lowering_.statements.add(scope, std::move(keep))) return false;
    pieces.push_back({{name}, Tree::leaf()});
    return true;
  }

  /// The index -1 says that nothing was left, so the iterator may not have it.
  bool check_range(const Nest& outer) {
    const syntax::Clause& clause = generator_->clauses.front();
    Nest inner = outer;
    if (const auto* range = syntax::as<syntax::Call>(clause.iterable)) inner = enter_symbols(lowering_.scope, outer, range->arguments, {});
    inner = enter_loop(lowering_.scope, inner, clause.targets, clause.iterable);
    if (!inner.known) return true;  // reported
    const isl::pw_aff value = last_value(inner);
    if (inner.domain.intersect_params(lowering_.scope.context()).is_disjoint(value.lt_set(value.sub(value)))) return true;
    return report(clause.iterable->where, "the values of `" + clause.targets.front().name + "` can be negative, and `topk` says -1 where nothing is left",
                  "let the range start at 0 or above");
  }

  syntax::Generator below_the_one_before(const ExpressionPtr& previous, const ExpressionPtr& rank) const {
    syntax::Generator pairs = *generator_;
    const syntax::Target& iterator = generator_->clauses.front().targets.front();
    const ExpressionPtr index = syntax::make_expression(iterator.where, syntax::Name{iterator.name});
    const ExpressionPtr pair = build_.tuple(generator_->element, index);
    const ExpressionPtr none = build_.tuple(least(build_, value_), build_.negative(build_.integer(1)));
    const ExpressionPtr after = comes_after(build_, previous, generator_->element, index, value_, index_, descends(generator_->clauses.front().iterable));
    pairs.element = build_.choose(build_.compare(BinaryOp::eq, rank, build_.integer(0)), pair, build_.choose(after, pair, none));
    return pairs;
  }

  Lowering& lowering_;
  const TensorSymbol& best_;
  const syntax::Call& call_;
  Build build_;
  const syntax::Generator* generator_ = nullptr;
  ElementType value_ = ElementType::f32, index_ = ElementType::i64;
};

}  // namespace

const syntax::Call* as_topk(const ExpressionPtr& expression) {
  const auto* call = syntax::as<syntax::Call>(expression);
  return call != nullptr && callee_name(*call) == "topk" ? call : nullptr;
}

void lower_topk(Lowering& lowering, const Nest& nest, const TensorSymbol& best, const ExpressionPtr& extent, const ExpressionPtr& expression,
                std::vector<Tree::Branch>& out) {
  if (!TopkLowering(lowering, best, expression).lower(nest, extent, out)) lowering.statements.add_unknown_write(best.tensor.name);
}

}  // namespace tileopt::tile_text
