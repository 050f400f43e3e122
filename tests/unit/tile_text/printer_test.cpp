// parse(print(tree)) = tree; canonical text is a fixed point and keeps the meaning of its source.
#include "frontends/tile_text/printer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "frontends/tile_text/parser.h"
#include "frontends/tile_text/tile_text.h"
#include "random_syntax.h"
#include "support/document.h"

namespace tileopt {
namespace {

syntax::Module parse(const std::string& text) {
  tile_text::Diagnostics diagnostics("test.tile");
  syntax::Module module = tile_text::parse_module(text, diagnostics);
  diagnostics.throw_if_any();
  return module;
}

std::string canonical_expression(const std::string& text) {
  const syntax::Module module = parse("def f():\n    x = " + text + "\n");
  return tile_text::print(std::get<syntax::Assign>(module.functions.at(0).body.at(0)->node).value);
}

std::vector<std::string> tile_files() {
  std::vector<std::string> files;
  for (const char* folder : {"/benchmarks/kernels", "/tests/cases"})
    for (const auto& entry : std::filesystem::directory_iterator(TILEOPT_SOURCE_DIR + std::string(folder)))
      if (entry.path().extension() == ".tile") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Printer, RandomTreesComeBack) {
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    const syntax::Module tree = syntax::RandomSyntax(seed).module();
    const std::string text = tile_text::print(tree);
    syntax::Module again;
    ASSERT_NO_THROW(again = parse(text)) << "seed " << seed << "\n" << text;
    ASSERT_TRUE(syntax::equal(tree, again)) << "seed " << seed << "\n" << text << "\n---\n" << tile_text::print(again);
    ASSERT_EQ(tile_text::print(again), text) << "seed " << seed;
  }
}

TEST(Printer, CanonicalTextIsAFixedPoint) {
  const std::vector<std::string> files = tile_files();
  EXPECT_GE(files.size(), 26u);
  for (const std::string& file : files) {
    const std::string text = read_file(file);
    const std::string canonical = canonical_tile_text(text, file);
    EXPECT_EQ(canonical_tile_text(canonical, file), canonical) << file;
    EXPECT_TRUE(syntax::equal(parse(text), parse(canonical))) << file;
    EXPECT_EQ(canonical.find('#'), std::string::npos) << file;
  }
}

TEST(Printer, KernelsAreWrittenCanonically) {
  for (const auto& entry : std::filesystem::directory_iterator(TILEOPT_SOURCE_DIR + std::string("/benchmarks/kernels"))) {
    const std::string text = read_file(entry.path().string());
    std::string code;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      if (text[at] != '#') code += text.substr(at, end - at);
      at = end;
    }
    if (code.starts_with("\"\"\"")) code = code.substr(code.find("\"\"\"\n\n\n", 3) + 6);
    EXPECT_EQ(canonical_tile_text(text, "kernel"), code) << entry.path();
  }
}

TEST(Printer, BracketsOnlyWhereNeeded) {
  EXPECT_EQ(canonical_expression("((a) + (b)) + (c)"), "a + b + c");
  EXPECT_EQ(canonical_expression("a + (b + c)"), "a + (b + c)");
  EXPECT_EQ(canonical_expression("(a * b) // (c % d)"), "a * b // (c % d)");
  EXPECT_EQ(canonical_expression("-(-a)"), "--a");
  EXPECT_EQ(canonical_expression("not (a and b) or (c)"), "not (a and b) or c");
  EXPECT_EQ(canonical_expression("(a < b) == c"), "(a < b) == c");
  EXPECT_EQ(canonical_expression("0 <= i < N"), "0 <= i < N");
  EXPECT_EQ(canonical_expression("(a if b else c) if d else (e if f else g)"), "(a if b else c) if d else e if f else g");
  EXPECT_EQ(canonical_expression("a | b ^ c & d << e"), "a | b ^ c & d << e");
  EXPECT_EQ(canonical_expression("(a | b) & ~c"), "(a | b) & ~c");
  EXPECT_EQ(canonical_expression("- a * b"), "-a * b");
  EXPECT_EQ(canonical_expression("+a"), "a");
}

TEST(Printer, Numbers) {
  EXPECT_EQ(canonical_expression("0x_1F + 1_000 + 0b101 + 0o17 + 000"), "31 + 1000 + 5 + 15 + 0");
  EXPECT_EQ(canonical_expression("1."), "1.0");
  EXPECT_EQ(canonical_expression(".5e1"), "5.0");
  EXPECT_EQ(canonical_expression("1E30"), "1e+30");
  EXPECT_EQ(canonical_expression("0.1"), "0.1");
  EXPECT_EQ(canonical_expression("18446744073709551615"), "18446744073709551615");
}

TEST(Printer, LayoutOfTheSourceDoesNotMatter) {
  const std::string tight =
      "def f(A: f32[N],\n      B: out[f32[N]]):\n  '''a docstring\n  of two lines'''\n  for i in range(N):  # comment\n"
      "\n    B[i] = (A[i] +\n  1)  ;  pass\n  if N > 3: pass\n  x: f32 = \\\n     3\n";
  const std::string canonical =
      "def f(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i] + 1\n        pass\n"
      "    if N > 3:\n        pass\n    x: f32 = 3\n";
  EXPECT_EQ(canonical_tile_text(tight, "f.tile"), canonical);
  std::string carriage;
  for (const char c : tight) carriage += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(canonical_tile_text(carriage, "f.tile"), canonical);
  EXPECT_EQ(canonical_tile_text("\xEF\xBB\xBF" + tight, "f.tile"), canonical);
  EXPECT_EQ(canonical_tile_text(tight.substr(0, tight.size() - 1), "f.tile"), canonical);
}

TEST(Printer, ProgramsOfCanonicalTextAreTheSame) {
  for (const std::string& file : tile_files()) {
    poly::Context context;
    TileFile first;
    try {
      first = parse_tile_file(context.get(), read_file(file), file);
    } catch (const Errors&) {
      continue;
    }
    const TileFile second = parse_tile_file(context.get(), canonical_tile_text(read_file(file), file), file);
    ASSERT_EQ(first.programs.size(), second.programs.size());
    for (std::size_t i = 0; i < first.programs.size(); ++i) {
      EXPECT_EQ(first.programs[i].text(), second.programs[i].text());
      EXPECT_EQ(first.programs[i].hash(), second.programs[i].hash());
      EXPECT_TRUE(first.programs[i].domain().is_equal(second.programs[i].domain()));
    }
  }
}

}  // namespace
}  // namespace tileopt
