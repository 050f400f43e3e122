#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "support/error.h"

extern char** environ;

namespace tileopt {

namespace {
constexpr std::size_t max_output = 64 << 10;

bool is_executable(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// Reads until the other side closes or the time is up; what exceeds the limit is read and dropped.
bool drain(int descriptor, std::string& output, double timeout_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  char buffer[4096];
  while (true) {
    int wait = -1;
    if (timeout_seconds > 0) {
      const double left = timeout_seconds - std::chrono::duration<double>(Clock::now() - start).count();
      if (left <= 0) return false;
      wait = static_cast<int>(left * 1000) + 1;
    }
    pollfd entry{descriptor, POLLIN, 0};
    const int ready = poll(&entry, 1, wait);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    if (output.size() < max_output) output.append(buffer, std::min(static_cast<std::size_t>(count), max_output - output.size()));
  }
}

struct OutputPipe {
  int ends[2] = {-1, -1};
  OutputPipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) throw ToolchainError(std::string("cannot open a pipe: ") + std::strerror(errno));
  }
  ~OutputPipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(int which) {
    if (ends[which] >= 0) close(ends[which]);
    ends[which] = -1;
  }
};
}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base == nullptr || *base == '\0' ? "/tmp" : base) + "/tileopt-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    throw ToolchainError("cannot create a temporary folder like " + pattern + ": " + std::strerror(errno));
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ProcessResult run_process(const std::vector<std::string>& arguments, double timeout_seconds) {
  OutputPipe pipe;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own, so that a limit ends the compiler's passes too.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = -1;
  const int failure = posix_spawn(&child, arguments.at(0).c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) throw ToolchainError("cannot start " + arguments[0] + ": " + std::strerror(failure));
  pipe.close_end(1);

  ProcessResult result;
  const bool finished = drain(pipe.ends[0], result.output, timeout_seconds);
  if (!finished) {
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!finished) result.end = ProcessResult::End::timed_out;
  else result.end = WIFSIGNALED(status) ? ProcessResult::End::signalled : ProcessResult::End::exited;
  result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_executable(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_executable(candidate)) return candidate;
  }
  return "";
}

}  // namespace tileopt
