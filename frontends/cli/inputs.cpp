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

std::vector<Input> collect_inputs(const std::vector<std::string>& paths) {
  std::vector<Input> inputs;
  for (const std::string& path : paths) {
    const auto refuse = [&](const std::string& message) {
      inputs.push_back({path, Errors(unreadable(path, message, "give a .tile file, or a folder that holds some"))});
    };
    std::error_code failure;
    const fs::file_status status = fs::status(path, failure);
    if (!fs::exists(status)) {
      refuse("no such file or folder");
    } else if (fs::is_directory(status)) {
      try {
        const std::vector<std::string> below = tile_files_below(path);
        if (below.empty()) refuse("the folder holds no *.tile file");
        for (const std::string& file : below) inputs.push_back({file});
      } catch (const Errors& errors) {
        inputs.push_back({path, errors});
      }
    } else {
      inputs.push_back({path});
    }
  }
  std::set<std::string> seen;
  std::erase_if(inputs, [&](const Input& input) { return !input.errors && !seen.insert(fs::path(input.path).lexically_normal().string()).second; });
  return inputs;
}

}  // namespace tileopt::cli
