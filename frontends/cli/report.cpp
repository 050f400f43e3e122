#include "frontends/cli/report.h"

#include <fstream>
#include <sstream>

namespace tileopt::cli {

namespace {

std::string line_of(const std::string& text, int number) {
  std::istringstream in(text);
  std::string line;
  for (int i = 0; i < number; ++i)
    if (!std::getline(in, line)) return "";
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

std::string contents(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return text.str();
}

/// Below column `column`: tabs stay tabs, and a UTF-8 character is one place wide, so the caret lands where it should.
std::string caret_below(const std::string& line, int column) {
  std::string blanks;
  for (int i = 0; i + 1 < column; ++i) {
    const auto c = i < static_cast<int>(line.size()) ? static_cast<unsigned char>(line[static_cast<std::size_t>(i)]) : ' ';
    if ((c & 0xC0) != 0x80) blanks += c == '\t' ? '\t' : ' ';
  }
  return blanks + "^";
}

}  // namespace

std::string diagnostic_text(const Diagnostic& diagnostic, const std::string& source) {
  const std::string whole = to_string(diagnostic);
  if (diagnostic.where.line == 0) return whole;
  const std::string line = line_of(source.empty() ? contents(diagnostic.where.file) : source, diagnostic.where.line);
  if (line.empty()) return whole;
  const std::string number = std::to_string(diagnostic.where.line);
  const std::string excerpt = "\n  " + number + " | " + line + "\n  " + std::string(number.size(), ' ') + " | " +
                              caret_below(line, diagnostic.where.column);
  const std::size_t first = std::min(whole.find('\n'), whole.size());
  return whole.substr(0, first) + excerpt + whole.substr(first);
}

std::string errors_text(const Errors& errors, const std::string& source) {
  std::string text;
  for (const Diagnostic& diagnostic : errors.diagnostics()) text += (text.empty() ? "" : "\n") + diagnostic_text(diagnostic, source);
  return text;
}

}  // namespace tileopt::cli
