#include "frontends/tile_text/symbols.h"

#include <algorithm>
#include <limits>

#include "frontends/tile_text/printer.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

const TensorSymbol* tensor_of(const Scope& scope, const ExpressionPtr& expression) {
  const auto* subscript = syntax::as<syntax::Subscript>(expression);
  const auto* name = syntax::as<syntax::Name>(subscript ? subscript->base : expression);
  return name ? scope.find_tensor(name->name) : nullptr;
}

bool divides(const ExpressionPtr& expression) {
  const auto* binary = syntax::as<syntax::Binary>(expression);
  return binary != nullptr && (binary->op == BinaryOp::floor_div || binary->op == BinaryOp::modulo) && !fold_constant(binary->right);
}

/// Collects the symbols of a statement, innermost parts first, with the names that loops inside it bind.
class Collector {
 public:
  explicit Collector(const Scope& scope) : scope_(scope) {}
  std::vector<ExpressionPtr> found;

  void affine(const ExpressionPtr& expression) {
    if (const auto* subscript = syntax::as<syntax::Subscript>(expression)) {
      for (const ExpressionPtr& index : subscript->indices) affine(index);
    } else {
      for (const ExpressionPtr& child : syntax::children(*expression)) affine(child);
    }
    const bool closed = std::none_of(bound_.begin(), bound_.end(), [&](const std::string& name) { return syntax::mentions(expression, name); });
    const bool known = std::any_of(found.begin(), found.end(), [&](const ExpressionPtr& e) { return syntax::equal(e, expression); });
    if (closed && !known && is_symbolic(scope_, expression)) found.push_back(expression);
  }

  void value(const ExpressionPtr& expression) {
    if (expression == nullptr) return;
    if (const auto* subscript = syntax::as<syntax::Subscript>(expression)) {
      if (tensor_of(scope_, expression) != nullptr)
        for (const ExpressionPtr& index : subscript->indices) affine(index);
      return;
    }
    if (const auto* generator = syntax::as<syntax::Generator>(expression)) {
      const std::size_t outer = bound_.size();
      for (const syntax::Clause& clause : generator->clauses) {
        iterable(clause.iterable);
        for (const syntax::Target& target : clause.targets) bound_.push_back(target.name);
        for (const ExpressionPtr& condition : clause.conditions) value(condition);
      }
      value(generator->element);
      bound_.resize(outer);
      return;
    }
    for (const ExpressionPtr& child : syntax::children(*expression)) value(child);
  }

  void iterable(const ExpressionPtr& expression) {
    if (const auto* call = syntax::as<syntax::Call>(expression))
      for (const ExpressionPtr& argument : call->arguments) affine(argument);
  }

  void block(const syntax::Block& block) {
    for (const syntax::StatementPtr& statement : block) this->statement(*statement);
  }
  void statement(const syntax::Statement& statement) {
    if (const auto* loop = std::get_if<syntax::For>(&statement.node)) {
      iterable(loop->iterable);
      const std::size_t outer = bound_.size();
      for (const syntax::Target& target : loop->targets) bound_.push_back(target.name);
      block(loop->body);
      bound_.resize(outer);
    } else if (const auto* branch = std::get_if<syntax::If>(&statement.node)) {
      for (const syntax::If::Arm& arm : branch->arms) {
        value(arm.condition);
        block(arm.body);
      }
      if (branch->otherwise) block(*branch->otherwise);
    } else if (const auto* assign = std::get_if<syntax::Assign>(&statement.node)) {
      value(assign->target);
      value(assign->value);
    } else if (const auto* declare = std::get_if<syntax::Declare>(&statement.node)) {
      value(declare->value);
    }
  }

 private:
  const Scope& scope_;
  std::vector<std::string> bound_;
};

