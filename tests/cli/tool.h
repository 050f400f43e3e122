// Runs tileopt-schedule as its users do: a process with arguments, output, messages and an exit code.
#pragma once

#include <string>
#include <vector>

namespace tileopt::test {

struct ToolRun {
  int exit_code = -1;  // 128 + n where signal n ended it
  std::string out, err;
};

ToolRun run_tool(const std::vector<std::string>& arguments);
// A shell script in `folder`, with the tool on its PATH.
ToolRun run_shell(const std::string& script, const std::string& folder);
// The same as run_tool, with a signal sent after `milliseconds`.
ToolRun interrupt_tool(const std::vector<std::string>& arguments, int signal, int milliseconds);

// A fresh folder that goes with the object; every file below it too.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file (making folders on the way) and returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string read_text(const std::string& path);
bool exists(const std::string& path);
// Relative paths of all files below `folder`, sorted.
std::vector<std::string> files_below(const std::string& folder);
std::string kernel_file(const std::string& name);  // benchmarks/kernels/<name>.tile

}  // namespace tileopt::test
