#include "frontends/cli/colour.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <utility>

namespace tileopt::cli {

namespace {

constexpr const char* red = "\033[1;31m";
constexpr const char* yellow = "\033[1;33m";
constexpr const char* cyan = "\033[36m";
constexpr const char* plain = "\033[0m";

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

std::string painted(const std::string& text, const char* colour) { return colour + text + plain; }

/// "f.tile:3:5: error: message [code]": the first severity of the line is ours, since file names come before it.
std::string headline(const std::string& line) {
  for (const auto& [word, colour] : {std::pair("internal error:", red), std::pair("error:", red), std::pair("warning:", yellow)}) {
    const std::size_t at = line.find(word);
    if (at == std::string::npos || (at > 0 && line[at - 1] != ' ')) continue;
    const std::size_t end = at + std::string(word).size();
    return line.substr(0, at) + painted(line.substr(at, end - at), colour) + line.substr(end);
  }
  return line;
}

/// "     |   ^~~~": blanks, a bar, blanks, the underline, nothing else.
bool is_underline(const std::string& line, std::size_t& caret) {
  const std::size_t bar = line.find_first_not_of(' ');
  if (bar == std::string::npos || line[bar] != '|') return false;
  caret = line.find_first_not_of(' ', bar + 1);
  return caret != std::string::npos && line[caret] == '^' && line.find_first_not_of('~', caret + 1) == std::string::npos;
}

}  // namespace

bool colours_wanted() {
  if (is_set("CLICOLOR_FORCE") && std::string(std::getenv("CLICOLOR_FORCE")) != "0") return true;
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && !is_set("NO_COLOR") && terminal != nullptr && std::string(terminal) != "dumb";
}

std::string coloured(const std::string& messages) {
  std::string result;
  std::istringstream in(messages);
  for (std::string line; std::getline(in, line);) {
    std::size_t caret = 0;
    if (is_underline(line, caret)) {
      line = line.substr(0, caret) + painted(line.substr(caret), red);
    } else if (!line.starts_with("  ")) {
      line = headline(line);
    } else {
      for (const char* label : {"  witness:", "  hint:", "  refused in:"})
        if (line.starts_with(label)) line = painted(label, cyan) + line.substr(std::string(label).size());
    }
    result += line + "\n";
  }
  return result;
}

}  // namespace tileopt::cli
