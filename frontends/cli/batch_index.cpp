#include "frontends/cli/batch_index.h"

#include <algorithm>

#include "frontends/cli/options.h"
#include "frontends/cli/table.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

int code_of(const Document& result) { return result["exit_code"].get<int>(); }

std::string name_of(const std::string& file, const std::string& program) { return program.empty() ? file : program; }

std::string cell(const Document& result) {
  if (code_of(result) != exit_done) return result["reason"].get<std::string>();
  if (result["kept"].get<bool>()) return "kept";
  return std::to_string(static_cast<long>(result.value("milliseconds", 0.0) + 0.5)) + " ms";
}

}  // namespace

BatchIndex::Row& BatchIndex::row(const std::string& file, const std::string& program) {
  for (Row& known : rows_)
    if (known.file == file && known.program == program) return known;
  rows_.push_back({file, program, {}});
  return rows_.back();
}

void BatchIndex::add(const std::string& file, const std::string& machine, const Document& results, bool kept) {
  if (results.empty()) {
    ++missing_;
    return;
  }
  for (const Document& result : results) {
    Document entry = result;
    entry["kept"] = kept;
    row(file, result["program"].get<std::string>()).results[machine] = std::move(entry);
  }
}

int BatchIndex::exit_code() const {
  int code = exit_done;
  for (const Row& row : rows_)
    for (const auto& [machine, result] : row.results) code = std::max(code, code_of(result));
  return code;
}

int BatchIndex::count(bool failed) const {
  int count = 0;
  for (const Row& row : rows_)
    for (const auto& [machine, result] : row.results) count += (code_of(result) != exit_done) == failed ? 1 : 0;
  return count;
}

std::vector<std::pair<std::string, std::vector<std::string>>> BatchIndex::reasons() const {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const Row& row : rows_)
    for (const std::string& machine : machines_) {
      const auto found = row.results.find(machine);
      if (found == row.results.end() || code_of(found->second) == exit_done) continue;
      by_reason[found->second["reason"].get<std::string>()].push_back(name_of(row.file, row.program) + " on " + machine);
    }
  std::vector<std::pair<std::string, std::vector<std::string>>> sorted(by_reason.begin(), by_reason.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return sorted;
}

Document BatchIndex::write() const {
  Document results = Document::array(), failures = Document::array();
  for (const Row& row : rows_)
    for (const std::string& machine : machines_) {
      const auto found = row.results.find(machine);
      if (found == row.results.end()) continue;
      Document entry = {{"file", row.file}, {"machine", machine}};
      for (const auto& [key, value] : found->second.items()) entry[key] = value;
      results.push_back(std::move(entry));
    }
  for (const auto& [reason, where] : reasons()) failures.push_back({{"reason", reason}, {"count", where.size()}, {"where", where}});
  return {{"format", "tileopt-index/1"}, {"version", TILEOPT_VERSION}, {"exit_code", exit_code()}, {"machines", machines_}, {"done", count(false)},
          {"failed", count(true)}, {"not_done", missing_}, {"failures", failures}, {"results", results}};
}

std::string BatchIndex::table() const {
  std::vector<std::string> head = {"program"};
  head.insert(head.end(), machines_.begin(), machines_.end());
  Table table(head, 1);
  for (const Row& row : rows_) {
    std::vector<std::string> cells = {name_of(row.file, row.program)};
    for (const std::string& machine : machines_) {
      const auto found = row.results.find(machine);
      cells.push_back(found == row.results.end() ? "-" : cell(found->second));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string BatchIndex::failures() const {
  const int failed = count(true), total = count(false) + failed;
  if (failed == 0 && missing_ == 0) return "";
  std::string text = std::to_string(total - failed) + " of " + std::to_string(total) + " done";
  if (failed > 0) text += ", " + std::to_string(failed) + " failed";
  if (missing_ > 0) text += "; " + std::to_string(missing_) + (missing_ == 1 ? " file on a machine was" : " files on machines were") + " not reached";
  text += failed > 0 ? ":\n" : "\n";
  for (const auto& [reason, where] : reasons()) text += "  " + std::to_string(where.size()) + " " + reason + ": " + join(where, ", ") + "\n";
  return text;
}

}  // namespace tileopt::cli
