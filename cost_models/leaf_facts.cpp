#include "cost_models/leaf_facts.h"

#include <algorithm>
#include <vector>

namespace tileopt {
namespace {

constexpr double kTogether = 2;  ///< iterations of whose loads the registers are held at a time

void collect_leaves(const AstNodePtr& node, std::vector<const AstLeaf*>& leaves) {
  if (node == nullptr) return;
  if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) leaves.push_back(leaf);
  if (const auto* block = std::get_if<AstBlock>(&node->node))
    for (const AstNodePtr& child : block->children) collect_leaves(child, leaves);
  if (const auto* loop = std::get_if<AstFor>(&node->node)) collect_leaves(loop->body, leaves);
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) collect_leaves(allocate->body, leaves);
  if (const auto* branch = std::get_if<AstIf>(&node->node)) {
    collect_leaves(branch->then_body, leaves);
    collect_leaves(branch->else_body, leaves);
  }
  if (const auto* roles = std::get_if<AstRoles>(&node->node))
    for (const AstRole& role : roles->roles) collect_leaves(role.body, leaves);
}

}  // namespace

LeafFacts::LeafFacts(const Ast& ast, const PrintFacts& facts) {
  std::vector<const AstLeaf*> leaves;
  collect_leaves(ast.root, leaves);
  // Loops that are printed unrolled repeat their leaves.
  std::size_t next = 0;
  for (const AstLeaf* leaf : leaves) {
    const auto same = [&](const PrintFacts::Leaf& fact) { return fact.statement == leaf->statement; };
    auto found = std::find_if(facts.leaves.begin() + std::ptrdiff_t(next), facts.leaves.end(), same);
    if (found != facts.leaves.end()) next = std::size_t(found - facts.leaves.begin()) + 1;
    else found = std::find_if(facts.leaves.begin(), facts.leaves.end(), same);
    if (found != facts.leaves.end()) leaves_[leaf] = &*found;
  }
  for (const PrintFacts::Leaf& leaf : facts.leaves) {
    double registers = 0;
    if (leaf.pipe.empty())
      for (const PrintFacts::Wide& wide : leaf.wide) registers += wide.operand == 0 ? 0 : double(wide.bytes) / 4 * kTogether;
    fragment_registers_ = std::max(fragment_registers_, registers);
  }
  for (const PrintFacts::Loop& loop : facts.loops)
    if (!loop.accumulator.array.empty()) held_.insert({loop.variable, loop.accumulator.array});
}

long LeafFacts::piece(const AstLeaf& leaf, std::size_t operand, long element_bytes, LaneScope& sizes) const {
  const auto found = leaves_.find(&leaf);
  if (found == leaves_.end() || element_bytes < 1) return 1;
  for (const PrintFacts::Wide& wide : found->second->wide) {
    if (wide.operand != operand || wide.bytes < element_bytes) continue;
    if (wide.tested && !wide.run.empty() && sizes.evaluate(parse_ast_expr(wide.run, "facts"))[0] * element_bytes % wide.bytes != 0) return 1;
    return wide.bytes / element_bytes;
  }
  return 1;
}

}  // namespace tileopt
