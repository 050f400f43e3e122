/// Files and hashes of documents; the text forms are in yaml_writer, yaml_reader and json_reader.
#include "support/document.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "support/document_builder.h"
#include "support/error.h"

namespace tileopt {
namespace {

[[noreturn]] void fail_access(const std::string& path, const std::string& action, int error, const std::string& hint) {
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::file_access;
  diagnostic.where.file = path;
  diagnostic.message = "cannot " + action + ": " + std::strerror(error);
  diagnostic.hint = hint;
  throw Errors(std::move(diagnostic));
}

/// Owns a file descriptor.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  int close() {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result;
  }

 private:
  int descriptor_;
};

/// Holds back SIGINT and SIGTERM of this thread, so that an interrupted write leaves no temporary behind.
class SignalHold {
 public:
  SignalHold() {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &held, &previous_);
  }
  ~SignalHold() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  SignalHold(const SignalHold&) = delete;
  SignalHold& operator=(const SignalHold&) = delete;

 private:
  sigset_t previous_;
};

/// 0, or the errno of the failure.
int write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return 0;
}

/// A rename would replace a link, a device or a pipe by a file: links are followed, the others written in place.
std::string resolve_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : path;
}

void write_in_place(const std::string& path, const std::string& text) {
  File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) fail_access(path, "open for writing", errno, "check the path and its permissions");
  if (const int error = write_all(file.get(), text)) fail_access(path, "write", error, "check the space that is left");
}

mode_t current_umask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

}  // namespace

std::string read_file(const std::string& path) {
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_access(path, "read", errno, "check the path and its permissions");
  struct stat status{};
  if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
    fail_access(path, "read", EISDIR, "give a file, not a folder");
  }
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_access(path, "read", errno, "check the path and its permissions");
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > kMaxDocumentBytes) check_document_size(text, path);
  }
}

void write_file(const std::string& path, const std::string& text) {
  struct stat status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail_access(path, "write", EISDIR, "give a file name, not a folder");
  if (exists && !S_ISREG(status.st_mode)) return write_in_place(path, text);
  const std::string target = exists ? resolve_links(path) : path;
  if (exists && ::access(target.c_str(), W_OK) != 0) fail_access(path, "write", errno, "the file is read-only");

  const SignalHold hold;
  std::string temporary = target + ".XXXXXX";
  File file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) fail_access(path, "write", errno, "check that the folder exists and may be written");
  int error = write_all(file.get(), text);
  if (!error && ::fchmod(file.get(), exists ? status.st_mode & 07777 : 0666 & ~current_umask()) != 0) error = errno;
  if (file.close() != 0 && !error) error = errno;
  if (!error && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error) {
    ::unlink(temporary.c_str());
    fail_access(path, "write", error, "check the space that is left and the permissions of the folder");
  }
}

std::string hash_text(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[hash >> shift & 15];
  return digits;
}

}  // namespace tileopt
