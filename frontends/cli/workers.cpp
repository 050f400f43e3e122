#include "frontends/cli/workers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "support/error.h"

namespace tileopt::cli {

namespace {

constexpr char whole = '\n';  // behind a text that was written to its end; no task's text holds one

Errors no_process(int error) {
  return Errors(Diagnostic{ErrorCode::file_access, {}, std::string("cannot start a worker: ") + std::strerror(error), "give fewer --jobs", ""});
}

/// Reads what there is; false at the end of the pipe.
bool read_some(int pipe, std::string& text) {
  char buffer[65536];
  const ssize_t count = read(pipe, buffer, sizeof buffer);
  if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

int reap(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string failure_of(int status) {
  if (!WIFSIGNALED(status)) return "its process ended with code " + std::to_string(WEXITSTATUS(status));
  const int signal_number = WTERMSIG(status);
  return "its process was ended by signal " + std::to_string(signal_number) + " (" + strsignal(signal_number) + ")" +
         (signal_number == SIGKILL ? ", as where the system has no memory left" : "");
}

[[noreturn]] void run_child(int pipe, pid_t parent, const std::function<std::string()>& work) {
  // The parent may be killed without a chance to say so. SIGTERM: a file that is being written becomes whole first.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  const std::string text = work() + whole;
  std::cerr.flush();
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(pipe, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) _exit(1);
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  _exit(0);
}

}  // namespace

Workers::~Workers() {
  for (const Running& worker : running_) kill(worker.process, SIGTERM);
  for (const Running& worker : running_) {
    close(worker.pipe);
    reap(worker.process);
  }
}

void Workers::start(std::size_t task, const std::function<std::string()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw no_process(errno);
  std::cout.flush();
  std::cerr.flush();
  const pid_t parent = getpid(), child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw no_process(error);
  }
  if (child == 0) {
    close(ends[0]);
    run_child(ends[1], parent, work);
  }
  close(ends[1]);
  running_.push_back({task, child, ends[0], ""});
}

std::optional<Workers::Finished> Workers::wait() {
  std::vector<pollfd> polled;
  for (const Running& worker : running_) polled.push_back({worker.pipe, POLLIN, 0});
  if (poll(polled.data(), polled.size(), 500) <= 0) return std::nullopt;
  for (std::size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents == 0 || read_some(polled[i].fd, running_[i].text)) continue;
    Running worker = std::move(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    close(worker.pipe);
    const int status = reap(worker.process);
    if (worker.text.ends_with(whole) && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      worker.text.pop_back();
      return Finished{worker.task, std::move(worker.text), ""};
    }
    return Finished{worker.task, "", failure_of(status)};
  }
  return std::nullopt;
}

}  // namespace tileopt::cli
