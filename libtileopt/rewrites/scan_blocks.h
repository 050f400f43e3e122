/// What rewrites share that cut the recurrence of a scan into blocks (chained_scan, reduce_scan): the recurrence, and statements over the loops
/// around it and further ones.
#pragma once

#include <string>
#include <vector>

#include "rewrites/program_edit.h"
#include "rewrites/rewrite.h"
#include "rewrites/scan_recurrence.h"

namespace tileopt {

class ScanBlocks {
 protected:
  using Names = std::vector<std::string>;

  ScanBlocks(const Program& program, const Rewriting& rewriting)
      : program_(program), rewriting_(rewriting), statement_(program.statement(rewriting.arguments[0])), block_(rewriting.sizes.at("block")) {}

  /// Refused: find_scan_recurrence, find_scan_steps, and loops inside of that over i.
  std::optional<Infeasible> find();

  /// Name of the value of a loop inside of the outer ones: the first, the second, ...
  std::string at(std::size_t further) const { return "d" + std::to_string(outer_ + further); }
  /// "{ from[d0, ...] -> to[outer, values] }" with d0 ... the outer loops and what follows them.
  isl::pw_multi_aff function(const std::string& from, std::size_t inputs, const std::string& to, const Names& values) const;
  /// { [outer, b] }: the blocks that hold steps.
  isl::set blocks() const;

  /// A statement over the outer loops and `loops`, on `domain`, that writes `tensor` at the outer loops and `values`.
  Statement make(const std::string& name, const Names& loops, const isl::set& domain, const std::string& tensor, const Names& values) const;
  Access access(const Statement& s, const std::string& tensor, const Names& values) const;
  /// An access of a statement of the recurrence, of the step that `step` says over the loops of `s`.
  Access of_step(const Statement& s, const Statement& old, const Access& read, const std::string& step) const;
  /// element = value, element (+)= value
  void copy(Statement& s, const std::string& tensor, const Names& values) const;
  void accumulate(Statement& s, const std::string& tensor, const Names& values) const;
  /// element (+)= the recurrence's term at the step.
  void add_term(Statement& s, const std::string& step) const;

  /// A local over the outer loops and further dimensions.
  void add_local(ProgramParts& parts, const std::string& name, const std::vector<isl::pw_aff>& further) const;
  /// `made`, in the order of `pieces`, in place of the recurrence.
  Rewritten replaced(ProgramParts parts, const std::vector<Statement>& made, const std::vector<Tree::Branch>& pieces) const;

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& statement_;
  long block_;
  const Statement *carry_ = nullptr, *start_ = nullptr;
  std::size_t outer_ = 0;      ///< loops around that over i
  Names group_;                ///< all writers of the result
  isl::set terms_, elements_;  ///< { [outer, i] }: steps that add a term; all of them

 private:
  void combine(Statement& s) const;
};

}  // namespace tileopt
