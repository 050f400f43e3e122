#include "frontends/tile_text/signature.h"

#include "frontends/tile_text/advice.h"
#include "frontends/tile_text/affine.h"
#include "frontends/tile_text/constants.h"
#include "frontends/tile_text/kinds.h"
#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/tensor_layout.h"
#include "frontends/tile_text/value_facts.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

/// `out[...]`, `inout[...]` or a plain type.
struct WrittenParameter {
  TensorRole role = TensorRole::in;
  ExpressionPtr type;
};

std::string name_of(const ExpressionPtr& expression) {
  const auto* name = syntax::as<syntax::Name>(expression);
  return name ? name->name : "";
}

WrittenParameter read_role(const ExpressionPtr& expression) {
  const auto* subscript = syntax::as<syntax::Subscript>(expression);
  const std::string head = subscript ? name_of(subscript->base) : "";
  if ((head == "out" || head == "inout") && subscript->indices.size() == 1)
    return {head == "out" ? TensorRole::out : TensorRole::inout, subscript->indices.front()};
  return {TensorRole::in, expression};
}

bool is_size_type(const ExpressionPtr& type) { return name_of(type) == "size"; }

/// Names in extents are sizes, in the order of their first use.
void collect_sizes(Scope& scope, const syntax::Function& function, const ExpressionPtr& expression) {
  if (const auto* name = syntax::as<syntax::Name>(expression)) {
    for (const syntax::Parameter& parameter : function.parameters)
      if (parameter.name == name->name && !is_size_type(parameter.type)) return;
    scope.add_size(name->name, expression->where);
    return;
  }
  if (const auto* call = syntax::as<syntax::Call>(expression)) {
    for (const ExpressionPtr& argument : call->arguments) collect_sizes(scope, function, argument);
    return;
  }
  if (syntax::as<syntax::Subscript>(expression)) return;
  for (const ExpressionPtr& child : syntax::children(*expression)) collect_sizes(scope, function, child);
}

void collect_sizes(Scope& scope, const syntax::Function& function) {
  for (const syntax::Parameter& parameter : function.parameters) {
    const WrittenParameter written = read_role(parameter.type);
    if (is_size_type(written.type)) scope.add_size(parameter.name, parameter.where);
    if (is_constant(parameter)) scope.add_constant(parameter.name, parameter.where);
    const WrittenLayout layout = take_layout(written.type);
    const auto* subscript = syntax::as<syntax::Subscript>(layout.type);
    if (subscript == nullptr || !parse_type(name_of(subscript->base))) continue;
    for (const ExpressionPtr& extent : subscript->indices) collect_sizes(scope, function, extent);
    for (const ExpressionPtr& stride : layout.strides) collect_sizes(scope, function, stride);
  }
}

isl::set not_negative(const isl::pw_aff& value) { return value.ge_set(value.sub(value)); }

/// Extents of locals over sizes alone, wherever they are declared: they bound the sizes as those of parameters do.
void collect_local_extents(Scope& scope, const syntax::Block& block, isl::set& context);

struct LocalExtents {
  Scope& scope;
  isl::set& context;

  void operator()(const syntax::For& n) const { collect_local_extents(scope, n.body, context); }
  void operator()(const syntax::If& n) const {
    for (const syntax::If::Arm& arm : n.arms) collect_local_extents(scope, arm.body, context);
    if (n.otherwise) collect_local_extents(scope, *n.otherwise, context);
  }
  void operator()(const syntax::Declare& n) const {
    const auto* subscript = syntax::as<syntax::Subscript>(n.type);
    if (subscript == nullptr || !read_element_type(subscript->base)) return;
    for (const ExpressionPtr& extent : subscript->indices) {
      if (!over_sizes(extent)) continue;
      AffineReader reader(scope, AffineRole::extent);
      if (const std::optional<isl::pw_aff> value = reader.value(extent)) {
        const isl::set narrowed = context.intersect(not_negative(*value));
        if (!narrowed.is_empty()) context = narrowed;
      }
    }
  }
  void operator()(const syntax::Assign&) const {}
  void operator()(const syntax::Evaluate&) const {}
  void operator()(const syntax::Return&) const {}
  void operator()(const syntax::Pass&) const {}

 private:
  bool over_sizes(const ExpressionPtr& expression) const {
    if (const auto* name = syntax::as<syntax::Name>(expression)) return scope.is_size(name->name);
    if (!syntax::as<syntax::IntegerLiteral>(expression) && !syntax::as<syntax::Binary>(expression) &&
        !syntax::as<syntax::Unary>(expression))
      return false;
    for (const ExpressionPtr& child : syntax::children(*expression))
      if (!over_sizes(child)) return false;
    return true;
  }
};

