#include "records/record_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "support/error.h"

namespace tileopt {
namespace {

constexpr std::size_t longest_line = std::size_t(16) << 20;  ///< a damaged file must not exhaust memory
constexpr std::size_t most_bad_lines = 100;

[[noreturn]] void fail(const std::string& path, const std::string& action, int error) {
  throw Errors(Diagnostic{ErrorCode::file_access, {path, 0, 0}, "cannot " + action + ": " + std::strerror(error),
                          "check the path and its permissions", ""});
}

/// Open for appending, locked against other writers for as long as it lives.
class LockedFile {
 public:
  explicit LockedFile(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail(path, "append to the records", errno);
    while (::flock(fd_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      ::close(fd_);
      fail(path, "lock the records", error);
    }
  }
  ~LockedFile() { ::close(fd_); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  /// Nothing is appended to a file that somebody else wrote. A first line that was cut short may be any part of its beginning.
  void expect_records() const {
    const std::string wanted = "{\"format\":\"tileopt-record/";
    std::string start(wanted.size(), '\0');
    const ssize_t count = ::pread(fd_, start.data(), start.size(), 0);
    start.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    if (!wanted.starts_with(start) && start != wanted)
      throw Errors(Diagnostic{ErrorCode::file_access, {path_, 0, 0}, "this is no file of records: nothing is appended to it",
                              "give another file, or one that does not exist yet", ""});
  }
  bool ends_in_line() const {
    const off_t size = ::lseek(fd_, 0, SEEK_END);
    if (size <= 0) return true;
    char last = '\n';
    return ::pread(fd_, &last, 1, size - 1) != 1 || last == '\n';
  }
  /// One call for the whole text, so that a kill leaves all of it or a beginning that shows as cut short.
  void write(const std::string& text) const {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t written = ::write(fd_, text.data() + done, text.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path_, "write the records", errno);
      done += static_cast<std::size_t>(written);
    }
  }
  void sync() const {
    if (::fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail(path_, "write the records to the disk", errno);
  }

 private:
  std::string path_;
  int fd_;
};

/// Whole lines of a file; longer ones than allowed come as "".
class LineReader {
 public:
  LineReader(const std::string& path, std::int64_t start) : file_(path, std::ios::binary) {
    if (!file_) fail(path, "read the records", errno != 0 ? errno : ENOENT);
    file_.seekg(start);
    position_ = start;
  }
  /// False at the end. `whole`: the line had its newline.
  bool next(std::string& line, bool& whole, bool& too_long) {
    line.clear();
    whole = too_long = false;
    bool any = false;
    char buffer[1 << 14];
    for (;;) {
      file_.getline(buffer, sizeof buffer);
      const auto count = file_.gcount();
      if (count == 0) return any;
      any = true;
      position_ += count;
      const bool cut = file_.fail() && !file_.eof();  // the buffer is full, the line goes on
      const bool ended = !cut && !file_.eof();
      const auto length = static_cast<std::size_t>(ended ? count - 1 : count);
      if (line.size() + length > longest_line) too_long = true;
      if (!too_long) line.append(buffer, length);
      if (ended) {
        whole = true;
        return true;
      }
      if (!cut) return true;
      file_.clear();
    }
  }
  std::int64_t position() const { return position_; }

 private:
  std::ifstream file_;
  std::int64_t position_ = 0;
};

}  // namespace

void append_record(const std::string& path, const Record& record, bool durable) {
  const LockedFile file(path);
  file.expect_records();
  file.write((file.ends_in_line() ? "" : "\n") + record.line() + "\n");
  if (durable) file.sync();
}

RecordScan scan_records(const std::string& path, const std::function<void(const Record&, std::int64_t offset)>& visit,
                        std::int64_t start, bool complete) {
  RecordScan scan;
  scan.end = start;
  LineReader reader(path, start);
  std::set<std::string> seen;
  std::string line;
  bool whole = false, too_long = false;
  for (std::int64_t number = 1;; ++number) {
    const std::int64_t offset = reader.position();
    if (!reader.next(line, whole, too_long)) return scan;
    if (!whole && !complete) return scan;
    if (whole) scan.end = reader.position();
    if (line.empty() && !too_long) continue;
    Record record;
    BadLine bad{number, "it is longer than 16 MiB", ""};
    if (too_long || !parse_record(line, record, bad)) {
      ++scan.bad_lines;
      if (scan.bad.size() < most_bad_lines) scan.bad.push_back(bad);
    } else if (!seen.insert(record.id()).second) {
      ++scan.repeated;
    } else {
      ++scan.records;
      visit(record, offset);
    }
  }
}

std::vector<Record> read_records(const std::string& path, RecordScan* scan) {
  std::vector<Record> records;
  const RecordScan result = scan_records(path, [&](const Record& record, std::int64_t) { records.push_back(record); });
  if (scan != nullptr) *scan = result;
  return records;
}

RecordScan scan_union(const std::vector<std::string>& inputs, const std::function<void(const Record&)>& visit) {
  RecordScan total;
  std::set<std::string> seen;
  for (const std::string& input : inputs) {
    const RecordScan scan = scan_records(input, [&](const Record& record, std::int64_t) {
      if (!seen.insert(record.id()).second) ++total.repeated;
      else visit(record);
    });
    total.repeated += scan.repeated;
    total.bad_lines += scan.bad_lines;
    for (const BadLine& bad : scan.bad)
      if (total.bad.size() < most_bad_lines) total.bad.push_back({bad.number, bad.reason, input});
  }
  total.records = static_cast<std::int64_t>(seen.size());
  return total;
}

RecordScan merge_records(const std::vector<std::string>& inputs, const std::string& output) {
  std::vector<std::pair<std::string, std::string>> lines;  // time, line
  RecordScan total = scan_union(inputs, [&](const Record& record) { lines.emplace_back(record.time, record.line()); });
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [time, line] : lines) text += line + "\n";
  write_file(output, text);
  total.end = static_cast<std::int64_t>(text.size());
  return total;
}

std::vector<std::string> bad_line_messages(const std::string& path, const RecordScan& scan) {
  std::vector<std::string> messages;
  for (const BadLine& bad : scan.bad) messages.push_back((bad.file.empty() ? path : bad.file) + ":" + std::to_string(bad.number) + ": skipped: " + bad.reason);
  const auto more = scan.bad_lines - static_cast<std::int64_t>(scan.bad.size());
  if (more > 0) messages.push_back(path + ": " + std::to_string(more) + " more lines skipped");
  return messages;
}

}  // namespace tileopt
