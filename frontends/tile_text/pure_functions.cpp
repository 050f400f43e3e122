#include "frontends/tile_text/pure_functions.h"

#include <set>

#include "frontends/tile_text/monoid_laws.h"
#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/schedule.h"
#include "frontends/tile_text/signature.h"
#include "frontends/tile_text/value_lowering.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

const char* const type_hint = "use a scalar type or a tuple: `f32`, `tuple[f32, i64]`";

const syntax::Call* monoid_call(const syntax::Decorator& decorator) {
  const auto* call = syntax::as<syntax::Call>(decorator.expression);
  return call != nullptr && callee_name(*call) == "monoid" ? call : nullptr;
}

bool is_monoid(const syntax::Function& function) {
  for (const syntax::Decorator& decorator : function.decorators) {
    const auto* bare = syntax::as<syntax::Name>(decorator.expression);
    if (monoid_call(decorator) != nullptr || (bare != nullptr && bare->name == "monoid")) return true;
  }
  return false;
}

/// What lowering expressions outside any program needs.
struct PureContext {
  PureContext(isl::ctx ctx, const syntax::Function& function, Diagnostics& diagnostics, PureFunctions* functions)
      : scope(ctx, function, diagnostics), kinds(scope), lowering{scope, kinds, statements, {}} {
    scope.set_functions(functions);
    scope.set_pure();
    scope.set_context(isl::set::universe(scope.params_space()));
    nest.domain = isl::set::universe(scope.set_space(0));
    nest.ranges = nest.domain;
  }
  ExprPtr lower(const ExpressionPtr& expression, ElementType type) {
    return ValueLowering(lowering, nest, "value", "value").lower(expression, type);
  }

  Scope scope;
  Kinds kinds;
  StatementList statements;
  Lowering lowering;
  Nest nest;
};

void collect_callees(const ExpressionPtr& expression, std::set<std::string>& names) {
  if (!expression) return;
  if (const auto* call = syntax::as<syntax::Call>(expression)) names.insert(callee_name(*call));
  for (const ExpressionPtr& child : syntax::children(*expression)) collect_callees(child, names);
}

void collect_callees(const syntax::Block& block, std::set<std::string>& names) {
  struct Visitor {
    std::set<std::string>& names;
    void operator()(const syntax::For& n) const { collect_callees(n.body, names); }
    void operator()(const syntax::If& n) const {
      for (const syntax::If::Arm& arm : n.arms) {
        collect_callees(arm.condition, names);
        collect_callees(arm.body, names);
      }
      if (n.otherwise) collect_callees(*n.otherwise, names);
    }
    void operator()(const syntax::Assign& n) const { collect_callees(n.value, names); }
    void operator()(const syntax::Declare& n) const { collect_callees(n.value, names); }
    void operator()(const syntax::Evaluate& n) const { collect_callees(n.expression, names); }
    void operator()(const syntax::Return& n) const { collect_callees(n.value, names); }
    void operator()(const syntax::Pass&) const {}
  };
  for (const syntax::StatementPtr& statement : block) std::visit(Visitor{names}, statement->node);
}

}  // namespace

bool is_pure(const syntax::Function& function) {
  return !is_schedule(function) && (function.returns != nullptr || is_monoid(function));
}

PureFunctions::PureFunctions(isl::ctx ctx, const syntax::Module& module, Diagnostics& diagnostics) : ctx_(ctx), diagnostics_(diagnostics) {
  for (const syntax::Function& function : module.functions) {
    if (function.broken || !is_pure(function)) continue;
    sources_.push_back(&function);
    entries_.emplace(function.name, Entry{{}, &function});
  }
  for (auto& [name, entry] : entries_) read_head(entry);
  for (const syntax::Function* source : sources_) find(source->name);
}

const PureFunction* PureFunctions::find(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  if (entry.progress == Progress::unread) {
    entry.progress = Progress::reading;
    read_body(entry);
    entry.progress = Progress::done;
  } else if (entry.progress == Progress::reading) {
    diagnostics_.add(ErrorCode::unsupported, entry.function.where, "`" + name + "` calls itself", "write a loop in the program");
  }
  return &entry.function;
}

