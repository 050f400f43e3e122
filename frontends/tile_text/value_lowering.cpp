#include "frontends/tile_text/value_lowering.h"

#include <cmath>
#include <cstdlib>

#include "frontends/tile_text/literals.h"
#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/pure_functions.h"
#include "frontends/tile_text/symbols.h"

namespace tileopt::tile_text {

namespace {
/// A part of the index expression divides by what is no constant.
bool contains_symbolic(const Scope& scope, const syntax::ExpressionPtr& expression) {
  if (is_symbolic(scope, expression)) return true;
  for (const syntax::ExpressionPtr& child : syntax::children(*expression))
    if (contains_symbolic(scope, child)) return true;
  return false;
}
}  // namespace

using syntax::ExpressionPtr;
using syntax::Position;

namespace {

std::string quoted(const ExpressionPtr& expression) { return "`" + print(expression) + "`"; }
std::string cast_text(ElementType type, const ExpressionPtr& expression) {
  return "`" + type_name(type) + "(" + print(expression) + ")`";
}

/// The type of two that the other is better cast to.
ElementType common_type(ElementType a, ElementType b) {
  if (widens_exactly(a, b)) return b;
  if (widens_exactly(b, a)) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (is_float(a)) return ElementType::f32;
  return ElementType::i64;
}

}  // namespace

std::vector<std::string> ValueLowering::iterator_names() const {
  std::vector<std::string> names;
  for (const Iterator& iterator : nest_.iterators) names.push_back(iterator.source_name);
  return names;
}

Kind ValueLowering::kind(const ExpressionPtr& expression) const { return lowering_.kinds.of(expression, iterator_names()); }

ExprPtr ValueLowering::reject(ErrorCode code, Position where, const std::string& message, const std::string& hint) {
  lowering_.scope.diagnostics().add(code, where, message, hint);
  return nullptr;
}

ExprPtr ValueLowering::lower(const ExpressionPtr& expression, ElementType wanted) {
  if (const auto* tuple = syntax::as<syntax::Tuple>(expression)) return lower_tuple(expression, *tuple, wanted);
  const Kind found = kind(expression);
  if (found.tag == KindTag::position && !is_integer(wanted)) {
    lower_typed(expression, ElementType::i64);
    return reject(ErrorCode::type_mismatch, expression->where,
                  quoted(expression) + " is an index; here " + type_name(wanted) + " is needed",
                  is_float(wanted) ? "write " + cast_text(wanted, expression) : "compare it, or assign it to an integer");
  }
  if (found.tag == KindTag::index) {
    const ExprPtr index = lower_index(expression, is_integer(wanted) ? wanted : ElementType::i64);
    if (!index || is_integer(wanted)) return index;
    const bool condition = wanted == ElementType::boolean;
    return reject(ErrorCode::type_mismatch, expression->where,
                  quoted(expression) + " is an index; here " + type_name(wanted) + " is needed",
                  condition          ? "compare it, e.g. `" + print(expression) + " != 0`"
                  : is_tuple(wanted) ? "write a value of that type"
                                     : "write " + cast_text(wanted, expression));
  }
  if (!found.is_typed() || found.type == wanted) return lower_typed(expression, wanted);
  lower_typed(expression, found.type);
  if (wanted == ElementType::boolean)
    return reject(ErrorCode::type_mismatch, expression->where,
                  quoted(expression) + " is " + type_name(found.type) + ", not a condition",
                  "compare it, e.g. `" + print(expression) + " != 0`");
  return reject(ErrorCode::type_mismatch, expression->where,
                quoted(expression) + " is " + type_name(found.type) + "; here " + type_name(wanted) + " is needed",
                is_tuple(wanted)       ? "write a value of that type"
                : is_tuple(found.type) ? "choose a component: `x[0]`, `x[1]`"
                                       : "write " + cast_text(wanted, expression));
}

ExprPtr ValueLowering::lower_tuple(const ExpressionPtr& expression, const syntax::Tuple& tuple, ElementType type) {
  const std::vector<ElementType> types = tuple_components(type);
  if (!is_tuple(type) || types.size() != tuple.elements.size())
    return reject(ErrorCode::type_mismatch, expression->where,
                  quoted(expression) + " is a tuple of " + std::to_string(tuple.elements.size()) + " values; here " + type_name(type) +
                      " is needed",
                  is_tuple(type) ? "give one value for each component" : "write one value");
  std::vector<ExprPtr> components;
  for (std::size_t i = 0; i < types.size(); ++i) components.push_back(lower(tuple.elements[i], types[i]));
  for (const ExprPtr& component : components)
    if (!component) return nullptr;
  return make_expr(type, MakeTuple{std::move(components)});
}

bool ValueLowering::is_component(const syntax::Subscript& subscript) const {
  const auto* base = syntax::as<syntax::Name>(subscript.base);
  const TensorSymbol* symbol = base ? lowering_.scope.find_tensor(base->name) : nullptr;
  if (symbol != nullptr) return symbol->rank() == 0 && is_tuple(symbol->tensor.type);
  if (base != nullptr && lowering_.scope.find_value(base->name) == nullptr) return false;
  const Kind whole = kind(subscript.base);
  return base != nullptr || (whole.is_typed() && is_tuple(whole.type));
}

ExprPtr ValueLowering::lower_component(const ExpressionPtr& expression, const syntax::Subscript& subscript) {
  const Kind whole = kind(subscript.base);
  if (whole.is_typed() && !is_tuple(whole.type))
    return reject(ErrorCode::type_mismatch, expression->where, quoted(subscript.base) + " is " + type_name(whole.type) + ", which has no components",
                  "write it without brackets");
  const ExprPtr operand = lower_typed(subscript.base, whole.type);
  const std::size_t count = whole.is_typed() ? tuple_components(whole.type).size() : 0;
  const auto* index = syntax::as<syntax::IntegerLiteral>(subscript.indices.front());
  if (operand && (subscript.indices.size() != 1 || index == nullptr || index->value >= count))
    return reject(ErrorCode::type_mismatch, subscript.indices.front()->where,
                  "a component of " + type_name(whole.type) + " is chosen by a number from 0 to " + std::to_string(count - 1),
                  "write e.g. `" + print(subscript.base) + "[0]`");
  if (!operand) return nullptr;
  return make_expr(tuple_components(whole.type)[index->value], Component{operand, index->value});
}

ExprPtr ValueLowering::lower_typed(const ExpressionPtr& expression, ElementType type) {
  if (const auto* literal = syntax::as<syntax::IntegerLiteral>(expression))
    return lower_literal(expression, literal->value, false, type);
  if (const auto* literal = syntax::as<syntax::RealLiteral>(expression)) return lower_real(expression, literal->value, type);
  if (const auto* literal = syntax::as<syntax::BoolLiteral>(expression))
    return make_expr(type, Literal{0, literal->value ? 1 : 0});
  if (const auto* name = syntax::as<syntax::Name>(expression)) {
    const ValueSymbol* value = lowering_.scope.find_value(name->name);
    return value != nullptr ? value->value : lower_access(expression, expression);
  }
  if (const auto* subscript = syntax::as<syntax::Subscript>(expression))
    return is_component(*subscript) ? lower_component(expression, *subscript) : lower_access(expression, subscript->base);
  if (const auto* unary = syntax::as<syntax::Unary>(expression)) return lower_unary(expression, *unary, type);
  if (const auto* binary = syntax::as<syntax::Binary>(expression)) return lower_binary(*binary, type);
  if (const auto* comparison = syntax::as<syntax::Comparison>(expression)) return lower_comparison(*comparison);
  if (const auto* conditional = syntax::as<syntax::Conditional>(expression)) return lower_conditional(*conditional, type);
  if (const auto* call = syntax::as<syntax::Call>(expression)) return lower_call(expression, *call, type);
  if (syntax::as<syntax::Attribute>(expression))
    return reject(ErrorCode::unsupported, expression->where,
                  quoted(expression) + ": attributes are not part of the tile language",
                  "write the name alone; functions such as exp are built in");
  return reject(ErrorCode::type_mismatch, expression->where, quoted(expression) + " is no number",
                "write a number, a tensor element or a call");
}

ExprPtr ValueLowering::lower_literal(const ExpressionPtr& expression, std::uint64_t value, bool negative, ElementType type) {
  if (is_tuple(type))
    return reject(ErrorCode::type_mismatch, expression->where, quoted(expression) + " is a number; here " + type_name(type) + " is needed",
                  "give one value for each component: `(a, b)`");
  if (type == ElementType::boolean)
    return reject(ErrorCode::type_mismatch, expression->where, quoted(expression) + " is a number, not a condition",
                  "write True, False or a comparison");
  const std::optional<Literal> literal = integer_literal(value, negative, type);
  if (literal) return make_expr(type, *literal);
  return reject(ErrorCode::type_mismatch, expression->where, quoted(expression) + " does not fit in " + type_name(type),
                "use a smaller number or a wider type");
}

ExprPtr ValueLowering::lower_real(const ExpressionPtr& expression, double value, ElementType type) {
  if (!is_float(type))
    return reject(ErrorCode::type_mismatch, expression->where,
                  quoted(expression) + " is a float; here " + type_name(type) + " is needed",
                  is_tuple(type)                 ? "give one value for each component: `(a, b)`"
                  : type == ElementType::boolean ? "write True, False or a comparison"
                                               : "write an integer, or cast the other operand to a float type");
  const std::optional<double> rounded = std::isinf(value) && !has_infinity(type) ? std::nullopt : round_real(value, type);
  if (rounded) return make_expr(type, Literal{*rounded, 0});
  return reject(ErrorCode::type_mismatch, expression->where, quoted(expression) + " does not fit in " + type_name(type),
                "use a smaller number or a wider type");
}

ExprPtr ValueLowering::lower_index(const ExpressionPtr& expression, ElementType type) {
  if (syntax::has_conditional(expression)) return lower_typed(expression, type);
  if (const std::optional<long> constant = fold_constant(expression)) {
    if (const auto literal = integer_literal(static_cast<std::uint64_t>(std::labs(*constant)), *constant < 0, type))
      return make_expr(type, *literal);
  }
  // What isl cannot divide is divided as a value.
  if (const auto* binary = syntax::as<syntax::Binary>(expression)) {
    const bool divides = binary->op == BinaryOp::floor_div || binary->op == BinaryOp::modulo;
    const bool combines = binary->op == BinaryOp::add || binary->op == BinaryOp::sub || binary->op == BinaryOp::mul || divides;
    if (divides && !fold_constant(binary->right)) return lower_division(*binary, type);
    if (combines && contains_symbolic(lowering_.scope, expression)) return lower_division(*binary, type);
  }
  AffineReader reader(lowering_.scope, nest_.iterators, nest_.domain.space(), AffineRole::index_value);
  const std::optional<isl::pw_aff> value = reader.value(expression);
  if (!value) return nullptr;
  const isl::id tuple = isl::manage(isl_id_alloc(lowering_.scope.ctx().get(), statement_.c_str(), nullptr));
  const isl::pw_aff named = isl::manage(isl_pw_aff_set_tuple_id(value->copy(), isl_dim_in, tuple.copy()));
  for (std::size_t i = 0; i < indices_.size(); ++i)
    if (isl_pw_aff_plain_is_equal(indices_[i].get(), named.get()) == isl_bool_true)
      return convert(make_expr(ElementType::i64, IndexValue{i}), type);
  indices_.push_back(named);
  return convert(make_expr(ElementType::i64, IndexValue{indices_.size() - 1}), type);
}

ExprPtr ValueLowering::lower_division(const syntax::Binary& binary, ElementType type) {
  const ExprPtr left = lower_index(binary.left, ElementType::i64), right = lower_index(binary.right, ElementType::i64);
  return left && right ? convert(make_expr(ElementType::i64, Binary{binary.op, left, right}), type) : nullptr;
}

ExprPtr ValueLowering::lower_symbol(const ExpressionPtr& expression) {
  const Kind found = kind(expression);
  if (found.is_typed()) {
    const ExprPtr value = lower(expression, found.type);
    return value ? convert(value, ElementType::i64) : nullptr;
  }
  const auto* binary = syntax::as<syntax::Binary>(expression);
  return binary ? lower_division(*binary, ElementType::i64) : nullptr;
}

bool ValueLowering::add_conditions(Statement& statement) {
  bool fine = true;
  for (std::size_t i = 0; i < nest_.iterators.size(); ++i) {
    if (!nest_.iterators[i].symbol) continue;
    const ExprPtr value = lower_symbol(nest_.iterators[i].symbol);
    fine = fine && value;
    if (value) statement.guards.push_back({i, value});
  }
  for (const DataCondition& data : nest_.conditions) {
    ExprPtr holds = data.frozen ? read(*data.frozen, leading_subscripts(nest_, *data.frozen), data.condition->where)
                                : lower(data.condition, ElementType::boolean);
    fine = fine && holds;
    if (!holds) continue;
    if (data.negated) holds = make_expr(ElementType::boolean, Unary{UnaryOp::logical_not, holds});
    statement.predicate = statement.predicate ? make_expr(ElementType::boolean, Binary{BinaryOp::logical_and, statement.predicate, holds}) : holds;
  }
  statement.reads = reads_;
  statement.indices = indices_;
  return fine;
}

ExprPtr ValueLowering::convert(const ExprPtr& value, ElementType type) {
  return value->type == type ? value : make_expr(type, Cast{value});
}

ExprPtr ValueLowering::lower_access(const ExpressionPtr& expression, const ExpressionPtr& base) {
  const auto* name = syntax::as<syntax::Name>(base);
  if (name == nullptr)
    return reject(ErrorCode::type_mismatch, expression->where, quoted(base) + " has no elements",
                  syntax::as<syntax::Subscript>(base) ? "write all subscripts in one pair of brackets, e.g. `A[i, j]`"
                                                      : "subscript a tensor by its name");
  const TensorSymbol* symbol = lowering_.scope.find_tensor(name->name);
  if (symbol == nullptr && lowering_.scope.functions() != nullptr && lowering_.scope.functions()->find(name->name) != nullptr)
    return reject(ErrorCode::type_mismatch, base->where, "`" + name->name + "` is a function", "call it: `" + name->name + "(...)`");
  if (symbol == nullptr) {
    if (find_iterator(nest_.iterators, name->name) || lowering_.scope.is_size(name->name))
      return reject(ErrorCode::type_mismatch, base->where, "`" + name->name + "` is an index and has no elements",
                    "subscript a tensor");
    lowering_.scope.report_unknown(name->name, base->where, nest_.iterators);
    return nullptr;
  }
  const std::optional<Subscripts> subscripts = read_subscripts(lowering_.scope, nest_, *symbol, expression);
  return subscripts ? read(*symbol, *subscripts, expression->where) : nullptr;
}

ExprPtr ValueLowering::read(const TensorSymbol& symbol, const Subscripts& subscripts, Position where) {
  if (!nest_.known) return nullptr;
  const isl::pw_multi_aff relation = access_relation(lowering_.scope, nest_, symbol, subscripts, statement_);
  for (std::size_t i = 0; i < reads_.size(); ++i)
    if (reads_[i].tensor == symbol.tensor.name &&
        isl_pw_multi_aff_plain_is_equal(reads_[i].index.get(), relation.get()) == isl_bool_true)
      return make_expr(symbol.tensor.type, Read{i});
  reads_.push_back({symbol.tensor.name, relation, lowering_.scope.diagnostics().locate(where)});
  return make_expr(symbol.tensor.type, Read{reads_.size() - 1});
}

ElementType ValueLowering::operand_type(Kind operand, bool sibling_invalid, ElementType type) const {
  return operand.is_typed() && sibling_invalid ? operand.type : type;
}

bool ValueLowering::check_operator(BinaryOp op, Position where, ElementType type) {
  const std::string shown = "`" + op_name(op) + "`";
  const auto refuse = [&](const std::string& hint) {
    reject(ErrorCode::type_mismatch, where, shown + " is not defined for " + type_name(type), hint);
    return false;
  };
  if (is_tuple(type)) return refuse("use the components: `x[0]`, `x[1]`");
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::min:
    case BinaryOp::max:
      return type != ElementType::boolean || refuse("use `and`, `or` and `not`, or cast to a number type");
    case BinaryOp::divide:
      return is_float(type) ||
             refuse(is_integer(type) ? "write `//`, or cast both operands to a float type" : "cast to a float type");
    case BinaryOp::floor_div:
    case BinaryOp::modulo:
      return is_integer(type) ||
             refuse(is_float(type) ? "write floor(a / b), or cast to an integer type" : "cast to an integer type");
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
    case BinaryOp::shift_left:
    case BinaryOp::shift_right:
      return is_integer(type) || refuse(!is_float(type)          ? "use `and`, `or` and `not`"
                                         : op == BinaryOp::bit_xor ? "cast to an integer type; a power is a product, x * x"
                                                                   : "cast to an integer type");
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
      return type != ElementType::boolean || refuse("use `==`, `and`, `or` and `not`");
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      return true;
  }
  return true;
}

