#include "mutate.h"

#include <functional>
#include <vector>

namespace tileopt::test {

namespace {

using Kind = AstExpr::Kind;

/// Collects every possible change of a tree as a function that makes the changed tree.
class Changes {
 public:
  struct Change {
    std::string text;
    std::function<AstNodePtr()> make;
  };
  using Rebuild = std::function<AstNodePtr(AstNodePtr)>;

  explicit Changes(const AstNodePtr& root) {
    visit(root, [](AstNodePtr node) { return node; });
  }
  const std::vector<Change>& all() const { return changes_; }

 private:
  void add(std::string text, std::function<AstNodePtr()> make) { changes_.push_back({std::move(text), std::move(make)}); }

  /// Every change of one expression.
  void expression(const std::string& where, const AstExprPtr& expr, const std::function<AstNodePtr(AstExprPtr)>& rebuild) {
    for (const long by : {1L, -1L}) {
      const AstExprPtr moved = ast_operation(Kind::add, {expr, ast_integer(by)});
      add(where + ": " + ast_expr_text(expr) + (by > 0 ? " + 1" : " - 1"), [=] { return rebuild(moved); });
    }
    for (std::size_t i = 0; i < expr->arguments.size(); ++i) {
      const AstExprPtr argument = expr->arguments[i];
      const auto put = [=](AstExprPtr inner) {
        AstExpr changed = *expr;
        changed.arguments[i] = std::move(inner);
        return rebuild(std::make_shared<const AstExpr>(changed));
      };
      if (argument->kind == Kind::integer && argument->value > 0)
        for (const long by : {1L, -1L})
          if (argument->value + by > 0)
            add(where + ": a constant of " + ast_expr_text(expr) + " changed by " + std::to_string(by),
                [=] { return put(ast_integer(argument->value + by)); });
      if ((expr->kind == Kind::min || expr->kind == Kind::max) && argument->kind != Kind::integer)
        add(where + ": only " + ast_expr_text(argument), [=] { return rebuild(argument); });
    }
  }

  void expressions(const std::string& where, const std::vector<AstExprPtr>& list,
                   const std::function<AstNodePtr(std::vector<AstExprPtr>)>& rebuild) {
    for (std::size_t i = 0; i < list.size(); ++i)
      expression(where, list[i], [=](AstExprPtr changed) {
        std::vector<AstExprPtr> copy = list;
        copy[i] = std::move(changed);
        return rebuild(copy);
      });
    if (list.size() == 2)
      add(where + ": swapped", [=] { return rebuild({list[1], list[0]}); });
  }

  void visit(const AstNodePtr& node, const Rebuild& rebuild) {
    if (const auto* n = std::get_if<AstBlock>(&node->node)) visit_block(*n, rebuild);
    if (const auto* n = std::get_if<AstFor>(&node->node)) visit_loop(*n, rebuild);
    if (const auto* n = std::get_if<AstIf>(&node->node)) visit_branch(*n, rebuild);
    if (const auto* n = std::get_if<AstAllocate>(&node->node)) visit_allocate(*n, rebuild);
    if (const auto* n = std::get_if<AstLeaf>(&node->node)) visit_leaf(*n, rebuild);
  }

