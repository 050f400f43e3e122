#include "frontends/tile_text/block_lowering.h"

#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/pure_functions.h"
#include "frontends/tile_text/reduction_lowering.h"
#include "frontends/tile_text/signature.h"
#include "frontends/tile_text/symbols.h"
#include "frontends/tile_text/topk_lowering.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

/// The generator of `op(e for ...)` when `expression` is a reduction and nothing else; else null.
struct WholeReduction {
  const syntax::Generator* generator = nullptr;
  Reduction reduction;
};
/// `type`: of the target, which a monoid must have.
WholeReduction as_reduction(const Scope& scope, const ExpressionPtr& expression, ElementType type) {
  const auto* call = syntax::as<syntax::Call>(expression);
  if (call == nullptr || call->arguments.size() != 1 || !call->keywords.empty()) return {};
  if (callee_name(*call) == "scan") {
    WholeReduction inner = as_reduction(scope, call->arguments.front(), type);
    if (inner.reduction.scan) return {};  // a scan of a scan is refused where values are lowered
    inner.reduction.scan = expression->where;
    return inner;
  }
  const std::optional<Combine> combine = find_reduction(callee_name(*call));
  const auto* generator = syntax::as<syntax::Generator>(call->arguments.front());
  if (generator == nullptr) return {};
  const PureFunction* function = scope.functions() == nullptr ? nullptr : scope.functions()->find(callee_name(*call));
  if (function != nullptr && function->monoid && function->returns == type) return {generator, {Combine::monoid, function->monoid}};
  if (!combine) return {};
  const bool truth = *combine == Combine::any || *combine == Combine::all;
  if (truth && type != ElementType::boolean) return {};
  return {generator, {*combine}};
}

std::optional<Combine> combine_of(BinaryOp op) {
  if (op == BinaryOp::add || op == BinaryOp::sub) return Combine::sum;
  if (op == BinaryOp::mul) return Combine::prod;
  if (op == BinaryOp::bit_and) return Combine::bit_and;
  if (op == BinaryOp::bit_or) return Combine::bit_or;
  if (op == BinaryOp::bit_xor) return Combine::bit_xor;
  return std::nullopt;
}

class BlockLowering {
 public:
  explicit BlockLowering(Lowering& lowering) : lowering_(lowering), scope_(lowering.scope) {}

  void lower_block(const syntax::Block& block, const Nest& nest, std::vector<Tree::Branch>& out) {
    scope_.open_block();
    for (const syntax::StatementPtr& statement : block) {
      const Nest inner = enter_symbols(scope_, nest, *statement);
      if (inner.iterators.size() == nest.iterators.size()) {
        std::visit(Visitor{*this, *statement, nest, out}, statement->node);
        continue;
      }
      std::vector<Tree::Branch> pieces;
      std::visit(Visitor{*this, *statement, inner, pieces}, statement->node);
      if (!pieces.empty()) out.push_back(in_bands(inner, nest.iterators.size(), in_sequence(std::move(pieces))));
    }
    scope_.close_block();
  }

 private:
  struct Visitor {
    BlockLowering& self;
    const syntax::Statement& statement;
    const Nest& nest;
    std::vector<Tree::Branch>& out;
    void operator()(const syntax::For& n) const { self.lower_for(n, nest, out); }
    void operator()(const syntax::If& n) const { self.lower_if(n, nest, out); }
    void operator()(const syntax::Assign& n) const { self.lower_assign(n, nest, out); }
    void operator()(const syntax::Declare& n) const { self.lower_declare(statement, n, nest, out); }
    void operator()(const syntax::Evaluate& n) const { self.check_evaluate(n, nest); }
    void operator()(const syntax::Return&) const {}  // the parser keeps it out of programs
    void operator()(const syntax::Pass&) const {}
  };

  void report(ErrorCode code, syntax::Position where, const std::string& message, const std::string& hint) {
    scope_.diagnostics().add(code, where, message, hint);
  }

  void lower_for(const syntax::For& loop, const Nest& nest, std::vector<Tree::Branch>& out) {
    const Nest inner = enter_loop(scope_, nest, loop.targets, loop.iterable);
    std::vector<Tree::Branch> pieces;
    lower_block(loop.body, inner, pieces);
    if (!pieces.empty()) out.push_back(in_bands(inner, nest.iterators.size(), in_sequence(std::move(pieces))));
  }