void ValueLowering::report_mixed(const ExpressionPtr& left, const ExpressionPtr& right, const std::string& op, Position where) {
  const ElementType a = kind(left).type, b = kind(right).type;
  const ElementType common = common_type(a, b);
  std::string hint = "cast explicitly: ";
  if (is_tuple(a) || is_tuple(b))
    hint = "use a component: `x[0]`";
  else if (a == ElementType::boolean || b == ElementType::boolean)
    hint += "write " + cast_text(common, a == ElementType::boolean ? left : right);
  else if (common == a)
    hint += "write " + cast_text(common, right);
  else if (common == b)
    hint += "write " + cast_text(common, left);
  else
    hint += "write " + cast_text(common, left) + " and " + cast_text(common, right);
  reject(ErrorCode::type_mismatch, where, "`" + op + "` mixes " + type_name(a) + " and " + type_name(b), hint);
}

ExprPtr ValueLowering::lower_unary(const ExpressionPtr& expression, const syntax::Unary& unary, ElementType type) {
  if (unary.op == UnaryOp::negate) {
    if (const auto* literal = syntax::as<syntax::IntegerLiteral>(unary.operand))
      return lower_literal(expression, literal->value, true, type);
    if (const auto* literal = syntax::as<syntax::RealLiteral>(unary.operand))
      return lower_real(expression, -literal->value, type);
  }
  const ExprPtr operand = lower(unary.operand, unary.op == UnaryOp::logical_not ? ElementType::boolean : type);
  if (unary.op == UnaryOp::negate && is_tuple(type))
    return reject(ErrorCode::type_mismatch, expression->where, "`-` is not defined for " + type_name(type), "use the components: `x[0]`, `x[1]`");
  if (unary.op == UnaryOp::negate && type == ElementType::boolean)
    return reject(ErrorCode::type_mismatch, expression->where, "`-` is not defined for bool", "write `not`");
  if (unary.op == UnaryOp::bit_not && !is_integer(type))
    return reject(ErrorCode::type_mismatch, expression->where, "`~` is not defined for " + type_name(type),
                  type == ElementType::boolean ? "write `not`" : "cast to an integer type");
  return operand ? make_expr(type, Unary{unary.op, operand}) : nullptr;
}

