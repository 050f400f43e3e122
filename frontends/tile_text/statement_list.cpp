#include "frontends/tile_text/statement_list.h"

namespace tileopt::tile_text {

bool StatementList::add(const Scope& scope, LoweredStatement statement) {
  if (statement.ir.domain.intersect_params(scope.context()).is_empty()) return false;
  statements_.push_back(std::move(statement));
  return true;
}

LoweredStatement start_statement(const Nest& nest, const std::string& name, SourceLocation where) {
  LoweredStatement statement;
  statement.ir.name = name;
  statement.ir.where = std::move(where);
  for (const Iterator& iterator : nest.iterators) statement.ir.iterators.push_back(iterator.name);
  statement.iterators = nest.iterators;
  statement.ir.domain = isl::manage(isl_set_set_tuple_name(nest.domain.copy(), name.c_str()));
  return statement;
}

Tree::Branch in_sequence(std::vector<Tree::Branch> pieces) {
  if (pieces.size() == 1) return std::move(pieces.front());
  Tree::Branch whole;
  for (const Tree::Branch& piece : pieces)
    whole.statements.insert(whole.statements.end(), piece.statements.begin(), piece.statements.end());
  if (!pieces.empty()) whole.tree = Tree::sequence(std::move(pieces));
  return whole;
}

Tree::Branch in_bands(const Nest& nest, std::size_t first, Tree::Branch branch) {
  std::vector<std::string> names;
  for (std::size_t i = first; i < nest.iterators.size(); ++i) names.push_back(nest.iterators[i].name);
  branch.tree = Tree::bands(names, branch.tree);
  return branch;
}

}  // namespace tileopt::tile_text
