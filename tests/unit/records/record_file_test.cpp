/// Files of records: what is written comes back, what is damaged costs itself only, whoever writes and whenever it is killed.
#include "records/record_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/error.h"
#include "tests/unit/records/sample_record.h"

namespace tileopt {
namespace {

TEST(Records, EveryFieldComesBack) {
  const Record record = sample_record(1);
  Record read;
  BadLine bad;
  ASSERT_TRUE(parse_record(record.line(), read, bad)) << bad.reason;
  EXPECT_EQ(read.line(), record.line());
  EXPECT_EQ(read.id(), record.id());
  EXPECT_EQ(read.key.hash(), record.key.hash());
  EXPECT_EQ(read.samples, record.samples);
  EXPECT_EQ(read.outcome, record.outcome);
}

TEST(Records, EveryOutcomeHasAName) {
  for (const RecordOutcome outcome : all_outcomes()) {
    Record record = sample_record(2), read;
    record.outcome = outcome;
    BadLine bad;
    ASSERT_TRUE(parse_record(record.line(), read, bad)) << bad.reason;
    EXPECT_EQ(read.outcome, outcome);
  }
}

TEST(Records, TheKeyTellsWhatIsComparable) {
  const Record record = sample_record(1);
  for (int field = 0; field < 6; ++field) {
    Record other = record;
    if (field == 0) other.key.sizes["M"] += 1;
    if (field == 1) other.key.program_hash = "0";
    if (field == 2) other.key.compiler = "clang 19";
    if (field == 3) other.key.threads = 2;
    if (field == 4) other.key.processor = "another";
    if (field == 5) other.key.space = 2;
    EXPECT_NE(other.key.hash(), record.key.hash()) << field;
    EXPECT_EQ(other.plan_hash(), record.plan_hash());
  }
}

TEST(Records, AMessageOfAnyBytesIsKept) {
  Record record = sample_record(1), read;
  record.detail = "bad bytes \xff\xfe and a \"quote\"\nand a line";
  BadLine bad;
  EXPECT_EQ(record.line().find('\n'), std::string::npos);
  ASSERT_TRUE(parse_record(record.line(), read, bad)) << bad.reason;
  EXPECT_NE(read.detail.find("\nand a line"), std::string::npos);
}

TEST(Records, DamageIsNoticed) {
  const std::string line = sample_record(1).line();
  int noticed = 0, tried = 0;
  for (std::size_t at = 0; at < line.size(); at += 3) {
    std::string damaged = line;
    damaged[at] = damaged[at] == '7' ? '8' : '7';
    Record read;
    BadLine bad;
    ++tried;
    if (!parse_record(damaged, read, bad)) ++noticed;
    EXPECT_NE(bad.reason.empty(), read.id() != sample_record(1).id()) << damaged;
  }
  EXPECT_EQ(noticed, tried);
}

TEST(RecordFile, BadLinesAreSkippedWithTheirReason) {
  const RecordFolder folder;
  append_record(folder.file(), sample_record(1));
  {
    std::ofstream file(folder.file(), std::ios::app);
    file << "not json\n\n[1, 2]\n{\"format\": \"another/9\"}\n{\"format\": \"tileopt-record/1\"}\n";
    std::string line = sample_record(2).line();
    line.replace(line.find("\"seed\":"), 7, "\"sead\":");
    file << line << "\n" << sample_record(1).line() << "\n" << sample_record(3).line().substr(0, 100);
  }
  append_record(folder.file(), sample_record(4), true);
  RecordScan scan;
  const std::vector<Record> records = read_records(folder.file(), &scan);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].id(), sample_record(1).id());
  EXPECT_EQ(records[1].id(), sample_record(4).id()) << "it starts on a line of its own";
  EXPECT_EQ(scan.repeated, 1);
  ASSERT_EQ(scan.bad.size(), 6u);
  EXPECT_EQ(scan.bad[0].number, 2);
  EXPECT_EQ(scan.bad[1].reason, "it is no JSON object");
  EXPECT_EQ(scan.bad[2].reason, "its format is `another/9`, not `tileopt-record/1`");
  EXPECT_EQ(scan.bad[3].reason, "it has no `key`");
  EXPECT_EQ(scan.bad[4].reason, "it has no `seed`");
  EXPECT_EQ(scan.bad[5].reason, "it is no JSON (cut short or damaged)");
  EXPECT_EQ(bad_line_messages("runs", scan)[0], "runs:2: skipped: it is no JSON (cut short or damaged)");
}

TEST(RecordFile, NothingIsAppendedToAnotherFile) {
  const RecordFolder folder;
  for (const char* text : {"def f():\n", "{\"format\":\"tileopt-plan/1\"}\n", "x"}) {
    std::ofstream(folder.file(), std::ios::trunc) << text;
    EXPECT_THROW(append_record(folder.file(), sample_record(1)), Errors) << text;
    EXPECT_EQ(read_file(folder.file()), text);
  }
  std::ofstream(folder.file(), std::ios::trunc) << sample_record(1).line().substr(0, 7);
  append_record(folder.file(), sample_record(2));
  EXPECT_EQ(read_records(folder.file()).size(), 1u) << "what a kill left of a first line is no other file";
}

