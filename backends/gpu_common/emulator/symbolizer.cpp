#include "backends/gpu_common/emulator/symbolizer.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/error.h"
#include "support/process.h"

namespace tileopt::emulator {

namespace {
constexpr double seconds = 20;

std::string hex(Site site) {
  std::ostringstream text;
  text << "0x" << std::hex << site;
  return text.str();
}

/// "…/kernel.cu:38 (discriminator 2)" -> 38 where the file is `source`, else 0.
int line_of(const std::string& text, const std::string& source) {
  const std::size_t colon = text.find(':', text.rfind('/') == std::string::npos ? 0 : text.rfind('/'));
  if (colon == std::string::npos || text.substr(0, colon) != source) return 0;
  return std::atoi(text.c_str() + colon + 1);
}
}  // namespace

Symbolizer::Symbolizer(std::string object, std::string source)
    : object_(std::move(object)), source_(std::move(source)), program_(find_program("addr2line")) {
  std::ifstream file(source_);
  for (std::string line; std::getline(file, line);) source_lines_.push_back(line);
}

/// A return address is that of the next instruction, which may belong to the next line already.
const std::vector<int>& Symbolizer::lines(Site site) {
  const auto found = known_.find(site);
  if (found != known_.end()) return found->second;
  std::vector<int>& lines = known_[site];
  if (program_.empty() || site == 0) return lines;
  ProcessResult result;
  try {
    result = run_process({program_, "-i", "-e", object_, hex(site - 1)}, seconds);
  } catch (const ToolchainError&) {
    return lines;
  }
  std::istringstream output(result.output);
  for (std::string text; std::getline(output, text);) {
    const int line = line_of(text, source_);
    if (line > 0 && (lines.empty() || lines.back() != line)) lines.push_back(line);
  }
  return lines;
}

std::string Symbolizer::text(Site site) {
  const std::vector<int>& chain = lines(site);
  if (chain.empty()) return "address " + hex(site);
  std::string text = "line " + std::to_string(chain.front());
  for (std::size_t i = 1; i < chain.size(); ++i) text += (i == 1 ? " (from line " : ", ") + std::to_string(chain[i]);
  return chain.size() > 1 ? text + ")" : text;
}

std::string Symbolizer::source_line(int line) {
  if (line < 1 || static_cast<std::size_t>(line) > source_lines_.size()) return "";
  const std::string& text = source_lines_[static_cast<std::size_t>(line) - 1];
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first);
}

}  // namespace tileopt::emulator
