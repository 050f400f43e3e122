#include "frontends/cli/progress.h"

#include <unistd.h>

#include <iostream>

namespace tileopt::cli {

Progress::Progress(std::size_t total) : total_(total), terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::step(const std::string& name) {
  ++started_;
  if (!terminal_ || total_ < 2) return;
  clear();
  constexpr std::size_t width = 24;
  const std::size_t filled = width * (started_ - 1) / total_;
  std::cerr << "[" << std::string(filled, '#') << std::string(width - filled, '.') << "] " << started_ << "/" << total_ << " " << name
            << std::flush;
  shown_ = true;
}

void Progress::clear() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

}  // namespace tileopt::cli
