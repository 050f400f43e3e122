#include "frontends/tile_text/syntax.h"

#include <cstring>

namespace tileopt::syntax {

namespace {

struct Children {
  std::vector<ExpressionPtr>& out;
  void add(const ExpressionPtr& child) {
    if (child) out.push_back(child);
  }
  void operator()(const IntegerLiteral&) {}
  void operator()(const RealLiteral&) {}
  void operator()(const BoolLiteral&) {}
  void operator()(const NoneLiteral&) {}
  void operator()(const StringLiteral&) {}
  void operator()(const Name&) {}
  void operator()(const Attribute& n) { add(n.base); }
  void operator()(const Slice& n) {
    add(n.lower);
    add(n.upper);
  }
  void operator()(const Subscript& n) {
    add(n.base);
    for (const ExpressionPtr& index : n.indices) add(index);
  }
  void operator()(const Call& n) {
    add(n.callee);
    for (const ExpressionPtr& argument : n.arguments) add(argument);
    for (const Keyword& keyword : n.keywords) add(keyword.value);
  }
  void operator()(const Generator& n) {
    add(n.element);
    for (const Clause& clause : n.clauses) {
      add(clause.iterable);
      for (const ExpressionPtr& condition : clause.conditions) add(condition);
    }
  }
  void operator()(const Tuple& n) {
    for (const ExpressionPtr& element : n.elements) add(element);
  }
  void operator()(const Unary& n) { add(n.operand); }
  void operator()(const Binary& n) {
    add(n.left);
    add(n.right);
  }
  void operator()(const Comparison& n) {
    add(n.first);
    for (const ComparisonLink& link : n.links) add(link.operand);
  }
  void operator()(const Conditional& n) {
    add(n.then_value);
    add(n.condition);
    add(n.else_value);
  }
};

bool same_targets(const std::vector<Target>& a, const std::vector<Target>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Target& x, const Target& y) { return x.name == y.name; });
}

/// Compares what a node holds beside its subexpressions.
struct SameHead {
  bool operator()(const IntegerLiteral& a, const IntegerLiteral& b) const { return a.value == b.value; }
  bool operator()(const RealLiteral& a, const RealLiteral& b) const {
    return std::memcmp(&a.value, &b.value, sizeof a.value) == 0;
  }
  bool operator()(const BoolLiteral& a, const BoolLiteral& b) const { return a.value == b.value; }
  bool operator()(const NoneLiteral&, const NoneLiteral&) const { return true; }
  bool operator()(const StringLiteral& a, const StringLiteral& b) const { return a.value == b.value; }
  bool operator()(const Name& a, const Name& b) const { return a.name == b.name; }
  bool operator()(const Attribute& a, const Attribute& b) const { return a.name == b.name; }
  bool operator()(const Slice& a, const Slice& b) const { return !a.lower == !b.lower && !a.upper == !b.upper; }
  bool operator()(const Subscript&, const Subscript&) const { return true; }
  bool operator()(const Call& a, const Call& b) const {
    return a.arguments.size() == b.arguments.size() &&
           std::equal(a.keywords.begin(), a.keywords.end(), b.keywords.begin(), b.keywords.end(),
                      [](const Keyword& x, const Keyword& y) { return x.name == y.name; });
  }
  bool operator()(const Generator& a, const Generator& b) const {
    return std::equal(a.clauses.begin(), a.clauses.end(), b.clauses.begin(), b.clauses.end(),
                      [](const Clause& x, const Clause& y) {
                        return same_targets(x.targets, y.targets) && x.conditions.size() == y.conditions.size();
                      });
  }
  bool operator()(const Tuple&, const Tuple&) const { return true; }
  bool operator()(const Unary& a, const Unary& b) const { return a.op == b.op; }
  bool operator()(const Binary& a, const Binary& b) const { return a.op == b.op; }
  bool operator()(const Comparison& a, const Comparison& b) const {
    return std::equal(a.links.begin(), a.links.end(), b.links.begin(), b.links.end(),
                      [](const ComparisonLink& x, const ComparisonLink& y) { return x.op == y.op; });
  }
  bool operator()(const Conditional&, const Conditional&) const { return true; }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

bool equal(const Statement& a, const Statement& b);

struct SameStatement {
  bool operator()(const For& a, const For& b) const {
    return same_targets(a.targets, b.targets) && syntax::equal(a.iterable, b.iterable) && syntax::equal(a.body, b.body);
  }
  bool operator()(const If& a, const If& b) const {
    const bool arms =
        std::equal(a.arms.begin(), a.arms.end(), b.arms.begin(), b.arms.end(), [](const If::Arm& x, const If::Arm& y) {
          return syntax::equal(x.condition, y.condition) && syntax::equal(x.body, y.body);
        });
    if (!arms || a.otherwise.has_value() != b.otherwise.has_value()) return false;
    return !a.otherwise || syntax::equal(*a.otherwise, *b.otherwise);
  }
  bool operator()(const Assign& a, const Assign& b) const {
    return a.op == b.op && syntax::equal(a.target, b.target) && syntax::equal(a.value, b.value);
  }
  bool operator()(const Declare& a, const Declare& b) const {
    return a.name == b.name && syntax::equal(a.type, b.type) && syntax::equal(a.value, b.value);
  }
  bool operator()(const Evaluate& a, const Evaluate& b) const { return syntax::equal(a.expression, b.expression); }
  bool operator()(const Return& a, const Return& b) const { return syntax::equal(a.value, b.value); }
  bool operator()(const Pass&, const Pass&) const { return true; }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

bool equal(const Statement& a, const Statement& b) { return std::visit(SameStatement{}, a.node, b.node); }

}  // namespace

std::vector<ExpressionPtr> children(const Expression& expression) {
  std::vector<ExpressionPtr> out;
  std::visit(Children{out}, expression.node);
  return out;
}

bool equal(const ExpressionPtr& a, const ExpressionPtr& b) {
  if (!a || !b) return !a && !b;
  if (!std::visit(SameHead{}, a->node, b->node)) return false;
  const std::vector<ExpressionPtr> left = children(*a), right = children(*b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const ExpressionPtr& x, const ExpressionPtr& y) { return equal(x, y); });
}

bool equal(const Block& a, const Block& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const StatementPtr& x, const StatementPtr& y) { return equal(*x, *y); });
}

bool equal(const Module& a, const Module& b) {
  return std::equal(
      a.functions.begin(), a.functions.end(), b.functions.begin(), b.functions.end(), [](const Function& x, const Function& y) {
        const bool decorators =
            std::equal(x.decorators.begin(), x.decorators.end(), y.decorators.begin(), y.decorators.end(),
                       [](const Decorator& p, const Decorator& q) { return equal(p.expression, q.expression); });
        const bool parameters =
            std::equal(x.parameters.begin(), x.parameters.end(), y.parameters.begin(), y.parameters.end(),
                       [](const Parameter& p, const Parameter& q) { return p.name == q.name && equal(p.type, q.type) && equal(p.value, q.value); });
        return decorators && parameters && x.name == y.name && equal(x.returns, y.returns) && equal(x.body, y.body);
      });
}

bool mentions(const ExpressionPtr& expression, const std::string& name) {
  if (const Name* leaf = as<Name>(expression)) return leaf->name == name;
  for (const ExpressionPtr& child : children(*expression))
    if (mentions(child, name)) return true;
  return false;
}

bool has_conditional(const ExpressionPtr& expression) {
  if (as<Conditional>(expression)) return true;
  for (const ExpressionPtr& child : children(*expression))
    if (has_conditional(child)) return true;
  return false;
}

}  // namespace tileopt::syntax
