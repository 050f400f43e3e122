/// The statements of a program under construction, with what the later checks need to know about them.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "frontends/tile_text/scope.h"

namespace tileopt::tile_text {

struct LoweredStatement {
  Statement ir;                       ///< `body` is null where an error was reported
  std::vector<Iterator> iterators;    ///< of its nest
  bool own_read_initialised = false;  ///< a reduction whose init statement precedes it
};

class StatementList {
 public:
  /// Keeps the statement unless no sizes ever let it run; true when kept.
  bool add(const Scope& scope, LoweredStatement statement);
  /// A write that could not be described: reads of the tensor are not checked.
  void add_unknown_write(const std::string& tensor) { unknown_.insert(tensor); }

  const std::deque<LoweredStatement>& all() const { return statements_; }
  std::deque<LoweredStatement>& all() { return statements_; }
  bool has_unknown_write(const std::string& tensor) const { return unknown_.count(tensor) > 0; }

 private:
  std::deque<LoweredStatement> statements_;
  std::set<std::string> unknown_;
};

/// The fields that every statement takes from its nest: name, iterators, domain.
LoweredStatement start_statement(const Nest& nest, const std::string& name, SourceLocation where);

/// One branch that runs the pieces in turn.
Tree::Branch in_sequence(std::vector<Tree::Branch> pieces);
/// `branch` inside bands over the iterators of `nest` from `first` on.
Tree::Branch in_bands(const Nest& nest, std::size_t first, Tree::Branch branch);

}  // namespace tileopt::tile_text
