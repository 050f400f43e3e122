/// The calls among value expressions: casts, math functions, min and max of values, inline reductions.
#include "frontends/tile_text/advice.h"
#include "frontends/tile_text/loops.h"
#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/pure_functions.h"
#include "frontends/tile_text/reduction_lowering.h"
#include "frontends/tile_text/value_lowering.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;
using syntax::Position;

namespace {

/// What an inline reduction's accumulator is called after.
std::string reduction_word(const Reduction& reduction) {
  if (reduction.combine != Combine::monoid) return combine_name(reduction.combine);
  const std::string& name = reduction.monoid->name;
  if (!name.starts_with("tileopt_")) return name;
  return name.substr(8, 6);  // argmax, argmin
}

std::vector<std::string> callable_names() {
  std::vector<std::string> names = {"sum",  "prod", "min",  "max",   "any",  "all", "argmax", "argmin", "scan", "exp",
                                    "exp2", "log",  "sqrt", "rsqrt", "tanh", "erf", "abs",    "floor",  "ceil", "round"};
  for (const ElementType type : scalar_types())
    if (type != ElementType::boolean) names.push_back(type_name(type));
  return names;
}

}  // namespace

ExprPtr ValueLowering::lower_call(const ExpressionPtr& expression, const syntax::Call& call, ElementType type) {
  const std::string name = callee_name(call);
  const std::optional<Combine> combine = find_reduction(name);
  const auto* generator = call.arguments.empty() ? nullptr : syntax::as<syntax::Generator>(call.arguments.front());
  const PureFunction* pure = lowering_.scope.functions() == nullptr ? nullptr : lowering_.scope.functions()->find(name);
  if (generator && lowering_.scope.is_pure())
    return reject(ErrorCode::unsupported, expression->where, "a reduction inside a function with a return type",
                  "compute it in the program and pass it as an argument");
  if (name == "scan") return lower_scan(expression, call, type);
  if (is_extreme_search(name)) return lower_extreme_search(expression, call, type);
  if (pure != nullptr) return lower_pure_call(expression, call, *pure);
  const bool cast = parse_type(name).has_value();
  const std::optional<Function> function = find_function(name);
  if (!combine && !cast && !function) return reject_call(call);
  if (!call.keywords.empty())
    return reject(ErrorCode::type_mismatch, call.keywords.front().where, "`" + name + "` takes no keyword arguments",
                  "remove it");
  if (generator && !combine)
    return reject(ErrorCode::type_mismatch, expression->where, "`" + name + "` is no reduction",
                  "use sum, prod, min, max, any, all, argmax or argmin over `for ... in ...`");
  if (cast) return lower_cast(expression, call, type);
  if (function) return lower_function(expression, call, *function, type);
  if (generator) return lower_reduction(expression, *generator, {*combine}, type);
  const bool extremum = (*combine == Combine::min || *combine == Combine::max) && call.arguments.size() >= 2;
  if (extremum) return lower_extremum(call, *combine == Combine::min ? BinaryOp::min : BinaryOp::max, type);
  return reject(
      ErrorCode::type_mismatch, expression->where,
      "`" + name + "` needs a `for`" + (*combine == Combine::min || *combine == Combine::max ? " or at least two values" : ""),
      "write `" + name + "(A[k] for k in range(K))`");
}

ExprPtr ValueLowering::reject_call(const syntax::Call& call) {
  const std::string name = callee_name(call);
  const Position where = call.callee->where;
  if (name.empty())
    return reject(ErrorCode::unsupported, where, "`" + print(call.callee) + "` cannot be called",
                  "call built-in functions by their plain names, e.g. exp(x)");
  if (name == "topk")
    return reject(ErrorCode::type_mismatch, where, "`topk` gives an array, which only the declaration of one can hold",
                  "declare `best: tuple[f32, i64][K] = topk(A[j] for j in range(N))`, and read `best[k][0]` and `best[k][1]`");
  if (name == "range" || name == "grid" || name == "assume")
    return reject(ErrorCode::type_mismatch, where, "`" + name + "` is no value",
                  "use it as described in the language reference");
  if (lowering_.scope.find_tensor(name) != nullptr || lowering_.scope.is_size(name) || find_iterator(nest_.iterators, name))
    return reject(ErrorCode::type_mismatch, where, "`" + name + "` is no function",
                  "subscripts are written in square brackets: `" + name + "[i]`");
  if (name == "bool") return reject(ErrorCode::type_mismatch, where, "there is no cast to bool", "compare with 0 instead");
  std::vector<std::string> candidates = callable_names();
  if (lowering_.scope.functions() != nullptr)
    for (const std::string& function : lowering_.scope.functions()->names()) candidates.push_back(function);
  const std::string nearest = nearest_name(name, candidates), advice = advice_for_function(name);
  return reject(
      ErrorCode::unknown_name, where, "there is no function `" + name + "`",
      !advice.empty() ? advice
      : nearest.empty()
          ? "built in are casts, sum, prod, min, max, any, all, argmax, argmin, exp, exp2, log, sqrt, rsqrt, tanh, erf, abs, "
            "floor, ceil and round"
          : "did you mean `" + nearest + "`?");
}

