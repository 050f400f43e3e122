// Schedule primitives <-> Pins.
#include <gtest/gtest.h>

#include <random>

#include "frontends/tile_text/tile_text.h"

namespace tileopt {
namespace {

void expect_same(const Pins& a, const Pins& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.program, b.program);
  EXPECT_EQ(a.machine, b.machine);
  ASSERT_EQ(a.pins.size(), b.pins.size());
  for (std::size_t i = 0; i < a.pins.size(); ++i) {
    EXPECT_EQ(a.pins[i].primitive, b.pins[i].primitive);
    EXPECT_EQ(a.pins[i].arguments, b.pins[i].arguments);
    EXPECT_EQ(a.pins[i].keywords, b.pins[i].keywords);
  }
}

TEST(Pins, LinesOfPrimitives) {
  const Pins pins = parse_pins(
      "tile(\"thread\", i=64, j=128)\norder('i', 'j')\npromote(A, \"stack\", zero_fill=True)\n# note\nschedule(\"original\")\n",
      "cli");
  EXPECT_EQ(pins.name, "");
  EXPECT_EQ(pins.program, "");
  ASSERT_EQ(pins.pins.size(), 4u);
  EXPECT_EQ(pins.pins[0].primitive, "tile");
  EXPECT_EQ(pins.pins[0].arguments, (std::vector<std::string>{"thread"}));
  EXPECT_EQ(pins.pins[0].keywords, (std::vector<std::pair<std::string, std::string>>{{"i", "64"}, {"j", "128"}}));
  EXPECT_EQ(pins.pins[0].where, (SourceLocation{"cli", 1, 1}));
  EXPECT_EQ(pins.pins[1].arguments, (std::vector<std::string>{"i", "j"}));
  EXPECT_EQ(pins.pins[2].arguments, (std::vector<std::string>{"A", "stack"}));
  EXPECT_EQ(pins.pins[2].keywords, (std::vector<std::pair<std::string, std::string>>{{"zero_fill", "True"}}));
  EXPECT_EQ(pins.pins[3].where, (SourceLocation{"cli", 5, 1}));
  expect_same(parse_pins(print_pins(pins), "again"), pins);
}

TEST(Pins, ScheduleFunctionInAFile) {
  poly::Context context;
  const TileFile file =
      parse_tile_file(context.get(),
                      "def copy(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i]\n\n\n"
                      "@schedule(copy, machine=\"zen4\")\ndef tuned():\n    tile(\"thread\", i=64)\n    vectorize(\"i\")\n",
                      "copy.tile");
  ASSERT_EQ(file.programs.size(), 1u);
  ASSERT_EQ(file.schedules.size(), 1u);
  const Pins& pins = file.schedules[0];
  EXPECT_EQ(pins.name, "tuned");
  EXPECT_EQ(pins.program, "copy");
  EXPECT_EQ(pins.machine, "zen4");
  ASSERT_EQ(pins.pins.size(), 2u);
  EXPECT_EQ(pins.pins[1].where, (SourceLocation{"copy.tile", 9, 5}));
  EXPECT_EQ(print_pins(pins),
            "@schedule(copy, machine=\"zen4\")\ndef tuned():\n    tile(\"thread\", i=64)\n    vectorize(\"i\")\n");
  expect_same(parse_pins(print_pins(pins), "again"), pins);
}

TEST(Pins, RandomPinsComeBack) {
  std::mt19937 random(7);
  const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  const std::vector<std::string> words = {"i", "m.j", "thread", "A_copy", "x y", "swizzle128", "it's", "k"};
  const auto word = [&] { return words[static_cast<std::size_t>(pick(static_cast<int>(words.size()) - 1))]; };
  for (int round = 0; round < 300; ++round) {
    Pins pins;
    if (pick(1)) pins.name = "tuned";
    if (pick(1)) pins.program = "gemm";
    if (pick(1)) pins.machine = "zen4";
    for (int i = pick(5); i > 0; --i) {
      Pin pin;
      switch (pick(4)) {
        case 0:
          pin.primitive = "tile";
          pin.arguments = {word()};
          pin.keywords = {{"i", std::to_string(1 + pick(1000))}, {"j", "8"}};
          break;
        case 1:
          pin.primitive = "order";
          for (int j = pick(3) + 1; j >= 0; --j) pin.arguments.push_back(word());
          break;
        case 2:
          pin.primitive = "promote";
          pin.arguments = {word(), word()};
          if (pick(1)) pin.keywords = {{"after", word()}, {"zero_fill", pick(1) ? "True" : "False"}};
          break;
        case 3:
          pin.primitive = "atom";
          pin.arguments = {word(), word()};
          break;
        default:
          pin.primitive = "fuse";
          pin.arguments = {word(), word(), word()};
      }
      pins.pins.push_back(pin);
    }
    SCOPED_TRACE(print_pins(pins));
    expect_same(parse_pins(print_pins(pins), "again"), pins);
  }
}

TEST(Pins, ErrorsCarryPositions) {
  try {
    parse_pins("tile(\"thread\", i=64)\ntile(\"thread\", i=x)\nunknown(1)\norder(\"i\" \"j\")\n", "cli");
    FAIL() << "accepted";
  } catch (const Errors& errors) {
    ASSERT_EQ(errors.diagnostics().size(), 3u) << errors.what();
    EXPECT_EQ(errors.diagnostics()[0].code, ErrorCode::invalid_pin);
    EXPECT_EQ(errors.diagnostics()[0].where, (SourceLocation{"cli", 2, 18}));
    EXPECT_EQ(errors.diagnostics()[1].code, ErrorCode::unknown_name);
    EXPECT_EQ(errors.diagnostics()[2].code, ErrorCode::syntax);
    EXPECT_EQ(errors.diagnostics()[2].where, (SourceLocation{"cli", 4, 11}));
  }
  EXPECT_THROW(parse_pins("def f():\n    tile(\"thread\", i=1)\n", "cli"), Errors);
  EXPECT_THROW(parse_pins("@schedule(a)\ndef f():\n    pass\n\n\n@schedule(a)\ndef g():\n    pass\n", "cli"), Errors);
  EXPECT_TRUE(parse_pins("", "cli").pins.empty());
}

}  // namespace
}  // namespace tileopt
