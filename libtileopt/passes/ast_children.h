/// Children of an Ast's nodes, for passes that do not care which kind a node is.
#pragma once

#include <string>
#include <vector>

#include "ir/ast.h"

namespace tileopt {

inline std::vector<AstNodePtr> children_of(const AstNodePtr& node) {
  if (node == nullptr) return {};
  if (const auto* block = std::get_if<AstBlock>(&node->node)) return block->children;
  if (const auto* loop = std::get_if<AstFor>(&node->node)) return {loop->body};
  if (const auto* branch = std::get_if<AstIf>(&node->node)) return {branch->then_body, branch->else_body};
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) return {allocate->body};
  return {};
}

/// The node is a loop on the level.
inline bool is_on_level(const AstNodePtr& node, const std::string& level) {
  const auto* loop = node == nullptr ? nullptr : std::get_if<AstFor>(&node->node);
  return loop != nullptr && loop->level == level;
}

/// The node is a loop on the level, or some node below it is.
inline bool holds_level(const AstNodePtr& node, const std::string& level) {
  if (is_on_level(node, level)) return true;
  for (const AstNodePtr& child : children_of(node))
    if (child != nullptr && holds_level(child, level)) return true;
  return false;
}

/// The node with its children replaced, in the order of children_of.
inline AstNodePtr with_children(const AstNodePtr& node, const std::vector<AstNodePtr>& children) {
  if (std::holds_alternative<AstBlock>(node->node)) return make_node(AstBlock{children});
  if (const auto* loop = std::get_if<AstFor>(&node->node)) {
    AstFor result = *loop;
    result.body = children[0];
    return make_node(std::move(result));
  }
  if (const auto* branch = std::get_if<AstIf>(&node->node)) return make_node(AstIf{branch->condition, children[0], children[1]});
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) return make_node(AstAllocate{allocate->arrays, children[0], allocate->rings});
  return node;
}

}  // namespace tileopt
