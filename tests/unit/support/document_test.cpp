#include "support/document.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "support/error.h"

namespace tileopt {
namespace {

/// Equality that also tells integers from floats and 0.0 from -0.0, which nlohmann's operator== does not.
bool same(const Document& a, const Document& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_number_float() != b.is_number_float()) return false;
    if (!a.is_number_float()) return a == b;
    const double x = a.get<double>(), y = b.get<double>();
    return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
  }
  if (a.type() != b.type()) return false;
  if (!a.is_structured()) return a == b;
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (a.is_object() && i.key() != j.key()) return false;
    if (!same(*i, *j)) return false;
  }
  return true;
}

void expect_round_trip(const Document& document) {
  const std::string text = to_yaml(document);
  Document again;
  ASSERT_NO_THROW(again = parse_yaml(text, "t.yaml")) << text << "\nof\n" << document.dump();
  EXPECT_TRUE(same(document, again)) << text << "\nof\n" << document.dump() << "\nread as\n" << again.dump();
  EXPECT_EQ(text, to_yaml(again));
}

Diagnostic error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Errors& errors) {
    return errors.diagnostics().at(0);
  }
  ADD_FAILURE() << "no Errors thrown";
  return {};
}

TEST(ToYaml, DigitTablesReadOnOneLine) {
  const Document document = {{"name", "gemm"},
                             {"digits", {{"i", {{{"name", "ic"}, {"radix", 0}}, {{"name", "ir"}, {"radix", 28}}}}}},
                             {"tree", "ic > ir"},
                             {"map", "{ S[i, j] -> [(i)] }"},
                             {"program", "def f(A: f32[N]):\n    A[0] = f32(1)\n"}};
  EXPECT_EQ(to_yaml(document),
            "name: gemm\n"
            "digits:\n"
            "  i: [{name: ic, radix: 0}, {name: ir, radix: 28}]\n"
            "tree: ic > ir\n"
            "map: \"{ S[i, j] -> [(i)] }\"\n"
            "program: |\n"
            "  def f(A: f32[N]):\n"
            "      A[0] = f32(1)\n");
}

TEST(ToYaml, LongArraysAreBlocks) {
  Document document;
  for (int i = 0; i < 4; ++i) document["rows"].push_back({{"name", std::string(60, 'a')}, {"other", std::string(60, 'b')}});
  const std::string text = to_yaml(document);
  EXPECT_NE(text.find("\n  - name: aaa"), std::string::npos) << text;
  expect_round_trip(document);
}

TEST(ToYaml, HardScalars) {
  for (const char* text :
       {"", " ", "~", "null", "true", "False", "yes", "on", "1", "-1", "007", "0x10", "1e5", "1.", ".5", "+1", "1_000", "- a", "a: b",
        "a:", "a #b", "#", "&a", "*a", "!t", "|", ">", "%d", "@x", "`x`", "'", "\"", "\\", "[", "]", "{", "}", ",", "?", ":", "-", "---",
        "...", "--- a", "a\n", "a\nb", "a\n\nb\n", "\na", "a\n\n", " a\nb", "a \nb", "a\n b\n  c\n", "\t", "a\tb\n", "\r\n", "a\r",
        "\x01", "\x7f", "\u00e9", "\u0085", "\u2028x", "\ufeff", "\U0001F600", "a\n\ufeffb", ".inf", ".nan", "-.inf", "jc > (a ; b: k)",
        "{ S[i] -> [(i)] }", "2001-01-01", "1:30", "<<", "=", "a, b", "x}", "a\n---\nb\n", "a\n...\nb", "|\n", "# c\n# d\n", "%\n%\n"}) {
    expect_round_trip(Document(text));
    expect_round_trip(Document{{"key", text}});
    expect_round_trip(Document::array({text, text}));
    expect_round_trip(Document::object({{text, 1}}));
    expect_round_trip(Document{{"list", Document::array({Document::object({{"k", text}, {text, text}})})}});
  }
}

