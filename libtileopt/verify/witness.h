/// Sample points of violated obligations, in the words of the program and of the printed loops.
#pragma once

#include <string>
#include <vector>

#include "verify/execution.h"

namespace tileopt::proof {

/// One integer point: values of the size parameters, then every tuple of the (possibly wrapped) point.
struct Witness {
  std::string sizes;               ///< "M = 3, N = 1"
  std::vector<std::string> parts;  ///< "C at ir = 0, kk = 2, lane jr = 1: C[i = 0, j = 1, k = 2]"

  /// "M = 3, N = 1: <part 0> | <part 1>"
  std::string text() const;
};

/// What a tuple stands for where a statement has the name of the tensor it writes.
enum class Tuples { elements, instances };

/// @param set a non-empty set.
Witness sample(const Execution& execution, const isl::set& set, Tuples tuples = Tuples::elements);
Witness sample(const Execution& execution, const isl::map& map, Tuples tuples = Tuples::elements);
Witness sample(const Execution& execution, const isl::union_map& map, Tuples tuples = Tuples::elements);

/// "<sizes>: R | what is | instead of | what should be", about one reader R whose entries in the two relations differ.
std::string difference(const Execution& execution, const isl::union_map& wrong, const isl::union_map& wanted, Tuples tuples);

/// Tuple name that stands for the value an element of `tensor` has when the first kernel starts.
std::string initial_name(const std::string& tensor);
/// Tuple name of the zero that a copy writes beyond the data.
inline constexpr const char* zero_name = "zero_fill";

}  // namespace tileopt::proof
