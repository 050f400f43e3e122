/// text: what the printer says it printed is what the Ast says: loops, conditions, leaves, storage.
#include <algorithm>

#include "support/text.h"
#include "verify/obligations.h"

namespace tileopt::proof {

namespace {

/// What a faithful printer reports for an Ast, in print order.
struct Expected {
  std::vector<const AstFor*> loops;
  std::vector<const AstIf*> conditions;
  std::vector<const AstLeaf*> leaves;
};

void collect(const AstNodePtr& node, Expected& expected) {
  if (node == nullptr) return;
  if (const auto* block = std::get_if<AstBlock>(&node->node))
    for (const AstNodePtr& child : block->children) collect(child, expected);
  if (const auto* loop = std::get_if<AstFor>(&node->node)) {
    expected.loops.push_back(loop);
    collect(loop->body, expected);
  }
  if (const auto* branch = std::get_if<AstIf>(&node->node)) {
    expected.conditions.push_back(branch);
    collect(branch->then_body, expected);
    collect(branch->else_body, expected);
  }
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) collect(allocate->body, expected);
  if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) expected.leaves.push_back(leaf);
}

Refutation differs(const std::string& what, const std::string& printed, const std::string& wanted) {
  return Refutation{what + " was printed as `" + printed + "` where the Ast has `" + wanted + "`",
                    "printed: " + printed + " | Ast: " + wanted, {}};
}

Refutation miscounted(const std::string& what, std::size_t printed, std::size_t wanted) {
  return Refutation{std::to_string(printed) + " " + what + " were printed where the Ast has " + std::to_string(wanted),
                    "printed: " + std::to_string(printed) + " | Ast: " + std::to_string(wanted), {}};
}

std::string kind_pragma(std::optional<LevelKind> kind) {
  if (kind == LevelKind::independent) return "omp parallel";
  if (kind == LevelKind::lockstep) return "omp simd";
  return "";
}

Outcome check_pragma(const Machine& machine, const PrintFacts::Loop& printed, const AstFor& loop) {
  const Level* level = machine.find_level(loop.level);
  const std::string wanted = kind_pragma(level != nullptr ? std::optional<LevelKind>(level->kind) : std::nullopt);
  const bool threads = printed.pragma.find("omp parallel") != std::string::npos;
  const bool lanes = printed.pragma.find("simd") != std::string::npos;
  const bool right = wanted == "omp parallel" ? threads && !lanes : wanted == "omp simd" ? lanes && !threads : !threads && !lanes;
  if (right) return {};
  return differs("the pragma of loop " + loop.variable + " (level " + loop.level + ")", printed.pragma, wanted);
}

Outcome check_loop(const Machine& machine, const PrintFacts::Loop& printed, const AstFor& loop) {
  const auto compare = [&](const std::string& what, const std::string& have, const std::string& want) -> Outcome {
    if (have == want) return {};
    return differs("the " + what + " of loop " + loop.variable, have, want);
  };
  if (Outcome outcome = compare("variable", printed.variable, loop.variable)) return outcome;
  if (Outcome outcome = compare("lower bound", printed.lower, ast_expr_text(loop.lower))) return outcome;
  if (Outcome outcome = compare("upper bound", printed.upper, ast_expr_text(loop.upper))) return outcome;
  if (Outcome outcome = compare("step", std::to_string(printed.step), std::to_string(loop.step))) return outcome;
  if (Outcome outcome = compare("level", printed.level, loop.level)) return outcome;
  if (printed.header.find("for (") == std::string::npos || printed.header.find(loop.variable) == std::string::npos)
    return differs("the header of loop " + loop.variable, printed.header, "for (" + loop.variable + " ...)");
  return check_pragma(machine, printed, loop);
}

Outcome check_loops(const Machine& machine, const PrintFacts& facts, const Expected& expected) {
  if (facts.loops.size() != expected.loops.size()) return miscounted("loops", facts.loops.size(), expected.loops.size());
  for (std::size_t i = 0; i < facts.loops.size(); ++i)
    if (Outcome outcome = check_loop(machine, facts.loops[i], *expected.loops[i])) return outcome;
  return {};
}

