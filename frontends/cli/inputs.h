/// Which tile files a command line names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/error.h"

namespace tileopt::cli {

/// A file, or why there is none: a path that does not exist, a folder without tile files.
struct Input {
  std::string path;
  std::optional<Errors> errors = {};
};

/// Files as given, and every *.tile below a folder, sorted by path; each file once. A path that is no good does not stop the others.
std::vector<Input> collect_inputs(const std::vector<std::string>& paths);

}  // namespace tileopt::cli
