// Formatting keeps the program, the comments and the paragraphs, and formatted text stays as it is.
#include "frontends/tile_text/formatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>

#include "frontends/tile_text/layout_tokens.h"
#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/tile_text.h"
#include "random_syntax.h"
#include "support/document.h"
#include "support/error.h"

namespace tileopt {
namespace {

std::string format(const std::string& text) { return format_tile_text(text, "test.tile"); }

void add_comment(const std::string& comment, std::vector<std::string>& all) {
  if (comment.empty()) return;
  const std::size_t text = comment.find_first_not_of("# ");
  all.push_back(text == std::string::npos ? "" : comment.substr(text));
}

std::vector<std::string> comments_of(const std::string& text) {
  tile_text::Diagnostics diagnostics("test.tile");
  std::vector<std::string> comments;
  for (const tile_text::LayoutToken& token : tile_text::layout_tokens(text, tile_text::tokenize(text, diagnostics))) {
    add_comment(token.gap.trailing, comments);
    for (const tile_text::Comment& comment : token.gap.comments) add_comment(comment.text, comments);
  }
  return comments;
}

void expect_laws(const std::string& text) {
  const std::string once = format(text);
  EXPECT_EQ(format(once), once) << "formatted twice, from\n" << text;
  EXPECT_EQ(canonical_tile_text(once, "f.tile"), canonical_tile_text(text, "f.tile")) << text;
  EXPECT_EQ(comments_of(once), comments_of(text)) << text << "---\n" << once;
  EXPECT_EQ(once.find(" \n"), std::string::npos) << once;
  EXPECT_EQ(once.find("\n\n\n\n"), std::string::npos) << once;
  EXPECT_TRUE(once.ends_with("\n") && !once.ends_with("\n\n")) << once;
}

TEST(Formatter, SpacesAroundOperatorsAndAfterCommas) {
  EXPECT_EQ(format("def f( A:f32[ N,M ],B : out[ f32[N] ] ) :\n"
                   "  for i,j in grid( N , M ):\n"
                   "    B [i]+=-A[i ,j]*( 2+f32 (i) )if not(i==0)else - 1\n"
                   "    B[i] = max( A[i,0:N ],1.0 )\n"),
            "def f(A: f32[N, M], B: out[f32[N]]):\n"
            "    for i, j in grid(N, M):\n"
            "        B[i] += -A[i, j] * (2 + f32(i)) if not (i == 0) else -1\n"
            "        B[i] = max(A[i, 0:N], 1.0)\n");
}

TEST(Formatter, CommentsKeepTheirPlace) {
  EXPECT_EQ(format("#file\n"
                   "\n"
                   "def f(B: out[f32[N]]): #  head\n"
                   "\n"
                   "  # first\n"
                   "  for i in range(N):\n"
                   "      #body\n"
                   "      B[i] = 0 # store\n"
                   "      # after the store\n"
                   "  # after the loop\n"
                   "# after the function\n"),
            "# file\n"
            "\n"
            "def f(B: out[f32[N]]):  #  head\n"
            "    # first\n"
            "    for i in range(N):\n"
            "        # body\n"
            "        B[i] = 0  # store\n"
            "        # after the store\n"
            "    # after the loop\n"
            "# after the function\n");
}

TEST(Formatter, ParagraphsStay) {
  EXPECT_EQ(format("def f(B: out[f32[N]]):\n\n\n    t: f32 = 1\n\n\n\n    # group\n\n    B[0] = t\n    B[1] = t\n\n\n"),
            "def f(B: out[f32[N]]):\n    t: f32 = 1\n\n    # group\n\n    B[0] = t\n    B[1] = t\n");
}

TEST(Formatter, TwoEmptyLinesBetweenFunctionsAboveTheirComments) {
  EXPECT_EQ(format("def f(B: out[f32[N]]):\n    pass\n# about g\n@numerics(contract = True)\n\ndef g(B: out[f32[N]]):\n    pass\n\n\n\n\n@schedule(f)\ndef h():\n    pass\n"),
            "def f(B: out[f32[N]]):\n    pass\n\n\n# about g\n@numerics(contract=True)\ndef g(B: out[f32[N]]):\n    pass\n\n\n@schedule(f)\ndef h():\n    pass\n");
}

TEST(Formatter, OneStatementALine) {
  EXPECT_EQ(format("def f(B: out[f32[N]]): B[0] = 1; B[1] = 2;  # both\n"), "def f(B: out[f32[N]]):\n    B[0] = 1\n    B[1] = 2  # both\n");
  EXPECT_EQ(format("def f(B: out[f32[N]]):\n  if N > 1: B[0] = 1\n  else: pass\n"),
            "def f(B: out[f32[N]]):\n    if N > 1:\n        B[0] = 1\n    else:\n        pass\n");
}

TEST(Formatter, LineBreaksInBracketsAreAligned) {
  EXPECT_EQ(format("def f(A: f32[N],\n  B: out[f32[N]]): # head\n    B[0] = sum(\n  A[i] # each\n   # all of them\n for i in range(N)\n   )\n    B[1] = A[0] \\\n      + A[1]\n"),
            "def f(A: f32[N],\n      B: out[f32[N]]):  # head\n    B[0] = sum(\n        A[i]  # each\n        # all of them\n        for i in range(N)\n    )\n    B[1] = A[0] + A[1]\n");
}

TEST(Formatter, DocstringsAndStrings) {
  EXPECT_EQ(format("'''The file.\r\n   Indented.'''\ndef f(B: out[f32[N]]):\n  \"\"\"What it does.\n\n    And how.\n  \"\"\"\n  pass\n@schedule(f, machine='zen4')\ndef g():\n  parallel( 'i' )\n"),
            "'''The file.\n   Indented.'''\ndef f(B: out[f32[N]]):\n    \"\"\"What it does.\n\n    And how.\n  \"\"\"\n    pass\n\n\n@schedule(f, machine=\"zen4\")\ndef g():\n    parallel(\"i\")\n");
}

TEST(Formatter, OddsAndEnds) {
  EXPECT_EQ(format("\xEF\xBB\xBF#!shebang\r\ndef f(B: out[f32[N]]):\r\n    B[0] = 0x10 # caf\xC3\xA9\r\n    #\r\n    ####\r\n    B[1] = 1_000\r\n"),
            "#!shebang\ndef f(B: out[f32[N]]):\n    B[0] = 0x10  # caf\xC3\xA9\n    #\n    ####\n    B[1] = 1_000\n");
  EXPECT_EQ(format("def f(): pass"), "def f():\n    pass\n");
}

TEST(Formatter, TextThatDoesNotParseIsLeftAlone) {
  EXPECT_THROW(format("def f(:\n    pass\n"), Errors);
  EXPECT_THROW(format("def f():\n\tpass\n"), Errors);
}

TEST(Formatter, EveryTileFileKeepsTheLaws) {
  int count = 0;
  for (const char* folder : {"/benchmarks", "/tests/cases"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(TILEOPT_SOURCE_DIR + std::string(folder))) {
      if (entry.path().extension() != ".tile") continue;
      ++count;
      expect_laws(read_file(entry.path().string()));
    }
  EXPECT_GE(count, 26);
}

// tests/errors holds what is wrong in every way: what of it parses keeps the laws, too.
TEST(Formatter, FilesWithErrorsAreRefusedOrKeepTheLaws) {
  int kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TILEOPT_SOURCE_DIR + std::string("/tests/errors"))) {
    if (entry.path().extension() != ".tile") continue;
    const std::string text = read_file(entry.path().string());
    try {
      format(text);
    } catch (const Errors&) {
      continue;
    }
    ++kept;
    expect_laws(text);
  }
  EXPECT_GE(kept, 20);
}

TEST(Formatter, KernelsAreFormatted) {
  for (const auto& entry : std::filesystem::directory_iterator(TILEOPT_SOURCE_DIR + std::string("/benchmarks/kernels"))) {
    if (entry.path().extension() != ".tile") continue;
    const std::string text = read_file(entry.path().string());
    EXPECT_EQ(format(text), text) << entry.path();
  }
}

// Canonical text with its layout disturbed: wider gaps, breaks in brackets, comments and empty lines anywhere.
class Disturber {
 public:
  explicit Disturber(std::uint32_t seed) : random_(seed) {}

