// The examples of docs/language.md are programs, and its tables name what exists.
#include <gtest/gtest.h>

#include "frontends/tile_text/tile_text.h"
#include "support/document.h"

namespace tileopt {
namespace {

std::vector<std::string> examples(const std::string& page) {
  const std::string open = "```python\n", close = "```\n";
  std::vector<std::string> result;
  for (std::size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    result.push_back(page.substr(at, page.find(close, at) - at));
  }
  return result;
}

TEST(LanguageReference, ExamplesAreProgramsInCanonicalText) {
  const std::vector<std::string> found = examples(read_file(TILEOPT_SOURCE_DIR + std::string("/docs/language.md")));
  ASSERT_GE(found.size(), 7u);
  for (const std::string& example : found) {
    poly::Context context;
    SCOPED_TRACE(example);
    EXPECT_NO_THROW(EXPECT_FALSE(parse_tile_file(context.get(), example, "example.tile").programs.empty()));
    EXPECT_EQ(canonical_tile_text(example, "example.tile"), example);
  }
}

TEST(LanguageReference, AttentionBecomesTheStatementsThatThePageNames) {
  const std::string page = read_file(TILEOPT_SOURCE_DIR + std::string("/docs/language.md"));
  for (const std::string& example : examples(page)) {
    poly::Context context;
    const TileFile file = parse_tile_file(context.get(), example, "example.tile");
    if (file.programs.front().name() != "attention") continue;
    std::string listed;
    for (const Statement& statement : file.programs.front().statements())
      listed += (listed.empty() ? "`" : ", `") + statement.name + "`";
    EXPECT_NE(page.find(listed), std::string::npos) << listed;
    return;
  }
  FAIL() << "the page has no attention";
}

TEST(LanguageReference, EveryErrorCodeOfTheFrontendIsListed) {
  const std::string page = read_file(TILEOPT_SOURCE_DIR + std::string("/docs/language.md"));
  for (const ErrorCode code :
       {ErrorCode::syntax, ErrorCode::unknown_name, ErrorCode::duplicate_name, ErrorCode::type_mismatch,
        ErrorCode::shape_mismatch, ErrorCode::not_affine, ErrorCode::out_of_bounds, ErrorCode::uninitialised_read,
        ErrorCode::contradictory_assume, ErrorCode::false_claim, ErrorCode::invalid_write, ErrorCode::unsupported, ErrorCode::invalid_pin})
    EXPECT_NE(page.find("| `" + error_code_name(code) + "` |"), std::string::npos) << error_code_name(code);
}

}  // namespace
}  // namespace tileopt
