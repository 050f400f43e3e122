/// State of promote_footprints: statements with their current accesses, arrays and the growing tree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/stages.h"
#include "passes/leaf_functions.h"

namespace tileopt {

/// One access of a compute statement at digit level.
struct DigitAccess {
  std::string array;
  isl::pw_multi_aff function;  ///< { S[digits] -> array[..] }, beyond the domain too where the leaf is padded
  isl::map exact;              ///< { S[digits] -> tensor[..] }: what the program performs
};

/// A compute statement at digit level.
struct DigitStatement {
  const Statement* statement;
  const StatementSpace* digits;
  const FittedSchedule::Leaf* leaf;
  isl::set executed;            ///< { S[digits] }: the domain, with whole boxes where the leaf is padded
  isl::pw_multi_aff instance;   ///< { S[digits] -> S[iterators] }
  DigitAccess write;
  std::vector<DigitAccess> reads;
};

/// Where a promotion applies.
struct Scope {
  std::vector<std::string> prefix;      ///< band dimensions down to and with `after`
  std::vector<std::string> statements;  ///< all statements below, copies included
};

/// The tile that a promotion keeps: { P[prefix] -> tensor } footprints and the box around them.
struct Tile {
  isl::map needed;                 ///< read before written inside the tile: copied in
  isl::map written;                ///< copied out
  isl::multi_aff corner;           ///< { P[prefix] -> tensor[..] }
  std::vector<long> size;          ///< box, per tensor dimension
  std::vector<long> extents;       ///< per layout dimension
  std::vector<long> weights;       ///< per layout dimension: tensor elements a step moves along its tensor dimension
  bool copy_in = false, copy_out = false;
};

/// Elements of the tensor's dimension from one that its least significant digit takes to the next: more than one where others have no place in
/// the array. 0: the layout does not say.
long steps_over(const Promotion& promotion, std::size_t dim);

class PromotionBuilder {
 public:
  PromotionBuilder(FittedSchedule fitted, const Machine& machine);
  Candidate<PromotedSchedule> build();

 private:
  std::optional<Infeasible> prepare_statements();
  std::optional<Infeasible> apply(const Promotion& promotion);
  std::optional<Infeasible> check_request(const Promotion& promotion) const;
  std::vector<Scope> find_scopes(const Promotion& promotion) const;
  std::optional<Infeasible> measure(const Promotion& promotion, const Scope& scope, Tile& tile);
  /// The corner of the tile moves to the first element along `dim` that is touched, its size to the last: boxes of strided accesses may be wider.
  void tighten(const std::string& tensor, const std::vector<DigitStatement*>& group, const Scope& scope, std::size_t dim, Tile& tile) const;
  std::optional<Infeasible> lay_out(const Promotion& promotion, Tile& tile) const;
  std::optional<Infeasible> redirect(const Promotion& promotion, const Scope& scope, const Tile& tile);
  /// Elements that a tile reads before it writes them. `settled`: guarded assignments count as plain ones where is_settled.
  isl::map exposed_reads(const std::vector<DigitStatement*>& group, const std::string& tensor, const Scope& scope, bool settled, bool& crosses) const;
  /// All guards are on digits above the scope, so that loops outside it can settle them, and data alone decides none.
  bool is_settled(const DigitStatement& statement, const Scope& scope) const;
  /// A digit above the scope that runs values of an index of `statement` at once, or "".
  std::string parallel_index(const DigitStatement& statement, const Scope& scope) const;
  /// Some guard's iterator has no digit of its own around the scope that a loop could bind: copies there run for every value of the index.
  bool copies_every_value(const DigitStatement& s, const Scope& scope) const;
  std::optional<Infeasible> add_copies(const Promotion& promotion, const Scope& scope, const Tile& tile);
  std::optional<Infeasible> add_copy(const Promotion& promotion, const Scope& scope, const Tile& tile, LeafKind kind,
                                     const isl::map& elements, const isl::set& reached, std::vector<Tree::Branch>& branches);
  std::optional<Infeasible> finish_statements();
  std::optional<Infeasible> finish(DigitStatement& statement);
  std::optional<Infeasible> check_capacity() const;
  Infeasible refuse(const std::string& code, const std::string& entry, const std::string& reason) const;
  std::string promotion_entry(const Promotion& promotion) const { return "promotions[" + promotion.array + "]"; }
  std::optional<std::size_t> side_by_side(const Promotion& promotion, const Tile& tile) const;
  /// A pipeline of the Plan copies the array.
  bool runs_ahead(const Promotion& promotion) const;
  /// The atom by which one agent copies a whole box of the array; null: there is none.
  const Atom* box_copier(const Promotion& promotion) const;
  /// The copy's digit is on a level of agents.
  bool spread_over_agents(const BufferDim& dim) const;
  std::optional<long> least_value(const Scope& scope, const std::string& dim);
  DigitStatement* find(const std::string& name);
  const Array* find_array(const std::string& name) const;
  LeafAccess leaf_access(const DigitAccess& access, const DigitStatement& statement, const isl::pw_multi_aff& embed, bool& constant) const;

  PromotedSchedule result_;
  const Machine& machine_;
  std::vector<DigitStatement> statements_;
};

}  // namespace tileopt
