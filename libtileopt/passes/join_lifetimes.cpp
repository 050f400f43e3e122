#include "passes/join_lifetimes.h"

#include <algorithm>
#include <vector>

#include "support/text.h"

namespace tileopt {

namespace {
/// Arrays whose lifetimes open in `node` outside of any loop of it.
void collect_opened(const AstNodePtr& node, std::vector<std::string>& arrays) {
  if (node == nullptr) return;
  if (const AstBlock* block = std::get_if<AstBlock>(&node->node))
    for (const AstNodePtr& child : block->children) collect_opened(child, arrays);
  if (const AstIf* branch = std::get_if<AstIf>(&node->node)) {
    collect_opened(branch->then_body, arrays);
    collect_opened(branch->else_body, arrays);
  }
  if (const AstAllocate* allocate = std::get_if<AstAllocate>(&node->node)) {
    for (const std::string& array : allocate->arrays)
      if (!contains(arrays, array)) arrays.push_back(array);
    collect_opened(allocate->body, arrays);
  }
}

bool opens(const AstNodePtr& node, const std::string& array) {
  std::vector<std::string> arrays;
  collect_opened(node, arrays);
  return contains(arrays, array);
}

/// Does a loop of `node` open lifetimes of `array`? They are those of its own iterations.
bool opens_in_loop(const AstNodePtr& node, const std::string& array) {
  if (node == nullptr) return false;
  if (const AstFor* loop = std::get_if<AstFor>(&node->node)) return opens(loop->body, array) || opens_in_loop(loop->body, array);
  if (const AstBlock* block = std::get_if<AstBlock>(&node->node))
    return std::any_of(block->children.begin(), block->children.end(), [&](const AstNodePtr& c) { return opens_in_loop(c, array); });
  if (const AstIf* branch = std::get_if<AstIf>(&node->node)) return opens_in_loop(branch->then_body, array) || opens_in_loop(branch->else_body, array);
  if (const AstAllocate* allocate = std::get_if<AstAllocate>(&node->node)) return opens_in_loop(allocate->body, array);
  return false;
}

/// `node` without the lifetimes of `array` that open outside of its loops.
AstNodePtr strip(const AstNodePtr& node, const std::string& array) {
  if (node == nullptr) return node;
  if (const AstBlock* block = std::get_if<AstBlock>(&node->node)) {
    AstBlock stripped;
    for (const AstNodePtr& child : block->children) stripped.children.push_back(strip(child, array));
    return make_node(std::move(stripped));
  }
  if (const AstIf* branch = std::get_if<AstIf>(&node->node))
    return make_node(AstIf{branch->condition, strip(branch->then_body, array), strip(branch->else_body, array)});
  if (const AstAllocate* allocate = std::get_if<AstAllocate>(&node->node)) {
    AstAllocate kept;
    for (const std::string& name : allocate->arrays)
      if (name != array) kept.arrays.push_back(name);
    kept.body = strip(allocate->body, array);
    if (kept.arrays.empty()) return kept.body;
    return make_node(std::move(kept));
  }
  return node;
}

AstNodePtr join_block(AstBlock block) {
  for (AstNodePtr& child : block.children) child = join_lifetimes(child);
  std::vector<std::string> arrays;
  for (const AstNodePtr& child : block.children) collect_opened(child, arrays);
  for (const std::string& array : arrays) {
    std::vector<AstNodePtr> joined, run;  // `run`: pieces of one lifetime and what lies between them
    std::size_t last_piece = 0;           // children of `run` up to and with its last piece
    const auto close = [&] {
      if (last_piece > 1) {
        AstBlock lifetime;
        for (std::size_t i = 0; i < last_piece; ++i) lifetime.children.push_back(strip(run[i], array));
        joined.push_back(make_node(AstAllocate{{array}, join_lifetimes(make_node(std::move(lifetime)))}));
      } else if (last_piece == 1) {
        joined.push_back(run.front());
      }
      joined.insert(joined.end(), run.begin() + static_cast<long>(last_piece), run.end());
      run.clear();
      last_piece = 0;
    };
    for (const AstNodePtr& child : block.children) {
      if (opens_in_loop(child, array)) {
        close();
        joined.push_back(child);
      } else if (opens(child, array)) {
        run.push_back(child);
        last_piece = run.size();
      } else if (run.empty()) {
        joined.push_back(child);
      } else {
        run.push_back(child);
      }
    }
    close();
    block.children = std::move(joined);
  }
  if (block.children.size() == 1) return block.children.front();
  return make_node(std::move(block));
}
}  // namespace

AstNodePtr join_lifetimes(const AstNodePtr& node) {
  if (node == nullptr) return node;
  if (const AstBlock* block = std::get_if<AstBlock>(&node->node)) return join_block(*block);
  if (const AstFor* loop = std::get_if<AstFor>(&node->node)) {
    AstFor joined = *loop;
    joined.body = join_lifetimes(loop->body);
    return make_node(std::move(joined));
  }
  if (const AstIf* branch = std::get_if<AstIf>(&node->node))
    return make_node(AstIf{branch->condition, join_lifetimes(branch->then_body), join_lifetimes(branch->else_body)});
  if (const AstAllocate* allocate = std::get_if<AstAllocate>(&node->node))
    return make_node(AstAllocate{allocate->arrays, join_lifetimes(allocate->body)});
  return node;
}

}  // namespace tileopt