/// Names that assignments write, and with `declared` what declarations name.
void collect_written(const syntax::Block& block, bool declared, std::set<std::string>& names);
void collect_written(const syntax::Statement& statement, bool declared, std::set<std::string>& names) {
  if (const auto* loop = std::get_if<syntax::For>(&statement.node)) collect_written(loop->body, declared, names);
  if (const auto* branch = std::get_if<syntax::If>(&statement.node)) {
    for (const syntax::If::Arm& arm : branch->arms) collect_written(arm.body, declared, names);
    if (branch->otherwise) collect_written(*branch->otherwise, declared, names);
  }
  if (const auto* declare = std::get_if<syntax::Declare>(&statement.node); declare != nullptr && declared) names.insert(declare->name);
  if (const auto* assign = std::get_if<syntax::Assign>(&statement.node)) {
    const auto* subscript = syntax::as<syntax::Subscript>(assign->target);
    const auto* name = syntax::as<syntax::Name>(subscript ? subscript->base : assign->target);
    if (name != nullptr) names.insert(name->name);
  }
}
void collect_written(const syntax::Block& block, bool declared, std::set<std::string>& names) {
  for (const syntax::StatementPtr& statement : block) collect_written(*statement, declared, names);
}

isl::pw_aff variable(const isl::space& space, std::size_t position) {
  isl_local_space* local = isl_local_space_from_space(space.copy());
  return isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(position))));
}

/// Values of an integer type that is narrow enough to bound an index by itself.
std::optional<std::pair<long, long>> narrow_range(ElementType type) {
  if (!is_integer(type) || integer_bits(type) > 16) return std::nullopt;
  const long values = 1L << integer_bits(type);
  if (is_signed(type)) return std::make_pair(-values / 2, values / 2 - 1);
  return std::make_pair(0L, values - 1);
}

/// { [iterators, symbol] : the symbol has a value that `expression` may have }, or nothing where that is not known.
std::optional<isl::set> range_of(Scope& scope, const std::vector<Iterator>& outer, const isl::space& space, const ExpressionPtr& expression) {
  const isl::pw_aff symbol = variable(space, outer.size());
  AffineReader reader(scope, outer, space, AffineRole::subscript);
  if (const TensorSymbol* tensor = tensor_of(scope, expression)) {
    if (!is_integer(tensor->tensor.type)) return std::nullopt;
    if (tensor->tensor.facts.bounded())
      return symbol.ge_set(lift(*tensor->tensor.facts.least, space)).intersect(symbol.le_set(lift(*tensor->tensor.facts.most, space)));
    if (const auto range = narrow_range(tensor->tensor.type))
      return symbol.ge_set(reader.constant(range->first)).intersect(symbol.le_set(reader.constant(range->second)));
    return std::nullopt;
  }
  const auto* binary = syntax::as<syntax::Binary>(expression);
  if (binary == nullptr) return std::nullopt;
  const std::optional<isl::pw_aff> left = reader.value(binary->left), right = reader.value(binary->right);
  if (!left || !right) return std::nullopt;
  const isl::pw_aff zero = reader.constant(0);
  // A remainder has the sign of its divisor; a zero divisor gives 0. Only positive divisors have a range here.
  if (binary->op == BinaryOp::modulo) return symbol.ge_set(zero).intersect(symbol.lt_set(*right));
  const isl::set positive = right->gt_set(zero);
  const isl::set above = left->ge_set(zero).intersect(symbol.ge_set(zero)).intersect(symbol.le_set(*left));
  const isl::set below = left->lt_set(zero).intersect(symbol.ge_set(*left)).intersect(symbol.lt_set(zero));
  return above.unite(below).intersect(positive);
}

std::string base_name(const Scope& scope, const ExpressionPtr& expression) {
  if (const TensorSymbol* tensor = tensor_of(scope, expression)) return tensor->source_name + "_at";
  const auto* binary = syntax::as<syntax::Binary>(expression);
  return binary != nullptr && binary->op == BinaryOp::modulo ? "remainder" : "quotient";
}

bool stands(const Nest& nest, const ExpressionPtr& expression) {
  return std::any_of(nest.iterators.begin(), nest.iterators.end(),
                     [&](const Iterator& iterator) { return iterator.symbol && syntax::equal(iterator.symbol, expression); });
}

