/// Contractions: sums of products whose operands share no result loop. Found by structure, planned as packed register tiles.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/plan_parts.h"

namespace tileopt {

/// result[.., rows, .., lanes] += left[.., rows, .., reduction] * right[.., reduction, .., lanes]
/// Iterators are numbered as the statement's.
struct Contraction {
  std::string statement;
  std::string init;                      ///< statement that sets the same elements to a literal before; "" = none
  std::size_t left = 0, right = 0;       ///< reads
  std::size_t rows = 0, lanes = 0;       ///< result iterators
  std::vector<std::size_t> reduction;    ///< iterators that the result lacks, in source order
  std::vector<std::size_t> outer_right;  ///< other result iterators that move the right operand
  std::vector<std::size_t> outer_left;   ///< other result iterators
  std::vector<std::size_t> fixed;        ///< indices from memory and what they depend on, in source order: around everything else
  std::map<std::size_t, std::string> least;  ///< iterator -> its smallest value, over the fixed ones: isl text of an expression
  ElementType element = ElementType::f32;  ///< of the products
  StatementView view;                    ///< over the iterators
};

/// `why_not` says what is missing where the statement is no contraction.
std::optional<Contraction> find_contraction(const Kernel& kernel, const std::string& statement, const TypicalSizes& sizes,
                                            std::string& why_not);

/// Options, best first; empty (with the reason) where the machine has no atom for it or the problem is too small to gain.
std::vector<PartOption> plan_contraction(const PlanRequest& request, const Contraction& contraction, std::string& why_not);

}  // namespace tileopt
