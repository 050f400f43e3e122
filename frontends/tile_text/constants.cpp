#include "frontends/tile_text/constants.h"

#include "frontends/tile_text/affine.h"
#include "frontends/tile_text/printer.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;
using syntax::StatementPtr;

namespace {

using Values = std::map<std::string, std::int64_t>;

/// Rebuilds expressions with the names replaced.
class Replacement {
 public:
  explicit Replacement(const Values& values) : values_(values) {}

  ExpressionPtr replace(const ExpressionPtr& expression) const {
    if (!expression) return nullptr;
    return std::visit([&](const auto& node) { return syntax::make_expression(expression->where, copy(node)); }, expression->node);
  }
  syntax::Block replace(const syntax::Block& block) const {
    syntax::Block result;
    for (const StatementPtr& statement : block)
      result.push_back(std::visit(
          [&](const auto& node) { return std::make_shared<const syntax::Statement>(syntax::Statement{statement->where, copy(node)}); }, statement->node));
    return result;
  }

 private:
  using Node = decltype(syntax::Expression::node);
  using Kind = decltype(syntax::Statement::node);

  std::vector<ExpressionPtr> replace(const std::vector<ExpressionPtr>& expressions) const {
    std::vector<ExpressionPtr> result;
    for (const ExpressionPtr& expression : expressions) result.push_back(replace(expression));
    return result;
  }

  template <class Leaf>
  Node copy(const Leaf& leaf) const {
    return leaf;
  }
  Node copy(const syntax::Name& n) const {
    const auto found = values_.find(n.name);
    if (found == values_.end()) return n;
    return syntax::IntegerLiteral{static_cast<std::uint64_t>(found->second), n.name};
  }
  Node copy(const syntax::Attribute& n) const { return syntax::Attribute{replace(n.base), n.name}; }
  Node copy(const syntax::Slice& n) const { return syntax::Slice{replace(n.lower), replace(n.upper)}; }
  Node copy(const syntax::Subscript& n) const { return syntax::Subscript{replace(n.base), replace(n.indices)}; }
  Node copy(const syntax::Call& n) const {
    syntax::Call call{n.callee, replace(n.arguments), {}};
    for (const syntax::Keyword& keyword : n.keywords) call.keywords.push_back({keyword.name, replace(keyword.value), keyword.where});
    return call;
  }
  Node copy(const syntax::Generator& n) const {
    syntax::Generator generator{replace(n.element), {}};
    for (const syntax::Clause& clause : n.clauses) generator.clauses.push_back({clause.targets, replace(clause.iterable), replace(clause.conditions)});
    return generator;
  }
  Node copy(const syntax::Tuple& n) const { return syntax::Tuple{replace(n.elements)}; }
  Node copy(const syntax::Unary& n) const { return syntax::Unary{n.op, replace(n.operand)}; }
  Node copy(const syntax::Binary& n) const { return syntax::Binary{n.op, n.op_where, replace(n.left), replace(n.right)}; }
  Node copy(const syntax::Comparison& n) const {
    syntax::Comparison comparison{replace(n.first), {}};
    for (const syntax::ComparisonLink& link : n.links) comparison.links.push_back({link.op, link.op_where, replace(link.operand)});
    return comparison;
  }
  Node copy(const syntax::Conditional& n) const { return syntax::Conditional{replace(n.then_value), replace(n.condition), replace(n.else_value)}; }

  Kind copy(const syntax::For& n) const { return syntax::For{n.targets, replace(n.iterable), replace(n.body)}; }
  Kind copy(const syntax::If& n) const {
    syntax::If branch;
    for (const syntax::If::Arm& arm : n.arms) branch.arms.push_back({replace(arm.condition), replace(arm.body)});
    if (n.otherwise) branch.otherwise = replace(*n.otherwise);
    return branch;
  }
  Kind copy(const syntax::Assign& n) const { return syntax::Assign{replace(n.target), n.op, n.op_where, replace(n.value)}; }
  Kind copy(const syntax::Declare& n) const { return syntax::Declare{n.name, replace(n.type), replace(n.value)}; }
  Kind copy(const syntax::Evaluate& n) const { return syntax::Evaluate{replace(n.expression)}; }
  Kind copy(const syntax::Return& n) const { return syntax::Return{replace(n.value)}; }
  Kind copy(const syntax::Pass& n) const { return n; }

  const Values& values_;
};

/// What was given for one program counts before what was given for all.
std::optional<std::int64_t> find_given(const ConstantValues& given, const std::string& program, const std::string& name) {
  for (const std::string& of : {program, std::string()}) {
    const auto values = given.find(of);
    if (values == given.end()) continue;
    if (const auto value = values->second.find(name); value != values->second.end()) return value->second;
  }
  return std::nullopt;
}

std::optional<std::int64_t> value_of(const syntax::Function& function, const syntax::Parameter& parameter, const ConstantValues& given,
                                     Diagnostics& diagnostics) {
  const std::string name = "`" + parameter.name + "`";
  std::optional<std::int64_t> value = find_given(given, function.name, parameter.name);
  if (!value && !parameter.value) {
    diagnostics.add(ErrorCode::invalid_size, parameter.where, name + " is fixed at compile time, and has no value",
                    "give it: --size " + parameter.name + "=64, or a default: `" + parameter.name + ": const = 64`");
    return std::nullopt;
  }
  if (!value) {
    const std::optional<long> written = fold_constant(parameter.value);
    if (written) value = *written;
  }
  if (value && *value >= 0 && *value <= largest_coefficient) return value;
  diagnostics.add(ErrorCode::invalid_size, parameter.value ? parameter.value->where : parameter.where,
                  (value ? "the value " + std::to_string(*value) + " of " + name : "the default of " + name) + " is no whole number from 0 to 10^12",
                  "give a size, e.g. `" + parameter.name + ": const = 64`");
  return std::nullopt;
}

}  // namespace

bool is_constant(const syntax::Parameter& parameter) {
  const auto* name = syntax::as<syntax::Name>(parameter.type);
  return name != nullptr && name->name == "const";
}

std::optional<syntax::Function> bind_constants(const syntax::Function& function, const ConstantValues& given, Diagnostics& diagnostics) {
  Values values;
  bool fine = true;
  for (const syntax::Parameter& parameter : function.parameters) {
    if (!is_constant(parameter)) continue;
    const std::optional<std::int64_t> value = value_of(function, parameter, given, diagnostics);
    fine = fine && value;
    if (value) values.emplace(parameter.name, *value);
  }
  if (!fine) return std::nullopt;
  if (values.empty()) return function;
  const Replacement replacement(values);
  syntax::Function bound = function;
  for (syntax::Parameter& parameter : bound.parameters) {
    if (is_constant(parameter)) parameter.value = syntax::make_expression(parameter.where, syntax::IntegerLiteral{static_cast<std::uint64_t>(values.at(parameter.name))});
    else parameter.type = replacement.replace(parameter.type);
  }
  bound.body = replacement.replace(function.body);
  return bound;
}

}  // namespace tileopt::tile_text