  std::string disturb(const std::string& canonical) {
    tile_text::Diagnostics diagnostics("test.tile");
    std::string text;
    int brackets = 0;
    bool word = false;
    for (const tile_text::LayoutToken& token : tile_text::layout_tokens(canonical, tile_text::tokenize(canonical, diagnostics))) {
      if (token.kind == tile_text::TokenKind::end) break;
      if (token.starts_line) start_line(text, token.depth);
      else text += brackets > 0 ? gap_in_brackets(word && is_word(token)) : token.gap.breaks ? "\\\n" : std::string(static_cast<std::size_t>(chance(4) ? 3 : 1), ' ');
      text += token.text;
      word = is_word(token);
      if (token.text == "(" || token.text == "[") ++brackets;
      if (token.text == ")" || token.text == "]") --brackets;
    }
    return text + (chance(2) ? "  # last" : "") + (chance(2) ? "\n\n# end" : "\n");
  }

 private:
  bool chance(int of) { return std::uniform_int_distribution<int>(1, of)(random_) == 1; }
  std::string comment() { return std::string(chance(2) ? "#" : "# ") + "c" + std::to_string(++comments_); }

  void start_line(std::string& text, int depth) {
    if (!text.empty()) text += (chance(6) ? " " + comment() : "") + "\n";
    for (int i = 0; i < 3; ++i)
      if (chance(6)) text += chance(2) ? "\n" : std::string(std::uniform_int_distribution<std::size_t>(0, 9)(random_), ' ') + comment() + "\n";
    text += std::string(static_cast<std::size_t>(depth) * 3, ' ');
  }
  static bool is_word(const tile_text::LayoutToken& token) { return token.kind != tile_text::TokenKind::punctuation || token.text == "."; }
  std::string gap_in_brackets(bool between_words) {
    if (chance(12)) return " " + comment() + "\n   ";
    return chance(8) ? "\n  " : chance(3) && !between_words ? "" : " ";
  }

