/// Our own immutable schedule tree over statements whose dimensions have names. The same type carries the original order
/// (dimensions = iterators), the schedule (members), the digit schedule (digits) and the promoted schedule.
///
/// Text:   `jc > kc > (B_copy: jr > kk ; C_init, C: ic > jr > (C_init ; C: kk))`
///   a name is a band over that dimension, `( ... ; ... )` a sequence whose branches list their statements,
///   `allocate(A, B) > ...` opens the lifetime of arrays, `nested > ...` separates interior from edge blocks below it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "poly/isl.h"

namespace tileopt {

/// A statement at some stage: named dimensions, exact domain, and its program instances.
struct StatementSpace {
  std::string name;               ///< tuple name; unique in the kernel
  std::vector<std::string> dims;  ///< dimension names, in tuple order
  isl::set domain;                ///< { name[dims] }
  isl::map to_program;            ///< { name[dims] -> S[iterators] }; the identity where there is none (never null)

  std::string tuple() const;  ///< "name[d0, d1]"
};

class Tree {
 public:
  enum class Kind { leaf, band, sequence, allocate, nested };
  struct Branch;

  Tree();  ///< a leaf
  static Tree leaf() { return Tree(); }
  static Tree band(std::string dim, Tree child);
  static Tree sequence(std::vector<Branch> branches);
  static Tree allocate(std::vector<std::string> arrays, Tree child);
  static Tree nested(Tree child);
  /// Bands for `dims`, outermost first, above `child`.
  static Tree bands(const std::vector<std::string>& dims, Tree child);

  Kind kind() const;
  const std::string& dim() const;                    ///< band
  const std::vector<std::string>& arrays() const;    ///< allocate
  Tree child() const;                                ///< band, allocate, nested
  const std::vector<Branch>& branches() const;       ///< sequence

  std::string write() const;
  /// @throws Errors(invalid_plan) with the column of the first offending character.
  static Tree read(const std::string& text, const std::string& file);

  friend bool operator==(const Tree& a, const Tree& b) { return a.write() == b.write(); }

 private:
  struct Node;
  explicit Tree(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};
struct Tree::Branch {
  std::vector<std::string> statements;
  Tree tree;
};

/// Band dimensions on the way from the root to `statement`, outermost first. `all` names the statements of the tree.
std::vector<std::string> path_dims(const Tree& tree, const std::string& statement);

/// The part of `tree` that holds `statements`; a sequence of one branch becomes that branch.
Tree restrict_tree(const Tree& tree, const std::vector<std::string>& statements);

/// { S[dims] -> [t0, ..., tn] }: sequence positions and band values, padded with zeros to one depth.
isl::union_map order_map(const Tree& tree, const std::vector<StatementSpace>& statements);

/// The isl schedule tree of `tree`: bands one member each, `allocate` and `nested` as marks ("allocate:A,B", "nested").
isl::schedule emit_schedule(const Tree& tree, const std::vector<StatementSpace>& statements);

}  // namespace tileopt
