/// The C compiler on this machine: finding it, its flags, running it without a shell.
#pragma once

#include <string>
#include <vector>

#include "ir/machine.h"
#include "ir/program.h"

namespace tileopt {

/// A folder of our own under $TMPDIR (or /tmp), removed with all that is in it at the end of its life.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct ProcessResult {
  enum class End { exited, signalled, timed_out };
  End end = End::exited;
  int code = 0;         ///< exit status or signal number
  std::string output;   ///< standard output and error together, at most 64 KiB
};
/// Runs a program and waits for it; `arguments[0]` is its path. timeout_seconds <= 0: no limit. A program that runs into the
/// limit is killed with its children. @throws ToolchainError where it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments, double timeout_seconds);

/// $TILEOPT_CC, or the first of cc, gcc, clang and versioned clangs on $PATH. @throws ToolchainError where there is none.
std::string find_c_compiler();

/// Flags that the meaning of printed code depends on: -O3 -std=gnu11 -ffp-contract=... ; never fast-math.
std::vector<std::string> numeric_flags(const Numerics& numerics);

/// Compiles C files into a shared object with the flags of `numerics` and `machine`.
/// @throws ToolchainError with the compiler's output where that fails.
void compile_shared_object(const std::string& compiler, const std::vector<std::string>& sources, const std::string& object,
                           const Numerics& numerics, const Machine& machine, const std::vector<std::string>& extra_flags);

/// Features of `machine` (names of /proc/cpuinfo) that this processor lacks; empty where the system does not tell.
std::vector<std::string> missing_features(const Machine& machine);
/// @throws ToolchainError naming the features that this processor lacks.
void require_features(const Machine& machine);

}  // namespace tileopt
