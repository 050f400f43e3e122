/// The index answers as the file does, and is made anew whenever it cannot be trusted.
#include "records/record_index.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/error.h"
#include "tests/unit/records/sample_record.h"

namespace tileopt {
namespace {

Record failed(int i, RecordOutcome outcome) {
  Record record = sample_record(i);
  record.outcome = outcome;
  record.seconds = 0;
  record.samples.clear();
  record.detail = "it failed";
  return record;
}

TEST(RecordIndex, BestTriedAndTally) {
  const RecordFolder folder;
  RecordIndex index(folder.file());
  EXPECT_EQ(index.size(), 0) << "the file need not exist";
  for (const int i : {3, 1, 2}) append_record(folder.file(), sample_record(i));
  append_record(folder.file(), failed(4, RecordOutcome::crashed));
  Record elsewhere = sample_record(0);
  elsewhere.key.machine = "another";
  append_record(folder.file(), elsewhere);
  index.refresh();
  const std::string key = sample_record(0).key.hash();
  ASSERT_TRUE(index.best(key));
  EXPECT_EQ(index.best(key)->id, sample_record(1).id()) << "a crash of no seconds is not the fastest";
  EXPECT_EQ(index.read(*index.best(key)).line(), sample_record(1).line());
  EXPECT_EQ(index.best(elsewhere.key.hash())->id, elsewhere.id());
  EXPECT_FALSE(index.best("no such key"));
  EXPECT_TRUE(index.tried(key, failed(4, RecordOutcome::crashed).plan_hash()));
  EXPECT_FALSE(index.tried(key, sample_record(9).plan_hash()));
  EXPECT_FALSE(index.tried(key, elsewhere.plan_hash())) << "on another machine it is another question";
  EXPECT_EQ(index.tally(key), (std::map<RecordOutcome, std::int64_t>{{RecordOutcome::measured, 3}, {RecordOutcome::crashed, 1}}));
  EXPECT_EQ(index.size(), 5);
  EXPECT_EQ(index.list(key).size(), 4u);
  EXPECT_EQ(index.list(key).back().outcome, RecordOutcome::crashed);
}

TEST(RecordIndex, OnlyWhatIsNewIsRead) {
  const RecordFolder folder;
  append_record(folder.file(), sample_record(1));
  RecordIndex index(folder.file());
  append_record(folder.file(), sample_record(2));
  EXPECT_EQ(index.refresh().records, 1);
  EXPECT_EQ(index.refresh().records, 0);
  std::ofstream(folder.file(), std::ios::app) << "damaged\n";
  EXPECT_EQ(index.refresh().bad_lines, 1);
  EXPECT_EQ(index.bad().size(), 1u);
  EXPECT_EQ(RecordIndex(folder.file()).size(), 2) << "a second one on the same file";
}

TEST(RecordIndex, ADamagedIndexIsMadeAnew) {
  const RecordFolder folder;
  for (int i = 0; i < 20; ++i) append_record(folder.file(), sample_record(i));
  { EXPECT_EQ(RecordIndex(folder.file()).size(), 20); }
  std::ofstream(folder.file() + ".index", std::ios::trunc) << "this is no database at all, though it has many bytes of text in it";
  { EXPECT_EQ(RecordIndex(folder.file()).size(), 20); }
  std::filesystem::resize_file(folder.file() + ".index", 5000);
  EXPECT_EQ(RecordIndex(folder.file()).size(), 20);
}

TEST(RecordIndex, AFileThatWasReplacedIsReadAgain) {
  const RecordFolder folder;
  for (int i = 0; i < 5; ++i) append_record(folder.file(), sample_record(i));
  RecordIndex index(folder.file());
  const IndexedRecord old = index.list().back();
  std::filesystem::remove(folder.file());
  for (int i = 10; i < 20; ++i) append_record(folder.file(), sample_record(i));
  EXPECT_THROW(index.read(old), Errors);
  index.refresh();
  EXPECT_EQ(index.size(), 10);
  EXPECT_FALSE(index.tried(sample_record(0).key.hash(), sample_record(0).plan_hash()));
  std::filesystem::remove(folder.file());
  index.refresh();
  EXPECT_EQ(index.size(), 0);
}

TEST(RecordIndex, AFolderThatCannotBeWrittenIsAUsersError) {
  EXPECT_THROW(RecordIndex("/proc/no_such_folder/runs.jsonl"), Errors);
}

}  // namespace
}  // namespace tileopt
