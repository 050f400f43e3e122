/// An index over a file of records, in SQLite beside it (`runs.jsonl.index`). It holds nothing that the file does not: where it is
/// missing, damaged, of another version or ahead of the file, it is made anew.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "records/record_file.h"

namespace tileopt {

/// What the index knows of a record without reading its line.
struct IndexedRecord {
  std::string id, key_hash, plan_hash, program;
  RecordOutcome outcome = RecordOutcome::measured;
  double seconds = 0;
  std::int64_t offset = 0;  ///< of its line in the file
};

class RecordIndex {
 public:
  /// Opens the index of `records`, which need not exist yet, and brings it up to date. @throws Errors(file_access).
  explicit RecordIndex(std::string records);
  ~RecordIndex();
  RecordIndex(const RecordIndex&) = delete;
  RecordIndex& operator=(const RecordIndex&) = delete;

  /// Reads what was appended since. Returns what it met there.
  RecordScan refresh();
  /// Bad lines met so far, over all refreshes of this object.
  const std::vector<BadLine>& bad() const;

  std::int64_t size() const;
  /// Of one key, best first, failures last; empty `key_hash`: of all keys.
  std::vector<IndexedRecord> list(const std::string& key_hash = "") const;
  /// The fastest measured record of a key.
  std::optional<IndexedRecord> best(const std::string& key_hash) const;
  /// Whether this Plan was tried for this key, however it ended: a resumed search does not try it again.
  bool tried(const std::string& key_hash, const std::string& plan_hash) const;
  /// RecordOutcome -> number of records of a key.
  std::map<RecordOutcome, std::int64_t> tally(const std::string& key_hash) const;
  /// The whole record. @throws Errors(file_access) where the file no longer has it.
  Record read(const IndexedRecord& indexed) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tileopt
