/// The calls among value expressions: casts, math functions, min and max of values, inline reductions.
#include "frontends/tile_text/advice.h"
#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/reduction_lowering.h"
#include "frontends/tile_text/value_lowering.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;
using syntax::Position;

namespace {

std::vector<std::string> callable_names() {
  std::vector<std::string> names = {"sum",   "prod", "min", "max", "exp",   "exp2", "log",  "sqrt",
                                    "rsqrt", "tanh", "erf", "abs", "floor", "ceil", "round"};
  for (const char* type : {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"})
    names.push_back(type);
  return names;
}

}  // namespace

ExprPtr ValueLowering::lower_call(const ExpressionPtr& expression, const syntax::Call& call, ElementType type) {
  const std::string name = callee_name(call);
  const std::optional<Combine> combine = find_reduction(name);
  const bool generator = !call.arguments.empty() && syntax::as<syntax::Generator>(call.arguments.front());
  const bool cast = parse_type(name).has_value();
  const std::optional<Function> function = find_function(name);
  if (!combine && !cast && !function) return reject_call(expression, call);
  if (!call.keywords.empty())
    return reject(ErrorCode::type_mismatch, call.keywords.front().where, "`" + name + "` takes no keyword arguments",
                  "remove it");
  if (generator && !combine)
    return reject(ErrorCode::type_mismatch, expression->where, "`" + name + "` is no reduction",
                  "use sum, prod, min or max over `for ... in ...`");
  if (cast) return lower_cast(expression, call, type);
  if (function) return lower_function(expression, call, *function, type);
  if (generator) return lower_reduction(expression, call, *combine, type);
  const bool extremum = (*combine == Combine::min || *combine == Combine::max) && call.arguments.size() >= 2;
  if (extremum) return lower_extremum(call, *combine == Combine::min ? BinaryOp::min : BinaryOp::max, type);
  return reject(
      ErrorCode::type_mismatch, expression->where,
      "`" + name + "` needs a `for`" + (*combine == Combine::min || *combine == Combine::max ? " or at least two values" : ""),
      "write `" + name + "(A[k] for k in range(K))`");
}

ExprPtr ValueLowering::reject_call(const ExpressionPtr& expression, const syntax::Call& call) {
  const std::string name = callee_name(call);
  const Position where = call.callee->where;
  if (name.empty())
    return reject(ErrorCode::unsupported, where, "`" + print(call.callee) + "` cannot be called",
                  "call built-in functions by their plain names, e.g. exp(x)");
  if (is_planned(name))
    return reject(ErrorCode::unsupported, where, "`" + name + "` is not supported yet", "use sum, prod, min or max");
  if (is_planned_type(name))
    return reject(ErrorCode::unsupported, where, "the type `" + name + "` is not supported yet",
                  "use f32, f16, bf16 or an integer type");
  if (name == "range" || name == "grid" || name == "assume")
    return reject(ErrorCode::type_mismatch, where, "`" + name + "` is no value",
                  "use it as described in the language reference");
  if (lowering_.scope.find_tensor(name) != nullptr || lowering_.scope.is_size(name) || find_iterator(nest_.iterators, name))
    return reject(ErrorCode::type_mismatch, where, "`" + name + "` is no function",
                  "subscripts are written in square brackets: `" + name + "[i]`");
  if (name == "bool") return reject(ErrorCode::type_mismatch, where, "there is no cast to bool", "compare with 0 instead");
  const std::string nearest = nearest_name(name, callable_names()), advice = advice_for_function(name);
  return reject(
      ErrorCode::unknown_name, where, "there is no function `" + name + "`",
      !advice.empty() ? advice
      : nearest.empty()
          ? "built in are casts, sum, prod, min, max, exp, exp2, log, sqrt, rsqrt, tanh, erf, abs, floor, ceil and round"
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
  const ExprPtr operand = found.tag == KindTag::index ? lower_index(argument, is_integer(type) ? type : ElementType::i64)
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

ExprPtr ValueLowering::lower_reduction(const ExpressionPtr& expression, const syntax::Call& call, Combine combine,
                                       ElementType type) {
  const auto* generator = syntax::as<syntax::Generator>(call.arguments.front());
  Scope& scope = lowering_.scope;
  TensorSymbol symbol;
  symbol.where = expression->where;
  symbol.known = nest_.known;
  symbol.tensor.type = type;
  symbol.tensor.role = TensorRole::local;
  symbol.tensor.where = scope.diagnostics().locate(expression->where);
  symbol.tensor.name = scope.names().reduction_tensor(target_, combine_name(combine));
  symbol.source_name = symbol.tensor.name;
  expand_over(scope, nest_, symbol);
  const TensorSymbol& accumulator = scope.add_unnamed(std::move(symbol));
  const Subscripts subscripts = leading_subscripts(nest_, accumulator);
  const ReductionTarget target{accumulator, subscripts, expression->where, true};
  if (!emit_reduction(lowering_, nest_, target, *generator, combine, before_)) return nullptr;
  return read(accumulator, subscripts, expression->where);
}

}  // namespace tileopt::tile_text
