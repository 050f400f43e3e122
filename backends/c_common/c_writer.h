/// Indented lines of C.
#pragma once

#include <string>

namespace tileopt {

class CWriter {
 public:
  explicit CWriter(int depth = 0) : depth_(depth) {}
  void line(const std::string& text) { text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + text + "\n"; }
  /// `head {`, with what follows inside.
  void open(const std::string& head) {
    line(head.empty() ? "{" : head + " {");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}");
  }
  /// `} head {`
  void reopen(const std::string& head) {
    --depth_;
    line("} " + head + " {");
    ++depth_;
  }
  /// Preprocessor lines and other text that is not indented.
  void raw(const std::string& text) { text_ += text; }
  const std::string& text() const { return text_; }
  /// Takes back what stands from one size of the text to another.
  void take_back(std::size_t from, std::size_t to) { text_.erase(from, to - from); }

 private:
  std::string text_;
  int depth_;
};

}  // namespace tileopt