  void lower_if(const syntax::If& branch, const Nest& nest, std::vector<Tree::Branch>& out) {
    std::set<std::string> written;
    for (const syntax::If::Arm& arm : branch.arms) written.merge(written_names(arm.body));
    if (branch.otherwise) written.merge(written_names(*branch.otherwise));
    Nest rest = nest;
    for (const syntax::If::Arm& arm : branch.arms) {
      Nest taken = rest;
      if (is_affine(arm.condition, rest)) {
        taken = restrict(scope_, rest, arm.condition);
        if (taken.known && rest.known) rest.domain = rest.domain.subtract(taken.domain).coalesce();
      } else {
        const DataCondition condition = enter_data(arm.condition, rest, written, taken, out);
        taken.conditions.push_back(condition);
        rest.conditions.push_back({condition.condition, true, condition.frozen});
      }
      rest.known = rest.known && taken.known;
      lower_block(arm.body, taken, out);
    }
    if (branch.otherwise) lower_block(*branch.otherwise, rest, out);
  }

  bool is_affine(const ExpressionPtr& condition, const Nest& nest) {
    std::vector<std::string> names;
    for (const Iterator& iterator : nest.iterators) names.push_back(iterator.source_name);
    return lowering_.kinds.is_affine_condition(condition, names);
  }

  /// Checks a condition on data; where the code under it changes what it reads, a local keeps its value from before.
  DataCondition enter_data(const ExpressionPtr& condition, const Nest& nest, const std::set<std::string>& written, Nest& taken,
                           std::vector<Tree::Branch>& out) {
    ValueLowering value(lowering_, nest, "condition", "condition");
    const ExprPtr body = value.lower(condition, ElementType::boolean);
    if (body && !value.before().empty())
      report(ErrorCode::unsupported, condition->where, "the condition `" + print(condition) + "` contains a reduction",
             "assign it to a local first, and test that");
    if (!body || !value.before().empty()) taken.known = false;
    if (!taken.known || !mentions_any(condition, written)) return {condition, false, nullptr};
    const TensorSymbol& kept = add_local(scope_, nest, scope_.names().tensor("if_holds"), ElementType::boolean, condition->where);
    const std::string name = scope_.names().statement(kept.tensor.name);
    ValueLowering again(lowering_, nest, name, kept.source_name);
    LoweredStatement statement = start_statement(nest, name, scope_.diagnostics().locate(condition->where));
    statement.ir.write = {kept.tensor.name, access_relation(scope_, nest, kept, leading_subscripts(nest, kept), name), statement.ir.where};
    statement.ir.body = again.lower(condition, ElementType::boolean);
    again.add_conditions(statement.ir);
    if (lowering_.statements.add(scope_, std::move(statement))) out.push_back({{name}, Tree::leaf()});
    return {condition, false, &kept};
  }

  /// The tensor assigned to, or null (reported).
  const TensorSymbol* find_target(const ExpressionPtr& target, const Nest& nest) {
    const auto* subscript = syntax::as<syntax::Subscript>(target);
    const auto* name = syntax::as<syntax::Name>(subscript ? subscript->base : target);
    if (name == nullptr) {
      report(ErrorCode::invalid_write, target->where, "`" + print(target) + "` cannot be assigned to",
             "assign to a tensor or one of its elements");
      return nullptr;
    }
    const TensorSymbol* symbol = scope_.find_tensor(name->name);
    if (symbol != nullptr) {
      if (symbol->tensor.role == TensorRole::in)
        report(ErrorCode::invalid_write, target->where, "`" + name->name + "` is an input and cannot be written",
               "declare the parameter as `out[...]` or `inout[...]`, or assign to a local");
      return symbol;
    }
    if (find_iterator(nest.iterators, name->name) || scope_.is_size(name->name))
      report(ErrorCode::invalid_write, target->where, "`" + name->name + (scope_.is_size(name->name) ? "` is a size" : "` is an iterator") + " and cannot be written",
             "assign to a tensor or a local");
    else if (subscript == nullptr)
      report(ErrorCode::unknown_name, target->where, "nothing here is called `" + name->name + "`",
             "declare it with its type: `" + name->name + ": f32 = ...`");
    else
      scope_.report_unknown(name->name, target->where, nest.iterators);
    return nullptr;
  }

  void lower_assign(const syntax::Assign& assign, const Nest& nest, std::vector<Tree::Branch>& out) {
    const TensorSymbol* symbol = find_target(assign.target, nest);
    if (symbol == nullptr) {
      check_orphan(assign.value, nest);
      return;
    }
    if (syntax::as<syntax::Subscript>(assign.target) && symbol->rank() == 0 && is_tuple(symbol->tensor.type)) {
      report(ErrorCode::unsupported, assign.target->where, "a component of `" + symbol->source_name + "` cannot be assigned alone",
             "assign the whole tuple: `" + symbol->source_name + " = (...)`");
      check_orphan(assign.value, nest);
      return;
    }
    const std::optional<Subscripts> subscripts = read_subscripts(scope_, nest, *symbol, assign.target);
    lower_write(*symbol, subscripts, assign, nest, out);
  }

