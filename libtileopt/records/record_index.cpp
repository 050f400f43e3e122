#include "records/record_index.h"

#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/error.h"

namespace tileopt {
namespace {

constexpr int index_version = 1;
constexpr int busy_milliseconds = 10'000;

[[noreturn]] void fail(const std::string& path, const std::string& message) {
  throw Errors(Diagnostic{ErrorCode::file_access, {path, 0, 0}, message, "check the folder's permissions, or delete the index: it is made anew", ""});
}

/// Thrown where the index itself is unusable; it is then made anew.
struct Damaged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Statement {
 public:
  Statement(sqlite3* database, const char* text) : database_(database) {
    if (sqlite3_prepare_v2(database, text, -1, &statement_, nullptr) != SQLITE_OK) throw Damaged(sqlite3_errmsg(database));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int at, const std::string& text) {
    sqlite3_bind_text(statement_, at, text.c_str(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(int at, std::int64_t value) {
    sqlite3_bind_int64(statement_, at, value);
    return *this;
  }
  Statement& bind(int at, double value) {
    sqlite3_bind_double(statement_, at, value);
    return *this;
  }
  /// True while there is a row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    throw Damaged(sqlite3_errmsg(database_));
  }
  void reset() { sqlite3_reset(statement_); }
  std::string text(int column) const {
    const unsigned char* value = sqlite3_column_text(statement_, column);
    return value == nullptr ? "" : reinterpret_cast<const char*>(value);
  }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

const char* const schema = R"(
  CREATE TABLE records(id TEXT PRIMARY KEY, key_hash TEXT, plan_hash TEXT, program TEXT, outcome INTEGER, seconds REAL, line_offset INTEGER) WITHOUT ROWID;
  CREATE INDEX records_of_key ON records(key_hash, outcome, seconds);
  CREATE INDEX plans_of_key ON records(key_hash, plan_hash);
  CREATE TABLE progress(version INTEGER, line_end INTEGER, last_line TEXT);
)";

}  // namespace

struct RecordIndex::State {
  std::string records, path;
  sqlite3* database = nullptr;
  std::vector<BadLine> bad;

  ~State() { sqlite3_close(database); }

  void execute(const char* text) const {
    char* message = nullptr;
    if (sqlite3_exec(database, text, nullptr, nullptr, &message) != SQLITE_OK) {
      const std::string reason = message == nullptr ? "?" : message;
      sqlite3_free(message);
      throw Damaged(reason);
    }
  }

  void open() {
    sqlite3_close(database);
    database = nullptr;
    if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK) {
      const std::string reason = database == nullptr ? "no memory" : sqlite3_errmsg(database);
      throw Damaged(reason);
    }
    sqlite3_busy_timeout(database, busy_milliseconds);
    execute("PRAGMA synchronous = OFF");  // the file of records is what must last
    execute("BEGIN IMMEDIATE");
    Statement tables(database, "SELECT count(*) FROM sqlite_master");
    tables.step();
    if (tables.integer(0) == 0) {
      execute(schema);
      execute(("INSERT INTO progress VALUES(" + std::to_string(index_version) + ", 0, '')").c_str());
    }
    Statement version(database, "SELECT version FROM progress");
    if (!version.step() || version.integer(0) != index_version) {
      execute("ROLLBACK");
      throw Damaged("another version");
    }
    execute("COMMIT");
  }

  void start_anew() {
    sqlite3_close(database);
    database = nullptr;
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) ::unlink((path + suffix).c_str());
    open();
  }

  /// The last bytes before `end`: they tell whether the file is still the one that was indexed.
  std::string tail(std::int64_t end) const {
    std::ifstream file(records, std::ios::binary);
    const std::int64_t start = std::max<std::int64_t>(0, end - 64);
    std::string text(static_cast<std::size_t>(end - start), '\0');
    file.seekg(start);
    if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) return "?";
    return hash_text(text);
  }

