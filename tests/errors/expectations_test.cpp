// tests/errors/*.tile say which errors they must give (expectations.h). Exactly those, at exactly those places.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "tests/errors/expectations.h"

namespace tileopt::test {
namespace {

const std::string folder = std::string(TILEOPT_SOURCE_DIR) + "/tests/errors";
const char* const shown_file = "input.tile";

std::vector<std::string> error_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".tile") files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

// What a refusal says, in the form of an error; its code goes into the message.
struct Found {
  std::vector<Diagnostic> diagnostics;
  std::set<std::string> codes;
};

void add_refusal(const Infeasible& refused, Found& found) {
  found.diagnostics.push_back({ErrorCode::invalid_pin, refused.where, refused.reason + " [" + refused.code + "]", refused.hint, refused.witness});
  found.codes.insert(refused.code);
}

Found errors_of(const std::string& text, const ExpectationFile& file) {
  poly::Context context;
  Found found;
  try {
    TileFile parsed = parse_tile_file(context.get(), text, shown_file);
    if (file.machine.empty()) return found;
    const auto program = std::make_shared<const Program>(parsed.programs.at(0));
    Request request;
    request.machine = find_machine(file.machine);
    if (!file.schedule.empty()) request.pins = find_schedule(parsed, program->name(), file.schedule, request.machine.name);
    Trace trace;
    const Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) add_refusal(*refused, found);
  } catch (const Errors& errors) {
    found.diagnostics = errors.diagnostics();
    for (const Diagnostic& diagnostic : found.diagnostics) found.codes.insert(error_code_name(diagnostic.code));
  }
  return found;
}

class ErrorFile : public ::testing::TestWithParam<std::string> {};

TEST_P(ErrorFile, GivesExactlyTheExpectedErrors) {
  const std::string text = read_file(folder + "/" + GetParam());
  const ExpectationFile file = read_expectations(text);
  EXPECT_TRUE(file.problems.empty()) << file.problems.front();
  EXPECT_FALSE(file.expectations.empty());
  const Found found = errors_of(text, file);
  EXPECT_EQ(differences(found.diagnostics, file.expectations), "");
  for (const Diagnostic& diagnostic : found.diagnostics) {
    EXPECT_EQ(diagnostic.where.file, shown_file) << to_string(diagnostic);
    EXPECT_FALSE(diagnostic.hint.empty()) << to_string(diagnostic);
  }
  const auto earlier = [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  };
  EXPECT_TRUE(std::is_sorted(found.diagnostics.begin(), found.diagnostics.end(), earlier));
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param.substr(0, info.param.size() - std::string(".tile").size());
}
INSTANTIATE_TEST_SUITE_P(Errors, ErrorFile, ::testing::ValuesIn(error_files()), test_name);

TEST(ErrorFiles, TogetherExpectEveryCodeOfTheLanguage) {
  std::size_t count = 0;
  std::set<std::string> codes;
  for (const std::string& name : error_files()) {
    const std::string text = read_file(folder + "/" + name);
    const ExpectationFile file = read_expectations(text);
    count += file.expectations.size();
    codes.merge(errors_of(text, file).codes);
  }
  EXPECT_GE(count, 300u);
  for (const char* code : {"syntax", "unknown-name", "duplicate-name", "type-mismatch", "shape-mismatch", "not-affine", "out-of-bounds",
                           "uninitialised-read", "contradictory-assume", "false-claim", "invalid-write", "unsupported", "invalid-pin", "pin", "legality",
                           "capacity", "promotion"})
    EXPECT_TRUE(codes.count(code)) << code << " is never expected";
}

TEST(Expectations, ReadRelativeLinesAndEnds) {
  const ExpectationFile file = read_expectations(
      "# machine: zen4\n# schedule: tuned\nx\n# expected-error@-1:5-9 {{a [syntax]}} hint {{b}} witness {{c}}\n# expected-error@+2:1 {{d}} hint {{e}}\n");
  EXPECT_TRUE(file.problems.empty());
  EXPECT_EQ(file.machine, "zen4");
  EXPECT_EQ(file.schedule, "tuned");
  ASSERT_EQ(file.expectations.size(), 2u);
  EXPECT_EQ(to_string(file.expectations[0]), "3:5-9 {{a [syntax]}} hint {{b}} witness {{c}}");
  EXPECT_EQ(to_string(file.expectations[1]), "7:1 {{d}} hint {{e}}");
}

TEST(Expectations, MalformedOnesAreNoticed) {
  for (const char* text : {"# expected-error@3 {{a}} hint {{b}}\n", "# expected-error@3:1 {{a}}\n", "# expected-error@3:1 {{}} hint {{b}}\n",
                           "# expected-errors@3:1 {{a}} hint {{b}}\n", "# expected-error@3:1 {{a}} hint {{b}} and more\n"})
    EXPECT_EQ(read_expectations(text).problems.size(), 1u) << text;
}

TEST(Expectations, MissingAndSurplusErrorsAreBothNamed) {
  const Diagnostic found{ErrorCode::syntax, {"f", 1, 2, 1, 5}, "message", "hint", ""};
  const Expectation expected{1, 2, 5, "message [syntax]", "hint", ""};
  EXPECT_EQ(differences({found}, {expected}), "");
  EXPECT_NE(differences({found}, {}).find("not expected: 1:2-5 message"), std::string::npos);
  EXPECT_NE(differences({}, {expected}).find("not reported: 1:2-5"), std::string::npos);
  EXPECT_NE(differences({found, found}, {expected}), "");
  Expectation elsewhere = expected;
  elsewhere.column = 3;
  EXPECT_NE(differences({found}, {elsewhere}), "");
  elsewhere = expected;
  elsewhere.end_column = 6;
  EXPECT_NE(differences({found}, {elsewhere}), "");
}

}  // namespace
}  // namespace tileopt::test
