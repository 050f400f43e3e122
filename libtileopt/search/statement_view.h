/// What the planner asks about a statement: integer access coefficients and loop extents over its members, without isl.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/plan.h"
#include "ir/program.h"

namespace tileopt {

/// Sizes that the planner may assume, by parameter.
using TypicalSizes = std::map<std::string, std::int64_t>;

/// Values that a member takes over the statement's domain.
struct MemberRange {
  double typical = 1;              ///< number of values at the typical sizes, outer loops fixed: of the iterator that it stands for
  std::optional<long> constant;    ///< number of values whatever the sizes are
  std::optional<long> least;       ///< smallest value whatever the sizes are
};

/// One access. `coefficients[d][m]`: step of subscript d per unit of member m; empty where the subscripts are not affine.
struct AccessView {
  std::string tensor;
  bool write = false;
  bool affine = false;
  int element_bytes = 4;
  std::vector<std::vector<long>> coefficients;
  std::vector<std::size_t> order;             ///< subscripts from the slowest to the fastest in memory
  std::optional<std::size_t> contiguous;      ///< the one whose neighbours lie side by side

  /// Some subscript moves with the member.
  bool moves_with(std::size_t member) const;
  /// Subscripts that move with the member.
  std::vector<std::size_t> dims_of(std::size_t member) const;
  /// Exactly the contiguous subscript moves, by one: neighbouring elements.
  bool unit_stride(std::size_t member) const;
};

/// accesses[0] is the write, accesses[1 + r] is read r.
struct StatementView {
  std::string statement;
  std::vector<std::string> members;
  std::vector<std::string> iterators;   ///< the iterator that each member stands for, or ""
  std::vector<bool> guarded;            ///< the member stands for an index read from memory: one of its values has an effect
  std::vector<MemberRange> ranges;
  std::vector<AccessView> accesses;

  std::size_t member_index(const std::string& member) const;  ///< members.size() where absent
  bool has_member(const std::string& member) const { return member_index(member) < members.size(); }
};

/// Views `statement` over the members of `map` (isl text, as in the Plan).
StatementView view_statement(const Program& program, const std::string& statement, const StatementMembers& members,
                             const TypicalSizes& sizes);

/// The iterator that member number `member` stands for in `statement`: its coefficient is 1 or -1 and no inner iterator occurs;
/// "" where there is none.
std::string bound_iterator(const Program& program, const std::string& statement, const StatementMembers& members, std::size_t member);

/// Members = iterators: { S[i,j] -> [(i), (j)] }.
StatementMembers iterator_members(const Statement& statement);

/// Scalar operations of one instance; a call of a function counts as twenty.
double count_operations(const Statement& statement);

/// The typical sizes with every parameter present; those that the context rules out are moved to a point inside it.
TypicalSizes complete_sizes(const Program& program, const TypicalSizes& wanted);

}  // namespace tileopt
