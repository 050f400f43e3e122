// tests/errors/*.tile say which errors they must give: `# expected-error@LINE:COL {{message}} hint {{hint}}`.
// Exactly those, at exactly those places, in source order.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "frontends/tile_text/tile_text.h"
#include "support/document.h"

namespace tileopt {
namespace {

struct Expectation {
  int line = 0, column = 0;
  std::string message, hint;
};

std::string between_braces(const std::string& text, std::size_t& at) {
  const std::size_t open = text.find("{{", at), close = text.find("}}", at);
  if (open == std::string::npos || close == std::string::npos) return "";
  at = close + 2;
  return text.substr(open + 2, close - open - 2);
}

std::vector<Expectation> read_expectations(const std::string& text) {
  const std::string mark = "# expected-error@";
  std::vector<Expectation> expectations;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    at += mark.size();
    Expectation expectation;
    std::size_t used = 0;
    expectation.line = std::stoi(text.substr(at, 12), &used);
    expectation.column = std::stoi(text.substr(at + used + 1, 12));
    expectation.message = between_braces(text, at);
    expectation.hint = between_braces(text, at);
    expectations.push_back(expectation);
  }
  return expectations;
}

std::vector<Diagnostic> errors_of(const std::string& text, const std::string& file) {
  poly::Context context;
  try {
    parse_tile_file(context.get(), text, file);
  } catch (const Errors& errors) {
    return errors.diagnostics();
  }
  return {};
}

std::vector<std::string> error_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TILEOPT_SOURCE_DIR) + "/tests/errors"))
    if (entry.path().extension() == ".tile") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(ErrorExpectations, AreMetExactly) {
  std::size_t count = 0;
  std::set<ErrorCode> codes;
  for (const std::string& file : error_files()) {
    const std::string text = read_file(file);
    const std::vector<Expectation> expected = read_expectations(text);
    const std::vector<Diagnostic> found = errors_of(text, "input.tile");
    EXPECT_FALSE(expected.empty()) << file;
    ASSERT_EQ(found.size(), expected.size()) << file;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::string shown = file + "\n" + to_string(found[i]);
      EXPECT_EQ(found[i].where.line, expected[i].line) << shown;
      EXPECT_EQ(found[i].where.column, expected[i].column) << shown;
      EXPECT_EQ(found[i].where.file, "input.tile");
      EXPECT_FALSE(expected[i].message.empty() || expected[i].hint.empty()) << shown;
      EXPECT_NE((found[i].message + " [" + error_code_name(found[i].code) + "]").find(expected[i].message), std::string::npos)
          << shown;
      EXPECT_NE(found[i].hint.find(expected[i].hint), std::string::npos) << shown;
      codes.insert(found[i].code);
    }
    count += expected.size();
  }
  EXPECT_GE(count, 200u);
  for (const ErrorCode code :
       {ErrorCode::syntax, ErrorCode::unknown_name, ErrorCode::duplicate_name, ErrorCode::type_mismatch,
        ErrorCode::shape_mismatch, ErrorCode::not_affine, ErrorCode::out_of_bounds, ErrorCode::uninitialised_read,
        ErrorCode::contradictory_assume, ErrorCode::false_claim, ErrorCode::invalid_write, ErrorCode::unsupported, ErrorCode::invalid_pin})
    EXPECT_TRUE(codes.count(code)) << error_code_name(code) << " is never expected";
}

std::vector<Diagnostic> errors_of_case(const std::string& name) {
  const std::string file = std::string(TILEOPT_SOURCE_DIR) + "/tests/cases/" + name + ".tile";
  return errors_of(read_file(file), name + ".tile");
}

TEST(ErrorCases, BoundsAtTheSubscriptWithWitness) {
  const std::vector<Diagnostic> errors = errors_of_case("error_bounds");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].code, ErrorCode::out_of_bounds);
  EXPECT_EQ(errors[0].where, (SourceLocation{"error_bounds.tile", 5, 25}));
  EXPECT_NE(errors[0].witness.find("k = K - 1"), std::string::npos) << errors[0].witness;
  EXPECT_NE(errors[0].hint.find("range(K - 1)"), std::string::npos) << errors[0].hint;
  EXPECT_NE(errors[0].hint.find("K + 1"), std::string::npos) << errors[0].hint;
}

TEST(ErrorCases, TwoErrorsInOneLine) {
  const std::vector<Diagnostic> errors = errors_of_case("error_shape");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].code, ErrorCode::type_mismatch);
  EXPECT_EQ(errors[0].where.line, 4);
  EXPECT_NE(errors[0].message.find("f16 and bf16"), std::string::npos);
  EXPECT_NE(errors[0].hint.find("f32(A[i, k])"), std::string::npos);
  EXPECT_EQ(errors[1].code, ErrorCode::shape_mismatch);
  EXPECT_EQ(errors[1].where.line, 4);
  EXPECT_NE(errors[1].hint.find("B[j, k]"), std::string::npos);
  EXPECT_FALSE(errors[1].witness.empty());
}

TEST(ErrorCases, UninitialisedAtTheRead) {
  const std::vector<Diagnostic> errors = errors_of_case("error_uninitialised");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].code, ErrorCode::uninitialised_read);
  EXPECT_EQ(errors[0].where, (SourceLocation{"error_uninitialised.tile", 6, 31}));
  EXPECT_NE(errors[0].witness.find("i = 0"), std::string::npos);
}

TEST(ErrorCases, ConstructsNotSupportedYetAreNamed) {
  for (const char* name : {"mod_index", "scatter_add"}) {
    const std::vector<Diagnostic> errors = errors_of_case(name);
    ASSERT_FALSE(errors.empty()) << name;
    for (const Diagnostic& error : errors) {
      EXPECT_EQ(error.code, ErrorCode::unsupported) << to_string(error);
      EXPECT_FALSE(error.hint.empty());
    }
  }
}

// Witnesses are claims: the sizes and iterations that they name must break the rule.
TEST(ErrorWitnesses, NameSizesAndIterators) {
  const std::string text =
      "def f(A: f32[M, K], B: out[f32[M]]):\n"
      "    assume(M >= 7 and K >= 3)\n"
      "    for i in range(5, M):\n"
      "        B[i] = A[i - 6, 2]\n";
  const std::vector<Diagnostic> errors = errors_of(text, "f.tile");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].where, (SourceLocation{"f.tile", 4, 18}));
  EXPECT_NE(errors[0].witness.find("i = 5"), std::string::npos) << errors[0].witness;
  EXPECT_NE(errors[0].witness.find("M = "), std::string::npos) << errors[0].witness;
}

}  // namespace
}  // namespace tileopt