ExprPtr ValueLowering::lower_binary(const syntax::Binary& binary, ElementType type) {
  if (binary.op == BinaryOp::logical_and || binary.op == BinaryOp::logical_or) return lower_logical(binary);
  const Kind left_kind = kind(binary.left), right_kind = kind(binary.right);
  const bool mixed = left_kind.is_typed() && right_kind.is_typed() && left_kind.type != right_kind.type;
  if (mixed) {
    report_mixed(binary.left, binary.right, op_name(binary.op), binary.op_where);
    lower(binary.left, left_kind.type);
    lower(binary.right, right_kind.type);
    return nullptr;
  }
  if (left_kind.is_typed()) type = left_kind.type;
  if (right_kind.is_typed()) type = right_kind.type;
  const ExprPtr left = lower(binary.left, operand_type(left_kind, right_kind.tag == KindTag::invalid, type));
  const ExprPtr right = lower(binary.right, operand_type(right_kind, left_kind.tag == KindTag::invalid, type));
  if (!left || !right || !check_operator(binary.op, binary.op_where, type) || !check_right_literal(binary, right))
    return nullptr;
  return make_expr(type, Binary{binary.op, left, right});
}

bool ValueLowering::check_right_literal(const syntax::Binary& binary, const ExprPtr& right) {
  const auto* literal = std::get_if<Literal>(&right->node);
  if (literal == nullptr || !is_integer(right->type)) return true;
  const bool divides = binary.op == BinaryOp::floor_div || binary.op == BinaryOp::modulo;
  const bool shifts = binary.op == BinaryOp::shift_left || binary.op == BinaryOp::shift_right;
  const bool negative = is_signed(right->type) && literal->integer < 0;
  if (divides && literal->integer == 0)
    reject(ErrorCode::type_mismatch, binary.right->where, "division by zero", "divide by another number");
  else if (shifts && negative)
    reject(ErrorCode::type_mismatch, binary.right->where, "a shift by the negative number " + std::to_string(literal->integer),
           std::string("shift the other way, with `") + (binary.op == BinaryOp::shift_left ? ">>`" : "<<`"));
  else
    return true;
  return false;
}