Nest enter(Scope& scope, Nest nest, const std::vector<ExpressionPtr>& symbols, const std::set<std::string>& written) {
  for (const ExpressionPtr& expression : symbols) {
    if (!nest.known || stands(nest, expression) || mentions_any(expression, written)) continue;
    if (nest.iterators.size() >= most_loops) return nest;
    Iterator iterator;
    std::set<std::string> used;
    for (const Iterator& other : nest.iterators) used.insert(other.name);
    iterator.name = scope.names().symbol(base_name(scope, expression), used);
    iterator.symbol = expression;
    iterator.where = expression->where;
    iterator.loop = scope.new_loop();
    Nest inner = nest;
    append_iterator(inner, iterator);
    const std::optional<isl::set> range = range_of(scope, nest.iterators, inner.domain.space(), expression);
    if (!range) continue;
    inner.domain = inner.domain.intersect(*range);
    inner.ranges = inner.ranges.intersect(*range);
    nest = std::move(inner);
  }
  return nest;
}

}  // namespace

bool is_symbolic(const Scope& scope, const ExpressionPtr& expression) {
  return divides(expression) || tensor_of(scope, expression) != nullptr;
}

Nest enter_symbols(Scope& scope, const Nest& nest, const syntax::Statement& statement) {
  Collector collector(scope);
  collector.statement(statement);
  std::set<std::string> written;
  collect_written(statement, true, written);
  return enter(scope, nest, collector.found, written);
}

Nest enter_symbols(Scope& scope, const Nest& nest, const std::vector<ExpressionPtr>& affine, const std::vector<ExpressionPtr>& values) {
  Collector collector(scope);
  for (const ExpressionPtr& expression : affine) collector.affine(expression);
  for (const ExpressionPtr& expression : values) collector.value(expression);
  return enter(scope, nest, collector.found, {});
}

Refused why_no_symbol(const Scope& scope, const ExpressionPtr& expression, const std::string& role) {
  const std::string text = "`" + print(expression) + "`";
  const TensorSymbol* tensor = tensor_of(scope, expression);
  if (tensor == nullptr)
    return {ErrorCode::not_affine, text + " divides by a value that is no constant, which " + role + " cannot do here",
            "divide by a positive constant or by a size"};
  const std::string name = tensor->source_name;
  std::string all = name;
  for (std::size_t d = 0; d < tensor->rank(); ++d) all += d == 0 ? "[:" : ", :";
  if (tensor->rank() > 0) all += "]";
  if (role == "an extent" || role == "an assumption")
    return {ErrorCode::unsupported, text + " is read from memory, which " + role + " cannot depend on",
            "use sizes and constants only"};
  if (!is_integer(tensor->tensor.type))
    return {ErrorCode::type_mismatch, text + " is a " + type_name(tensor->tensor.type) + ", and " + role + " is an integer",
            "declare `" + name + "` with an integer type"};
  if (!tensor->tensor.facts.bounded() && !narrow_range(tensor->tensor.type))
    return {ErrorCode::out_of_bounds, text + " can be anything, and " + role + " must be bounded",
            "say what it may be at the top of the function: `assume(0 <= " + all + " < N)`"};
  return {ErrorCode::unsupported, text + " may change while " + role + " that it decides is in use",
          "assign it to a local of its own first: `at: i32 = " + print(expression) + "`, with `assume(0 <= at < N)`"};
}

std::set<std::string> written_names(const syntax::Block& block) {
  std::set<std::string> names;
  collect_written(block, true, names);
  return names;
}

std::set<std::string> assigned_names(const syntax::Block& block) {
  std::set<std::string> names;
  collect_written(block, false, names);
  return names;
}

ValueFacts facts_of_copy(const Scope& scope, const ExpressionPtr& value, ElementType type) {
  const auto* call = syntax::as<syntax::Call>(value);
  const auto* callee = call ? syntax::as<syntax::Name>(call->callee) : nullptr;
  const bool cast = callee != nullptr && call->arguments.size() == 1 && parse_type(callee->name);
  const TensorSymbol* tensor = tensor_of(scope, cast ? call->arguments.front() : value);
  ValueFacts facts;
  if (tensor == nullptr || !is_integer(type) || !is_integer(tensor->tensor.type) || !widens_exactly(tensor->tensor.type, type)) return facts;
  facts.least = tensor->tensor.facts.least;
  facts.most = tensor->tensor.facts.most;
  return facts;
}

bool mentions_any(const ExpressionPtr& expression, const std::set<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return syntax::mentions(expression, name); });
}

}  // namespace tileopt::tile_text