Outcome check_conditions(const PrintFacts& facts, const Expected& expected) {
  if (facts.conditions.size() != expected.conditions.size())
    return miscounted("conditions", facts.conditions.size(), expected.conditions.size());
  for (std::size_t i = 0; i < facts.conditions.size(); ++i) {
    const std::string wanted = ast_expr_text(expected.conditions[i]->condition);
    if (facts.conditions[i] != wanted) return differs("a condition", facts.conditions[i], wanted);
  }
  return {};
}

std::vector<std::string> subscript_texts(const AstLeaf& leaf) {
  std::vector<std::string> texts;
  for (const AstExprPtr& expr : leaf.write) texts.push_back(ast_expr_text(expr));
  for (const auto& read : leaf.reads)
    for (const AstExprPtr& expr : read) texts.push_back(ast_expr_text(expr));
  return texts;
}

std::vector<std::string> extent_texts(const AstLeaf& leaf) {
  std::vector<std::string> texts;
  for (const AstExprPtr& expr : leaf.extents) texts.push_back(ast_expr_text(expr));
  return texts;
}

Outcome check_leaf(const Ast& ast, const PrintFacts::Leaf& printed, const AstLeaf& leaf) {
  if (printed.statement != leaf.statement) return differs("a leaf", printed.statement, leaf.statement);
  const std::vector<std::string> subscripts = subscript_texts(leaf), extents = extent_texts(leaf);
  if (printed.subscripts != subscripts)
    return differs("the subscripts of " + leaf.statement, join(printed.subscripts, "; "), join(subscripts, "; "));
  if (printed.extents != extents)
    return differs("the extents of " + leaf.statement, join(printed.extents, "; "), join(extents, "; "));
  long points = 1;
  for (const AstStatement::BoxDigit& digit : ast.statements.at(leaf.statement).box) points *= digit.radix;
  if (printed.points != points)
    return differs("the box of " + leaf.statement, std::to_string(printed.points) + " points", std::to_string(points) + " points");
  return {};
}

Outcome check_leaves(const Ast& ast, const PrintFacts& facts, const Expected& expected) {
  if (facts.leaves.size() != expected.leaves.size()) return miscounted("leaves", facts.leaves.size(), expected.leaves.size());
  for (std::size_t i = 0; i < facts.leaves.size(); ++i)
    if (Outcome outcome = check_leaf(ast, facts.leaves[i], *expected.leaves[i])) return outcome;
  return {};
}

Outcome check_buffers(const Ast& ast, const PrintFacts& facts) {
  for (const Array& array : ast.arrays) {
    const auto printed = std::find_if(facts.buffers.begin(), facts.buffers.end(),
                                      [&](const PrintFacts::Buffer& b) { return b.array == array.name; });
    if (printed == facts.buffers.end())
      return Refutation{"no storage was printed for " + array.name, "Ast: " + array.name + " in " + array.space, {}};
    if (printed->space != array.space) return differs("the space of " + array.name, printed->space, array.space);
    const long needed = array.elements() * size_bytes(array.element);
    if (printed->bytes < needed)
      return differs("the storage of " + array.name, std::to_string(printed->bytes) + " bytes", std::to_string(needed) + " bytes");
  }
  return {};
}

bool is_empty(const PrintFacts& facts) {
  return facts.loops.empty() && facts.conditions.empty() && facts.buffers.empty() && facts.leaves.empty();
}

}  // namespace

void check_text(Checker& checker) {
  const auto& kernels = *checker.execution.kernels;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto entry = [&](const std::string& what) {
      return obligation("text", what + " of kernel " + kernels[k].kernel, {}, kernel_entry(k, ""));
    };
    if (k >= checker.facts.size() || is_empty(checker.facts[k])) {
      checker.report.skip(entry("text"), "no print facts");
      continue;
    }
    const PrintFacts& facts = checker.facts[k];
    Expected expected;
    collect(kernels[k].root, expected);
    checker.report.prove(entry("loops"), [&] { return check_loops(checker.machine, facts, expected); });
    checker.report.prove(entry("conditions"), [&] { return check_conditions(facts, expected); });
    checker.report.prove(entry("leaves"), [&] { return check_leaves(kernels[k], facts, expected); });
    checker.report.prove(entry("storage"), [&] { return check_buffers(kernels[k], facts); });
  }
}

}  // namespace tileopt::proof