  RecordScan update() {
    RecordScan scan;
    execute("BEGIN IMMEDIATE");
    std::int64_t end = 0;
    {
      Statement progress(database, "SELECT line_end, last_line FROM progress");
      if (!progress.step()) throw Damaged("no progress");
      end = progress.integer(0);
      const std::string last = progress.text(1);
      const bool exists = std::filesystem::exists(records);
      const bool same = exists && static_cast<std::int64_t>(std::filesystem::file_size(records)) >= end && (end == 0 || tail(end) == last);
      if (!same && end > 0) {
        progress.reset();
        execute("DELETE FROM records");
        end = 0;
      }
      if (!exists) {
        progress.reset();
        execute("UPDATE progress SET line_end = 0, last_line = ''");
        execute("COMMIT");
        return scan;
      }
    }
    {
      Statement insert(database, "INSERT OR IGNORE INTO records VALUES(?, ?, ?, ?, ?, ?, ?)");
      scan = scan_records(records, [&](const Record& r, std::int64_t offset) {
        insert.bind(1, r.id()).bind(2, r.key.hash()).bind(3, r.plan_hash()).bind(4, r.key.program);
        insert.bind(5, static_cast<std::int64_t>(r.outcome)).bind(6, r.seconds).bind(7, offset);
        insert.step();
        insert.reset();
      }, end, false);
      Statement progress(database, "UPDATE progress SET line_end = ?, last_line = ?");
      progress.bind(1, scan.end).bind(2, scan.end == 0 ? std::string() : tail(scan.end));
      progress.step();
    }
    execute("COMMIT");
    return scan;
  }

  static IndexedRecord row(const Statement& s) {
    return {s.text(0), s.text(1), s.text(2), s.text(3), static_cast<RecordOutcome>(s.integer(4)), s.real(5), s.integer(6)};
  }
};

RecordIndex::RecordIndex(std::string records) : state_(std::make_unique<State>()) {
  state_->records = std::move(records);
  state_->path = state_->records + ".index";
  try {
    state_->open();
  } catch (const Damaged&) {
    try {
      state_->start_anew();
    } catch (const Damaged& damaged) {
      fail(state_->path, std::string("cannot make the index of the records: ") + damaged.what());
    }
  }
  refresh();
}

RecordIndex::~RecordIndex() = default;

RecordScan RecordIndex::refresh() {
  RecordScan scan;
  try {
    scan = state_->update();
  } catch (const Damaged&) {
    try {
      state_->start_anew();
      scan = state_->update();
    } catch (const Damaged& damaged) {
      fail(state_->path, std::string("cannot update the index of the records: ") + damaged.what());
    }
  }
  state_->bad.insert(state_->bad.end(), scan.bad.begin(), scan.bad.end());
  return scan;
}

const std::vector<BadLine>& RecordIndex::bad() const { return state_->bad; }

std::int64_t RecordIndex::size() const {
  Statement count(state_->database, "SELECT count(*) FROM records");
  count.step();
  return count.integer(0);
}

std::vector<IndexedRecord> RecordIndex::list(const std::string& key_hash) const {
  Statement rows(state_->database, "SELECT id, key_hash, plan_hash, program, outcome, seconds, line_offset FROM records "
                                   "WHERE ?1 = '' OR key_hash = ?1 ORDER BY outcome, seconds, id");
  rows.bind(1, key_hash);
  std::vector<IndexedRecord> result;
  while (rows.step()) result.push_back(State::row(rows));
  return result;
}

std::optional<IndexedRecord> RecordIndex::best(const std::string& key_hash) const {
  Statement rows(state_->database, "SELECT id, key_hash, plan_hash, program, outcome, seconds, line_offset FROM records "
                                   "WHERE key_hash = ?1 AND outcome = 0 ORDER BY seconds, id LIMIT 1");
  rows.bind(1, key_hash);
  if (!rows.step()) return std::nullopt;
  return State::row(rows);
}

bool RecordIndex::tried(const std::string& key_hash, const std::string& plan_hash) const {
  Statement rows(state_->database, "SELECT 1 FROM records WHERE key_hash = ?1 AND plan_hash = ?2 LIMIT 1");
  rows.bind(1, key_hash).bind(2, plan_hash);
  return rows.step();
}

std::map<RecordOutcome, std::int64_t> RecordIndex::tally(const std::string& key_hash) const {
  Statement rows(state_->database, "SELECT outcome, count(*) FROM records WHERE ?1 = '' OR key_hash = ?1 GROUP BY outcome");
  rows.bind(1, key_hash);
  std::map<RecordOutcome, std::int64_t> result;
  while (rows.step()) result[static_cast<RecordOutcome>(rows.integer(0))] = rows.integer(1);
  return result;
}

Record RecordIndex::read(const IndexedRecord& indexed) const {
  std::ifstream file(state_->records, std::ios::binary);
  file.seekg(indexed.offset);
  std::string line;
  Record record;
  BadLine bad;
  if (!std::getline(file, line) || !parse_record(line, record, bad) || record.id() != indexed.id)
    fail(state_->records, "the record " + indexed.id + " is no longer where the index has it");
  return record;
}

}  // namespace tileopt