  /// Reports what is wrong inside a value that has no target.
  void check_orphan(const ExpressionPtr& value, const Nest& nest) {
    std::vector<std::string> names;
    for (const Iterator& iterator : nest.iterators) names.push_back(iterator.source_name);
    const Kind kind = lowering_.kinds.of(value, names);
    const ElementType type = kind.is_typed() ? kind.type : ElementType::f64;
    if (kind.tag == KindTag::typed || kind.tag == KindTag::invalid)
      ValueLowering(lowering_, nest, "orphan", "orphan").lower(value, type);
  }

  void lower_write(const TensorSymbol& symbol, const std::optional<Subscripts>& subscripts, const syntax::Assign& assign,
                   const Nest& nest, std::vector<Tree::Branch>& out) {
    if (!subscripts) lowering_.statements.add_unknown_write(symbol.tensor.name);
    const WholeReduction reduction = as_reduction(scope_, assign.value, symbol.tensor.type);
    if (reduction.generator != nullptr && accumulates_directly(symbol, assign, reduction)) {
      const ReductionTarget target{symbol, subscripts.value_or(Subscripts{}), assign.target->where, !assign.op.has_value()};
      Nest place = nest;
      place.known = nest.known && subscripts.has_value();
      emit_reduction(lowering_, place, target, *reduction.generator, reduction.reduction, out);
      return;
    }
    lower_plain(symbol, subscripts, assign, nest, out);
  }

  /// True when the reduction may accumulate into the target itself.
  bool accumulates_directly(const TensorSymbol& symbol, const syntax::Assign& assign, const WholeReduction& reduction) const {
    for (const ExpressionPtr& argument : syntax::as<syntax::Call>(assign.value)->arguments)
      if (syntax::mentions(argument, symbol.source_name)) return false;
    if (!assign.op) return true;
    if (reduction.reduction.scan) return false;  // a scan starts from its identity
    const bool same = (*assign.op == BinaryOp::add && reduction.reduction.combine == Combine::sum) ||
                      (*assign.op == BinaryOp::mul && reduction.reduction.combine == Combine::prod);
    return same && (lowering_.numerics.reassociate || !is_float(symbol.tensor.type));
  }

  void lower_plain(const TensorSymbol& symbol, const std::optional<Subscripts>& subscripts, const syntax::Assign& assign,
                   const Nest& nest, std::vector<Tree::Branch>& out) {
    const std::string name = scope_.names().statement(symbol.tensor.name);
    const std::optional<Combine> combine = assign.op ? combine_of(*assign.op) : std::nullopt;
    ValueLowering value(lowering_, nest, name, symbol.source_name);
    ExprPtr body = value.lower(assign.op && !combine ? combined_value(assign) : assign.value, symbol.tensor.type);
    const ElementType type = symbol.tensor.type;
    const bool bits = combine == Combine::bit_and || combine == Combine::bit_or || combine == Combine::bit_xor;
    if (combine && !is_integer(type) && (bits || !is_float(type))) {
      report(ErrorCode::type_mismatch, assign.op_where, "`" + op_name(*assign.op) + "=` is not defined for " + type_name(type),
             is_float(type) ? "cast to an integer type" : is_tuple(type) ? "assign a whole tuple" : "use `and`, `or` and `not`");
      body = nullptr;
    }
    if (body && assign.op == BinaryOp::sub) body = make_expr(symbol.tensor.type, Unary{UnaryOp::negate, body});
    if (!nest.known || !subscripts) return;
    LoweredStatement statement = start_statement(nest, name, scope_.diagnostics().locate(assign.target->where));
    statement.ir.write = {symbol.tensor.name, access_relation(scope_, nest, symbol, *subscripts, name), statement.ir.where};
    statement.ir.combine = combine.value_or(Combine::assign);
    statement.ir.body = body;
    if (!value.add_conditions(statement.ir)) return;
    out.insert(out.end(), value.before().begin(), value.before().end());
    if (lowering_.statements.add(scope_, std::move(statement))) out.push_back({{name}, Tree::leaf()});
  }

  /// `x op= e` as `x op e`, for operators that are no combine.
  static ExpressionPtr combined_value(const syntax::Assign& assign) {
    return syntax::make_expression(assign.target->where,
                                   syntax::Binary{*assign.op, assign.op_where, assign.target, assign.value});
  }