  std::mt19937 random_;
  int comments_ = 0;
};

// Words may touch where a gap is empty; those texts mean something else or nothing.
bool same_program(const std::string& a, const std::string& b) {
  try {
    return canonical_tile_text(a, "a") == canonical_tile_text(b, "b");
  } catch (const Errors&) {
    return false;
  }
}

TEST(Formatter, RandomTreesKeepTheLawsHoweverTheyAreLaidOut) {
  int disturbed = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const std::string canonical = tile_text::print(syntax::RandomSyntax(seed).module());
    EXPECT_EQ(format(canonical), canonical);
    const std::string text = Disturber(seed).disturb(canonical);
    if (!same_program(text, canonical)) continue;
    ++disturbed;
    expect_laws(text);
    if (HasFailure()) return;
  }
  EXPECT_GE(disturbed, 150);
}

TEST(Formatter, ALineOfManyBracketsTakesNoSquareOfItsLength) {
  std::string text = "def f(B: out[f32[N]]):\n    B[0] = max(";
  for (int i = 0; i < 40000; ++i) text += "(a[i]),";
  text += "1)\n";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(format(text).size(), text.size() + 40000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

// Every text that parses keeps the laws, however odd; every other one is refused.
TEST(Formatter, MutatedTextsKeepTheLawsOrAreRefused) {
  const std::string bytes = "# \n\t()[]{}:;,.\\\"'=+-*/@<>!~0a_ier\r\f\xC3\xA9";
  std::vector<std::string> seeds = {
      "'''doc\n  more'''\ndef f(A: f32[N], B: out[f32[N]]):  # head\n  if N > 1: B[0] = 1; B[1] = 2\n  else:\n      # deep\n"
      "    B[0] = sum(\n A[i] # x\n for i in range(N))\n# end\n"};
  for (const auto& entry : std::filesystem::directory_iterator(TILEOPT_SOURCE_DIR + std::string("/tests/cases")))
    if (entry.path().extension() == ".tile") seeds.push_back(read_file(entry.path().string()));
  std::mt19937 random(5);
  int kept = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = seeds[random() % seeds.size()];
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const char byte = bytes[random() % bytes.size()];
      if (random() % 3 == 0) text.erase(at, 1);
      else if (random() % 2 == 0) text.insert(at, 1, byte);
      else text[at] = byte;
      if (text.empty()) text = "\n";
    }
    try {
      format(text);
    } catch (const Errors&) {
      continue;
    }
    ++kept;
    SCOPED_TRACE(round);
    expect_laws(text);
    if (HasFailure()) return;
  }
  EXPECT_GE(kept, 1000);
}

}  // namespace
}  // namespace tileopt