std::optional<ElementType> PureFunctions::result_type(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return std::nullopt;
  return found->second.function.returns;
}

std::vector<std::string> PureFunctions::names() const {
  std::vector<std::string> names;
  for (const syntax::Function* source : sources_) names.push_back(source->name);
  return names;
}

std::vector<const syntax::Function*> PureFunctions::used_by(const syntax::Function& function) const {
  std::set<std::string> used;
  std::vector<const syntax::Function*> open = {&function};
  while (!open.empty()) {
    std::set<std::string> callees;
    collect_callees(open.back()->body, callees);
    open.pop_back();
    for (const std::string& callee : callees) {
      const auto found = entries_.find(callee);
      if (found != entries_.end() && used.insert(callee).second) open.push_back(found->second.source);
    }
  }
  std::vector<const syntax::Function*> result;
  for (const syntax::Function* source : sources_)
    if (used.count(source->name)) result.push_back(source);
  return result;
}

void PureFunctions::read_head(Entry& entry) {
  const syntax::Function& source = *entry.source;
  PureFunction& function = entry.function;
  function.name = source.name;
  function.where = source.where;
  const std::size_t before = diagnostics_.count();
  const std::string reserved = reserved_function_reason(source.name);
  const bool word = reserved.empty() && !reserved_reason(source.name).empty();
  if (!reserved.empty() || word)
    diagnostics_.add(ErrorCode::duplicate_name, source.where, "`" + source.name + "` " + (word ? reserved_reason(source.name) : reserved),
                     "choose another name for the function");
  function.is_monoid = is_monoid(source);
  if (source.returns == nullptr) {
    diagnostics_.add(ErrorCode::type_mismatch, source.where, "the monoid `" + source.name + "` has no return type",
                     "write `def " + source.name + "(a: f32, b: f32) -> f32:`");
    entry.sound = false;
    entry.progress = Progress::done;
    return;
  }
  for (const syntax::Parameter& parameter : source.parameters) {
    const std::optional<ElementType> type = read_element_type(parameter.type);
    if (!type)
      diagnostics_.add(ErrorCode::type_mismatch, parameter.type->where,
                       "`" + print(parameter.type) + "` is no type for a parameter of a function with a return type", type_hint);
    function.parameters.push_back(type.value_or(ElementType::f32));
  }
  const std::optional<ElementType> returns = read_element_type(source.returns);
  if (!returns)
    diagnostics_.add(ErrorCode::type_mismatch, source.returns->where, "`" + print(source.returns) + "` is no type to return", type_hint);
  function.returns = returns.value_or(ElementType::f32);
  entry.sound = diagnostics_.count() == before;
}

void PureFunctions::read_body(Entry& entry) {
  const syntax::Function& source = *entry.source;
  PureFunction& function = entry.function;
  PureContext context(ctx_, source, diagnostics_, this);
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    context.scope.bind_value(source.parameters[i].name,
                             {make_expr(function.parameters[i], Read{i}), function.parameters[i], source.parameters[i].where});
  bool returned = false;
  for (const syntax::StatementPtr& statement : source.body) {
    const auto* declare = std::get_if<syntax::Declare>(&statement->node);
    const auto* result = std::get_if<syntax::Return>(&statement->node);
    if (returned) {
      diagnostics_.add(ErrorCode::syntax, statement->where, "nothing runs after `return`", "remove the line");
      break;
    }
    if (result != nullptr) {
      const ExprPtr body = context.lower(result->value, function.returns);
      const bool large = body && tree_size(body, largest_inlined) == largest_inlined;
      if (large)
        diagnostics_.add(ErrorCode::unsupported, source.where,
                         "`" + source.name + "` grows to more than " + std::to_string(largest_inlined) + " operations",
                         "keep intermediate results in locals of the program");
      if (entry.sound && !large) function.body = body;
      returned = true;
    } else if (declare != nullptr && declare->value) {
      const std::optional<ElementType> type = read_element_type(declare->type);
      if (!type)
        diagnostics_.add(ErrorCode::type_mismatch, declare->type->where, "`" + print(declare->type) + "` is no type for a value", type_hint);
      const ExprPtr value = type ? context.lower(declare->value, *type) : nullptr;
      context.scope.bind_value(declare->name, {value, type.value_or(ElementType::f32), statement->where});
    } else {
      diagnostics_.add(ErrorCode::unsupported, statement->where, "a function with a return type holds only values and a `return`",
                       "write `name: f32 = ...`");
    }
  }
  if (!returned)
    diagnostics_.add(ErrorCode::syntax, source.where, "`" + source.name + "` returns nothing", "end it with `return ...`");
  read_decorators(entry);
}

