#include "frontends/cli/batch_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "frontends/cli/options.h"
#include "support/error.h"

namespace tileopt::cli {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::file_access, {path, 0, 0}, message, hint, ""});
}

std::string line_of(const BatchEntry& entry) {
  return entry.write().dump(-1, ' ', false, Document::error_handler_t::replace) + "\n";
}

/// None for what no batch of this version wrote whole: a line that a kill cut short is one of them.
std::optional<BatchEntry> read_line(const std::string& line) {
  const Document document = Document::parse(line, nullptr, false);
  if (!document.is_object() || document.value("format", "") != BatchEntry::format) return std::nullopt;
  try {
    BatchEntry entry{document.at("file").get<std::string>(), document.at("machine").get<std::string>(), document.at("key").get<std::string>(), document.at("results")};
    for (const Document& result : entry.results) {
      result.at("program").get<std::string>();
      result.at("exit_code").get<int>();
    }
    entry.outputs();
    return entry;
  } catch (const Document::exception&) {
    return std::nullopt;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

/// A journal may be anybody's: only what lies in the folder is ever looked at or removed.
bool is_inside(const std::string& path) {
  if (path.empty() || fs::path(path).is_absolute()) return false;
  for (const fs::path& part : fs::path(path))
    if (part == "..") return false;
  return true;
}

}  // namespace

Document BatchEntry::write() const { return {{"format", format}, {"file", file}, {"machine", machine}, {"key", key}, {"results", results}}; }

std::vector<std::string> BatchEntry::outputs() const {
  std::vector<std::string> paths;
  for (const Document& result : results)
    if (result.contains("outputs"))
      for (const auto& [path, hash] : result["outputs"].items())
        if (is_inside(path)) paths.push_back(path);
  return paths;
}

BatchJournal::BatchJournal(std::string folder) : folder_(std::move(folder)) {
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (!fs::is_directory(folder_)) fail(folder_, "cannot make the folder: " + (failure ? failure.message() : "a file has its name"), "give a folder that can be written");
  const std::string path = path_of("batch.jsonl"), lock = path_of(".batch.lock");
  lock_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) fail(lock, std::string("cannot open: ") + std::strerror(errno), "give a folder that can be written");
  // Workers of a batch that was killed hold it for a moment longer.
  bool held = false;
  for (int attempt = 0; !held && attempt < 40; ++attempt) {
    held = flock(lock_, LOCK_EX | LOCK_NB) == 0;
    if (!held) usleep(50'000);
  }
  if (!held) {
    close(lock_);
    fail(folder_, "another batch writes into this folder", "wait for it, or give another folder");
  }
  std::string kept_lines;
  if (fs::exists(path)) {
    for (const std::string& line : lines_of(read_file(path)))
      if (std::optional<BatchEntry> entry = read_line(line)) entries_[{entry->file, entry->machine}] = std::move(*entry);
    for (const auto& [of, entry] : entries_) kept_lines += line_of(entry);
  }
  // One line each again, and whole: what is appended must not continue a line that was cut.
  write_file(path, kept_lines);
  file_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) fail(path, std::string("cannot open: ") + std::strerror(errno), "check its permissions");
}

BatchJournal::~BatchJournal() {
  if (file_ >= 0) close(file_);
  close(lock_);
}

std::string BatchJournal::hash_of(const std::string& path) const {
  std::error_code ignored;
  if (!is_inside(path) || !fs::is_regular_file(path_of(path), ignored)) return "";
  return hash_text(read_file(path_of(path)));
}

std::optional<BatchEntry> BatchJournal::kept(const std::string& file, const std::string& machine, const std::string& key) const {
  const auto found = entries_.find({file, machine});
  if (found == entries_.end() || found->second.key != key) return std::nullopt;
  for (const Document& result : found->second.results) {
    const int code = result["exit_code"].get<int>();
    if (code != exit_done && code != exit_infeasible) return std::nullopt;
    if (!result.contains("outputs")) continue;
    for (const auto& [path, hash] : result["outputs"].items())
      if (hash != hash_of(path)) return std::nullopt;
  }
  return found->second;
}

void BatchJournal::remove_outdated(const BatchEntry& entry) const {
  const auto before = entries_.find({entry.file, entry.machine});
  if (before == entries_.end()) return;
  std::set<std::string> needed;
  for (const std::string& path : entry.outputs()) needed.insert(path);
  // Another file may have taken over the program.
  for (const auto& [of, other] : entries_)
    if (of != before->first)
      for (const std::string& path : other.outputs()) needed.insert(path);
  std::error_code ignored;
  for (const std::string& path : before->second.outputs())
    if (!needed.contains(path)) fs::remove(path_of(path), ignored);
}

void BatchJournal::add(const BatchEntry& entry) {
  remove_outdated(entry);
  const std::string line = line_of(entry);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = write(file_, line.data() + done, line.size() - done);
    if (count < 0 && errno != EINTR) fail(path_of("batch.jsonl"), std::string("cannot write: ") + std::strerror(errno), "free some space; what is done is kept");
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  entries_[{entry.file, entry.machine}] = entry;
}

}  // namespace tileopt::cli
