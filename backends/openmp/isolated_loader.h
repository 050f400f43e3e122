/// Runs a compiled kernel in a process of its own: a small C program, compiled once per run of ours, that loads the shared object.
/// (A forked child would inherit an OpenMP runtime whose threads did not survive the fork.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/openmp/runner.h"

namespace tileopt {

struct IsolatedJob {
  struct Argument {
    std::string name;
    bool written = false;
    std::vector<std::byte> bytes;  ///< replaced by the result of the first call where written
    std::vector<std::byte> last;   ///< timed: the result of the last call where written
  };
  /// Further calls after the first one, each timed, written arrays set back to what they held before it; then a last call whose
  /// results come back too. No calls where `seconds` is 0.
  struct Timing {
    double seconds = 0;        ///< calls go on until they have taken this long together
    int least = 3, most = 10'000;
    std::vector<double> samples;        ///< result: seconds of every timed call
    std::int64_t growth_bytes = 0;      ///< result: by how much the process grew over the timed calls
  };
  std::string object;
  std::vector<std::int64_t> sizes;
  std::vector<Argument> arrays;
  Timing timing;
};

/// @throws ToolchainError where the loader cannot be built or started.
IsolatedRun run_in_own_process(IsolatedJob& job, const std::string& compiler, double timeout_seconds);

}  // namespace tileopt