ExprPtr ValueLowering::lower_cast(const ExpressionPtr& expression, const syntax::Call& call, ElementType type) {
  if (call.arguments.size() != 1)
    return reject(ErrorCode::type_mismatch, expression->where,
                  "a cast takes one value, not " + std::to_string(call.arguments.size()), "write `" + type_name(type) + "(x)`");
  const ExpressionPtr& argument = call.arguments.front();
  if (type == ElementType::boolean)
    return reject(ErrorCode::type_mismatch, expression->where, "there is no cast to bool",
                  "write `" + print(argument) + " != 0`");
  const Kind found = kind(argument);
  if (found.tag == KindTag::tuple || (found.is_typed() && is_tuple(found.type)))
    return reject(ErrorCode::type_mismatch, argument->where, "`" + print(argument) + "` is a tuple, which has no cast",
                  "cast its components");
  const bool index = found.tag == KindTag::index || found.tag == KindTag::position;
  const ExprPtr operand = found.tag == KindTag::position ? lower(argument, is_integer(type) ? type : ElementType::i64)
                          : index ? lower_index(argument, is_integer(type) ? type : ElementType::i64)
                                                      : lower(argument, found.is_typed() ? found.type : type);
  return operand ? convert(operand, type) : nullptr;
}

ExprPtr ValueLowering::lower_function(const ExpressionPtr& expression, const syntax::Call& call, Function function,
                                      ElementType type) {
  const std::string name = function_name(function);
  if (call.arguments.size() != 1)
    return reject(ErrorCode::type_mismatch, expression->where,
                  "`" + name + "` takes one value, not " + std::to_string(call.arguments.size()), "write `" + name + "(x)`");
  const ExprPtr argument = lower(call.arguments.front(), type);
  const bool fits = is_float(type) || (function == Function::abs && is_integer(type));
  if (argument && !fits)
    return reject(ErrorCode::type_mismatch, expression->where, "`" + name + "` is not defined for " + type_name(type),
                  "cast the argument: `" + name + "(f32(" + print(call.arguments.front()) + "))`");
  return argument ? make_expr(type, Call{function, {argument}}) : nullptr;
}

ExprPtr ValueLowering::lower_extremum(const syntax::Call& call, BinaryOp op, ElementType type) {
  bool invalid = false;
  for (const ExpressionPtr& argument : call.arguments) invalid = invalid || kind(argument).tag == KindTag::invalid;
  const ExpressionPtr* first_typed = nullptr;
  bool mixed = false;
  for (const ExpressionPtr& argument : call.arguments) {
    if (!kind(argument).is_typed()) continue;
    if (first_typed == nullptr) first_typed = &argument;
    if (kind(argument).type == kind(*first_typed).type) continue;
    if (!mixed) report_mixed(*first_typed, argument, op_name(op), argument->where);
    mixed = true;
  }
  if (first_typed != nullptr) type = kind(*first_typed).type;
  ExprPtr result;
  bool failed = mixed;
  for (const ExpressionPtr& argument : call.arguments) {
    const ExprPtr value = lower(argument, operand_type(kind(argument), invalid || mixed, type));
    failed = failed || !value;
    if (value) result = result ? make_expr(type, Binary{op, result, value}) : value;
  }
  if (failed || !check_operator(op, call.callee->where, type)) return nullptr;
  return result;
}

ExprPtr ValueLowering::lower_reduction(const ExpressionPtr& expression, const syntax::Generator& generator,
                                       const Reduction& reduction, ElementType type) {
  Scope& scope = lowering_.scope;
  const TensorSymbol& accumulator =
      add_local(scope, nest_, scope.names().reduction_tensor(target_, reduction_word(reduction)), type, expression->where);
  const Subscripts subscripts = leading_subscripts(nest_, accumulator);
  const ReductionTarget target{accumulator, subscripts, expression->where, true};
  Reduction promised = reduction;
  promised.scan = std::exchange(scan_, std::nullopt);
  if (!emit_reduction(lowering_, nest_, target, generator, promised, before_)) return nullptr;
  return read(accumulator, subscripts, expression->where);
}

ExprPtr ValueLowering::lower_scan(const ExpressionPtr& expression, const syntax::Call& call, ElementType type) {
  const auto* reduction = call.arguments.size() == 1 && call.keywords.empty() ? syntax::as<syntax::Call>(call.arguments.front()) : nullptr;
  const bool reduces = reduction != nullptr && reduction->arguments.size() == 1 && syntax::as<syntax::Generator>(reduction->arguments.front()) != nullptr;
  if (!reduces || callee_name(*reduction) == "scan")
    return reject(ErrorCode::type_mismatch, expression->where, "`scan` takes one reduction",
                  "write `scan(sum(x[j] for j in range(i + 1)))`, in a loop over i");
  scan_ = expression->where;
  const ExprPtr value = lower(call.arguments.front(), type);
  scan_.reset();
  return value;
}

