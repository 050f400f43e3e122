#include "frontends/tile_text/kinds.h"

#include "frontends/tile_text/pure_functions.h"
#include "support/text.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {
Kind typed(ElementType type) { return {KindTag::typed, type}; }
}  // namespace

std::optional<Function> find_function(const std::string& name) {
  static constexpr Function all[] = {Function::exp,   Function::exp2, Function::log,  Function::sqrt,
                                     Function::rsqrt, Function::tanh, Function::erf,  Function::abs,
                                     Function::floor, Function::ceil, Function::round};
  for (const Function function : all)
    if (function_name(function) == name) return function;
  return std::nullopt;
}

std::optional<Combine> find_reduction(const std::string& name) {
  for (const Combine combine : {Combine::sum, Combine::prod, Combine::min, Combine::max, Combine::any, Combine::all})
    if (combine_name(combine) == name) return combine;
  return std::nullopt;
}

bool is_extreme_search(const std::string& name) { return name == "argmax" || name == "argmin"; }

std::string callee_name(const syntax::Call& call) {
  const auto* name = syntax::as<syntax::Name>(call.callee);
  return name ? name->name : "";
}

Kind Kinds::of(const ExpressionPtr& expression, const std::vector<std::string>& iterators) {
  if (const auto found = memo_.find(expression); found != memo_.end()) return found->second;
  const Kind kind = compute(expression, iterators);
  memo_.emplace(expression, kind);
  return kind;
}

Kind Kinds::join(Kind a, Kind b) {
  if (a.tag == KindTag::invalid || b.tag == KindTag::invalid) return {};
  if (a.is_typed() && b.is_typed()) return a.type == b.type ? a : Kind{};
  if (a.tag == KindTag::tuple || b.tag == KindTag::tuple) return a.tag == b.tag ? a : a.is_typed() && is_tuple(a.type) ? a : b.is_typed() && is_tuple(b.type) ? b : Kind{};
  if (b.is_typed()) std::swap(a, b);
  if (a.is_typed()) return b.is_literal() || is_integer(a.type) ? a : Kind{};
  if (a.tag == KindTag::position || b.tag == KindTag::position)
    return a.tag != KindTag::real_literal && b.tag != KindTag::real_literal ? Kind{KindTag::position} : Kind{};
  if (a.tag == KindTag::index || b.tag == KindTag::index)
    return a.is_index_like() && b.is_index_like() ? Kind{KindTag::index} : Kind{};
  return {a.tag == KindTag::real_literal || b.tag == KindTag::real_literal ? KindTag::real_literal : KindTag::integer_literal};
}

Kind Kinds::compute(const ExpressionPtr& expression, const std::vector<std::string>& iterators) {
  if (syntax::as<syntax::IntegerLiteral>(expression)) return {KindTag::integer_literal};
  if (syntax::as<syntax::RealLiteral>(expression)) return {KindTag::real_literal};
  if (syntax::as<syntax::BoolLiteral>(expression)) return typed(ElementType::boolean);
  if (syntax::as<syntax::Comparison>(expression)) return typed(ElementType::boolean);
  if (const auto* name = syntax::as<syntax::Name>(expression)) {
    if (contains(iterators, name->name) || scope_.is_size(name->name)) return {KindTag::index};
    if (const ValueSymbol* value = scope_.find_value(name->name)) return typed(value->type);
    const TensorSymbol* symbol = scope_.find_tensor(name->name);
    return symbol ? typed(symbol->tensor.type) : Kind{};
  }
  if (syntax::as<syntax::Tuple>(expression)) return {KindTag::tuple};
  if (const auto* subscript = syntax::as<syntax::Subscript>(expression)) {
    const auto* base = syntax::as<syntax::Name>(subscript->base);
    const TensorSymbol* symbol = base ? scope_.find_tensor(base->name) : nullptr;
    if (symbol != nullptr && (symbol->rank() > 0 || !is_tuple(symbol->tensor.type))) return typed(symbol->tensor.type);
    const Kind whole = of(subscript->base, iterators);
    const auto* index = syntax::as<syntax::IntegerLiteral>(subscript->indices.front());
    if (!whole.is_typed() || !is_tuple(whole.type) || subscript->indices.size() != 1 || index == nullptr) return {};
    const std::vector<ElementType> components = tuple_components(whole.type);
    return index->value < components.size() ? typed(components[index->value]) : Kind{};
  }
  if (const auto* unary = syntax::as<syntax::Unary>(expression))
    return unary->op == UnaryOp::logical_not ? typed(ElementType::boolean) : of(unary->operand, iterators);
  if (const auto* binary = syntax::as<syntax::Binary>(expression)) {
    if (binary->op == BinaryOp::logical_and || binary->op == BinaryOp::logical_or) return typed(ElementType::boolean);
    const Kind kind = join(of(binary->left, iterators), of(binary->right, iterators));
    return kind.tag == KindTag::integer_literal && binary->op == BinaryOp::divide ? Kind{KindTag::real_literal} : kind;
  }
  if (const auto* conditional = syntax::as<syntax::Conditional>(expression))
    return join(of(conditional->then_value, iterators), of(conditional->else_value, iterators));
  if (const auto* call = syntax::as<syntax::Call>(expression)) return of_call(*call, iterators);
  return {};
}

Kind Kinds::of_call(const syntax::Call& call, const std::vector<std::string>& iterators) {
  const std::string name = callee_name(call);
  if (const auto type = parse_type(name)) return typed(*type);
  if (scope_.functions() != nullptr)
    if (const auto type = scope_.functions()->result_type(name)) return typed(*type);
  if (call.arguments.empty()) return {};
  if (name == "scan") return of(call.arguments.front(), iterators);
  if (const auto* generator = syntax::as<syntax::Generator>(call.arguments.front())) {
    if (is_extreme_search(name)) return {KindTag::position};
    if (!find_reduction(name)) return {};
    if (name == "any" || name == "all") return typed(ElementType::boolean);
    std::vector<std::string> inner = iterators;
    for (const syntax::Clause& clause : generator->clauses)
      for (const syntax::Target& target : clause.targets) inner.push_back(target.name);
    return of(generator->element, inner);
  }
  if (!find_function(name) && name != "min" && name != "max") return {};
  Kind kind = of(call.arguments.front(), iterators);
  for (std::size_t i = 1; i < call.arguments.size(); ++i) kind = join(kind, of(call.arguments[i], iterators));
  return kind;
}

bool Kinds::is_affine_condition(const ExpressionPtr& expression, const std::vector<std::string>& iterators) {
  if (syntax::as<syntax::BoolLiteral>(expression)) return true;
  if (const auto* comparison = syntax::as<syntax::Comparison>(expression)) {
    bool affine = of(comparison->first, iterators).is_index_like() && !syntax::has_conditional(expression);
    for (const syntax::ComparisonLink& link : comparison->links) affine = affine && of(link.operand, iterators).is_index_like();
    return affine;
  }
  if (const auto* unary = syntax::as<syntax::Unary>(expression))
    return unary->op == UnaryOp::logical_not && is_affine_condition(unary->operand, iterators);
  if (const auto* binary = syntax::as<syntax::Binary>(expression)) {
    const bool logical = binary->op == BinaryOp::logical_and || binary->op == BinaryOp::logical_or;
    return logical && is_affine_condition(binary->left, iterators) && is_affine_condition(binary->right, iterators);
  }
  return false;
}

}  // namespace tileopt::tile_text