  void visit_block(const AstBlock& block, const Rebuild& rebuild) {
    for (std::size_t i = 0; i < block.children.size(); ++i) {
      AstBlock without = block;
      without.children.erase(without.children.begin() + static_cast<long>(i));
      add("child " + std::to_string(i) + " dropped", [=] { return rebuild(make_node(without)); });
      if (i + 1 < block.children.size()) {
        AstBlock swapped = block;
        std::swap(swapped.children[i], swapped.children[i + 1]);
        add("children " + std::to_string(i) + " swapped", [=] { return rebuild(make_node(swapped)); });
      }
      visit(block.children[i], [=](AstNodePtr child) {
        AstBlock copy = block;
        copy.children[i] = std::move(child);
        return rebuild(make_node(copy));
      });
    }
  }
  void visit_loop(const AstFor& loop, const Rebuild& rebuild) {
    const auto with = [=](const std::function<void(AstFor&)>& change) {
      AstFor copy = loop;
      change(copy);
      return rebuild(make_node(copy));
    };
    const std::string where = "loop " + loop.variable;
    expression(where, loop.lower, [=](AstExprPtr e) { return with([&](AstFor& l) { l.lower = e; }); });
    expression(where, loop.upper, [=](AstExprPtr e) { return with([&](AstFor& l) { l.upper = e; }); });
    add(where + ": step 2", [=] { return with([](AstFor& l) { l.step = 2; }); });
    for (const char* level : {"thread", "simd"})
      add(where + ": " + level, [=] { return with([&](AstFor& l) { l.level = level; }); });
    visit(loop.body, [=](AstNodePtr body) { return with([&](AstFor& l) { l.body = body; }); });
  }
  void visit_branch(const AstIf& branch, const Rebuild& rebuild) {
    const auto with = [=](const std::function<void(AstIf&)>& change) {
      AstIf copy = branch;
      change(copy);
      return rebuild(make_node(copy));
    };
    add("condition dropped", [=] { return rebuild(branch.then_body); });
    expression("condition", branch.condition, [=](AstExprPtr e) { return with([&](AstIf& b) { b.condition = e; }); });
    visit(branch.then_body, [=](AstNodePtr body) { return with([&](AstIf& b) { b.then_body = body; }); });
    if (branch.else_body == nullptr) return;
    add("else dropped", [=] { return with([](AstIf& b) { b.else_body = nullptr; }); });
    visit(branch.else_body, [=](AstNodePtr body) { return with([&](AstIf& b) { b.else_body = body; }); });
  }
  void visit_allocate(const AstAllocate& allocate, const Rebuild& rebuild) {
    visit(allocate.body, [=](AstNodePtr body) { return rebuild(make_node(AstAllocate{allocate.arrays, body})); });
  }
  void visit_leaf(const AstLeaf& leaf, const Rebuild& rebuild) {
    const auto with = [=](const std::function<void(AstLeaf&)>& change) {
      AstLeaf copy = leaf;
      change(copy);
      return rebuild(make_node(copy));
    };
    using List = std::vector<AstExprPtr>;
    expressions("write of " + leaf.statement, leaf.write, [=](List e) { return with([&](AstLeaf& l) { l.write = e; }); });
    expressions("instance of " + leaf.statement, leaf.instance, [=](List e) { return with([&](AstLeaf& l) { l.instance = e; }); });
    expressions("extents of " + leaf.statement, leaf.extents, [=](List e) { return with([&](AstLeaf& l) { l.extents = e; }); });
    for (std::size_t r = 0; r < leaf.reads.size(); ++r)
      expressions("read of " + leaf.statement, leaf.reads[r], [=](List e) { return with([&](AstLeaf& l) { l.reads[r] = e; }); });
    if (!leaf.extents.empty()) add("extents of " + leaf.statement + " dropped", [=] { return with([](AstLeaf& l) { l.extents.clear(); }); });
  }

  std::vector<Change> changes_;
};

/// A change of a statement's table or of an array; false where there is nothing to change.
bool change_tables(Ast& ast, std::string& text, std::mt19937_64& random) {
  auto statement = ast.statements.begin();
  std::advance(statement, static_cast<long>(random() % ast.statements.size()));
  AstStatement& s = statement->second;
  const auto bump = [&](std::vector<std::vector<long>>& steps) {
    if (steps.empty()) return false;
    std::vector<long>& row = steps[random() % steps.size()];
    if (row.empty()) return false;
    row[random() % row.size()] += random() % 2 == 0 ? 1 : -1;
    return true;
  };
  switch (random() % 5) {
    case 0: text = "write steps of " + s.name; return bump(s.write_steps);
    case 1: text = "instance steps of " + s.name; return bump(s.instance_steps);
    case 2: text = "read steps of " + s.name; return !s.read_steps.empty() && bump(s.read_steps[random() % s.read_steps.size()]);
    case 3: text = "zero fill of " + s.name; s.zero_fill = !s.zero_fill; return s.kind == "copy_in";
    default:
      if (ast.arrays.empty()) return false;
      Array& array = ast.arrays[random() % ast.arrays.size()];
      long& extent = array.extents[random() % array.extents.size()];
      text = "extent of " + array.name;
      extent -= 1;
      return extent >= 1;
  }
}

}  // namespace

Mutant mutate(const Ast& ast, std::mt19937_64& random) {
  Mutant mutant{ast, ""};
  if (random() % 4 == 0 && change_tables(mutant.ast, mutant.change, random)) return mutant;
  mutant.ast = ast;
  const Changes changes(ast.root);
  const Changes::Change& change = changes.all()[random() % changes.all().size()];
  mutant.change = change.text;
  mutant.ast.root = change.make();
  return mutant;
}

}  // namespace tileopt::test
