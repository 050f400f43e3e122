/// Records and folders for tests.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "records/record.h"

namespace tileopt {

/// Number `i` of a family of different records, whose times are in the order of their numbers.
inline Record sample_record(int i) {
  Record record;
  record.key.program = "gemm";
  record.key.program_hash = "0123456789abcdef";
  record.key.sizes = {{"M", 1024}, {"N", 512}};
  record.key.machine = "zen4";
  record.key.machine_hash = "fedcba9876543210";
  record.key.processor = "a processor";
  record.key.compiler = "gcc 12.2.0";
  record.key.flags = "-O3";
  record.key.version = "0.1.0";
  record.plan = {{"format", "tileopt-plan/1"}, {"number", i}};
  record.seconds = 0.001 * (i + 1);
  record.samples = {record.seconds, record.seconds * 1.5, record.seconds / 3};
  record.noise = 0.01;
  record.source_hash = "00ff00ff00ff00ff";
  record.origin = "random";
  record.seed = 0xffffffffffffffffu - static_cast<unsigned>(i);
  char time[32];
  std::snprintf(time, sizeof time, "2026-01-01T%02d:%02d:%02dZ", i / 3600, i / 60 % 60, i % 60);
  record.time = time;
  return record;
}

/// A folder of its own, removed at the end.
class RecordFolder {
 public:
  RecordFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tileopt_records_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~RecordFolder() { std::filesystem::remove_all(path_); }
  RecordFolder(const RecordFolder&) = delete;
  RecordFolder& operator=(const RecordFolder&) = delete;
  std::string file(const std::string& name = "runs.jsonl") const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace tileopt
