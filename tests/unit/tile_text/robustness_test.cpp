// Hostile text gives Errors: never a crash, a hang, another exception.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "frontends/tile_text/tile_text.h"
#include "support/document.h"

namespace tileopt {
namespace {

enum class Outcome { accepted, refused };

/// Any exception but Errors escapes and fails the test.
Outcome feed(isl::ctx context, const std::string& text) {
  try {
    parse_tile_file(context, text, "fuzz.tile");
  } catch (const Errors& errors) {
    EXPECT_FALSE(errors.diagnostics().empty());
    for (const Diagnostic& diagnostic : errors.diagnostics()) {
      EXPECT_FALSE(diagnostic.hint.empty()) << to_string(diagnostic);
      EXPECT_FALSE(diagnostic.message.empty());
      EXPECT_GE(diagnostic.where.line, 1);
      EXPECT_GE(diagnostic.where.column, 1);
    }
    return Outcome::refused;
  }
  return Outcome::accepted;
}

std::vector<std::string> sources() {
  std::vector<std::string> files;
  for (const char* folder : {"/benchmarks/kernels", "/tests/cases"})
    for (const auto& entry : std::filesystem::directory_iterator(TILEOPT_SOURCE_DIR + std::string(folder)))
      if (entry.path().extension() == ".tile") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const std::string& file : files) texts.push_back(read_file(file));
  return texts;
}

TEST(Robustness, Truncations) {
  int refused = 0, count = 0;
  for (const std::string& text : sources()) {
    poly::Context context;
    for (std::size_t length = 0; length < text.size(); length += 5) {
      refused += feed(context.get(), text.substr(0, length)) == Outcome::refused;
      ++count;
    }
  }
  EXPECT_GT(count, 1500);
  EXPECT_GT(refused, count / 2);
}

TEST(Robustness, ByteMutations) {
  std::mt19937 random(20240229);
  const auto pick = [&](std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(random); };
  const std::string interesting = "()[]{}:,=+-*/%<>!&|^~.#\"'\\ \n\t09aNi\xC3\xFF";
  int count = 0, refused = 0;
  for (const std::string& text : sources()) {
    poly::Context context;
    for (int round = 0; round < 80; ++round) {
      std::string mutant = text;
      for (std::size_t edits = 1 + pick(3); edits > 0 && !mutant.empty(); --edits) {
        const std::size_t at = pick(mutant.size() - 1);
        const char byte = interesting[pick(interesting.size() - 1)];
        switch (pick(4)) {
          case 0:
            mutant[at] = byte;
            break;
          case 1:
            mutant.insert(at, 1, byte);
            break;
          case 2:
            mutant.erase(at, 1 + pick(6));
            break;
          case 3:
            mutant.insert(pick(mutant.size()), mutant.substr(at, 1 + pick(20)));
            break;
          default:
            mutant[at] = static_cast<char>(pick(255));
            break;
        }
      }
      SCOPED_TRACE(mutant);
      refused += feed(context.get(), mutant) == Outcome::refused;
      ++count;
    }
  }
  EXPECT_GE(count, 2000);
  EXPECT_GT(refused, count / 3);
}

/// One error of the given code, quickly, for text repeated to any depth.
void expect_refused(const std::string& text, ErrorCode code) {
  poly::Context context;
  try {
    parse_tile_file(context.get(), text, "deep.tile");
    FAIL() << "accepted";
  } catch (const Errors& errors) {
    EXPECT_EQ(errors.diagnostics().front().code, code) << errors.diagnostics().front().message;
  }
}

std::string repeat(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

std::string in_function(const std::string& value) { return "def f(A: f32[4], B: out[f32[4]]):\n    B[0] = " + value + "\n"; }

TEST(Robustness, DeepNesting) {
  const int deep = 100000;
  expect_refused(in_function(repeat("(", deep) + "1" + repeat(")", deep)), ErrorCode::unsupported);
  expect_refused(in_function(repeat("(", deep)), ErrorCode::syntax);
  expect_refused(in_function(repeat("-", deep) + "1"), ErrorCode::unsupported);
  expect_refused(in_function(repeat("not ", deep) + "True"), ErrorCode::unsupported);
  expect_refused(in_function("1" + repeat(" + 1", deep)), ErrorCode::unsupported);
  expect_refused(in_function("A" + repeat("[0", deep) + repeat("]", deep)), ErrorCode::unsupported);
  expect_refused(in_function("A" + repeat("[0]", deep)), ErrorCode::unsupported);
  expect_refused(in_function(repeat("exp(", deep) + "A[0]" + repeat(")", deep)), ErrorCode::unsupported);
  expect_refused(in_function(repeat("1 if True else ", deep) + "2"), ErrorCode::unsupported);
  expect_refused(in_function(repeat("a.", deep) + "b"), ErrorCode::unsupported);
}

TEST(Robustness, DeepBlocks) {
  std::string loops = "def f(B: out[f32[4]]):\n";
  for (int i = 1; i <= 10000; ++i)
    loops += std::string(static_cast<std::size_t>(std::min(i, 380)), ' ') + "for i in range(4):\n";
  expect_refused(loops, ErrorCode::unsupported);
  std::string many = "def f(B: out[f32[4]]):\n";
  for (int i = 1; i <= 60; ++i)
    many += std::string(static_cast<std::size_t>(i), ' ') + "for n" + std::to_string(i) + " in range(4):\n";
  many += std::string(61, ' ') + "B[n1] = 1\n";
  expect_refused(many, ErrorCode::unsupported);
}

TEST(Robustness, HugeNumbersDoNotWrap) {
  expect_refused(in_function("A[18446744073709551615]"), ErrorCode::not_affine);
  expect_refused(in_function("A[9223372036854775807 + 9223372036854775807]"), ErrorCode::not_affine);
  expect_refused(in_function("A[1000000000000 * 1000000000000]"), ErrorCode::not_affine);
  expect_refused("def f(B: out[f32[N]]):\n    for i in range(N - 99999999999999999999):\n        B[i] = 1\n",
                 ErrorCode::syntax);
  expect_refused("def f(B: out[f32[4000000000000]]):\n    for i in range(4):\n        B[i] = 1\n", ErrorCode::not_affine);
  expect_refused(in_function("1" + repeat("0", 400) + ".0"), ErrorCode::syntax);
  expect_refused(in_function("1e400"), ErrorCode::syntax);
  expect_refused("def f(B: out[i32[4]]):\n    B[0] = 2147483648\n", ErrorCode::type_mismatch);
}

TEST(Robustness, ConditionsThatWouldTakeForeverAreRefused) {
  std::string condition;
  for (int k = 0; k < 12; ++k)
    condition += (k ? " and " : "") +
                 ("(i + " + std::to_string(k) + " * j) % " + std::to_string(k + 3) + " != " + std::to_string(k % 3));
  expect_refused("def f(B: out[f32[N]], M: size):\n    for i, j in grid(N, M):\n        if " + condition +
                     ":\n            B[i] = 1\n        else:\n            B[i] = 2\n",
                 ErrorCode::unsupported);
}

TEST(Robustness, LongProgramsAreAccepted) {
  std::string text = "def f(A: f32[N], B: out[f32[N]]):\n    t: f32[N]\n";
  for (int k = 0; k < 200; ++k) {
    const std::string start = std::to_string(k);
    text +=
        "    for i in range(" + start + ", N):\n        t[i] = A[i - " + start + "] + (t[i - 1] if i > " + start + " else 0)\n";
  }
  text += "    for i in range(N):\n        B[i] = t[i]\n";
  poly::Context context;
  EXPECT_EQ(feed(context.get(), text), Outcome::accepted);
}

TEST(Robustness, OddFiles) {
  expect_refused("", ErrorCode::syntax);
  expect_refused(std::string(1, '\0'), ErrorCode::syntax);
  expect_refused(std::string("def f(\0): pass", 14), ErrorCode::syntax);
  expect_refused(repeat("x", 100000), ErrorCode::syntax);
  expect_refused(repeat("@", 100000), ErrorCode::unsupported);
  expect_refused(repeat("\n", 5 << 20), ErrorCode::syntax);
  expect_refused("def " + repeat("f", 300) + "(B: out[f32[4]]):\n    B[0] = 1\n", ErrorCode::syntax);
  expect_refused("\"\"\"never closed\n" + repeat("a\n", 1000), ErrorCode::syntax);
}

TEST(Robustness, ErrorsAreLimited) {
  poly::Context context;
  try {
    parse_tile_file(context.get(), "def f(B: out[f32[4]]):\n" + repeat("    B[0] = $\n", 5000), "many.tile");
    FAIL() << "accepted";
  } catch (const Errors& errors) {
    EXPECT_EQ(errors.diagnostics().size(), 100u);
  }
}

TEST(Robustness, PinsFromHostileText) {
  std::mt19937 random(3);
  const std::string text = "tile(\"thread\", i=64, j=128)\norder(\"i\", \"j\")\npromote(A, \"stack\", layout=\"x\")\n";
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string mutant = text;
    for (int edit = 0; edit < 2; ++edit)
      mutant[std::uniform_int_distribution<std::size_t>(0, mutant.size() - 1)(random)] =
          static_cast<char>(std::uniform_int_distribution<int>(0, 255)(random));
    try {
      const Pins pins = parse_pins(mutant, "cli");
      EXPECT_LE(pins.pins.size(), 3u);
    } catch (const Errors&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace tileopt