ExprPtr ValueLowering::lower_logical(const syntax::Binary& binary) {
  const ExprPtr left = lower(binary.left, ElementType::boolean);
  const ExprPtr right = lower(binary.right, ElementType::boolean);
  if (!left || !right) return nullptr;
  return make_expr(ElementType::boolean, Binary{binary.op, left, right});
}

ExprPtr ValueLowering::lower_comparison(const syntax::Comparison& comparison) {
  ExprPtr all;
  bool failed = false;
  const ExpressionPtr* left = &comparison.first;
  for (const syntax::ComparisonLink& link : comparison.links) {
    const ExprPtr one = lower_link(*left, link);
    failed = failed || !one;
    if (one) all = all ? make_expr(ElementType::boolean, Binary{BinaryOp::logical_and, all, one}) : one;
    left = &link.operand;
  }
  return failed ? nullptr : all;
}

ExprPtr ValueLowering::lower_link(const ExpressionPtr& left, const syntax::ComparisonLink& link) {
  const Kind a = kind(left), b = kind(link.operand);
  if (a.is_index_like() && b.is_index_like()) {
    const ExprPtr first = lower_index(left, ElementType::i64), second = lower_index(link.operand, ElementType::i64);
    return first && second ? make_expr(ElementType::boolean, Binary{link.op, first, second}) : nullptr;
  }
  if (a.is_typed() && b.is_typed() && a.type != b.type) {
    report_mixed(left, link.operand, op_name(link.op), link.op_where);
    lower(left, a.type);
    lower(link.operand, b.type);
    return nullptr;
  }
  const bool position = a.tag == KindTag::position || b.tag == KindTag::position;
  const ElementType type = a.is_typed() ? a.type : b.is_typed() ? b.type : position ? ElementType::i64 : ElementType::f64;
  const ExprPtr first = lower(left, operand_type(a, b.tag == KindTag::invalid, type));
  const ExprPtr second = lower(link.operand, operand_type(b, a.tag == KindTag::invalid, type));
  if (!first || !second || !check_operator(link.op, link.op_where, type)) return nullptr;
  return make_expr(ElementType::boolean, Binary{link.op, first, second});
}

