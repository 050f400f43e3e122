#include "tree_edit.h"

#include <algorithm>

namespace tileopt::mutation {

namespace {

using Rebuild = std::function<AstNodePtr(AstNodePtr)>;

class Visitor {
 public:
  Visitor(const Subject& subject, std::size_t kernel, const std::function<NodeEdits(const AstNodePtr&, const Place&)>& edit, std::vector<Change>& changes)
      : place_{subject, subject.asts[kernel], {}}, kernel_(kernel), edit_(edit), changes_(changes) {}

  void visit(const AstNodePtr& node, const Rebuild& rebuild) {
    if (node == nullptr) return;
    for (auto& [text, changed] : edit_(node, place_)) {
      const AstNodePtr root = rebuild(changed);
      changes_.push_back(of_kernel(kernel_, text, [root](Ast& ast) { ast.root = root; }));
    }
    if (const auto* block = std::get_if<AstBlock>(&node->node)) {
      for (std::size_t i = 0; i < block->children.size(); ++i)
        visit(block->children[i], [&, i](AstNodePtr child) { return rebuild(edited(*block, [&](AstBlock& b) { b.children[i] = std::move(child); })); });
    } else if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      place_.loops.push_back(loop);
      visit(loop->body, [&](AstNodePtr body) { return rebuild(edited(*loop, [&](AstFor& l) { l.body = std::move(body); })); });
      place_.loops.pop_back();
    } else if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      visit(branch->then_body, [&](AstNodePtr body) { return rebuild(edited(*branch, [&](AstIf& b) { b.then_body = std::move(body); })); });
      visit(branch->else_body, [&](AstNodePtr body) { return rebuild(edited(*branch, [&](AstIf& b) { b.else_body = std::move(body); })); });
    } else if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
      visit(allocate->body, [&](AstNodePtr body) { return rebuild(edited(*allocate, [&](AstAllocate& a) { a.body = std::move(body); })); });
    }
  }

 private:
  Place place_;
  std::size_t kernel_;
  const std::function<NodeEdits(const AstNodePtr&, const Place&)>& edit_;
  std::vector<Change>& changes_;
};

}  // namespace

Change of_kernel(std::size_t kernel, std::string text, std::function<void(Ast&)> change) {
  return {std::move(text), [kernel, change = std::move(change)](std::vector<Ast>& asts, std::vector<PrintFacts>&) { change(asts[kernel]); }};
}

std::vector<Change> at_every_node(const Subject& subject, const std::function<NodeEdits(const AstNodePtr&, const Place&)>& edit) {
  std::vector<Change> changes;
  for (std::size_t k = 0; k < subject.asts.size(); ++k)
    Visitor(subject, k, edit, changes).visit(subject.asts[k].root, [](AstNodePtr node) { return node; });
  return changes;
}

std::vector<Change> at_every_statement(const Subject& subject,
                                       const std::function<std::vector<std::pair<std::string, AstStatement>>(const AstStatement&, const Ast&)>& edit) {
  std::vector<Change> changes;
  for (std::size_t k = 0; k < subject.asts.size(); ++k)
    for (const auto& [name, statement] : subject.asts[k].statements)
      for (auto& [text, changed] : edit(statement, subject.asts[k]))
        changes.push_back(of_kernel(k, name + ": " + text, [key = name, table = changed](Ast& ast) { ast.statements[key] = table; }));
  return changes;
}

AstExprPtr plus(const AstExprPtr& expr, std::int64_t by) {
  if (expr->kind == AstExpr::Kind::integer) return ast_integer(expr->value + by);
  return by < 0 ? ast_operation(AstExpr::Kind::sub, {expr, ast_integer(-by)}) : ast_operation(AstExpr::Kind::add, {expr, ast_integer(by)});
}

bool mentions(const AstExprPtr& expr, const std::string& name) {
  std::set<std::string> names;
  collect_names(expr, names);
  return names.count(name) != 0;
}

