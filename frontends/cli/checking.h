/// Compares a compiled kernel with the reference interpreter.
#pragma once

#include <string>
#include <vector>

#include "backends/openmp/runner.h"
#include "driver/size_vectors.h"

namespace tileopt::cli {

struct CheckReport {
  std::vector<Sizes> sizes;    ///< size vectors that were run
  int runs = 0;                ///< vectors times fills
  std::string failure;         ///< the first run that deviates, crashed, hung or was refused; "" = all right
  std::string text() const;    ///< one line
};

/// Runs the kernel at every size vector, on random and on small-integer arguments, in a process of its own each time; stops
/// at the first failure.
CheckReport check_kernel(const Program& program, const CompiledKernel& kernel, const std::vector<Sizes>& sizes, std::uint64_t seed);

/// The size vectors of `check`: small, odd, powers of two and their neighbours.
SizeSpread check_spread();

}  // namespace tileopt::cli
