#include "frontends/cli/inputs.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "driver/trace.h"
#include "support/error.h"

namespace tileopt::cli {

namespace {

namespace fs = std::filesystem;

Diagnostic unreadable(const std::string& path, const std::string& message, const std::string& hint) {
  return {ErrorCode::file_access, {path, 0, 0}, message, hint, ""};
}

/// A stage that some --dump-dir wrote: the programs of a folder are its sources. Named by itself, such a file is an input like any other.
bool is_dump(const fs::path& path) {
  const std::string name = path.stem().string();
  const std::vector<std::string>& stages = stage_names();
  return name == "00-program" || std::find(stages.begin(), stages.end(), name) != stages.end();
}

std::vector<std::string> tile_files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    if (entry->path().extension() == ".tile" && !entry->is_directory() && !is_dump(entry->path())) files.push_back(entry->path().string());
  if (failure) throw Errors(unreadable(folder, "cannot read the folder: " + failure.message(), "check its permissions"));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<std::string> collect_inputs(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  std::vector<Diagnostic> faults;
  for (const std::string& path : paths) {
    std::error_code failure;
    const fs::file_status status = fs::status(path, failure);
    if (!fs::exists(status)) {
      faults.push_back(unreadable(path, "no such file or folder", "give a .tile file, or a folder that holds some"));
    } else if (fs::is_directory(status)) {
      const std::vector<std::string> below = tile_files_below(path);
      if (below.empty()) faults.push_back(unreadable(path, "the folder holds no *.tile file", "give a .tile file, or a folder that holds some"));
      files.insert(files.end(), below.begin(), below.end());
    } else {
      files.push_back(path);
    }
  }
  if (!faults.empty()) throw Errors(std::move(faults));
  std::set<std::string> seen;
  std::erase_if(files, [&](const std::string& file) { return !seen.insert(fs::path(file).lexically_normal().string()).second; });
  return files;
}

}  // namespace tileopt::cli
