// Facts of a printer as they travel in a module's file.
#include "driver/print_facts.h"

#include <gtest/gtest.h>

namespace tileopt {
namespace {

TEST(PrintFactsDocument, SynchronisationAndStorageRoundTrip) {
  PrintFacts facts;
  facts.loops.push_back({"t", "for (...)", "", "0", "T - 1", 1, "grid", {}, true});
  facts.leaves.push_back({"copy_A", {"k"}, {}, 8, {}, "mod(g0 + k, 4)"});
  facts.buffers.push_back({"A_slots", "shared", 512, 4, "shared", 1024});
  facts.syncs.push_back({"wait", "mod(g0 + k, 4)", "mod(floord(g0 + k, 4), 2)", "", 0, 0, false});
  facts.syncs.push_back({"expect", "mod(g0 + k, 4)", "", "", 64, 0, true});
  facts.phases.push_back({"full", 4, 1});
  facts.leaves[0].box_copy = PrintFacts::BoxCopy{"A", 2, {"K", "M"}, {64, 128}, {"64 * k", "0"}, 128, {1, 2}};
  facts.loops[0].accumulator = {"C", {"i", "j"}, "f32", true};
  const Document document = write_print_facts(facts);
  const PrintFacts again = read_print_facts(Field(document, "", "module.json"));
  EXPECT_EQ(write_print_facts(again).dump(), document.dump());
  EXPECT_TRUE(again.loops[0].persistent);
  EXPECT_EQ(again.loops[0].accumulator.array, "C");
  EXPECT_EQ(again.loops[0].accumulator.subscripts, (std::vector<std::string>{"i", "j"}));
  EXPECT_EQ(again.loops[0].accumulator.type, "f32");
  EXPECT_TRUE(again.loops[0].accumulator.tested);
  EXPECT_EQ(again.leaves[0].signal_slot, "mod(g0 + k, 4)");
  EXPECT_EQ(again.buffers[0].slots, 4);
  EXPECT_EQ(again.buffers[0].offset, 1024);
  EXPECT_EQ(again.syncs[1].bytes, 64);
  ASSERT_EQ(again.phases.size(), 1u);
  EXPECT_EQ(again.phases[0].slots, 4);
  ASSERT_TRUE(again.leaves[0].box_copy.has_value());
  EXPECT_EQ(again.leaves[0].box_copy->box, (std::vector<long>{64, 128}));
  EXPECT_EQ(again.leaves[0].box_copy->coordinates.front(), "64 * k");
  EXPECT_EQ(again.leaves[0].box_copy->apart, (std::vector<long>{1, 2}));
  EXPECT_TRUE(again.syncs[1].elected);
}

// What a kernel does not have leaves no trace.
TEST(PrintFactsDocument, PlainFactsStayAsTheyWere) {
  PrintFacts facts;
  facts.loops.push_back({"i", "for (...)", "", "0", "N - 1", 1, "serial"});
  facts.buffers.push_back({"T", "stack", 64});
  const std::string text = write_print_facts(facts).dump();
  for (const char* key : {"syncs", "persistent", "region", "offset", "slots", "signal", "accumulator"}) EXPECT_EQ(text.find(key), std::string::npos) << key;
}

}  // namespace
}  // namespace tileopt
