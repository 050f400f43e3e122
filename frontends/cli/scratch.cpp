#include "frontends/cli/scratch.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "support/error.h"

namespace tileopt::cli {

namespace {

// What a signal handler may reach: plain storage only.
char folder_path[4096];
struct sigaction previous_interrupt, previous_terminate;

/// Only what may be called in a signal handler: fork, exec, wait, access. Then the signal does what it would have done.
extern "C" void remove_folder_and_end(int signal_number) {
  // A C compiler that was started may still put a file into the folder while it goes: then again.
  for (int attempt = 0; attempt < 5 && access(folder_path, F_OK) == 0; ++attempt) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/rm", "rm", "-rf", "--", folder_path, static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

ScratchFolder::ScratchFolder() {
  const char* base = getenv("TMPDIR");
  std::string pattern = std::string(base == nullptr || *base == '\0' ? "/tmp" : base) + "/tileopt-run-XXXXXX";
  if (pattern.size() >= sizeof folder_path || mkdtemp(pattern.data()) == nullptr)
    throw Errors(Diagnostic{ErrorCode::file_access, {pattern, 0, 0}, std::string("cannot make a temporary folder: ") + std::strerror(errno),
                            "set TMPDIR to a folder that can be written", ""});
  std::memcpy(folder_path, pattern.c_str(), pattern.size() + 1);
  setenv("TMPDIR", folder_path, 1);
  struct sigaction action {};
  action.sa_handler = remove_folder_and_end;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previous_interrupt);
  sigaction(SIGTERM, &action, &previous_terminate);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_path, ignored);
  sigaction(SIGINT, &previous_interrupt, nullptr);
  sigaction(SIGTERM, &previous_terminate, nullptr);
}

}  // namespace tileopt::cli
