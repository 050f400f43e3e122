// Errors as people see them: what is underlined, at which display column, and how long lines are clipped.
#include "support/render_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>

#include "support/display_text.h"

namespace tileopt {
namespace {

std::string excerpt(const std::string& text, SourceLocation where) {
  SourceTexts texts;
  where.file = "f.tile";
  texts.add("f.tile", text);
  return render_excerpt(where, texts);
}

TEST(RenderError, WholeMessage) {
  SourceTexts texts;
  texts.add("f.tile", "first\n    B[i] = A[i + 1]\n");
  const Diagnostic diagnostic{ErrorCode::out_of_bounds, {"f.tile", 2, 14, 2, 19}, "index leaves A", "declare A: f32[N + 1]", "N = 1"};
  EXPECT_EQ(render_error(diagnostic, texts),
            "f.tile:2:14: error: index leaves A [out-of-bounds]\n"
            "  2 |     B[i] = A[i + 1]\n"
            "    |              ^~~~~\n"
            "  witness: N = 1\n"
            "  hint: declare A: f32[N + 1]");
}

TEST(RenderError, AnUnknownEndIsASingleCaret) {
  EXPECT_EQ(excerpt("abc def\n", {"", 1, 5}), "  1 | abc def\n    |     ^\n");
}

TEST(RenderError, PiecesOverSeveralLinesAreUnderlinedToTheEndOfTheFirst) {
  EXPECT_EQ(excerpt("x = f(a,\n      b)\n", {"", 1, 5, 2, 9}), "  1 | x = f(a,\n    |     ^~~~\n");
}

TEST(RenderError, TabsReachToTheNextStop) {
  EXPECT_EQ(excerpt("a\tbc\n", {"", 1, 3, 1, 5}), "  1 | a   bc\n    |     ^~\n");
  EXPECT_EQ(excerpt("a\tbc\n", {"", 1, 2, 1, 3}), "  1 | a   bc\n    |  ^~~\n");
}

TEST(RenderError, ColumnsAreCharactersAndWideOnesTakeTwoPlaces) {
  EXPECT_EQ(excerpt("\xC3\xA9 = x\n", {"", 1, 5, 1, 6}), "  1 | \xC3\xA9 = x\n    |     ^\n");
  EXPECT_EQ(excerpt("# \xE6\x97\xA5\xE6\x9C\xAC x\n", {"", 1, 6, 1, 7}), "  1 | # \xE6\x97\xA5\xE6\x9C\xAC x\n    |        ^\n");
  EXPECT_EQ(excerpt("\xE6\x97\xA5\xE6\x9C\xAC\n", {"", 1, 2, 1, 3}), "  1 | \xE6\x97\xA5\xE6\x9C\xAC\n    |   ^~\n");
  EXPECT_EQ(excerpt("e\xCC\x81 x\n", {"", 1, 4, 1, 5}), "  1 | e\xCC\x81 x\n    |   ^\n");
}

TEST(RenderError, BytesThatAreNotTextAreReplaced) {
  EXPECT_EQ(excerpt("a\xFF\x1B[31m b\n", {"", 1, 9, 1, 10}), "  1 | a\xEF\xBF\xBD\xEF\xBF\xBD[31m b\n    |         ^\n");
  EXPECT_EQ(display_width("\xE2\x80\xAE"), 1);  // a direction override may not reorder what is shown
}

TEST(RenderError, AByteOrderMarkHasNoColumn) {
  EXPECT_EQ(excerpt("\xEF\xBB\xBFx y\n", {"", 1, 3, 1, 4}), "  1 | x y\n    |   ^\n");
}

TEST(RenderError, CarriageReturnsAreNotShown) {
  EXPECT_EQ(excerpt("x y\r\nz\r\n", {"", 1, 3, 1, 4}), "  1 | x y\n    |   ^\n");
}

TEST(RenderError, BeyondTheEndOfTheLine) {
  EXPECT_EQ(excerpt("x =\n", {"", 1, 4}), "  1 | x =\n    |    ^\n");
  EXPECT_EQ(excerpt("x =\n", {"", 1, 400, 1, 500}), "  1 | x =\n    |    ^\n");
  EXPECT_EQ(excerpt("x =\n", {"", 7, 1}), "");
  EXPECT_EQ(excerpt("x\n   \n", {"", 2, 4}), "");
}

TEST(RenderError, LongLinesAreClippedAroundThePiece) {
  const std::string line = std::string(300, 'a') + "PIECE" + std::string(300, 'b');
  for (const int column : {1, 60, 150, 301, 580, 601}) {
    SourceLocation where{"f.tile", 1, column, 1, column + 5};
    const std::string text = excerpt(line + "\n", where);
    const std::size_t end = text.find('\n');
    const std::string shown = text.substr(6, end - 6), mark = text.substr(end + 7, text.size() - end - 8);
    EXPECT_LE(shown.size(), 110u) << column;
    const std::size_t at = mark.find('^');
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(mark.substr(at), "^~~~~") << column;
    EXPECT_EQ(shown.substr(at, 5), line.substr(static_cast<std::size_t>(column) - 1, 5)) << column;
    EXPECT_EQ(shown.starts_with("..."), column > 90) << shown;
    EXPECT_EQ(shown.ends_with("..."), column < 500) << shown;
  }
}

TEST(RenderError, FilesOfOneLineAreShownQuickly) {
  const std::string line = std::string(2000000, 'a') + "PIECE" + std::string(2000000, 'b');
  SourceTexts texts;
  texts.add("f.tile", line);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    const std::string text = render_excerpt({"f.tile", 1, 2000001, 1, 2000006}, texts);
    ASSERT_NE(text.find("aPIECEb"), std::string::npos) << text;
    ASSERT_LT(text.size(), 300u);
    EXPECT_EQ(text.find("PIECE") - 6, text.find('^') - text.find('\n') - 7);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(RenderError, APieceLongerThanTheExcerptIsCut) {
  const std::string text = excerpt(std::string(50, 'a') + std::string(400, 'P') + "\n", {"", 1, 51, 1, 451});
  const std::size_t end = text.find('\n');
  EXPECT_LE(text.size() - end, 120u);
  const std::string shown = text.substr(6, end - 6), mark = text.substr(end + 7);
  EXPECT_EQ(shown[mark.find('^')], 'P');
  EXPECT_EQ(shown[mark.find('^') - 1], 'a');
}

TEST(RenderError, RefusalsPointAtThePin) {
  SourceTexts texts;
  texts.add("--pin", "promote(A, \"stack\")");
  Infeasible infeasible{"capacity", "promote_footprints", "f", "kernels[f].promotions[A_stack]", "too large"};
  infeasible.where = {"--pin", 1, 1, 1, 20};
  infeasible.hint = "tile deeper";
  EXPECT_EQ(render_refusal(infeasible, texts),
            "--pin:1:1: error: too large [capacity]\n"
            "  1 | promote(A, \"stack\")\n"
            "    | ^~~~~~~~~~~~~~~~~~~\n"
            "  refused in: promote_footprints, kernel `f`, plan entry `kernels[f].promotions[A_stack]`\n"
            "  hint: tile deeper");
}

TEST(RenderError, TextsThatAreNotKnownAreNotReadUnlessAllowed) {
  SourceTexts texts;
  const SourceLocation where{std::string(TILEOPT_SOURCE_DIR) + "/README.md", 1, 1};
  EXPECT_EQ(render_excerpt(where, texts), "");
  texts.read_missing_files(true);
  EXPECT_NE(render_excerpt(where, texts), "");
}

TEST(RenderError, AnyTextAndPlaceGiveTwoLines) {
  std::mt19937 random(9);
  for (int round = 0; round < 5000; ++round) {
    std::string line;
    for (unsigned n = random() % 200; n > 0; --n) line += static_cast<char>(random() % 3 == 0 ? random() % 256 : 'a' + random() % 26);
    std::replace(line.begin(), line.end(), '\n', ' ');
    const int column = static_cast<int>(random() % 250), end = static_cast<int>(random() % 250);
    const std::string text = excerpt(line, {"", 1, column, random() % 4 == 0 ? 2 : 1, end});
    if (text.empty()) continue;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
    EXPECT_LE(display_width(text.substr(0, text.find('\n'))), 120);
    for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
}

TEST(ErrorCodes, HaveDistinctNames) {
  std::set<std::string> names(infeasible_codes().begin(), infeasible_codes().end());
  for (const ErrorCode code : all_error_codes()) EXPECT_TRUE(names.insert(error_code_name(code)).second) << error_code_name(code);
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_GE(all_error_codes().size(), 19u);
}

}  // namespace
}  // namespace tileopt