ExprPtr ValueLowering::lower_extreme_search(const ExpressionPtr& expression, const syntax::Call& call, ElementType type) {
  const std::string name = callee_name(call);
  const auto* generator = call.arguments.empty() ? nullptr : syntax::as<syntax::Generator>(call.arguments.front());
  if (generator == nullptr || call.arguments.size() != 1 || !call.keywords.empty())
    return reject(ErrorCode::type_mismatch, expression->where, "`" + name + "` needs one `for`",
                  "write `" + name + "(A[k] for k in range(K))`");
  if (generator->clauses.size() != 1 || generator->clauses.front().targets.size() != 1)
    return reject(ErrorCode::type_mismatch, generator->clauses.back().targets.back().where,
                  "`" + name + "` gives the value of one iterator, not of several", "use one `for` with one iterator");
  std::vector<std::string> inside = iterator_names();
  const syntax::Target& iterator = generator->clauses.front().targets.front();
  inside.push_back(iterator.name);
  const Kind found = lowering_.kinds.of(generator->element, inside);
  const ElementType element = found.is_typed() ? found.type : found.tag == KindTag::real_literal ? ElementType::f64 : ElementType::i64;
  if (!is_float(element) && !is_integer(element))
    return reject(ErrorCode::type_mismatch, generator->element->where, "`" + name + "` is not defined for " + type_name(element),
                  is_tuple(element) ? "compare one component" : "cast the value: i32(...)");
  // The iterator rides along with the value: `(A[k], k)`.
  const ExpressionPtr index = syntax::make_expression(iterator.where, syntax::Name{iterator.name});
  syntax::Generator pairs = *generator;
  pairs.element = syntax::make_expression(generator->element->where, syntax::Tuple{{generator->element, index}});
  const bool descending = descends(generator->clauses.front().iterable);
  const auto monoid = std::make_shared<const Monoid>(extreme_search(element, name == "argmax", descending));
  const ExprPtr found_pair = lower_reduction(expression, pairs, {Combine::monoid, monoid}, monoid->type);
  if (!found_pair) return nullptr;
  const ExprPtr position = make_expr(ElementType::i64, Component{found_pair, 1});
  const ExprPtr none = make_expr(ElementType::i64, no_position(descending));
  const ExprPtr nowhere = make_expr(ElementType::boolean, Binary{BinaryOp::eq, position, none});
  return convert(make_expr(ElementType::i64, Select{nowhere, make_expr(ElementType::i64, Literal{-1, -1}), position}), type);
}

ExprPtr ValueLowering::lower_pure_call(const ExpressionPtr& expression, const syntax::Call& call, const PureFunction& function) {
  const std::string where = " (line " + std::to_string(function.where.line) + ")";
  const auto* generator = call.arguments.empty() ? nullptr : syntax::as<syntax::Generator>(call.arguments.front());
  if (!call.keywords.empty())
    return reject(ErrorCode::type_mismatch, call.keywords.front().where, "`" + function.name + "`" + where + " takes no keyword arguments",
                  "give the values in order");
  if (generator != nullptr && !function.is_monoid)
    return reject(ErrorCode::type_mismatch, expression->where, "`" + function.name + "`" + where + " is no reduction",
                  "declare it with `@monoid(identity=...)`, or use sum, prod, min or max");
  if (generator != nullptr) {
    if (!function.monoid) return nullptr;
    return lower_reduction(expression, *generator, {Combine::monoid, function.monoid}, function.returns);
  }
  std::vector<ExprPtr> values;
  const std::size_t count = function.parameters.size();
  if (call.arguments.size() != count)
    return reject(ErrorCode::type_mismatch, expression->where,
                  "`" + function.name + "`" + where + " takes " + std::to_string(count) + (count == 1 ? " value" : " values") + ", not " +
                      std::to_string(call.arguments.size()),
                  "give one value for each parameter");
  for (std::size_t i = 0; i < count; ++i) values.push_back(lower(call.arguments[i], function.parameters[i]));
  for (const ExprPtr& value : values)
    if (!value) return nullptr;
  if (!function.body) return nullptr;
  const ExprPtr result = substitute_reads(function.body, values);
  if (tree_size(result, largest_inlined) < largest_inlined) return result;
  return reject(ErrorCode::unsupported, expression->where,
                "this call of `" + function.name + "`" + where + " grows to more than " + std::to_string(largest_inlined) + " operations",
                "keep intermediate results in locals of the program");
}

}  // namespace tileopt::tile_text
