#include "frontends/tile_text/value_facts.h"

#include "frontends/tile_text/affine.h"
#include "frontends/tile_text/kinds.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

std::string name_of(const ExpressionPtr& expression) {
  const auto* name = syntax::as<syntax::Name>(expression);
  return name ? name->name : "";
}

bool declares(const syntax::Block& block, const std::string& name) {
  for (const syntax::StatementPtr& statement : block) {
    if (const auto* declare = std::get_if<syntax::Declare>(&statement->node); declare != nullptr && declare->name == name) return true;
    if (const auto* loop = std::get_if<syntax::For>(&statement->node); loop != nullptr && declares(loop->body, name)) return true;
    if (const auto* branch = std::get_if<syntax::If>(&statement->node)) {
      for (const syntax::If::Arm& arm : branch->arms)
        if (declares(arm.body, name)) return true;
      if (branch->otherwise && declares(*branch->otherwise, name)) return true;
    }
  }
  return false;
}

/// `idx[:]`, `table[:, :]` or a scalar's name: the tensor whose every value is meant, or "".
std::string whole_tensor(const Scope& scope, const syntax::Function& function, const ExpressionPtr& expression) {
  const auto* subscript = syntax::as<syntax::Subscript>(expression);
  const std::string name = name_of(subscript ? subscript->base : expression);
  if (name.empty() || (scope.find_tensor(name) == nullptr && !declares(function.body, name))) return "";
  if (subscript == nullptr) return name;
  for (const ExpressionPtr& index : subscript->indices) {
    const auto* slice = syntax::as<syntax::Slice>(index);
    if (slice == nullptr || slice->lower || slice->upper) return "";
  }
  return name;
}

/// `other op T` as `T op' other`.
BinaryOp mirrored(BinaryOp op) {
  switch (op) {
    case BinaryOp::lt: return BinaryOp::gt;
    case BinaryOp::le: return BinaryOp::ge;
    case BinaryOp::gt: return BinaryOp::lt;
    case BinaryOp::ge: return BinaryOp::le;
    default: return op;
  }
}

class FactReader {
 public:
  FactReader(Scope& scope, const syntax::Function& function) : scope_(scope), function_(function) {}

  bool read(const ExpressionPtr& condition) {
    if (const auto* call = syntax::as<syntax::Call>(condition)) return read_call(condition, *call);
    const auto* comparison = syntax::as<syntax::Comparison>(condition);
    return comparison != nullptr && read_comparison(*comparison);
  }

 private:
  void report(ErrorCode code, syntax::Position where, const std::string& message, const std::string& hint) {
    scope_.diagnostics().add(code, where, message, hint);
  }

  bool read_call(const ExpressionPtr& condition, const syntax::Call& call) {
    const std::string fact = callee_name(call);
    if (fact != "monotone" && fact != "injective") return false;
    const bool one = call.arguments.size() == 1 && call.keywords.empty();
    const std::string name = one ? whole_tensor(scope_, function_, call.arguments.front()) : "";
    if (name.empty()) {
      report(ErrorCode::type_mismatch, condition->where, "`" + fact + "` takes the name of an index tensor", "write `assume(" + fact + "(offsets))`");
      return true;
    }
    ValueFacts& facts = scope_.facts_of(name);
    (fact == "monotone" ? facts.monotone : facts.injective) = true;
    scope_.apply_facts(name);
    return true;
  }

  bool read_comparison(const syntax::Comparison& comparison) {
    std::vector<ExpressionPtr> operands = {comparison.first};
    for (const syntax::ComparisonLink& link : comparison.links) operands.push_back(link.operand);
    std::string name;
    std::size_t at = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::string found = whole_tensor(scope_, function_, operands[i]);
      if (found.empty()) continue;
      if (!name.empty()) {
        report(ErrorCode::unsupported, operands[i]->where, "a fact about the values of two tensors", "compare one tensor with sizes and constants");
        return true;
      }
      name = found;
      at = i;
    }
    if (name.empty()) return false;
    const TensorSymbol* symbol = scope_.find_tensor(name);
    if (symbol != nullptr && symbol->known && !is_integer(symbol->tensor.type)) {
      report(ErrorCode::type_mismatch, operands[at]->where,
             "`" + name + "` holds " + type_name(symbol->tensor.type) + " values; facts are about indices", "assume ranges of integer tensors");
      return true;
    }
    for (std::size_t i = 0; i < comparison.links.size(); ++i) {
      const syntax::ComparisonLink& link = comparison.links[i];
      if (i == at) read_link(name, link.op, link.op_where, operands[i + 1]);
      else if (i + 1 == at) read_link(name, mirrored(link.op), link.op_where, operands[i]);
      else report(ErrorCode::unsupported, link.op_where, "this comparison is not about `" + name + "`", "assume it by itself");
    }
    scope_.apply_facts(name);
    return true;
  }

  /// T op other
  void read_link(const std::string& name, BinaryOp op, syntax::Position where, const ExpressionPtr& other) {
    AffineReader reader(scope_, AffineRole::assumption);
    const std::optional<isl::pw_aff> value = reader.value(other);
    if (!value) return;
    const isl::val one = isl::val::one(scope_.ctx());
    ValueFacts& facts = scope_.facts_of(name);
    const auto at_most = [&](const isl::pw_aff& bound) { facts.most = facts.most ? facts.most->min(bound) : bound; };
    const auto at_least = [&](const isl::pw_aff& bound) { facts.least = facts.least ? facts.least->max(bound) : bound; };
    if (op == BinaryOp::lt) at_most(value->add_constant(one.neg()));
    if (op == BinaryOp::le || op == BinaryOp::eq) at_most(*value);
    if (op == BinaryOp::gt) at_least(value->add_constant(one));
    if (op == BinaryOp::ge || op == BinaryOp::eq) at_least(*value);
    if (op == BinaryOp::ne) report(ErrorCode::unsupported, where, "`!=` says too little about an index", "assume a range: `0 <= " + name + "[:] < N`");
  }

  Scope& scope_;
  const syntax::Function& function_;
};

}  // namespace

void split_facts(const ExpressionPtr& condition, std::vector<ExpressionPtr>& parts) {
  const auto* binary = syntax::as<syntax::Binary>(condition);
  if (binary == nullptr || binary->op != BinaryOp::logical_and) return parts.push_back(condition);
  split_facts(binary->left, parts);
  split_facts(binary->right, parts);
}

bool read_value_fact(Scope& scope, const syntax::Function& function, const ExpressionPtr& condition) {
  return FactReader(scope, function).read(condition);
}

}  // namespace tileopt::tile_text
