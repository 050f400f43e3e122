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
    std::vector<std::byte> bytes;  ///< replaced by the result where written
  };
  std::string object;
  std::vector<std::int64_t> sizes;
  std::vector<Argument> arrays;
};

/// @throws ToolchainError where the loader cannot be built or started.
IsolatedRun run_in_own_process(IsolatedJob& job, const std::string& compiler, double timeout_seconds);

}  // namespace tileopt
