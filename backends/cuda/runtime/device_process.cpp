#include "backends/cuda/runtime/device_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "backends/cuda/runtime/device_session.h"
#include "support/error.h"

namespace tileopt::cuda {

namespace {
using Clock = std::chrono::steady_clock;
constexpr std::int64_t largest_frame = std::int64_t(1) << 40;

/// Waits until the socket is ready; false where the time is up or the other side is gone.
bool ready(int socket, short events, std::optional<Clock::time_point> end) {
  while (true) {
    int wait = -1;
    if (end) {
      const double left = std::chrono::duration<double>(*end - Clock::now()).count();
      if (left <= 0) return false;
      wait = static_cast<int>(std::min(left, 1e6) * 1000) + 1;
    }
    pollfd entry{socket, events, 0};
    const int count = poll(&entry, 1, wait);
    if (count < 0 && errno == EINTR) continue;
    return count > 0;
  }
}

bool send_all(int socket, const char* bytes, std::size_t count, std::optional<Clock::time_point> end) {
  while (count > 0) {
    if (!ready(socket, POLLOUT, end)) return false;
    const ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, char* bytes, std::size_t count, std::optional<Clock::time_point> end) {
  while (count > 0) {
    if (!ready(socket, POLLIN, end)) return false;
    const ssize_t received = recv(socket, bytes, count, MSG_DONTWAIT);
    if (received < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (received <= 0) return false;
    bytes += received;
    count -= static_cast<std::size_t>(received);
  }
  return true;
}

bool send_frame(int socket, const std::string& text, std::optional<Clock::time_point> end) {
  const auto count = static_cast<std::int64_t>(text.size());
  return send_all(socket, reinterpret_cast<const char*>(&count), sizeof count, end) && send_all(socket, text.data(), text.size(), end);
}

bool receive_frame(int socket, std::string& text, std::optional<Clock::time_point> end) {
  std::int64_t count = 0;
  if (!receive_all(socket, reinterpret_cast<char*>(&count), sizeof count, end) || count < 0 || count > largest_frame) return false;
  text.resize(static_cast<std::size_t>(count));
  return receive_all(socket, text.data(), text.size(), end);
}

/// The child: answers until its parent is gone, also where that is killed while a kernel runs.
[[noreturn]] void serve(int socket, const std::string& cubin, const std::string& architecture, const emulator::LoadedObject& launcher) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::optional<DeviceSession> session;
  std::string text;
  while (receive_frame(socket, text, std::nullopt)) {
    DeviceAnswer answer;
    DeviceJob job;
    try {
      if (!DeviceJob::read(text, job)) _exit(2);
      if (!session) session.emplace(cubin, architecture, launcher);
      answer = session->run(job);
    } catch (const std::exception& error) {
      answer.end = DeviceAnswer::End::unavailable;
      answer.text = error.what();
    }
    if (!send_frame(socket, answer.write(), std::nullopt) || answer.end == DeviceAnswer::End::crashed) _exit(0);
  }
  _exit(0);
}
}  // namespace

DeviceProcess::DeviceProcess(std::string cubin, std::string architecture, const emulator::LoadedObject& launcher)
    : cubin_(std::move(cubin)), architecture_(std::move(architecture)), launcher_(launcher) {}

DeviceProcess::~DeviceProcess() { stop(false); }

void DeviceProcess::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw ToolchainError(std::string("cannot open a socket: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    throw ToolchainError(std::string("cannot start a process: ") + std::strerror(errno));
  }
  if (child == 0) {
    close(ends[0]);
    serve(ends[1], cubin_, architecture_, launcher_);
  }
  close(ends[1]);
  child_ = child;
  socket_ = ends[0];
}

/// A closed socket ends the child where it waits for a job; one that is in a kernel has to be killed.
void DeviceProcess::stop(bool at_once) {
  if (child_ < 0) return;
  close(socket_);
  if (at_once) kill(child_, SIGKILL);
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  socket_ = -1;
}

bool DeviceProcess::ask(const DeviceJob& job, double timeout_seconds, DeviceAnswer& answer) {
  if (child_ < 0) start();
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_seconds));
  std::string text;
  const bool answered = send_frame(socket_, job.write(), end) && receive_frame(socket_, text, end);
  if (!answered) {
    const bool late = Clock::now() >= end;
    stop(true);
    if (late) return false;
    answer = {};
    answer.end = DeviceAnswer::End::crashed;
    answer.text = "the process that held the GPU ended";
    return true;
  }
  answer = {};
  if (!DeviceAnswer::read(text, answer)) {
    stop(true);
    answer.end = DeviceAnswer::End::crashed;
    answer.text = "the process that holds the GPU gave half an answer";
    return true;
  }
  if (answer.end == DeviceAnswer::End::crashed) stop(false);
  if (answer.end != DeviceAnswer::End::unavailable) return true;
  stop(false);
  throw ToolchainError(answer.text);
}

}  // namespace tileopt::cuda
