/// isl's AST to ours: loops named by digits, degenerate loops substituted, marks turned into allocations.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/ast.h"
#include "poly/isl.h"

namespace tileopt {

AstExprPtr convert_expr(const isl::ast_expr& expr);

/// Replaces names by expressions, as they are: nothing is folded.
AstExprPtr substitute_names(const AstExprPtr& expr, const std::map<std::string, AstExprPtr>& values);
/// Replaces names by expressions in the bounds, conditions and operands of a whole subtree (not in what its loops rename).
AstNodePtr substitute_names(const AstNodePtr& node, const std::map<std::string, AstExprPtr>& values);

class AstConverter {
 public:
  /// `digit_of(statement, depth)`: digit and level of the band at that depth above the statement.
  using DigitOf = std::function<std::pair<std::string, std::string>(const std::string&, int)>;
  /// What a leaf becomes in our tree.
  using MakeLeaf = std::function<AstNodePtr(AstLeaf)>;
  /// Loops of one iteration are dropped, except on levels for which `keep` holds: there they say who runs what.
  using Keep = std::function<bool(const std::string& level)>;
  AstConverter(const std::vector<AstLeaf>& leaves, DigitOf digit_of, MakeLeaf make_leaf, Keep keep)
      : leaves_(leaves), digit_of_(std::move(digit_of)), make_leaf_(std::move(make_leaf)), keep_(std::move(keep)) {}
  AstNodePtr convert(const isl::ast_node& node) const;

 private:
  using Values = std::map<std::string, AstExprPtr>;
  AstNodePtr walk(isl_ast_node* node, const Values& values) const;
  AstNodePtr walk_for(isl_ast_node* node, const Values& values) const;
  AstNodePtr walk_leaf(isl_ast_node* node, const Values& values) const;
  std::string first_statement(isl_ast_node* node) const;
  const std::vector<AstLeaf>& leaves_;
  DigitOf digit_of_;
  MakeLeaf make_leaf_;
  Keep keep_;
};

}  // namespace tileopt