TEST(ToYaml, HardNumbers) {
  const double values[] = {0.0, -0.0, 1.0, -1.5, 0.1, 1e300, 5e-324, 1e22, 123456789.0, 1.7976931348623157e308, INFINITY, -INFINITY, NAN};
  for (const double value : values) expect_round_trip(Document::array({value}));
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    expect_round_trip(Document(value));
  }
  expect_round_trip(Document(std::numeric_limits<std::uint64_t>::max()));
}

TEST(ToYaml, RefusesWhatIsNotUtf8) {
  EXPECT_THROW(to_yaml(Document("\xff")), Errors);
  EXPECT_THROW(to_yaml(Document("\xc0\x80 overlong")), Errors);
  EXPECT_THROW(to_yaml(Document("cut \xe2\x82")), Errors);
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Document make(int depth) {
    switch (below(depth > 0 ? 9 : 6)) {
      case 0: return nullptr;
      case 1: return below(2) == 0;
      case 2: return static_cast<std::int64_t>(random_()) - (1L << 31);
      case 3: return std::ldexp(static_cast<double>(random_()) - 2e9, static_cast<int>(below(200)) - 100);
      case 4:
      case 5: return text();
      case 6: {
        Document array = Document::array();
        for (unsigned n = below(5); n > 0; --n) array.push_back(make(depth - 1));
        return array;
      }
      default: {
        Document object = Document::object();
        for (unsigned n = below(5); n > 0; --n) object[text()] = make(depth - 1);
        return object;
      }
    }
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  std::string text() {
    static const std::vector<std::string> pieces = {"a", "b1", " ", "\n", ":", "#", "-", "'", "\"", "\\", "{", "]", ",", "\u00e9", "0",
                                                    "\t", "|", "def", "> ", "\n\n", "  ", "%", "&", "*", "?", "\r", "\U0001F600", ": "};
    std::string result;
    for (unsigned n = below(9); n > 0; --n) result += pieces[below(static_cast<unsigned>(pieces.size()))];
    return result;
  }
  std::mt19937 random_;
};

TEST(ToYaml, RandomDocumentsRoundTrip) {
  for (unsigned seed = 0; seed < 4000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_round_trip(Generator(seed).make(4));
  }
}

TEST(ParseJson, RandomDocumentsRoundTrip) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Document document = Generator(seed).make(4);
    EXPECT_TRUE(same(document, parse_json(document.dump(2), "t.json"))) << document.dump();
    EXPECT_TRUE(same(document, parse_yaml(document.dump(2), "t.yaml"))) << document.dump();
  }
}

TEST(ParseYaml, ErrorsHavePositions) {
  const Diagnostic tab = error_of([] { parse_yaml("a: 1\nb: [1, 2\nc: 3\n", "x.yaml"); });
  EXPECT_EQ(tab.code, ErrorCode::invalid_dump);
  EXPECT_EQ(tab.where.file, "x.yaml");
  EXPECT_GE(tab.where.line, 2);
  EXPECT_FALSE(tab.hint.empty());

  const Diagnostic twice = error_of([] { parse_yaml("a: 1\nb: 2\na: 3\n", "x.yaml"); });
  EXPECT_EQ(twice.where, (SourceLocation{"x.yaml", 3, 1}));
  EXPECT_NE(twice.message.find("`a` occurs twice"), std::string::npos);

  const Diagnostic large = error_of([] { parse_yaml("a: 99999999999999999999\n", "x.yaml"); });
  EXPECT_EQ(large.where, (SourceLocation{"x.yaml", 1, 4}));
}

TEST(ParseYaml, RefusesAliasesAnchorsTagsAndSecondDocuments) {
  EXPECT_NE(error_of([] { parse_yaml("a: &x [1]\nb: *x\n", "x"); }).message.find("anchors"), std::string::npos);
  EXPECT_NE(error_of([] { parse_yaml("a: !!binary aGk=\n", "x"); }).message.find("tags"), std::string::npos);
  EXPECT_NE(error_of([] { parse_yaml("a: 1\n---\nb: 1\n", "x"); }).message.find("second"), std::string::npos);
  EXPECT_NE(error_of([] { parse_yaml("? [a]\n: 1\n", "x"); }).message.find("key"), std::string::npos);
}

