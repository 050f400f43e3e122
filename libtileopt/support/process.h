/// Programs run without a shell, and folders for what they read and write.
#pragma once

#include <string>
#include <vector>

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

/// The executable file that `name` means: itself where it has a slash, else the first on $PATH; "" where there is none.
std::string find_program(const std::string& name);

}  // namespace tileopt
