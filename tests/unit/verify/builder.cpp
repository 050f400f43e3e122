#include "builder.h"

#include <cstdio>
#include <map>

namespace tileopt::test {

namespace {

void collect(const AstNodePtr& node, const Ast& ast, PrintFacts& facts) {
  if (node == nullptr) return;
  if (const auto* block = std::get_if<AstBlock>(&node->node))
    for (const AstNodePtr& child : block->children) collect(child, ast, facts);
  if (const auto* loop = std::get_if<AstFor>(&node->node)) {
    const std::string pragma = loop->level == "thread" ? "#pragma omp parallel for" : loop->level == "simd" ? "#pragma omp simd" : "";
    facts.loops.push_back({loop->variable, "for (int64_t " + loop->variable + " = ...)", pragma, ast_expr_text(loop->lower),
                           ast_expr_text(loop->upper), loop->step, loop->level});
    collect(loop->body, ast, facts);
  }
  if (const auto* branch = std::get_if<AstIf>(&node->node)) {
    facts.conditions.push_back(ast_expr_text(branch->condition));
    collect(branch->then_body, ast, facts);
    collect(branch->else_body, ast, facts);
  }
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) collect(allocate->body, ast, facts);
  if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) {
    PrintFacts::Leaf printed;
    printed.statement = leaf->statement;
    for (const AstExprPtr& e : leaf->write) printed.subscripts.push_back(ast_expr_text(e));
    for (const auto& read : leaf->reads)
      for (const AstExprPtr& e : read) printed.subscripts.push_back(ast_expr_text(e));
    for (const AstExprPtr& e : leaf->extents) printed.extents.push_back(ast_expr_text(e));
    const auto found = ast.statements.find(leaf->statement);
    if (found != ast.statements.end())
      for (const AstStatement::BoxDigit& digit : found->second.box) printed.points *= digit.radix;
    facts.leaves.push_back(printed);
  }
}

}  // namespace

PrintFacts faithful_facts(const Ast& ast) {
  PrintFacts facts;
  collect(ast.root, ast, facts);
  for (const Array& array : ast.arrays)
    facts.buffers.push_back({array.name, array.space, array.elements() * size_bytes(array.element)});
  return facts;
}

void print(const Certificate& certificate) {
  for (const Obligation& o : certificate.obligations)
    std::printf("  %-9s %-13s %7.1f ms  %s%s%s\n", o.name.c_str(),
                o.verdict == Verdict::proved ? "proved" : o.verdict == Verdict::refuted ? "REFUTED" : "not attempted", o.milliseconds,
                o.subject.c_str(), o.reason.empty() ? "" : (": " + o.reason).c_str(),
                o.witness.empty() ? "" : ("\n            " + o.witness).c_str());
}

double milliseconds(const Certificate& certificate, const std::string& name) {
  double total = 0;
  for (const Obligation& o : certificate.obligations)
    if (name.empty() || o.name == name) total += o.milliseconds;
  return total;
}

void expect_proved(const Certificate& certificate) {
  EXPECT_TRUE(certificate.proved());
  for (const Obligation& o : certificate.obligations)
    EXPECT_EQ(o.verdict, Verdict::proved) << o.name << " of " << o.subject << ": " << o.reason << "\n  " << o.witness;
}

Obligation expect_refuted(const Certificate& certificate, const std::string& name, const std::string& reason) {
  for (const Obligation& o : certificate.obligations)
    if (o.name == name && o.verdict == Verdict::refuted && (o.subject + ": " + o.reason).find(reason) != std::string::npos) {
      EXPECT_FALSE(o.witness.empty()) << o.reason;
      return o;
    }
  ADD_FAILURE() << "no refuted obligation " << name << " with `" << reason << "`";
  print(certificate);
  return {};
}

}  // namespace tileopt::test