void collect_local_extents(Scope& scope, const syntax::Block& block, isl::set& context) {
  for (const syntax::StatementPtr& statement : block) std::visit(LocalExtents{scope, context}, statement->node);
}

void read_assumes(Scope& scope, const syntax::Function& function, isl::set& context) {
  Diagnostics& diagnostics = scope.diagnostics();
  for (const syntax::StatementPtr& statement : function.body) {
    const auto* evaluate = std::get_if<syntax::Evaluate>(&statement->node);
    if (evaluate == nullptr || !is_assume(evaluate->expression)) continue;
    const auto* call = syntax::as<syntax::Call>(evaluate->expression);
    if (call->arguments.size() != 1 || !call->keywords.empty()) {
      diagnostics.add(ErrorCode::type_mismatch, statement->where, "`assume` takes one condition", "write `assume(N >= 1)`");
      continue;
    }
    std::vector<ExpressionPtr> parts;
    split_facts(call->arguments.front(), parts);
    ExpressionPtr about_sizes;
    for (const ExpressionPtr& part : parts) {
      if (read_value_fact(scope, function, part)) continue;
      about_sizes = about_sizes ? syntax::make_expression(about_sizes->where, syntax::Binary{BinaryOp::logical_and, part->where, about_sizes, part}) : part;
    }
    if (!about_sizes) continue;
    AffineReader reader(scope, AffineRole::assumption);
    const std::optional<isl::set> holds = reader.condition(about_sizes);
    if (!holds) continue;
    const isl::set narrowed = context.intersect(*holds).coalesce();
    if (narrowed.is_empty())
      diagnostics.add(ErrorCode::contradictory_assume, statement->where, "no sizes satisfy this and what is known before it",
                      "remove or correct one of the assumptions; sizes and extents are never negative");
    else
      context = narrowed;
  }
}

void declare_parameter(Scope& scope, const syntax::Parameter& parameter, isl::set& context) {
  if (is_constant(parameter)) return;
  const WrittenParameter written = read_role(parameter.type);
  if (is_size_type(written.type)) {
    if (written.role != TensorRole::in)
      scope.diagnostics().add(ErrorCode::invalid_write, parameter.type->where, "a size cannot be written",
                              "write `" + parameter.name + ": size`");
    return;
  }
  TensorSymbol symbol;
  symbol.source_name = parameter.name;
  symbol.where = parameter.where;
  symbol.known = false;
  symbol.tensor.role = written.role;
  symbol.tensor.where = scope.diagnostics().locate(parameter.where);
  symbol.tensor.type = ElementType::f32;
  const WrittenLayout layout = take_layout(written.type);
  if (const std::optional<WrittenType> type = read_type(scope, layout.type)) {
    if (is_tuple(type->element))
      scope.diagnostics().add(ErrorCode::type_mismatch, layout.type->where, "a parameter cannot hold tuples",
                              "pass one tensor for each component");
    else
      symbol.tensor.type = type->element;
    for (const ExpressionPtr& extent : type->extents) symbol.extent_text.push_back(print(extent));
    if (const auto extents = read_extents(scope, *type)) {
      symbol.known = true;
      symbol.tensor.shape = *extents;
      for (const isl::pw_aff& extent : *extents) context = context.intersect(not_negative(extent));
      if (const std::optional<Layout> read = read_layout(scope, layout, parameter, symbol.tensor, context)) symbol.tensor.layout = *read;
    }
  }
  scope.declare(std::move(symbol));
}

}  // namespace

std::optional<ElementType> read_element_type(const ExpressionPtr& expression) {
  if (const auto* name = syntax::as<syntax::Name>(expression)) return parse_type(name->name);
  const auto* subscript = syntax::as<syntax::Subscript>(expression);
  if (subscript == nullptr || name_of(subscript->base) != "tuple") return std::nullopt;
  std::vector<ElementType> components;
  for (const ExpressionPtr& written : subscript->indices) {
    const std::optional<ElementType> component = parse_type(name_of(written));
    if (!component) return std::nullopt;
    components.push_back(*component);
  }
  if (components.size() < 2 || components.size() > most_tuple_components) return std::nullopt;
  return tuple_type(components);
}

