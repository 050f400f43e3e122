/// Compares compiled kernels with the reference interpreter.
#pragma once

#include <string>
#include <vector>

#include "backends/runner/isolated_kernel.h"
#include "driver/size_vectors.h"

namespace tileopt {

struct CheckReport {
  std::vector<Sizes> sizes;   ///< size vectors that were run
  int runs = 0;               ///< calls of kernels
  std::string failure;        ///< the first run that deviates, crashed, hung or was refused; "" = all right
  IsolatedRun::End end = IsolatedRun::End::done;  ///< how that run ended; `done`: its results deviate
  std::size_t kernel = 0;     ///< index of the kernel that failed
  std::string text() const;   ///< one line
};

/// Runs every kernel at every size vector, on random and on small-integer arguments, in a process of its own each time; the
/// interpreter runs once for all kernels. Stops at the first failure. Vectors of more than `both_fills` instances get one
/// kind of arguments, by turns.
/// @throws ToolchainError where the process cannot be started.
CheckReport check_kernels(const Program& program, const std::vector<const IsolatedKernel*>& kernels, const std::vector<Sizes>& sizes,
                          std::uint64_t seed, std::int64_t both_fills = std::int64_t(1) << 22);

/// The size vectors that a kernel is tried at before it is timed: few and small.
SizeSpread timing_check_spread();
/// The size vectors of `check --emulate`: fewer, and smaller where loops are many.
SizeSpread emulation_spread();
/// The size vectors of `tileopt-schedule check`: small, odd, powers of two and their neighbours.
SizeSpread check_spread();

}  // namespace tileopt
