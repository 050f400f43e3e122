/// Ctrl-C as a wish: the first one is noted, the second one ends the process as ever.
#pragma once

namespace tileopt::cli {

/// While it lives, SIGINT and SIGTERM are noted once each. One at a time; made after a ScratchFolder, whose handlers it gives
/// back.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  /// The signal that was noted; 0: none.
  static int noted();
};

}  // namespace tileopt::cli
