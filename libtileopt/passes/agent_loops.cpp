#include "passes/agent_loops.h"

#include <algorithm>
#include <functional>
#include <set>

#include "passes/ast_children.h"

namespace tileopt {

namespace {
using Names = std::set<std::string>;
constexpr const char* kBarrier = "block_barrier";

class AgentPlacer {
 public:
  AgentPlacer(const SynchronizedSchedule& synchronized, Ast& ast) : synchronized_(synchronized), levels_(synchronized.agent_levels()), ast_(ast) {
    for (const SynchronizedSchedule::Crossing& crossing : synchronized.crossings()) {
      crossings_.insert({crossing.first, crossing.second});
      crossings_.insert({crossing.second, crossing.first});
    }
    const Program& program = synchronized.promoted().program();
    taken_.insert(program.parameters().begin(), program.parameters().end());
    for (const Tensor& tensor : program.tensors()) taken_.insert(tensor.name);
    for (const Array& array : ast.arrays) taken_.insert(array.name);
    collect_variables(ast.root);
  }

  std::optional<Infeasible> run() {
    ast_.root = host(counted(ast_.root));
    return problem_;
  }

 private:
  /// Agent loops with the number of their agents: the radix of their digit.
  AstNodePtr counted(const AstNodePtr& node) {
    if (node == nullptr || std::holds_alternative<AstLeaf>(node->node)) return node;
    std::vector<AstNodePtr> children;
    for (const AstNodePtr& child : children_of(node)) children.push_back(counted(child));
    if (!is_on_level(node, levels_.agent)) return with_children(node, children);
    AstFor loop = std::get<AstFor>(node->node);
    loop.agents = synchronized_.promoted().radix(loop.digit);
    if (loop.agents == 0) refuse("digit " + loop.digit + " on level " + loop.level + " has no radix that would say how many there are");
    loop.body = children[0];
    return make_node(std::move(loop));
  }

  // --- what a subtree holds
  void collect_variables(const AstNodePtr& node) {
    if (node == nullptr) return;
    if (const auto* loop = std::get_if<AstFor>(&node->node)) taken_.insert(loop->variable);
    for (const AstNodePtr& child : children_of(node)) collect_variables(child);
  }
  /// Smallest and largest number of agent loops around a leaf, inside `node`; {-1, -1} without leaves.
  std::pair<int, int> agent_depth(const AstNodePtr& node) const {
    if (node == nullptr) return {-1, -1};
    if (std::holds_alternative<AstLeaf>(node->node)) return {0, 0};
    std::pair<int, int> depth = {-1, -1};
    for (const AstNodePtr& child : children_of(node)) {
      const auto [least, most] = agent_depth(child);
      if (least < 0) continue;
      depth = {depth.first < 0 ? least : std::min(depth.first, least), std::max(depth.second, most)};
    }
    const int own = is_on_level(node, levels_.agent) ? 1 : 0;
    return depth.first < 0 ? depth : std::make_pair(depth.first + own, depth.second + own);
  }
  void collect_statements(const AstNodePtr& node, Names& names) const {
    if (node == nullptr) return;
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) names.insert(leaf->statement);
    for (const AstNodePtr& child : children_of(node)) collect_statements(child, names);
  }

