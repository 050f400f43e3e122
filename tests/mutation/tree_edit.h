// Edits of one place of a kernel's loops.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operators.h"

namespace tileopt::mutation {

// A node in place of another, with what was changed.
using NodeEdits = std::vector<std::pair<std::string, AstNodePtr>>;

// What is known at a node.
struct Place {
  const Subject& subject;
  const Ast& ast;
  std::vector<const AstFor*> loops;  // around it, outermost first
};

// Every edit that `edit` offers at every node of every kernel.
std::vector<Change> at_every_node(const Subject& subject, const std::function<NodeEdits(const AstNodePtr&, const Place&)>& edit);
// The same for nodes of one kind.
template <class Node>
std::vector<Change> at_every(const Subject& subject, const std::function<NodeEdits(const Node&, const Place&)>& edit) {
  return at_every_node(subject, [&](const AstNodePtr& node, const Place& place) {
    const auto* found = std::get_if<Node>(&node->node);
    return found == nullptr ? NodeEdits{} : edit(*found, place);
  });
}
// Every edit of every statement's table.
std::vector<Change> at_every_statement(const Subject& subject,
                                       const std::function<std::vector<std::pair<std::string, AstStatement>>(const AstStatement&, const Ast&)>& edit);
// A change of one kernel.
Change of_kernel(std::size_t kernel, std::string text, std::function<void(Ast&)> change);

AstExprPtr plus(const AstExprPtr& expr, std::int64_t by);
AstExprPtr substituted(const AstExprPtr& expr, const std::string& name, const AstExprPtr& value);
AstNodePtr substituted(const AstNodePtr& node, const std::string& name, const AstExprPtr& value);
bool mentions(const AstExprPtr& expr, const std::string& name);
// Copies of `expr` with one positive constant of at least `least` inside it changed by `by`.
std::vector<AstExprPtr> with_constant_changed(const AstExprPtr& expr, std::int64_t least, std::int64_t by);
// Names of the statements of the leaves below.
std::set<std::string> leaves_below(const AstNodePtr& node);
bool only_copies(const AstNodePtr& node, const Ast& ast, const std::string& kind);
const AstFor* only_loop(const AstNodePtr& node);
bool is_copy(const AstStatement& statement);
const Array* promoted_array(const Ast& ast, const std::string& name);

template <class Node, class Edit>
AstNodePtr edited(const Node& node, Edit&& edit) {
  Node copy = node;
  edit(copy);
  return make_node(std::move(copy));
}

}  // namespace tileopt::mutation
