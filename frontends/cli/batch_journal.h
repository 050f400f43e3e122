/// What a batch has done so far, in its output folder: a line of JSON for every file and machine, written as soon as both are done.
/// A batch that is killed goes on from there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/document.h"

namespace tileopt::cli {

/// One tile file on one machine.
struct BatchEntry {
  static constexpr const char* format = "tileopt-batch/1";
  std::string file, machine;
  std::string key;   ///< hash of all that decides the results
  Document results;  ///< a list: for each program `program`, `exit_code`, `status`, `reason`, what `compile --json` has, and `outputs`: hashes by path

  Document write() const;
  /// Paths of what was written, relative to the folder of the batch.
  std::vector<std::string> outputs() const;
};

class BatchJournal {
 public:
  /// Makes the folder; holds it against other batches while this object lives.
  /// @throws Errors(file_access), also where another batch writes there.
  explicit BatchJournal(std::string folder);
  ~BatchJournal();
  BatchJournal(const BatchJournal&) = delete;
  BatchJournal& operator=(const BatchJournal&) = delete;

  /// What an earlier run found under the same key, where all it wrote is still as it was; nothing where a second attempt may end
  /// otherwise (a proof at its time limit, a fault, a disk that was full).
  std::optional<BatchEntry> kept(const std::string& file, const std::string& machine, const std::string& key) const;

  /// Appends an entry. What an earlier one of this file and machine wrote and this one did not is removed: it is out of date.
  /// @throws Errors(file_access)
  void add(const BatchEntry& entry);

  /// Hash of a file of the folder; "" where there is none.
  std::string hash_of(const std::string& path) const;

 private:
  void remove_outdated(const BatchEntry& entry) const;
  std::string path_of(const std::string& path) const { return folder_ + "/" + path; }

  std::string folder_;
  int lock_ = -1, file_ = -1;
  std::map<std::pair<std::string, std::string>, BatchEntry> entries_;
};

}  // namespace tileopt::cli
