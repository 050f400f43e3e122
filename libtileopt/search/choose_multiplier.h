/// Which atom multiplies and adds in a contraction, and what it asks of the digits and of the packed elements.
#pragma once

#include <string>
#include <vector>

#include "search/contraction.h"

namespace tileopt {

struct Multiplier {
  const Atom* atom = nullptr;
  long depth = 1;                     ///< products that one instruction adds to a result
  std::size_t loop = 0;               ///< depth > 1: the summation loop whose last digit is the depth
  ElementType left = ElementType::f32, right = ElementType::f32;  ///< packed elements
};

/// Atoms that fit the types, the numerics and the loops, those with most products an instruction first; an outer-product atom of rank 2 fits
/// every contraction. Empty, with the reason, where the machine has none. @param pinned: this atom and no other; null: any.
std::vector<Multiplier> choose_multipliers(const PlanRequest& request, const Contraction& contraction, const Atom* pinned, std::string& why_not);

/// The depth of a dot atom: the extent of its second box digit.
long depth_of(const Atom& atom);

}  // namespace tileopt
