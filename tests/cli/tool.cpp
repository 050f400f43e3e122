#include "tests/cli/tool.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace tileopt::test {

namespace fs = std::filesystem;

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "tileopt_test_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = pattern;
}
Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, const std::string& text) const {
  const fs::path path = fs::path(path_) / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
  return path.string();
}

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool exists(const std::string& path) { return fs::exists(path); }

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder).generic_string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string kernel_file(const std::string& name) { return std::string(TILEOPT_SOURCE_DIR) + "/benchmarks/kernels/" + name + ".tile"; }

ToolRun run_shell(const std::string& script, const std::string& folder) {
  const Folder work;
  const std::string tools = fs::path(TILEOPT_TOOL).parent_path().string();
  const std::string file = work.write("script.sh", "PATH='" + tools + "':$PATH\nexport PATH\ncd '" + folder + "'\n" + script);
  const int status = std::system(("sh '" + file + "' >'" + (work / "out") + "' 2>'" + (work / "err") + "' </dev/null").c_str());
  ToolRun run;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read_text(work / "out");
  run.err = read_text(work / "err");
  return run;
}

ToolRun run_tool(const std::vector<std::string>& arguments) { return interrupt_tool(arguments, 0, 0); }

ToolRun interrupt_tool(const std::vector<std::string>& arguments, int signal, int milliseconds) {
  const Folder folder;
  const std::string out = folder / "out", err = folder / "err";
  const pid_t child = fork();
  if (child == 0) {
    const int null_file = open("/dev/null", O_RDONLY);
    const int out_file = open(out.c_str(), O_WRONLY | O_CREAT, 0600), err_file = open(err.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(null_file, 0);
    dup2(out_file, 1);
    dup2(err_file, 2);
    std::vector<char*> argv = {const_cast<char*>(TILEOPT_TOOL)};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(TILEOPT_TOOL, argv.data());
    _exit(127);
  }
  if (signal != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    kill(child, signal);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ToolRun run;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read_text(out);
  run.err = read_text(err);
  return run;
}

}  // namespace tileopt::test
