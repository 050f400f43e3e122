/// A file of records: JSON lines, one an attempt. Append-only: nothing that is in it is ever changed, so it survives a kill at any
/// moment, can be read while it is written, and two of them can be merged.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "records/record.h"

namespace tileopt {

/// Adds a line. Several processes may append to one file at a time: each line is one write under a lock. A line that was cut
/// short by a kill is ended first, so that it costs itself only. When this returns, the record has left the process; `durable`
/// waits until it is on the disk too.
/// @throws Errors(file_access), also where the file exists and does not begin as a file of records does.
void append_record(const std::string& path, const Record& record, bool durable = false);

/// What is left of a file after reading it.
struct RecordScan {
  std::int64_t records = 0;       ///< handed to the visitor
  std::int64_t repeated = 0;      ///< lines with the identity of an earlier one
  std::vector<BadLine> bad;       ///< lines that were skipped, with the reason; at most 100 are kept
  std::int64_t bad_lines = 0;     ///< all of them
  std::int64_t end = 0;           ///< byte after the last whole line; reading can go on there
};

/// Visits the records of `path` from byte `start` (the begin of a line) on, in file order, every identity once. A last line without
/// its newline is being written or was cut short: it is left alone, and counted as bad only where `complete`.
/// @throws Errors(file_access).
RecordScan scan_records(const std::string& path, const std::function<void(const Record&, std::int64_t offset)>& visit,
                        std::int64_t start = 0, bool complete = true);

std::vector<Record> read_records(const std::string& path, RecordScan* scan = nullptr);

/// Visits the records of all `inputs`, one file after the other, every identity once; bad lines name their file.
RecordScan scan_union(const std::vector<std::string>& inputs, const std::function<void(const Record&)>& visit);

/// All records of `inputs`, every identity once, in the order of their time, written atomically to `output` (which may be one of
/// them). Bad lines are left out and reported. @throws Errors(file_access).
RecordScan merge_records(const std::vector<std::string>& inputs, const std::string& output);

/// "runs.jsonl:17: skipped: ..." for each bad line that was kept.
std::vector<std::string> bad_line_messages(const std::string& path, const RecordScan& scan);

}  // namespace tileopt
