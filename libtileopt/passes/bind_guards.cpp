#include "passes/bind_guards.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "support/text.h"

namespace tileopt {

namespace {
using Names = std::set<std::string>;

/// Leaves, loop variables and the arrays whose lifetime lies inside a subtree.
struct Below {
  std::vector<const AstLeaf*> leaves;
  Names variables, arrays;

  void collect(const AstNodePtr& node) {
    if (node == nullptr) return;
    if (const auto* block = std::get_if<AstBlock>(&node->node))
      for (const AstNodePtr& child : block->children) collect(child);
    if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      variables.insert(loop->variable);
      collect(loop->body);
    }
    if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      collect(branch->then_body);
      collect(branch->else_body);
    }
    if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
      arrays.insert(allocate->arrays.begin(), allocate->arrays.end());
      collect(allocate->body);
    }
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) leaves.push_back(leaf);
  }
};

class Binder {
 public:
  Binder(const Ast& ast, const Program& program) : ast_(ast), program_(program) {}

  AstNodePtr rewrite(const AstNodePtr& node) const {
    if (node == nullptr) return node;
    if (const auto* block = std::get_if<AstBlock>(&node->node)) {
      AstBlock result;
      for (const AstNodePtr& child : block->children) result.children.push_back(rewrite(child));
      return make_node(std::move(result));
    }
    if (const auto* branch = std::get_if<AstIf>(&node->node))
      return make_node(AstIf{branch->condition, rewrite(branch->then_body), rewrite(branch->else_body)});
    if (const auto* allocate = std::get_if<AstAllocate>(&node->node))
      return make_node(AstAllocate{allocate->arrays, rewrite(allocate->body)});
    if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      AstFor result = *loop;
      result.body = rewrite(loop->body);
      result.binding = find_binding(*loop);
      return make_node(std::move(result));
    }
    return node;
  }

 private:
  std::optional<AstBinding> find_binding(const AstFor& loop) const {
    if (loop.step != 1) return std::nullopt;
    Below below;
    below.collect(loop.body);
    below.variables.insert(loop.variable);
    std::optional<AstBinding> binding;
    for (const AstLeaf* leaf : below.leaves) {
      if (is_private_copy(*leaf, below)) continue;
      std::optional<AstBinding> found = guard_of(*leaf, loop.variable);
      if (!found || !known_outside(*found, below)) return std::nullopt;
      if (binding && key(*binding) != key(*found)) return std::nullopt;
      if (!binding) binding = std::move(found);
    }
    return binding;
  }

  /// A copy between a tensor and an array that lives inside the loop. Where the guard fails, what it copies in is copied out as
  /// it was, if at all: all computation below has no effect then.
  bool is_private_copy(const AstLeaf& leaf, const Below& below) const {
    const AstStatement& statement = ast_.statements.at(leaf.statement);
    if (statement.kind == "compute") return false;
    const std::string& array = statement.kind == "copy_in" ? statement.write_array : statement.read_arrays.front();
    return below.arrays.count(array) != 0;
  }

  /// The guard of the leaf's statement on the iterator that is this variable, at all points of its box.
  std::optional<AstBinding> guard_of(const AstLeaf& leaf, const std::string& variable) const {
    const AstStatement& statement = ast_.statements.at(leaf.statement);
    if (statement.kind != "compute") return std::nullopt;
    const Statement& source = program_.statement(statement.statement);
    for (std::size_t g = 0; g < source.guards.size(); ++g) {
      const AstExprPtr& value = leaf.instance[source.guards[g].iterator];
      if (value->kind != AstExpr::Kind::name || value->name != variable || moves(statement.instance_steps[source.guards[g].iterator])) continue;
      bool constant = true;
      walk_expr(source.guards[g].value, [&](const Expr& e) {
        if (const auto* read = std::get_if<Read>(&e.node))
          for (const std::vector<long>& row : statement.read_steps[read->access]) constant = constant && !moves(row);
        if (const auto* index = std::get_if<IndexValue>(&e.node)) constant = constant && !moves(statement.index_steps[index->index]);
      });
      if (!constant) continue;
      AstBinding binding{leaf.statement, g, {}, {}};
      walk_expr(source.guards[g].value, [&](const Expr& e) {
        if (const auto* read = std::get_if<Read>(&e.node)) binding.reads[read->access] = leaf.reads[read->access];
        if (const auto* index = std::get_if<IndexValue>(&e.node)) binding.indices[index->index] = leaf.indices[index->index];
      });
      return binding;
    }
    return std::nullopt;
  }

  static bool moves(const std::vector<long>& steps) {
    return std::any_of(steps.begin(), steps.end(), [](long step) { return step != 0; });
  }

  bool known_outside(const AstBinding& binding, const Below& below) const {
    Names names, arrays;
    for (const auto& [access, subscripts] : binding.reads) {
      arrays.insert(ast_.statements.at(binding.leaf).read_arrays[access]);
      for (const AstExprPtr& subscript : subscripts) collect_names(subscript, names);
    }
    for (const auto& [index, value] : binding.indices) collect_names(value, names);
    const auto inside = [&](const std::string& name) { return below.variables.count(name) != 0; };
    if (std::any_of(names.begin(), names.end(), inside)) return false;
    for (const Array& promoted : ast_.arrays)
      if (arrays.count(promoted.name) != 0) return false;
    return std::none_of(below.leaves.begin(), below.leaves.end(),
                        [&](const AstLeaf* leaf) { return arrays.count(ast_.statements.at(leaf->statement).write_array) != 0; });
  }

  /// Equal for guards that have the same value: the expression, its reads and index values numbered as they occur.
  std::string key(const AstBinding& binding) const {
    const AstStatement& statement = ast_.statements.at(binding.leaf);
    const ExprPtr& value = program_.statement(statement.statement).guards[binding.guard].value;
    std::vector<std::size_t> reads, indices;
    const auto number = [](std::vector<std::size_t>& known, std::size_t index) {
      const auto found = std::find(known.begin(), known.end(), index);
      if (found == known.end()) known.push_back(index);
    };
    walk_expr(value, [&](const Expr& e) {
      if (const auto* read = std::get_if<Read>(&e.node)) number(reads, read->access);
      if (const auto* index = std::get_if<IndexValue>(&e.node)) number(indices, index->index);
    });
    std::string text = renumbered(expr_text(value), reads, indices);
    for (const std::size_t access : reads) {
      std::vector<std::string> parts;
      for (const AstExprPtr& subscript : binding.reads.at(access)) parts.push_back(ast_expr_text(subscript));
      text += " " + statement.read_arrays[access] + "[" + join(parts, ", ") + "]";
    }
    for (const std::size_t index : indices) text += " " + ast_expr_text(binding.indices.at(index));
    return text;
  }
  /// `r7` and `x2` in the text of an expression become their positions in the lists.
  static std::string renumbered(const std::string& text, const std::vector<std::size_t>& reads, const std::vector<std::size_t>& indices) {
    std::string result;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_word(text[end])) ++end;
      const std::string word = text.substr(at, end - at);
      const bool numbered = word.size() > 1 && (word[0] == 'r' || word[0] == 'x') &&
                            std::all_of(word.begin() + 1, word.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (numbered) {
        const auto& list = word[0] == 'r' ? reads : indices;
        result += word[0] + std::to_string(std::find(list.begin(), list.end(), std::stoul(word.substr(1))) - list.begin());
      } else {
        result += word;
      }
      if (end == at) result += text[end++];
      at = end;
    }
    return result;
  }

  const Ast& ast_;
  const Program& program_;
};
}  // namespace

