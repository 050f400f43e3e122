#include "tests/errors/expectations.h"

#include <algorithm>
#include <regex>
#include <sstream>

namespace tileopt::test {

namespace {

// The line of one expectation comment: "@+1:5-9 {{...}} hint {{...}} witness {{...}}".
const std::regex& expectation_pattern() {
  static const std::regex pattern(
      R"(# expected-error@([+-]?)(\d+):(\d+)(?:-(\d+))? \{\{(.*?)\}\} hint \{\{(.*?)\}\}(?: witness \{\{(.*?)\}\})?\s*)");
  return pattern;
}

std::string value_of(const std::string& line, const std::string& key) {
  if (!line.starts_with("# " + key + ": ")) return "";
  return line.substr(key.size() + 4);
}

std::string shown(const Diagnostic& diagnostic) { return diagnostic.message + " [" + error_code_name(diagnostic.code) + "]"; }

}  // namespace

ExpectationFile read_expectations(const std::string& text) {
  ExpectationFile file;
  std::istringstream in(text);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (const std::string machine = value_of(line, "machine"); !machine.empty()) file.machine = machine;
    if (const std::string schedule = value_of(line, "schedule"); !schedule.empty()) file.schedule = schedule;
    const std::size_t start = line.find("# expected-error");
    if (start == std::string::npos) continue;
    const std::string comment = line.substr(start);
    std::smatch match;
    if (!std::regex_match(comment, match, expectation_pattern())) {
      file.problems.push_back("line " + std::to_string(number) + " is no expectation: " + comment);
      continue;
    }
    const int count = std::stoi(match[2]);
    Expectation expectation;
    expectation.line = match[1] == "+" ? number + count : match[1] == "-" ? number - count : count;
    expectation.column = std::stoi(match[3]);
    expectation.end_column = match[4].matched ? std::stoi(match[4]) : 0;
    expectation.message = match[5];
    expectation.hint = match[6];
    expectation.witness = match[7];
    if (expectation.message.empty() || expectation.hint.empty())
      file.problems.push_back("line " + std::to_string(number) + " expects an empty message or hint");
    file.expectations.push_back(std::move(expectation));
  }
  return file;
}

std::string to_string(const Expectation& e) {
  return std::to_string(e.line) + ":" + std::to_string(e.column) + (e.end_column > 0 ? "-" + std::to_string(e.end_column) : "") + " {{" +
         e.message + "}} hint {{" + e.hint + "}}" + (e.witness.empty() ? "" : " witness {{" + e.witness + "}}");
}

bool meets(const Diagnostic& found, const Expectation& expected) {
  return found.where.line == expected.line && found.where.column == expected.column &&
         (expected.end_column == 0 || found.where.end_column == expected.end_column) &&
         shown(found).find(expected.message) != std::string::npos && found.hint.find(expected.hint) != std::string::npos &&
         found.witness.find(expected.witness) != std::string::npos;
}

std::string differences(const std::vector<Diagnostic>& found, const std::vector<Expectation>& expected) {
  std::vector<bool> met(expected.size(), false);
  std::string text;
  for (const Diagnostic& diagnostic : found) {
    std::size_t at = 0;
    while (at < expected.size() && (met[at] || !meets(diagnostic, expected[at]))) ++at;
    if (at < expected.size()) met[at] = true;
    else text += "not expected: " + std::to_string(diagnostic.where.line) + ":" + std::to_string(diagnostic.where.column) + "-" +
                 std::to_string(diagnostic.where.end_column) + " " + shown(diagnostic) + "\n    hint: " + diagnostic.hint +
                 "\n    witness: " + diagnostic.witness + "\n";
  }
  for (std::size_t at = 0; at < expected.size(); ++at)
    if (!met[at]) text += "not reported: " + to_string(expected[at]) + "\n";
  return text;
}

}  // namespace tileopt::test
