#include "support/entry_location.h"

#include <yaml-cpp/yaml.h>

#include <cctype>
#include <optional>

namespace tileopt {

namespace {

/// The node that the rest of `path` leads to. Keys may hold dots, so the longest key that exists is taken.
std::optional<YAML::Node> follow(const YAML::Node& node, const std::string& path) {
  if (path.empty()) return node;
  if (path[0] == '[' && node.IsSequence()) {
    const std::size_t close = path.find(']');
    if (close == std::string::npos || close < 2 || close > 10) return std::nullopt;
    std::size_t index = 0;
    for (std::size_t i = 1; i < close; ++i) {
      if (std::isdigit(static_cast<unsigned char>(path[i])) == 0) return std::nullopt;
      index = index * 10 + static_cast<std::size_t>(path[i] - '0');
    }
    return index < node.size() ? follow(node[index], path.substr(close + 1)) : std::nullopt;
  }
  if (!node.IsMap()) return std::nullopt;
  const std::string keys = path[0] == '.' ? path.substr(1) : path;
  for (std::size_t end = keys.size(); end > 0; --end) {
    if (end < keys.size() && keys[end] != '.' && keys[end] != '[') continue;
    const YAML::Node child = node[keys.substr(0, end)];
    if (!child.IsDefined()) continue;
    if (auto found = follow(child, keys.substr(end))) return found;
  }
  return std::nullopt;
}

/// The entry below `node`, or below its only child that has it: a dump wraps the plan it belongs to.
std::optional<YAML::Node> find_below(const YAML::Node& node, const std::string& path, int levels) {
  if (auto found = follow(node, path)) return found;
  std::optional<YAML::Node> only;
  if (levels == 0 || !node.IsMap()) return only;
  for (const auto& child : node) {
    const auto found = find_below(child.second, path, levels - 1);
    if (found && only) return std::nullopt;
    if (found) only = found;
  }
  return only;
}

/// "`kernels[0]`: message" or "entry `kernels[0]`: message" -> "kernels[0]".
std::string path_of(const std::string& message) {
  const std::size_t open = message.starts_with("`") ? 0 : message.starts_with("entry `") ? 6 : std::string::npos;
  const std::size_t close = open == std::string::npos ? open : message.find("`: ", open + 1);
  return close == std::string::npos ? "" : message.substr(open + 1, close - open - 1);
}

}  // namespace

SourceLocation find_entry(const std::string& text, const std::string& file, const std::string& path) {
  SourceLocation where{file, 0, 0};
  try {
    const std::optional<YAML::Node> node = find_below(YAML::Load(text), path, 2);
    if (!node || node->Mark().is_null()) return where;
    where.line = node->Mark().line + 1;
    where.column = node->Mark().column + 1;
  } catch (const YAML::Exception&) {
    // The reader of the file has said what is malformed.
  }
  return where;
}

Errors locate_entries(const Errors& errors, const SourceTexts& texts) {
  std::vector<Diagnostic> located = errors.diagnostics();
  for (Diagnostic& diagnostic : located) {
    if (diagnostic.where.line != 0) continue;
    const std::string path = path_of(diagnostic.message);
    const bool whole = diagnostic.message.starts_with("the entry `");  // of the file itself is missing
    const std::string text = path.empty() && !whole ? "" : texts.text(diagnostic.where.file);
    if (!text.empty()) diagnostic.where = find_entry(text, diagnostic.where.file, path);
  }
  return Errors(std::move(located));
}

}  // namespace tileopt