TEST(RecordFile, ALineThatIsBeingWrittenIsLeftAlone) {
  const RecordFolder folder;
  append_record(folder.file(), sample_record(1));
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(folder.file()));
  const std::string next = sample_record(2).line() + "\n";
  std::ofstream(folder.file(), std::ios::app) << next.substr(0, next.size() / 2) << std::flush;
  const auto none = [](const Record&, std::int64_t) {};
  RecordScan scan = scan_records(folder.file(), none, 0, false);
  EXPECT_EQ(scan.records, 1);
  EXPECT_EQ(scan.bad_lines, 0);
  EXPECT_EQ(scan.end, size);
  std::ofstream(folder.file(), std::ios::app) << next.substr(next.size() / 2) << std::flush;
  std::vector<std::int64_t> offsets;
  scan = scan_records(folder.file(), [&](const Record&, std::int64_t offset) { offsets.push_back(offset); }, scan.end, false);
  EXPECT_EQ(offsets, std::vector<std::int64_t>{size});
}

TEST(RecordFile, AnEndlessLineCostsNoMemory) {
  const RecordFolder folder;
  {
    std::ofstream file(folder.file());
    for (int i = 0; i < 20; ++i) file << std::string(1 << 20, 'x');
    file << "\n" << sample_record(1).line() << "\n";
  }
  RecordScan scan;
  EXPECT_EQ(read_records(folder.file(), &scan).size(), 1u);
  ASSERT_EQ(scan.bad.size(), 1u);
  EXPECT_EQ(scan.bad[0].reason, "it is longer than 16 MiB");
}

TEST(RecordFile, SeveralProcessesAppendToOneFile) {
  const RecordFolder folder;
  constexpr int writers = 4, each = 40;
  std::vector<pid_t> children;
  for (int w = 0; w < writers; ++w) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < each; ++i) append_record(folder.file(), sample_record(w * each + i));
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  RecordScan scan;
  EXPECT_EQ(read_records(folder.file(), &scan).size(), static_cast<std::size_t>(writers * each));
  EXPECT_EQ(scan.bad_lines, 0);
}

// A writer is killed at random moments and started again where its file ends: nothing is lost, nothing is there twice.
TEST(RecordFile, AKillLosesNothingThatWasWritten) {
  const RecordFolder folder;
  const auto bytes = [&] { return std::filesystem::exists(folder.file()) ? std::filesystem::file_size(folder.file()) : 0; };
  std::uint32_t random = 12345;
  int before = 0;
  std::int64_t end = 0;
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = before;; ++i) append_record(folder.file(), sample_record(i));
    }
    // Not before it has begun, however busy the machine is.
    const std::uintmax_t size = bytes();
    for (int wait = 0; wait < 10'000 && bytes() == size; ++wait) usleep(1000);
    random = random * 1664525u + 1013904223u;
    usleep(random % 8000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    int next = before;
    const RecordScan scan = scan_records(folder.file(), [&](const Record& record, std::int64_t) {
      EXPECT_EQ(record.id(), sample_record(next++).id()) << round;
    }, end, false);
    EXPECT_LE(scan.bad_lines, 1) << "the line that the kill before cut short, at most";
    EXPECT_GT(next, before);
    before = next;
    end = scan.end;
  }
  EXPECT_GT(before, 30);
  EXPECT_EQ(read_records(folder.file()).size(), static_cast<std::size_t>(before)) << "read at once as it was piece by piece";
}

TEST(RecordFile, MergingIsAUnionInOrderOfTime) {
  const RecordFolder folder;
  const std::string a = folder.file("a"), b = folder.file("b"), all = folder.file("all");
  for (const int i : {5, 1, 3}) append_record(a, sample_record(i));
  for (const int i : {2, 3, 4}) append_record(b, sample_record(i));
  std::ofstream(b, std::ios::app) << "damaged\n";
  const RecordScan scan = merge_records({a, b}, all);
  EXPECT_EQ(scan.records, 5);
  EXPECT_EQ(scan.repeated, 1);
  ASSERT_EQ(scan.bad.size(), 1u);
  const std::string text = read_file(all);
  const std::vector<Record> merged = read_records(all);
  for (std::size_t i = 0; i < merged.size(); ++i) EXPECT_EQ(merged[i].id(), sample_record(static_cast<int>(i) + 1).id());
  merge_records({all, a, b}, all);
  EXPECT_EQ(read_file(all), text) << "merging again changes nothing";
  EXPECT_THROW(merge_records({folder.file("missing")}, all), Errors);
  EXPECT_EQ(read_file(all), text);
}

}  // namespace
}  // namespace tileopt
