#include "backends/c_common/shared_c.h"

#include "support/error.h"

namespace tileopt {

namespace {
bool is_leaf(const Expr& expr) { return operands(expr).empty(); }

/// Counts the parents of every node and lists nodes with operands before their users.
struct Graph {
  std::unordered_map<const Expr*, int> uses;
  std::vector<ExprPtr> order;

  void walk(const ExprPtr& expr) {
    if (++uses[expr.get()] > 1) return;
    for (const ExprPtr& operand : operands(*expr)) walk(operand);
    if (!is_leaf(*expr)) order.push_back(expr);
  }
};

/// Operands that are computed whenever `expr` is.
std::vector<ExprPtr> certain_operands(const Expr& expr) {
  if (const auto* select = std::get_if<Select>(&expr.node)) return {select->condition};
  const auto* binary = std::get_if<Binary>(&expr.node);
  if (binary != nullptr && (binary->op == BinaryOp::logical_and || binary->op == BinaryOp::logical_or)) return {binary->left};
  return operands(expr);
}

void collect_always(const ExprPtr& expr, std::unordered_set<const Expr*>& always) {
  if (!always.insert(expr.get()).second) return;
  for (const ExprPtr& operand : certain_operands(*expr)) collect_always(operand, always);
}
}  // namespace

std::vector<ExprPtr> shared_subexpressions(const ExprPtr& expr, bool always_only) {
  Graph graph;
  graph.walk(expr);
  std::unordered_set<const Expr*> always;
  if (always_only) collect_always(expr, always);
  std::vector<ExprPtr> shared;
  for (const ExprPtr& node : graph.order)
    if (graph.uses.at(node.get()) > 1 && (!always_only || always.contains(node.get()))) shared.push_back(node);
  return shared;
}

std::unordered_map<const Expr*, std::string> bind_shared(const std::vector<ExprPtr>& shared, ScalarContext context,
                                                         const std::function<std::string(const std::string&, const std::string&)>& define) {
  std::unordered_map<const Expr*, std::string> bound;
  context.bound = &bound;
  for (const ExprPtr& node : shared) {
    const std::string type = is_tuple(node->type) ? context.helpers.tuple(node->type) : compute_type_c(node->type);
    const std::string text = without_parentheses(scalar_c(node, context));
    bound.emplace(node.get(), define(type, text));
  }
  return bound;
}

std::string monoid_c(const Monoid& monoid, const std::string& element, const std::string& value, Helpers& helpers) {
  const std::string name = monoid.name.starts_with("tileopt_") ? monoid.name : "tileopt_monoid_" + monoid.name;
  const std::string type = is_tuple(monoid.type) ? helpers.tuple(monoid.type) : compute_type_c(monoid.type);
  std::string text = "static inline " + type + " " + name + "(const " + type + " a, const " + type + " b) {\n";
  ScalarContext context{[](std::size_t access) { return std::string(access == 0 ? "a" : "b"); },
                        [](std::size_t, ElementType) -> std::string {
                          TILEOPT_CHECK(false, "a monoid has no index values");
                          return "";
                        },
                        helpers};
  int count = 0;
  // A monoid reads nothing but its operands, so everything shared may be computed at once.
  const auto bound = bind_shared(shared_subexpressions(monoid.combine, false), context, [&](const std::string& of, const std::string& shared) {
    const std::string variable = "t" + std::to_string(count++);
    text += "  const " + of + " " + variable + " = " + shared + ";\n";
    return variable;
  });
  context.bound = &bound;
  text += "  return " + without_parentheses(scalar_c(monoid.combine, context)) + ";\n}\n";
  helpers.define(name, text);
  return name + "(" + without_parentheses(element) + ", " + without_parentheses(value) + ")";
}

}  // namespace tileopt