namespace {
/// Looks for leaves that rely on bound loops for their guards.
class BoundChecker {
 public:
  BoundChecker(const Ast& ast, const Program& program) : ast_(ast), program_(program) {
    for (const auto& [name, statement] : ast.statements)
      if (statement.kind == "copy_in") filled_.insert(statement.write_array);
  }

  std::string run() {
    walk(ast_.root);
    return problem_;
  }

 private:
  void walk(const AstNodePtr& node) {
    if (node == nullptr) return;
    if (const auto* block = std::get_if<AstBlock>(&node->node))
      for (const AstNodePtr& child : block->children) walk(child);
    if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      walk(branch->then_body);
      walk(branch->else_body);
    }
    if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      if (loop->binding) bound_.insert(loop->variable);
      walk(loop->body);
      bound_.erase(loop->variable);
    }
    if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
      const auto outer = bound_outside_;
      for (const std::string& array : allocate->arrays) bound_outside_[array] = bound_;
      walk(allocate->body);
      bound_outside_ = outer;
    }
    if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) check(*leaf);
  }

  void check(const AstLeaf& leaf) {
    const AstStatement& statement = ast_.statements.at(leaf.statement);
    if (statement.kind != "compute") return;
    const Statement& source = program_.statement(statement.statement);
    if (!source.conditional()) return;
    const auto settled = [&](const Names& bound) {
      return source.predicate == nullptr && std::all_of(source.guards.begin(), source.guards.end(), [&](const Guard& guard) {
               const AstExprPtr& value = leaf.instance[guard.iterator];
               return value->kind == AstExpr::Kind::name && bound.count(value->name) != 0;
             });
    };
    if (!statement.box.empty() && !settled(bound_))
      problem_ = "data decides which instances of " + source.name + " have an effect, and an atom runs its whole box: the loops over the indices must be outside it and known where they start";
    const auto outside = bound_outside_.find(statement.write_array);
    const bool keeps = source.combine != Combine::assign || filled_.count(statement.write_array) != 0;
    if (outside != bound_outside_.end() && !keeps && !settled(outside->second))
      problem_ = "array " + statement.write_array + " holds nothing where " + source.name + " has no effect: its loops over indices must be known outside";
  }

  const Ast& ast_;
  const Program& program_;
  Names filled_, bound_;
  std::map<std::string, Names> bound_outside_;  ///< array -> variables of the bound loops around its allocation
  std::string problem_;
};
}  // namespace

std::string unbound_guard(const Ast& ast, const Program& program) { return BoundChecker(ast, program).run(); }

AstNodePtr bind_guards(const AstNodePtr& root, const Ast& ast, const Program& program) { return Binder(ast, program).rewrite(root); }

}  // namespace tileopt
