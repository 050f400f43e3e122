/// Which tile files a command line names.
#pragma once

#include <string>
#include <vector>

namespace tileopt::cli {

/// Files as given, and every *.tile below a folder, sorted by path; each file once.
/// @throws Errors(file_access) for a path that does not exist, or a folder without tile files.
std::vector<std::string> collect_inputs(const std::vector<std::string>& paths);

}  // namespace tileopt::cli