  void lower_declare(const syntax::Statement& statement, const syntax::Declare& declare, const Nest& nest,
                     std::vector<Tree::Branch>& out) {
    TensorSymbol symbol;
    symbol.source_name = declare.name;
    symbol.where = statement.where;
    symbol.tensor.role = TensorRole::local;
    symbol.tensor.where = scope_.diagnostics().locate(statement.where);
    symbol.tensor.type = ElementType::f32;
    symbol.known = false;
    if (const std::optional<WrittenType> type = read_type(scope_, declare.type)) {
      symbol.tensor.type = type->element;
      for (const ExpressionPtr& extent : type->extents) symbol.extent_text.push_back(print(extent));
      if (const auto extents = read_extents(scope_, *type)) {
        symbol.known = extents_fit(*extents, *type);
        symbol.tensor.shape = *extents;
      }
    }
    expand_over(scope_, nest, symbol);
    if (symbol.rank() > 0 && as_topk(declare.value)) {
      const ExpressionPtr extent = read_type(scope_, declare.type)->extents.front();
      lower_topk(lowering_, nest, scope_.declare(std::move(symbol)), extent, declare.value, out);
      return;
    }
    if (declare.value && symbol.rank() > 0) {
      report(ErrorCode::unsupported, declare.value->where, "arrays cannot have an initial value",
             "assign to its elements in a loop");
      check_orphan(declare.value, nest);
    }
    const bool copies = declare.value && symbol.rank() == 0 && lowering_.assigned.count(declare.name) == 0;
    if (copies) symbol.tensor.facts = facts_of_copy(scope_, declare.value, symbol.tensor.type);
    const TensorSymbol& declared = scope_.declare(std::move(symbol));
    if (!declare.value || declared.rank() > 0) {
      if (declare.value) lowering_.statements.add_unknown_write(declared.tensor.name);
      return;
    }
    const ExpressionPtr target = syntax::make_expression(statement.where, syntax::Name{declare.name});
    const std::optional<Subscripts> subscripts = read_subscripts(scope_, nest, declared, target);
    lower_write(declared, subscripts, syntax::Assign{target, std::nullopt, statement.where, declare.value}, nest, out);
  }

  bool extents_fit(const std::vector<isl::pw_aff>& extents, const WrittenType& type) {
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (scope_.context().is_subset(extents[i].ge_set(extents[i].sub(extents[i])))) continue;
      report(ErrorCode::shape_mismatch, type.extents[i]->where,
             "the extent " + print(type.extents[i]) + " can be negative for sizes that are allowed",
             "correct the extent or the assumptions");
      return false;
    }
    return true;
  }

  void check_evaluate(const syntax::Evaluate& evaluate, const Nest& nest) {
    const auto* call = syntax::as<syntax::Call>(evaluate.expression);
    const std::string name = call ? callee_name(*call) : "";
    const syntax::Position where = evaluate.expression->where;
    if (is_assume(evaluate.expression)) {
      if (!nest.iterators.empty() || nesting_depth_of_blocks() > 0)
        report(ErrorCode::unsupported, where, "`assume` inside a loop or an `if`",
               "state facts about sizes at the top level of the function");
      return;
    }
    if (name == "monotone" || name == "injective")
      return report(ErrorCode::syntax, where, "`" + name + "` is a fact, not a statement", "write `assume(" + print(evaluate.expression) + ")`");
    static const std::vector<std::string> primitives = {"tile",      "order",  "promote", "pipeline", "parallel",
                                                        "vectorize", "unroll", "atom",    "schedule", "fuse", "rewrite", "versions"};
    for (const std::string& primitive : primitives)
      if (primitive == name)
        return report(ErrorCode::syntax, where, "`" + name + "` belongs in a schedule",
                      "write it in a function under `@schedule(program)`");
    const auto* comparison = syntax::as<syntax::Comparison>(evaluate.expression);
    const bool equality = comparison != nullptr && comparison->links.size() == 1 && comparison->links.front().op == BinaryOp::eq;
    report(ErrorCode::syntax, where, "an expression alone does nothing",
           equality ? "assign with `=`" : "assign its value, or remove the line");
  }

  std::size_t nesting_depth_of_blocks() const { return scope_.open_blocks() - 2; }

  Lowering& lowering_;
  Scope& scope_;
};

}  // namespace

Tree::Branch lower_body(Lowering& lowering, const syntax::Block& body) {
  Nest nest;
  nest.domain = isl::set::universe(lowering.scope.set_space(0));
  nest.ranges = nest.domain;
  std::vector<Tree::Branch> pieces;
  BlockLowering(lowering).lower_block(body, nest, pieces);
  return in_sequence(std::move(pieces));
}

}  // namespace tileopt::tile_text
