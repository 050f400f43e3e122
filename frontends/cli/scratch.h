/// Where commands that run a C compiler keep their files, gone at the end, also after Ctrl-C.
#pragma once

#include <string>

namespace tileopt::cli {

/// Makes a folder and points $TMPDIR at it; SIGINT and SIGTERM remove it before they end the process. One at a time.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
};

}  // namespace tileopt::cli
