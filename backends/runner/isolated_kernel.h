/// A compiled kernel that can be called on host arrays, in a process of its own: on this processor, in the emulator, on a GPU.
#pragma once

#include <string>

#include "interpreter/host_array.h"
#include "ir/program.h"

namespace tileopt {

/// How a run in a process of its own ended.
struct IsolatedRun {
  enum class End {
    done,      ///< returned 0, arrays hold the results
    refused,   ///< returned another code
    crashed,   ///< ended by a signal, or by an error of the device
    hung,      ///< ran into the time limit
    overrun,   ///< wrote outside an array
    faulty,    ///< the emulator reports a fault: a race, a deadlock, an access out of bounds, …
  };
  End end = End::done;
  int code = 0;         ///< return code, or signal number
  std::string detail;   ///< for messages
};

class IsolatedKernel {
 public:
  virtual ~IsolatedKernel() = default;
  /// Calls the launcher on copies of `arguments` (in, inout and out tensors, by name, of the shapes that `sizes` give) and stores the
  /// out and inout copies back where the end is `done`.
  /// @throws ToolchainError where the process or the device is not to be had, Errors(invalid_size) where arguments do not fit.
  virtual IsolatedRun run_isolated(const Sizes& sizes, Arrays& arguments, double timeout_seconds) const = 0;
};

}  // namespace tileopt