AstExprPtr substituted(const AstExprPtr& expr, const std::string& name, const AstExprPtr& value) {
  if (expr->kind == AstExpr::Kind::name) return expr->name == name ? value : expr;
  AstExpr copy = *expr;
  for (AstExprPtr& argument : copy.arguments) argument = substituted(argument, name, value);
  return std::make_shared<const AstExpr>(std::move(copy));
}

AstNodePtr substituted(const AstNodePtr& node, const std::string& name, const AstExprPtr& value) {
  if (node == nullptr) return node;
  const auto expr = [&](AstExprPtr& e) { e = substituted(e, name, value); };
  const auto exprs = [&](std::vector<AstExprPtr>& list) {
    for (AstExprPtr& e : list) expr(e);
  };
  const auto body = [&](AstNodePtr& child) { child = substituted(child, name, value); };
  if (const auto* block = std::get_if<AstBlock>(&node->node))
    return edited(*block, [&](AstBlock& b) {
      for (AstNodePtr& child : b.children) body(child);
    });
  if (const auto* loop = std::get_if<AstFor>(&node->node))
    return edited(*loop, [&](AstFor& l) {
      expr(l.lower);
      expr(l.upper);
      if (l.binding)
        for (auto& [access, subscripts] : l.binding->reads) exprs(subscripts);
      if (l.binding)
        for (auto& [index, e] : l.binding->indices) expr(e);
      body(l.body);
    });
  if (const auto* branch = std::get_if<AstIf>(&node->node))
    return edited(*branch, [&](AstIf& b) {
      expr(b.condition);
      body(b.then_body);
      body(b.else_body);
    });
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) return edited(*allocate, [&](AstAllocate& a) { body(a.body); });
  return edited(std::get<AstLeaf>(node->node), [&](AstLeaf& l) {
    exprs(l.instance);
    exprs(l.write);
    for (auto& read : l.reads) exprs(read);
    exprs(l.indices);
    exprs(l.extents);
  });
}

std::vector<AstExprPtr> with_constant_changed(const AstExprPtr& expr, std::int64_t least, std::int64_t by) {
  if (expr->kind == AstExpr::Kind::integer && expr->value >= least) return {ast_integer(expr->value + by)};
  std::vector<AstExprPtr> results;
  for (std::size_t i = 0; i < expr->arguments.size(); ++i)
    for (const AstExprPtr& changed : with_constant_changed(expr->arguments[i], least, by)) {
      AstExpr copy = *expr;
      copy.arguments[i] = changed;
      results.push_back(std::make_shared<const AstExpr>(std::move(copy)));
    }
  return results;
}

std::set<std::string> leaves_below(const AstNodePtr& node) {
  std::set<std::string> names;
  if (node == nullptr) return names;
  const auto add = [&](const AstNodePtr& child) { names.merge(leaves_below(child)); };
  if (const auto* block = std::get_if<AstBlock>(&node->node)) std::for_each(block->children.begin(), block->children.end(), add);
  if (const auto* loop = std::get_if<AstFor>(&node->node)) add(loop->body);
  if (const auto* branch = std::get_if<AstIf>(&node->node)) {
    add(branch->then_body);
    add(branch->else_body);
  }
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) add(allocate->body);
  if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) names.insert(leaf->statement);
  return names;
}

bool is_copy(const AstStatement& statement) { return statement.kind != "compute"; }

bool only_copies(const AstNodePtr& node, const Ast& ast, const std::string& kind) {
  const std::set<std::string> names = leaves_below(node);
  return !names.empty() && std::all_of(names.begin(), names.end(), [&](const std::string& n) { return ast.statements.at(n).kind == kind; });
}

const AstFor* only_loop(const AstNodePtr& node) {
  if (node == nullptr) return nullptr;
  if (const auto* loop = std::get_if<AstFor>(&node->node)) return loop;
  const auto* block = std::get_if<AstBlock>(&node->node);
  return block != nullptr && block->children.size() == 1 ? only_loop(block->children.front()) : nullptr;
}

const Array* promoted_array(const Ast& ast, const std::string& name) {
  for (const Array& array : ast.arrays)
    if (array.name == name) return &array;
  return nullptr;
}

}  // namespace tileopt::mutation
