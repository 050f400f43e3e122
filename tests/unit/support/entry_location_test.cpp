// Errors about entries of documents get the entry's line and column.
#include "support/entry_location.h"

#include <gtest/gtest.h>

#include <random>

namespace tileopt {
namespace {

const char* const json = "{\"kernels\": [\n  {\"name\": \"a\"},\n  {\"atoms\": {\"C.x\": {\n    \"edge\": 7}}}]}\n";

TEST(EntryLocation, FollowsKeysAndIndices) {
  EXPECT_EQ(find_entry(json, "p", "kernels[0].name"), (SourceLocation{"p", 2, 12}));
  EXPECT_EQ(find_entry(json, "p", "kernels[1].atoms.C.x.edge"), (SourceLocation{"p", 4, 13}));
  EXPECT_EQ(find_entry(json, "p", "kernels[1]"), (SourceLocation{"p", 3, 3}));
}

TEST(EntryLocation, ADumpWrapsThePlan) {
  const std::string dump = "format: dump\nfacts:\n  plan: {a: 1}\nplan:\n  kernels:\n  - name: x\n";
  EXPECT_EQ(find_entry(dump, "d", "kernels[0].name"), (SourceLocation{"d", 6, 11}));
  EXPECT_EQ(find_entry(dump, "d", "plan.kernels"), (SourceLocation{"d", 6, 3}));
  EXPECT_EQ(find_entry("a: {x: 1}\nb: {x: 2}\n", "d", "x").line, 0) << "two places are none";
}

TEST(EntryLocation, WhatIsNotThereHasNoPlace) {
  for (const char* path : {"kernels[2]", "kernel", "kernels[0].name.x", "kernels[", "kernels[x]", "kernels[99999999999999999999]", ".", "]"})
    EXPECT_EQ(find_entry(json, "p", path).line, 0) << path;
  EXPECT_EQ(find_entry("{\"a\": [", "p", "a").line, 0);
  EXPECT_EQ(find_entry("", "p", "a").line, 0);
}

TEST(EntryLocation, OnlyMessagesThatStartWithAPathAreLocated) {
  SourceTexts texts;
  texts.add("p", json);
  const auto line_of = [&](const std::string& message, const std::string& file) {
    return locate_entries(Errors(Diagnostic{ErrorCode::invalid_plan, {file, 0, 0}, message, "hint", ""}), texts).diagnostics().front().where.line;
  };
  EXPECT_EQ(line_of("`kernels[1].atoms`: expected text", "p"), 3);
  EXPECT_EQ(line_of("entry `kernels[0].name`: expected text", "p"), 2);
  EXPECT_EQ(line_of("`kernels[0].name` is odd", "p"), 0);
  EXPECT_EQ(line_of("the entry `format` is missing", "p"), 1);
  EXPECT_EQ(line_of("`kernels[0].name`: expected text", "other"), 0);
}

TEST(EntryLocation, GarbageIsHarmless) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text = json, path = "kernels[1].atoms.C.x.edge";
    for (int i = 0; i < 3; ++i) text[random() % text.size()] = static_cast<char>(random() % 256);
    path[random() % path.size()] = static_cast<char>("[]. a0"[random() % 6]);
    EXPECT_GE(find_entry(text, "p", path).line, 0);
  }
}

}  // namespace
}  // namespace tileopt
