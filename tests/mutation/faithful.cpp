#include "faithful.h"

#include "support/text.h"

namespace tileopt::mutation {

namespace {

class Faithful {
 public:
  Faithful(const Program& program, const Ast& ast, const Machine& machine) : program_(program), ast_(ast), machine_(machine) {}
  PrintFacts facts;

  void print(const AstNodePtr& node) {
    if (node == nullptr) return;
    if (const auto* block = std::get_if<AstBlock>(&node->node))
      for (const AstNodePtr& child : block->children) print(child);
    if (const auto* loop = std::get_if<AstFor>(&node->node)) print_loop(*loop);
    if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      facts.conditions.push_back(ast_expr_text(branch->condition));
      print(branch->then_body);
      print(branch->else_body);
    }
    if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) print(allocate->body);
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) print_leaf(*leaf);
  }

 private:
  void print_loop(const AstFor& loop) {
    const Level* level = machine_.find_level(loop.level);
    const bool threads = level != nullptr && level->kind == LevelKind::independent;
    PrintFacts::Loop printed{loop.variable, "for (int64_t " + loop.variable + " = ...)", threads && threads_ == 0 ? "#pragma omp parallel for" : "",
                             ast_expr_text(loop.lower), ast_expr_text(loop.upper), loop.step, loop.level};
    if (loop.binding) {
      printed.header = "const int64_t " + loop.variable + " = ...";
      printed.pragma = "bound";
      for (const auto& [access, subscripts] : loop.binding->reads)
        for (const AstExprPtr& subscript : subscripts) printed.subscripts.push_back(ast_expr_text(subscript));
      bound_.push_back(loop.variable);
    }
    facts.loops.push_back(printed);
    threads_ += threads ? 1 : 0;
    print(loop.body);
    threads_ -= threads ? 1 : 0;
    if (loop.binding) bound_.pop_back();
  }

  void print_leaf(const AstLeaf& leaf) {
    PrintFacts::Leaf printed;
    printed.statement = leaf.statement;
    for (const AstExprPtr& e : leaf.write) printed.subscripts.push_back(ast_expr_text(e));
    for (const auto& read : leaf.reads)
      for (const AstExprPtr& e : read) printed.subscripts.push_back(ast_expr_text(e));
    for (const AstExprPtr& e : leaf.extents) printed.extents.push_back(ast_expr_text(e));
    const auto found = ast_.statements.find(leaf.statement);
    if (found != ast_.statements.end()) {
      for (const AstStatement::BoxDigit& digit : found->second.box) printed.points *= digit.radix;
      add_tests(printed, leaf, found->second);
    }
    facts.leaves.push_back(printed);
  }

  void add_tests(PrintFacts::Leaf& printed, const AstLeaf& leaf, const AstStatement& statement) const {
    if (statement.kind != "compute" || !program_.has_statement(statement.statement)) return;
    const Statement& source = program_.statement(statement.statement);
    for (std::size_t g = 0; g < source.guards.size(); ++g) {
      const AstExprPtr& iterator = leaf.instance.at(source.guards[g].iterator);
      if (iterator->kind != AstExpr::Kind::name || !contains(bound_, iterator->name)) printed.tested.push_back("guard " + std::to_string(g));
    }
    if (source.predicate != nullptr) printed.tested.push_back("predicate");
  }

  const Program& program_;
  const Ast& ast_;
  const Machine& machine_;
  int threads_ = 0;
  std::vector<std::string> bound_;
};

}  // namespace

PrintFacts faithful_facts(const Program& program, const Ast& ast, const Machine& machine) {
  Faithful printer(program, ast, machine);
  printer.print(ast.root);
  for (const Array& array : ast.arrays)
    printer.facts.buffers.push_back({array.name, array.space, array.elements() * size_bytes(array.element)});
  return printer.facts;
}

}  // namespace tileopt::mutation
