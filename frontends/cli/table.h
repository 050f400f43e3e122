/// A table whose columns are as wide as their widest entry.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tileopt::cli {

class Table {
 public:
  /// The first `left` columns are aligned to the left, the others to the right.
  Table(std::vector<std::string> head, std::size_t left) : rows_{std::move(head)}, left_(left) {}
  /// As many cells as the head has.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() < 2; }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::size_t left_;
};

}  // namespace tileopt::cli