std::optional<WrittenType> read_type(Scope& scope, const ExpressionPtr& expression) {
  Diagnostics& diagnostics = scope.diagnostics();
  WrittenType type;
  ExpressionPtr head = expression;
  if (const std::optional<ElementType> element = read_element_type(expression)) {
    type.element = *element;
    return type;
  }
  if (const auto* subscript = syntax::as<syntax::Subscript>(expression)) {
    head = subscript->base;
    type.extents = subscript->indices;
  }
  const std::string name = name_of(head);
  if (const std::optional<ElementType> element = read_element_type(head)) {
    type.element = *element;
    return type;
  }
  const std::string hint = "use f64, f32, f16, bf16, i64 ... i4, u64 ... u4 or bool, e.g. `f32[M, N]`";
  const auto* inner = syntax::as<syntax::Subscript>(head);
  if (name == "tuple" || (inner != nullptr && name_of(inner->base) == "tuple")) {
    diagnostics.add(ErrorCode::type_mismatch, head->where, "`" + print(expression) + "` is no tuple type",
                    "name 2 to 10 scalar types: `tuple[f32, i64]`, or `tuple[f32, i64][N]` for an array");
    return std::nullopt;
  }
  if (name == "out" || name == "inout")
    diagnostics.add(ErrorCode::type_mismatch, head->where, "`" + name + "` belongs around the type of a parameter",
                    "write `" + name + "[f32[M, N]]`");
  else if (is_layout_word(name))
    diagnostics.add(ErrorCode::type_mismatch, head->where, "`" + name + "` does not belong here",
                    "it says how a parameter lies in memory and stands around its type, inside `out` or `inout`; `strided` around `permuted`");
  else if (name == "const")
    diagnostics.add(ErrorCode::type_mismatch, head->where, "`const` is for parameters of programs, and stands alone",
                    "write `def program(..., GROUP: const = 64)`");
  else if (name == "size")
    diagnostics.add(ErrorCode::type_mismatch, head->where, "only parameters can be sizes", "make it a parameter: `name: size`");
  else if (name.empty())
    diagnostics.add(ErrorCode::type_mismatch, head->where, "`" + print(head) + "` is no type",
                    syntax::as<syntax::Subscript>(head) ? "write all extents in one pair of brackets, e.g. `f32[M, N]`" : hint);
  else
    diagnostics.add(ErrorCode::unknown_name, head->where, "there is no type `" + name + "`",
                    advice_for_type(name).empty() ? hint : advice_for_type(name));
  return std::nullopt;
}

std::optional<std::vector<isl::pw_aff>> read_extents(Scope& scope, const WrittenType& type) {
  std::vector<isl::pw_aff> extents;
  bool fine = true;
  for (const ExpressionPtr& extent : type.extents) {
    AffineReader reader(scope, AffineRole::extent);
    const std::optional<isl::pw_aff> value = reader.value(extent);
    fine = fine && value;
    if (!value) continue;
    if (value->ge_set(value->sub(*value)).is_empty()) {
      scope.diagnostics().add(ErrorCode::shape_mismatch, extent->where, "the extent " + print(extent) + " is negative",
                              "use an extent of at least 0");
      fine = false;
    }
    extents.push_back(*value);
  }
  if (!fine) return std::nullopt;
  return extents;
}

void read_signature(Scope& scope, const syntax::Function& function) {
  collect_sizes(scope, function);
  isl::set context = isl::set::universe(scope.params_space());
  for (std::size_t i = 0; i < scope.sizes().size(); ++i)
    context = isl::manage(isl_set_lower_bound_si(context.release(), isl_dim_param, static_cast<unsigned>(i), 0));
  scope.set_context(context);
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const syntax::Parameter& parameter = function.parameters[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (function.parameters[j].name != parameter.name || !(is_size_type(parameter.type) || is_constant(parameter))) continue;
      scope.diagnostics().add(ErrorCode::duplicate_name, parameter.where, "two parameters are called `" + parameter.name + "`",
                              "choose another name for one of them");
    }
    declare_parameter(scope, parameter, context);
  }
  if (context.is_empty()) {
    scope.diagnostics().add(ErrorCode::shape_mismatch, function.where,
                            "no sizes make every extent of the parameters non-negative", "correct the extents");
    return;
  }
  scope.set_context(context);
  read_assumes(scope, function, context);
  scope.set_context(context);
  collect_local_extents(scope, function.body, context);
  scope.set_context(isl::manage(isl_set_remove_redundancies(context.release())));
}

bool is_assume(const ExpressionPtr& expression) {
  const auto* call = syntax::as<syntax::Call>(expression);
  return call != nullptr && callee_name(*call) == "assume";
}

}  // namespace tileopt::tile_text
