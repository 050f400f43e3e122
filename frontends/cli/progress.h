/// A progress bar on stderr, where that is a terminal; nothing otherwise.
#pragma once

#include <cstddef>
#include <string>

namespace tileopt::cli {

class Progress {
 public:
  explicit Progress(std::size_t total);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Item number `done` + 1 begins.
  void step(const std::string& name);
  /// Wipes the bar, so that a message may be printed.
  void clear();

 private:
  std::size_t total_;
  std::size_t started_ = 0;
  bool terminal_;
  bool shown_ = false;
};

}  // namespace tileopt::cli
