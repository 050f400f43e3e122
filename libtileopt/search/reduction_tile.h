/// Short reductions without a contraction's structure (a window of a depthwise convolution, pooling): a register tile of the result runs
/// the whole window, so that partial results stay in registers and operands that a loop does not move are loaded once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/plan_parts.h"

namespace tileopt {

/// result[.., rows, .., lanes] (+)= body(reads), over a window of constant extents. Iterators are numbered as the statement's.
struct ReductionTile {
  std::string statement;
  std::string init;                    ///< statement that sets the same elements to a literal before; "" = none
  std::size_t lanes = 0;               ///< moves the result's contiguous subscript, and of every operand that or nothing
  std::optional<std::size_t> rows;     ///< moves the result; some operand stays where it is
  std::vector<std::size_t> window;     ///< iterators that the result lacks, in source order
  std::vector<std::size_t> outer;      ///< other result iterators, in source order
  std::vector<long> least;             ///< smallest value, by iterator
  StatementView view;
};

/// `why_not` says what is missing where the statement has no such tile.
std::optional<ReductionTile> find_reduction_tile(const Kernel& kernel, const std::string& statement, const TypicalSizes& sizes,
                                                 std::string& why_not);

/// Options, best first; empty (with the reason) where the machine has no vectors or the problem is too small to gain.
std::vector<PartOption> plan_reduction_tile(const PlanRequest& request, const ReductionTile& tile, std::string& why_not);

}  // namespace tileopt