  // --- launches
  AstNodePtr host(const AstNodePtr& node) {
    if (node == nullptr) return nullptr;
    if (!holds_level(node, levels_.independent)) return agent_depth(node).first < 0 ? node : launch(node);
    if (is_on_level(node, levels_.independent)) return blocks(node);
    if (is_on_level(node, levels_.agent)) refuse("agent digit " + std::get<AstFor>(node->node).digit + " is outside of the blocks below it");
    if (const auto* loop = std::get_if<AstFor>(&node->node); loop != nullptr && loop->binding)
      refuse("blocks start inside the loop over index " + loop->digit + ", whose value only the device can read");
    if (!std::holds_alternative<AstBlock>(node->node)) {
      std::vector<AstNodePtr> children;
      for (const AstNodePtr& child : children_of(node)) children.push_back(host(child));
      return with_children(node, children);
    }
    // Neighbours without blocks are one launch.
    std::vector<AstNodePtr> result, alone;
    const auto flush = [&] {
      if (!alone.empty()) result.push_back(host(alone.size() == 1 ? alone.front() : make_node(AstBlock{alone})));
      alone.clear();
    };
    for (const AstNodePtr& child : flat_block(node)) {
      if (!holds_level(child, levels_.independent)) {
        alone.push_back(child);
        continue;
      }
      flush();
      result.push_back(host(child));
    }
    flush();
    return make_node(AstBlock{std::move(result)});
  }
  static std::vector<AstNodePtr> flat_block(const AstNodePtr& node) {
    std::vector<AstNodePtr> result;
    for (const AstNodePtr& child : children_of(node)) {
      if (child == nullptr) continue;
      if (!std::holds_alternative<AstBlock>(child->node)) result.push_back(child);
      else
        for (const AstNodePtr& inner : flat_block(child)) result.push_back(inner);
    }
    return result;
  }
  /// One block of what has no blocks.
  AstNodePtr launch(const AstNodePtr& node) { return make_node(single("block_0", levels_.independent, block_body(node))); }

  AstFor single(const std::string& wanted, const std::string& level, AstNodePtr body) {
    AstFor loop;
    loop.variable = wanted;
    for (int n = 1; !taken_.insert(loop.variable).second; ++n) loop.variable = wanted + "_" + std::to_string(n);
    loop.digit = loop.variable;
    loop.level = level;
    loop.lower = loop.upper = ast_integer(0);
    if (level == levels_.agent) loop.agents = 1;
    loop.body = std::move(body);
    return loop;
  }

  /// Independent loops that are nested directly, and the block below them.
  AstNodePtr blocks(const AstNodePtr& node) {
    if (!holds_level(node, levels_.independent)) return block_body(node);
    if (std::holds_alternative<AstBlock>(node->node)) {
      const std::vector<AstNodePtr> children = flat_block(node);
      if (children.size() == 1) return blocks(children.front());
    }
    const auto* branch = std::get_if<AstIf>(&node->node);
    const bool passes = is_on_level(node, levels_.independent) || std::holds_alternative<AstAllocate>(node->node) || (branch != nullptr && branch->else_body == nullptr);
    if (!passes) {
      refuse("blocks start inside a block: digits of level " + levels_.independent + " must be nested directly");
      return node;
    }
    std::vector<AstNodePtr> children;
    for (const AstNodePtr& child : children_of(node)) children.push_back(child == nullptr ? nullptr : blocks(child));
    return with_children(node, children);
  }

  AstNodePtr block_body(const AstNodePtr& node) {
    const AstNodePtr full = with_agents(node);
    barriers_.clear();
    Names since;
    scan(full, since, false);
    return with_barriers(full);
  }

  // --- agents
  /// Nests without agent loops are run by agent 0, as a whole, so that their statements need not meet.
  AstNodePtr with_agents(const AstNodePtr& node) {
    const auto [least, most] = agent_depth(node);
    if (least < 0) return node;
    if (most == 0) return make_node(single("thread_0", levels_.agent, node));
    if (is_on_level(node, levels_.agent)) {
      if (least != most) refuse("statements below one digit of level " + levels_.agent + " have different numbers of them");
      return node;
    }
    std::vector<AstNodePtr> children;
    for (const AstNodePtr& child : children_of(node)) children.push_back(child == nullptr ? nullptr : with_agents(child));
    return with_children(node, children);
  }

