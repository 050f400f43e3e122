/// Sizes to try a program at: which vectors cover a list of values without running for ever.
#pragma once

#include <cstdint>
#include <vector>

#include "interpreter/interpreter.h"
#include "ir/program.h"

namespace tileopt {

struct SizeSpread {
  std::vector<std::int64_t> values;                    ///< every parameter should take each of them
  std::size_t max_vectors = 24;
  std::int64_t max_instances = std::int64_t(1) << 22;  ///< statement instances a vector may run
  std::int64_t max_bytes = std::int64_t(1) << 25;      ///< of all tensors together
};

/// At most `max_vectors` vectors that fit the program's context and the limits. Each value appears at least once where any
/// vector with it fits, first in vectors of unequal sizes; deterministic. A program without parameters gives one empty vector.
/// `versions`: sets of sizes ([params] -> { : .. }); further vectors follow, so that each has some of larger sizes, where any fit.
std::vector<Sizes> spread_sizes(const Program& program, const SizeSpread& spread, const std::vector<isl::set>& versions = {});

/// Whether the program may run at `sizes` within the limits.
bool sizes_fit(const Program& program, const Sizes& sizes, const SizeSpread& limits);

/// "M=3, N=7"
std::string sizes_text(const Sizes& sizes);

}  // namespace tileopt
