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

class AstConverter {
 public:
  /// `digit_of(statement, depth)`: digit and level of the band at that depth above the statement.
  using DigitOf = std::function<std::pair<std::string, std::string>(const std::string&, int)>;
  AstConverter(const std::vector<AstLeaf>& leaves, DigitOf digit_of) : leaves_(leaves), digit_of_(std::move(digit_of)) {}
  AstNodePtr convert(const isl::ast_node& node) const;

 private:
  using Values = std::map<std::string, AstExprPtr>;
  AstNodePtr walk(isl_ast_node* node, const Values& values) const;
  AstNodePtr walk_for(isl_ast_node* node, const Values& values) const;
  AstNodePtr walk_leaf(isl_ast_node* node, const Values& values) const;
  std::string first_statement(isl_ast_node* node) const;
  const std::vector<AstLeaf>& leaves_;
  DigitOf digit_of_;
};

}  // namespace tileopt