  // --- barriers
  bool crosses(const Names& before, const Names& now) const {
    for (const std::string& a : before)
      for (const std::string& b : now)
        if (crossings_.count({a, b}) != 0) return true;
    return false;
  }
  void meet_before(const AstNodePtr& node, const Names& now, Names& since, bool bound) {
    if (barriers_.count(node.get()) != 0) since.clear();
    if (!crosses(since, now)) return;
    if (bound) refuse("a barrier would stand in a loop over an index from memory");
    barriers_.insert(node.get());
    since.clear();
  }
  /// Statements of the first phase in `node`, wherever it stands; false where there is none.
  bool collect_first_phase(const AstNodePtr& node, Names& names) const {
    if (node == nullptr) return false;
    if (is_on_level(node, levels_.agent)) {
      collect_statements(node, names);
      return true;
    }
    for (const AstNodePtr& child : children_of(node))
      if (collect_first_phase(child, names)) return true;
    return false;
  }
  /// Follows the statements since the last barrier and notes the phases that need one before them. `bound`: inside a loop over an
  /// index from memory, where agents might disagree.
  void scan(const AstNodePtr& node, Names& since, bool bound) {
    if (node == nullptr) return;
    if (const auto* sync = std::get_if<AstSync>(&node->node)) {
      if (ast_.synchronizations.at(sync->statement).kind == SyncKind::barrier) since.clear();
      return;
    }
    if (is_on_level(node, levels_.agent)) {
      Names now;
      collect_statements(node, now);
      meet_before(node, now, since, bound);
      since.insert(now.begin(), now.end());
      return;
    }
    if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      const Names skipped = since;
      const bool from_memory = bound || loop->binding.has_value();
      scan(loop->body, since, from_memory);
      scan(loop->body, since, from_memory);
      since.insert(skipped.begin(), skipped.end());
      return;
    }
    if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      // Before the branch rather than in it: who does not take it has met too, and nothing after it needs another barrier for that.
      Names first;
      const bool agents = collect_first_phase(branch->then_body, first) | collect_first_phase(branch->else_body, first);
      if (agents) meet_before(node, first, since, bound);
      Names other = since;
      scan(branch->then_body, since, bound);
      scan(branch->else_body, other, bound);
      since.insert(other.begin(), other.end());
      return;
    }
    for (const AstNodePtr& child : children_of(node)) scan(child, since, bound);
  }
  AstNodePtr with_barriers(const AstNodePtr& node) {
    if (node == nullptr) return nullptr;
    if (barriers_.count(node.get()) != 0) {
      declare_barrier();
      return make_node(AstBlock{{make_node(AstSync{kBarrier}), is_on_level(node, levels_.agent) ? node : with_barriers_below(node)}});
    }
    return is_on_level(node, levels_.agent) ? node : with_barriers_below(node);
  }
  AstNodePtr with_barriers_below(const AstNodePtr& node) {
    const std::vector<AstNodePtr> children = children_of(node);
    if (children.empty()) return node;
    std::vector<AstNodePtr> result;
    for (const AstNodePtr& child : children) {
      const AstNodePtr made = with_barriers(child);
      const auto* block = made == nullptr ? nullptr : std::get_if<AstBlock>(&made->node);
      if (block != nullptr && std::holds_alternative<AstBlock>(node->node)) result.insert(result.end(), block->children.begin(), block->children.end());
      else result.push_back(made);
    }
    return with_children(node, result);
  }
  void declare_barrier() {
    if (ast_.find_barrier("block") == nullptr) ast_.barriers.push_back({"block", BarrierScope::block, "", 0});
    ast_.synchronizations[kBarrier] = {kBarrier, SyncKind::barrier, "block"};
  }

  void refuse(const std::string& reason) {
    if (!problem_) problem_ = Infeasible{"legality", "build_ast", ast_.kernel, "kernels[" + ast_.kernel + "].tree", reason};
  }

  const SynchronizedSchedule& synchronized_;
  const SynchronizedSchedule::AgentLevels& levels_;
  Ast& ast_;
  std::set<std::pair<std::string, std::string>> crossings_;
  Names taken_;
  std::set<const AstNode*> barriers_;  ///< phases, and branches, with a barrier before them
  std::optional<Infeasible> problem_;
};
}  // namespace

std::optional<Infeasible> place_agents(const SynchronizedSchedule& synchronized, Ast& ast) { return AgentPlacer(synchronized, ast).run(); }

}  // namespace tileopt