ExprPtr ValueLowering::lower_branch(const Nest& nest, const ExpressionPtr& expression, ElementType type) {
  const Nest outside = nest_;
  nest_ = nest;
  const ExprPtr value = lower(expression, type);
  nest_ = outside;
  return value;
}

ExprPtr ValueLowering::lower_conditional(const syntax::Conditional& conditional, ElementType type) {
  Nest taken = nest_, untaken = nest_;
  const bool affine = lowering_.kinds.is_affine_condition(conditional.condition, iterator_names());
  if (affine) {
    taken = restrict(lowering_.scope, nest_, conditional.condition);
    untaken.known = taken.known;
    if (untaken.known) untaken.domain = nest_.domain.subtract(taken.domain);
  }
  const ExprPtr condition = affine && !taken.known ? nullptr : lower(conditional.condition, ElementType::boolean);
  const Kind then_kind = kind(conditional.then_value), else_kind = kind(conditional.else_value);
  if (then_kind.is_typed() && else_kind.is_typed() && then_kind.type != else_kind.type) {
    report_mixed(conditional.then_value, conditional.else_value, "if ... else", conditional.condition->where);
    lower_branch(taken, conditional.then_value, then_kind.type);
    lower_branch(untaken, conditional.else_value, else_kind.type);
    return nullptr;
  }
  const ExprPtr then_value =
      lower_branch(taken, conditional.then_value, operand_type(then_kind, else_kind.tag == KindTag::invalid, type));
  const ExprPtr else_value =
      lower_branch(untaken, conditional.else_value, operand_type(else_kind, then_kind.tag == KindTag::invalid, type));
  if (!condition || !then_value || !else_value) return nullptr;
  return make_expr(type, Select{condition, then_value, else_value});
}

}  // namespace tileopt::tile_text
