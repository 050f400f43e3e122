/// What a batch gave, for people (a table) and programs (JSON).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/document.h"

namespace tileopt::cli {

class BatchIndex {
 public:
  explicit BatchIndex(std::vector<std::string> machines) : machines_(std::move(machines)) {}

  /// Results of one file on one machine, in the order of the inputs; an empty list: not done yet. `kept`: of an earlier run.
  void add(const std::string& file, const std::string& machine, const Document& results, bool kept);

  /// The largest exit code of all.
  int exit_code() const;
  /// "tileopt-index/1" (docs/cli.md).
  Document write() const;
  /// A row a program, a column a machine: milliseconds of what was compiled, `kept`, a reason, or `-` for what was not done.
  std::string table() const;
  /// How many are done, and the failures, a line for each reason; "" where nothing failed and nothing is missing.
  std::string failures() const;

 private:
  struct Row {
    std::string file, program;                 ///< "" = the file has errors, or was not looked at
    std::map<std::string, Document> results;   ///< by machine
  };
  Row& row(const std::string& file, const std::string& program);
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons() const;
  int count(bool failed) const;

  std::vector<std::string> machines_;
  std::vector<Row> rows_;
  int missing_ = 0;  ///< files on a machine that were not done
};

}  // namespace tileopt::cli
