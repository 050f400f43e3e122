// docs/errors.md: every code has its page, no page stands for nothing, and every example gives the error of its page.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "support/error_pages.h"
#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

// A fenced block: its language, the file it is to be written to ("" = by language), its text.
struct Block {
  std::string language, file, text;
};

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream in(page);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("```")) {
      if (inside) blocks.back().text += line + "\n";
      continue;
    }
    inside = !inside;
    if (!inside) continue;
    const std::string info = line.substr(3);
    const std::size_t blank = info.find(' ');
    blocks.push_back({info.substr(0, blank), blank == std::string::npos ? "" : info.substr(blank + 1), ""});
  }
  return blocks;
}

std::set<std::string> codes_in(const std::string& messages) {
  std::set<std::string> codes;
  const std::regex pattern(R"(error: [^\n]* \[([a-z-]+)\]\n)");
  for (std::sregex_iterator match(messages.begin(), messages.end(), pattern), end; match != end; ++match) codes.insert((*match)[1]);
  return codes;
}

// Reached only by plans that no command makes, after seconds, by the C API, or not at all; their pages say so.
bool has_no_example(const std::string& code) {
  static const std::set<std::string> codes = {"limit", "codegen", "ast", "invalid-handle", "busy", "cancelled", "time-limit", "out-of-memory"};
  return codes.count(code) != 0;
}

class ErrorPageTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ErrorPageTest, TheExampleGivesThisErrorAndNoOther) {
  const ErrorPage* page = find_error_page(GetParam());
  ASSERT_NE(page, nullptr) << "docs/errors.md has no page for " << GetParam();
  EXPECT_NE(page->text.find("\n*Mend*: "), std::string::npos);
  const Folder folder;
  std::string command = "tileopt-schedule compile example.tile";
  int examples = 0;
  for (const Block& block : blocks_of(page->text)) {
    if (block.language == "sh") {
      command = block.text;
      ++examples;
    } else {
      folder.write(block.file.empty() ? "example." + block.language : block.file, block.text);
      ++examples;
    }
  }
  EXPECT_EQ(examples == 0, has_no_example(GetParam()));
  if (examples == 0) return;
  const ToolRun run = run_shell(command, folder.path());
  EXPECT_NE(run.exit_code, 0);
  EXPECT_EQ(codes_in(run.err), std::set<std::string>{GetParam()}) << run.err;
  const bool beyond_input = GetParam() == "internal" || GetParam() == "no-toolchain" || GetParam() == "not-proved";
  EXPECT_TRUE(beyond_input || run.err.find("\n  hint: ") != std::string::npos) << run.err;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Pages, ErrorPageTest, ::testing::ValuesIn(all_codes()), test_name);

TEST(ErrorPages, NoneStandsForNothing) {
  const std::vector<std::string> codes = all_codes();
  std::set<std::string> seen;
  for (const ErrorPage& page : error_pages()) {
    EXPECT_NE(std::find(codes.begin(), codes.end(), page.code), codes.end()) << page.code << " is no code";
    EXPECT_TRUE(seen.insert(page.code).second) << page.code << " has two pages";
  }
  EXPECT_EQ(seen.size(), codes.size());
}

// The message at the top of the page is what is printed.
TEST(ErrorPages, TheFirstMessageIsReal) {
  const std::string page = read_text(std::string(TILEOPT_SOURCE_DIR) + "/docs/errors.md");
  const std::vector<Block> blocks = blocks_of(page.substr(0, page.find("\n## ")));
  ASSERT_EQ(blocks.size(), 1u);
  const Folder folder;
  const std::string text = find_error_page("out-of-bounds")->text;
  for (const Block& block : blocks_of(text)) folder.write("shift.tile", block.text);
  const ToolRun run = run_shell("tileopt-schedule compile shift.tile", folder.path());
  EXPECT_EQ(run.err, blocks.front().text);
}

TEST(ErrorPages, TheMessageOfTheReadmeIsReal) {
  const std::string page = read_text(std::string(TILEOPT_SOURCE_DIR) + "/README.md");
  const std::vector<Block> blocks = blocks_of(page);
  const auto shown = std::find_if(blocks.begin(), blocks.end(), [](const Block& block) { return block.language == "text"; });
  ASSERT_NE(shown, blocks.end());
  const Folder folder;
  folder.write("wave.tile",
               "def wave(A: inout[f32[N, N]]):\n    for i in range(1, N):\n        for j in range(N - 1):\n            A[i, j] = A[i - 1, j + 1] + 1\n\n\n"
               "@schedule(wave)\ndef swapped():\n    schedule(\"original\")\n    order(\"j\", \"i\")\n");
  EXPECT_EQ(run_shell("tileopt-schedule compile wave.tile --plan @swapped --machine zen4", folder.path()).err, shown->text);
}

TEST(ExplainError, PrintsThePage) {
  for (const std::string code : {"out-of-bounds", "[out-of-bounds]", "capacity", "internal"}) {
    const ToolRun run = run_tool({"explain-error", code});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(run.out.starts_with("## `")) << run.out;
    EXPECT_NE(run.out.find("*Mend*"), std::string::npos);
  }
}

TEST(ExplainError, ListsTheCodes) {
  const ToolRun run = run_tool({"explain-error"});
  EXPECT_EQ(run.exit_code, 0);
  for (const std::string& code : all_codes()) EXPECT_NE(run.out.find(code + " "), std::string::npos) << code;
}

TEST(ExplainError, UnknownCodesAreUserErrorsWithTheNearest) {
  const ToolRun run = run_tool({"explain-error", "out-of-bound"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("did you mean `out-of-bounds`?"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace tileopt::test
