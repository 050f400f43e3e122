// When things run: sequences, loop order, parallel levels, lifetimes.
#include "tree_edit.h"

namespace tileopt::mutation {

namespace {

AstNodePtr without_child(const AstBlock& block, std::size_t child) {
  return edited(block, [&](AstBlock& b) { b.children.erase(b.children.begin() + static_cast<long>(child)); });
}

std::string names(const AstNodePtr& node) {
  std::string text;
  for (const std::string& name : leaves_below(node)) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// `wanted`: "compute", "copy_in", "copy_out".
std::function<std::vector<Change>(const Subject&)> dropped(const std::string& wanted) {
  return [=](const Subject& s) {
    return at_every<AstBlock>(s, [=](const AstBlock& block, const Place& place) {
      NodeEdits edits;
      for (std::size_t i = 0; i < block.children.size() && block.children.size() > 1; ++i)
        if (only_copies(block.children[i], place.ast, wanted)) edits.emplace_back("without " + names(block.children[i]), without_child(block, i));
      return edits;
    });
  };
}

std::function<std::vector<Change>(const Subject&)> duplicated(bool copies) {
  return [=](const Subject& s) {
    return at_every<AstLeaf>(s, [=](const AstLeaf& leaf, const Place& place) -> NodeEdits {
      if (is_copy(place.ast.statements.at(leaf.statement)) != copies) return {};
      return {{leaf.statement + " twice", make_node(AstBlock{{make_node(leaf), make_node(leaf)}})}};
    });
  };
}

// `copies`: a copy changes places with what follows it; else two computations.
std::function<std::vector<Change>(const Subject&)> swapped(bool copies) {
  return [=](const Subject& s) {
    return at_every<AstBlock>(s, [=](const AstBlock& block, const Place& place) {
      NodeEdits edits;
      for (std::size_t i = 0; i + 1 < block.children.size(); ++i) {
        const bool copy = only_copies(block.children[i], place.ast, "copy_in") || only_copies(block.children[i + 1], place.ast, "copy_out");
        if (copy != copies) continue;
        edits.emplace_back(names(block.children[i]) + " after " + names(block.children[i + 1]),
                           edited(block, [&](AstBlock& b) { std::swap(b.children[i], b.children[i + 1]); }));
      }
      return edits;
    });
  };
}

NodeEdits interchanged(const AstFor& outer, const Place&) {
  const AstFor* inner = only_loop(outer.body);
  if (inner == nullptr || outer.binding || inner->binding) return {};
  if (mentions(inner->lower, outer.variable) || mentions(inner->upper, outer.variable)) return {};
  const AstNodePtr below = edited(outer, [&](AstFor& l) { l.body = inner->body; });
  return {{outer.variable + " inside " + inner->variable, edited(*inner, [&](AstFor& l) { l.body = below; })}};
}

NodeEdits reversed(const AstFor& loop, const Place&) {
  if (loop.binding || loop.step != 1) return {};
  const AstExprPtr mirrored =
      ast_operation(AstExpr::Kind::sub, {ast_operation(AstExpr::Kind::add, {loop.lower, loop.upper}), ast_name(loop.variable)});
  return {{loop.variable + " backwards", edited(loop, [&](AstFor& l) { l.body = substituted(l.body, loop.variable, mirrored); })}};
}

std::function<std::vector<Change>(const Subject&)> on_level(const std::string& level) {
  return [=](const Subject& s) {
    return at_every<AstFor>(s, [=](const AstFor& loop, const Place&) -> NodeEdits {
      if (loop.level == level || loop.binding) return {};
      return {{loop.variable + " on level " + level, edited(loop, [&](AstFor& l) { l.level = level; })}};
    });
  };
}

// One lifetime becomes several: one for each iteration of the only loop inside, or for each part of the sequence inside.
NodeEdits sunk(const AstAllocate& allocate, const Place&) {
  if (const AstFor* loop = only_loop(allocate.body))
    return {{"allocation inside " + loop->variable, edited(*loop, [&](AstFor& l) { l.body = make_node(AstAllocate{allocate.arrays, l.body}); })}};
  const auto* block = std::get_if<AstBlock>(&allocate.body->node);
  if (block == nullptr || block->children.size() < 2) return {};
  AstBlock parts;
  for (const AstNodePtr& child : block->children) parts.children.push_back(make_node(AstAllocate{allocate.arrays, child}));
  return {{"an allocation for each part", make_node(std::move(parts))}};
}

// loop around an allocate -> allocate around the loop: iterations share the storage.
NodeEdits hoisted(const AstFor& loop, const Place&) {
  const auto* block = std::get_if<AstBlock>(&loop.body->node);
  const AstNodePtr& body = block != nullptr && block->children.size() == 1 ? block->children.front() : loop.body;
  const auto* allocate = std::get_if<AstAllocate>(&body->node);
  if (allocate == nullptr) return {};
  return {{"allocation outside " + loop.variable, make_node(AstAllocate{allocate->arrays, edited(loop, [&](AstFor& l) { l.body = allocate->body; })})}};
}

}  // namespace

void add_order_operators(std::vector<Operator>& operators) {
  operators.push_back({"drop-computation", "a statement is forgotten", {"coverage", "values", "padding"}, false, dropped("compute")});
  operators.push_back({"drop-copy-in", "a copy into a promoted array is forgotten", {"values", "padding"}, false, dropped("copy_in")});
  operators.push_back({"drop-copy-out", "a copy back is forgotten", {"values"}, false, dropped("copy_out")});
  operators.push_back({"duplicate-computation", "a leaf runs twice: a contribution counts double", {"coverage"}, false, duplicated(false)});
  operators.push_back({"duplicate-copy", "a copy runs twice", {"values"}, false, duplicated(true)});
  operators.push_back({"move-copy", "a copy comes after what needs it", {"values", "padding"}, false, swapped(true)});
  operators.push_back({"swap-statements", "two neighbours of a sequence change places", {"order", "values", "padding"}, false, swapped(false)});
  operators.push_back({"interchange-loops", "two nested loops change places", {"order", "values", "races", "text"}, false,
                       [](const Subject& s) { return at_every<AstFor>(s, interchanged); }});
  operators.push_back({"reverse-loop", "a loop runs backwards", {"order", "values", "text"}, false, [](const Subject& s) { return at_every<AstFor>(s, reversed); }});
  operators.push_back({"thread-level", "a loop runs on threads", {"races", "text"}, false, on_level("thread")});
  operators.push_back({"lane-level", "a loop runs in vector lanes", {"races", "text"}, false, on_level("simd")});
  operators.push_back({"sink-allocation", "a lifetime ends too early", {"values", "padding"}, false, [](const Subject& s) { return at_every<AstAllocate>(s, sunk); }});
  operators.push_back({"hoist-allocation", "iterations share a temporary", {"races", "values", "padding", "order"}, false,
                       [](const Subject& s) { return at_every<AstFor>(s, hoisted); }});
}

}  // namespace tileopt::mutation
