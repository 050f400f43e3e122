#include "backends/gpu_common/launch_plan.h"

#include <algorithm>
#include <set>

#include "backends/c_common/refusal.h"
#include "backends/c_common/register_arrays.h"

namespace tileopt {

namespace {
bool holds_level(const AstNodePtr& node, const std::string& level) {
  if (node == nullptr) return false;
  for (const AstNodePtr& child : flat_children(node)) {
    if (const auto* loop = std::get_if<AstFor>(&child->node)) {
      if (loop->level == level || holds_level(loop->body, level)) return true;
    } else if (const auto* branch = std::get_if<AstIf>(&child->node)) {
      if (holds_level(branch->then_body, level) || holds_level(branch->else_body, level)) return true;
    } else if (const auto* allocate = std::get_if<AstAllocate>(&child->node)) {
      if (holds_level(allocate->body, level)) return true;
    }
  }
  return false;
}

bool depends(const AstFor& loop, const std::set<std::string>& names) {
  std::set<std::string> used;
  collect_names(loop.lower, used);
  collect_names(loop.upper, used);
  return std::any_of(used.begin(), used.end(), [&](const std::string& name) { return names.count(name) != 0; });
}

/// Follows the way from one independent loop to the next.
const AstFor* next_block(const AstNodePtr& body, const std::string& independent) {
  if (!holds_level(body, independent)) return nullptr;
  const std::vector<AstNodePtr> children = flat_children(body);
  if (children.size() == 1) {
    const AstNode& child = *children.front();
    if (const auto* loop = std::get_if<AstFor>(&child.node); loop != nullptr && loop->level == independent) return loop;
    if (const auto* branch = std::get_if<AstIf>(&child.node); branch != nullptr && branch->else_body == nullptr) return next_block(branch->then_body, independent);
    if (const auto* allocate = std::get_if<AstAllocate>(&child.node)) return next_block(allocate->body, independent);
  }
  refuse("ast", independent, "blocks start inside a block: loops of level " + independent + " must be nested directly");
}

void collect_agents(const AstNodePtr& node, LaunchPlan& plan) {
  for (const AstNodePtr& child : flat_children(node)) {
    if (const auto* loop = std::get_if<AstFor>(&child->node)) {
      if (loop->agents > 0) plan.threads = std::max(plan.threads, loop->agents * agent_weight(loop->body));
      else collect_agents(loop->body, plan);
    } else if (const auto* branch = std::get_if<AstIf>(&child->node)) {
      collect_agents(branch->then_body, plan);
      collect_agents(branch->else_body, plan);
    } else if (const auto* allocate = std::get_if<AstAllocate>(&child->node)) {
      collect_agents(allocate->body, plan);
    }
  }
}
}  // namespace

long agent_weight(const AstNodePtr& node) {
  for (const AstNodePtr& child : flat_children(node)) {
    if (std::holds_alternative<AstLeaf>(child->node)) return 1;
    if (const auto* loop = std::get_if<AstFor>(&child->node)) return agent_weight(loop->body) * std::max(1L, loop->agents);
    if (const auto* branch = std::get_if<AstIf>(&child->node)) return agent_weight(branch->then_body);
    if (const auto* allocate = std::get_if<AstAllocate>(&child->node)) return agent_weight(allocate->body);
  }
  return 1;
}

LaunchPlan plan_launch(const AstFor& root, const std::string& independent) {
  LaunchPlan plan;
  std::set<std::string> names;
  for (const AstFor* loop = &root; loop != nullptr; loop = next_block(loop->body, independent)) {
    if (loop->binding) refuse("ast", loop->variable, "the number of blocks is read from memory");
    plan.blocks.push_back({loop, depends(*loop, names)});
    if (plan.blocks.back().dependent && loop->step != 1) refuse("ast", loop->variable, "blocks in steps depend on other blocks");
    names.insert(loop->variable);
  }
  collect_agents(root.body, plan);
  return plan;
}

}  // namespace tileopt
