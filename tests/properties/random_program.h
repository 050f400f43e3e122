/// Random programs in the tile language: small, varied, and valid by construction (every access in bounds for all sizes >= 0,
/// every element written before it is read). Mostly integers, so that results are exact in any order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interpreter/host_array.h"

namespace tileopt::testing {

/// What a random program contains, so that a suite can show how much of each it ran.
struct ProgramFeatures {
  bool triangular = false;       ///< a loop bound that names an outer iterator
  bool strided = false;          ///< a subscript with a factor, `//` or `%`, or a range with a step
  bool in_place = false;         ///< a statement that reads the tensor it writes, or an update
  bool may_write = false;        ///< a statement that data may keep from having an effect
  bool indexed = false;          ///< a subscript or a bound that is read from memory
  bool descending = false;       ///< a loop that counts down
  bool monoid = false;           ///< a user's monoid, or a search
  bool multi_statement = false;  ///< a nest with several statements
  bool reduction = false;
  bool conditional = false;      ///< an `if`, or a ternary
  bool contraction = false;      ///< a reduction over a product of tensors
  bool time_loop = false;
  bool local = false;            ///< a local scalar or array
  bool layout = false;           ///< a parameter that does not lie row by row
};

/// Source text; the same seed gives the same text on every platform. `features` may be null.
/// Sizes are among N, M (up to 40), K (up to 10) and T (up to 3): within those, fewer than 2^16 statement instances.
std::string random_program(std::uint64_t seed, ProgramFeatures* features = nullptr);

/// Size vectors for `parameters`: zeros and ones, tile tails, and the largest; the same for the same seed.
std::vector<Sizes> random_sizes(std::uint64_t seed, const std::vector<std::string>& parameters, std::int64_t largest = 40);

}  // namespace tileopt::testing