TEST(ParseYaml, LimitsDepth) {
  for (const char* opening : {"[", "{a: ", "- "}) {
    std::string deep;
    for (int i = 0; i < 5000; ++i) deep += opening;
    EXPECT_THROW(parse_yaml(deep, "x"), Errors);
    EXPECT_THROW(parse_json(deep, "x"), Errors);
  }
  std::string allowed = std::string(150, '[') + std::string(150, ']');
  EXPECT_NO_THROW(parse_yaml(allowed, "x"));
  EXPECT_NO_THROW(parse_json(allowed, "x"));
}

TEST(ParseYaml, TruncatedDocumentsNeverCrash) {
  Document document = Generator(7).make(5);
  document = {{"a", document}, {"b", "x\ny\n"}, {"c", Document::array({1, "t", nullptr})}};
  const std::string yaml = to_yaml(document), json = document.dump(1);
  for (std::size_t n = 0; n < yaml.size(); ++n) {
    try { parse_yaml(yaml.substr(0, n), "x"); } catch (const Errors&) {}
  }
  for (std::size_t n = 0; n < json.size(); ++n) EXPECT_THROW(parse_json(json.substr(0, n), "x"), Errors) << n;
}

TEST(ParseYaml, GarbageNeverCrashes) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (unsigned n = random() % 40; n > 0; --n) text += static_cast<char>("ab:-[]{},#&*!|>'\"%@`?~ \n\t\\0\x80\xff"[random() % 30]);
    try { parse_yaml(text, "x"); } catch (const Errors&) {}
    try { parse_json(text, "x"); } catch (const Errors&) {}
  }
}

TEST(ParseJson, ErrorsHavePositions) {
  const Diagnostic comma = error_of([] { parse_json("{\n  \"a\": 1,\n  \"b\" 2\n}", "x.json"); });
  EXPECT_EQ(comma.where.line, 3);
  EXPECT_EQ(comma.where.column, 7);
  const Diagnostic twice = error_of([] { parse_json("{\"a\": 1,\n \"a\": 2}", "x.json"); });
  EXPECT_EQ(twice.where.line, 2);
  EXPECT_NE(twice.message.find("twice"), std::string::npos);
  EXPECT_THROW(parse_json("", "x.json"), Errors);
  EXPECT_THROW(parse_json("{} {}", "x.json"), Errors);
  EXPECT_THROW(parse_json("[1e999]", "x.json"), Errors);
  EXPECT_THROW(parse_json("[99999999999999999999]", "x.json"), Errors);
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tileopt_files_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

TEST_F(Files, WriteThenReadAndNothingElseIsLeft) {
  write_file(path("a.json"), "one");
  write_file(path("a.json"), std::string("two\0three", 9));
  EXPECT_EQ(read_file(path("a.json")), std::string("two\0three", 9));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, KeepsModeAndFollowsLinks) {
  write_file(path("a"), "x");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  std::filesystem::create_symlink(path("a"), path("link"));
  write_file(path("link"), "y");
  EXPECT_EQ(read_file(path("a")), "y");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  struct stat status{};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(Files, DevicesAreWrittenInPlace) { EXPECT_NO_THROW(write_file("/dev/null", "x")); }

TEST_F(Files, ErrorsNameThePath) {
  const Diagnostic missing = error_of([&] { read_file(path("none")); });
  EXPECT_EQ(missing.code, ErrorCode::file_access);
  EXPECT_EQ(missing.where.file, path("none"));
  EXPECT_EQ(error_of([&] { read_file(folder_.string()); }).code, ErrorCode::file_access);
  EXPECT_EQ(error_of([&] { write_file(path("no/folder/x"), "x"); }).code, ErrorCode::file_access);
  EXPECT_EQ(error_of([&] { write_file(folder_.string(), "x"); }).code, ErrorCode::file_access);
}

TEST(HashText, IsFnv1a) {
  EXPECT_EQ(hash_text(""), "cbf29ce484222325");
  EXPECT_EQ(hash_text("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(hash_text("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace tileopt