void PureFunctions::read_decorators(Entry& entry) {
  for (const syntax::Decorator& decorator : entry.source->decorators) {
    const auto* bare = syntax::as<syntax::Name>(decorator.expression);
    if (monoid_call(decorator) != nullptr) continue;
    if (bare != nullptr && bare->name == "monoid")
      diagnostics_.add(ErrorCode::type_mismatch, decorator.where, "`@monoid` needs its identity", "write `@monoid(identity=0)`");
    else
      diagnostics_.add(ErrorCode::type_mismatch, decorator.where,
                       "`@" + print(decorator.expression) + "` does not belong to a function with a return type",
                       "decorate the program that calls it");
  }
  if (entry.function.is_monoid) read_monoid(entry);
}

void PureFunctions::read_monoid(Entry& entry) {
  const syntax::Function& source = *entry.source;
  PureFunction& function = entry.function;
  const std::size_t before = diagnostics_.count();
  if (entry.sound && (function.parameters.size() != 2 || function.parameters[0] != function.returns || function.parameters[1] != function.returns))
    diagnostics_.add(ErrorCode::type_mismatch, source.where, "a monoid combines two values of one type into a third",
                     "write `def " + source.name + "(a: " + type_name(function.returns) + ", b: " + type_name(function.returns) + ") -> " +
                         type_name(function.returns) + ":`");
  Monoid monoid;
  monoid.name = source.name;
  monoid.type = function.returns;
  monoid.combine = function.body;
  monoid.where = diagnostics_.locate(source.where);
  const syntax::Call* call = nullptr;
  for (const syntax::Decorator& decorator : source.decorators)
    if (monoid_call(decorator) != nullptr) call = monoid_call(decorator);
  if (call == nullptr) return;
  for (const ExpressionPtr& argument : call->arguments)
    diagnostics_.add(ErrorCode::type_mismatch, argument->where, "`@monoid` takes keyword arguments only", "write `@monoid(identity=0)`");
  bool identified = false;
  for (const syntax::Keyword& keyword : call->keywords) {
    if (keyword.name == "identity") {
      monoid.identity = PureContext(ctx_, source, diagnostics_, this).lower(keyword.value, monoid.type);
      identified = true;
    } else if (keyword.name == "commutative") {
      const auto* flag = syntax::as<syntax::BoolLiteral>(keyword.value);
      if (flag == nullptr)
        diagnostics_.add(ErrorCode::type_mismatch, keyword.value->where, "`commutative` is True or False", "write True or False");
      else
        monoid.commutative = flag->value;
    } else {
      diagnostics_.add(ErrorCode::unknown_name, keyword.where, "`@monoid` has no `" + keyword.name + "`", "use identity and commutative");
    }
  }
  if (!identified && call->arguments.empty())
    diagnostics_.add(ErrorCode::type_mismatch, source.where, "the monoid `" + source.name + "` has no identity", "write `@monoid(identity=...)`");
  if (diagnostics_.count() > before || !monoid.identity || !monoid.combine) return;
  monoid.exact = computes_exactly(monoid.combine);
  if (const std::optional<LawViolation> violation = find_violation(monoid)) {
    diagnostics_.add(ErrorCode::false_claim, source.where, violation->message, violation->hint, violation->witness);
    return;
  }
  function.monoid = std::make_shared<const Monoid>(std::move(monoid));
}

}  // namespace tileopt::tile_text
