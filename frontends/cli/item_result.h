/// What a command did with one program.
#pragma once

#include <string>

#include "frontends/cli/options.h"
#include "support/document.h"

namespace tileopt::cli {

struct ItemResult {
  int exit_code = exit_done;
  std::string summary;                     ///< one line for people, without the program's name
  std::string messages;                    ///< for stderr, complete lines
  Document details = Document::object();   ///< entries for --json
};

}  // namespace tileopt::cli
