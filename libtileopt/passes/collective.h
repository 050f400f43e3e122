/// Atoms that agents run together: every agent computes a part of one product of matrices, the part that `Atom::steps` says. Seen from one
/// agent such an atom is a dot product over its own registers, so that digits, promotions and proofs need to know nothing of it but
/// which part that is.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/atom.h"
#include "ir/array.h"
#include "ir/stages.h"

namespace tileopt {

/// Steps of the three operands of a product per digit: [dimension][box digits, then the agents'].
struct ProductSteps {
  std::vector<std::vector<long>> result, left, right;
  std::vector<long> radices = {};  ///< of these digits; one of radix 1 never moves. Empty: all move
};

/// What keeps the digits from being the atom's fragment: the result moves along rows and lanes, the left factor along rows and depth, the
/// right one along lanes and depth, each as `steps` says, in units that the program chooses. "" where they are.
std::string why_not_fragment(const AtomSteps& steps, const ProductSteps& product);

/// What keeps the array from lying as the instruction finds a matrix: rows of `swizzle` bytes one after the other, their 16-byte pieces
/// swapped by the row's number; "" where it does.
std::string why_not_matrix(const Array& array, int swizzle, const std::string& atom);

/// The accesses of a leaf that an atom's operands are: the right factor is the one that the lanes move.
std::vector<std::pair<const AtomOperand*, const LeafAccess*>> collective_operands(const Atom& atom, const LeafStatement& leaf);

}  // namespace tileopt
