#include "ir/machine.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace tileopt {
namespace {

Machine small_machine() {
  Machine machine;
  machine.name = "m";
  machine.backend = "openmp";
  machine.description = "d";
  machine.flags = {"-march=x"};
  machine.features = {"avx2"};
  machine.cores = 2;
  machine.frequency = 3e9;
  machine.vector_bytes = 32;
  machine.vector_registers = 16;
  machine.levels = {{"thread", LevelKind::independent, 2},
                    {"simd", LevelKind::lockstep, 0},
                    {"serial", LevelKind::sequential, 0},
                    {"unroll", LevelKind::unrolled, 0},
                    {"atom", LevelKind::atom, 0}};
  machine.memories = {{"L1", 32768, 1e11, 64, 8, false}};
  machine.spaces = {{"workspace", 0}, {"stack", 1 << 20}, {"register", 512}};
  machine.atoms = {{"fma", "multiply_add", 2, {{"result", "register", "*1"}, {"left", "any", "*0"}, {"right", "any", "01"}}, 2, 4}};
  return machine;
}

std::string refusal(const Document& document) {
  try {
    Machine::read(document, "m.json");
  } catch (const Errors& errors) {
    EXPECT_EQ(errors.diagnostics().at(0).code, ErrorCode::invalid_machine);
    EXPECT_FALSE(errors.diagnostics().at(0).hint.empty());
    return errors.diagnostics().at(0).message;
  }
  ADD_FAILURE() << "the machine was accepted";
  return "";
}

TEST(Machine, RoundTrips) {
  const Document document = small_machine().write();
  EXPECT_EQ(document.dump(), Machine::read(document, "m").write().dump());
  EXPECT_EQ(document.dump(), Machine::read(parse_yaml(to_yaml(document), "m"), "m").write().dump());
}

TEST(Machine, PipesRoundTripAndAreFoundByAtom) {
  Machine machine = small_machine();
  EXPECT_FALSE(machine.write().contains("pipes"));
  machine.pipes = {{"mma", Completion::group, true}, {"bulk", Completion::counted, false}, {"dma", Completion::tagged, false}};
  machine.atoms[0].pipe = "mma";
  const Document document = machine.write();
  EXPECT_EQ(document.dump(), Machine::read(document, "m").write().dump());
  const Machine again = Machine::read(document, "m");
  ASSERT_NE(again.pipe_of("fma"), nullptr);
  EXPECT_TRUE(again.pipe_of("fma")->ordered);
  EXPECT_EQ(again.pipe_of(""), nullptr);
  Document wrong = document;
  wrong["pipes"][0]["completion"] = "immediate";
  EXPECT_EQ(refusal(wrong), "`pipes[0].completion`: unknown completion `immediate`");
  wrong = document;
  wrong["pipes"][0]["name"] = "wgmma";
  EXPECT_NE(refusal(wrong).find("the atom `fma` runs on the pipe `mma`, which is missing"), std::string::npos);
}

TEST(Machine, FindsItsParts) {
  const Machine machine = small_machine();
  ASSERT_NE(machine.find_level("simd"), nullptr);
  EXPECT_EQ(machine.find_level("simd")->kind, LevelKind::lockstep);
  EXPECT_EQ(machine.find_level("grid"), nullptr);
  EXPECT_NE(machine.find_memory("L1"), nullptr);
  EXPECT_NE(machine.find_space("stack"), nullptr);
  EXPECT_NE(machine.find_atom("fma"), nullptr);
  EXPECT_EQ(machine.find_atom(""), nullptr);
}

TEST(Machine, KnowsSpacesOfBlocksAndNamesOfLevels) {
  Machine machine = small_machine();
  EXPECT_EQ(machine.level_name(LevelKind::lockstep), "simd");
  EXPECT_EQ(machine.level_name(LevelKind::barrier), "");
  EXPECT_FALSE(machine.is_of_block("stack"));
  machine.levels[0].name = "block";
  machine.levels.push_back({"thread", LevelKind::barrier, 1024});
  machine.levels.push_back({"cluster", LevelKind::independent, 0});
  machine.spaces = {{"shared", 1 << 16, "block"}, {"register", 512, "thread"}, {"workspace", 0}, {"lost", 0, "nowhere"}};
  EXPECT_TRUE(machine.is_of_block("shared"));
  for (const char* space : {"register", "workspace", "lost", "global", ""}) EXPECT_FALSE(machine.is_of_block(space)) << space;
  EXPECT_EQ(machine.level_name(LevelKind::independent), "block") << "the first one";
}

TEST(Machine, EveryMissingKeyIsRefused) {
  const Document whole = small_machine().write();
  for (const auto& [key, value] : whole.items()) {
    if (key == "description") continue;
    Document document = whole;
    document.erase(key);
    EXPECT_NE(refusal(document).find("`" + key + "` is missing"), std::string::npos);
  }
}

TEST(Machine, EveryMistypedEntryIsRefused) {
  const Document whole = small_machine().write();
  const Document flat = whole.flatten();
  for (const auto& [path, value] : flat.items()) {
    for (const Document& wrong : {Document(nullptr), Document(-7), Document::array({Document::object()})}) {
      Document document = whole;
      document[nlohmann::ordered_json::json_pointer(path)] = wrong;
      EXPECT_THROW(Machine::read(document, "m"), Errors) << path << " = " << wrong.dump();
    }
  }
}

TEST(Machine, RefusesNonsense) {
  const auto refuse = [](const std::function<void(Document&)>& edit, const std::string& expected) {
    Document document = small_machine().write();
    edit(document);
    const std::string message = refusal(document);
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  };
  refuse([](Document& m) { m["format"] = "tileopt-machine/9"; }, "tileopt-machine/1");
  refuse([](Document& m) { m["vector_bytes"] = 24; }, "power of two");
  refuse([](Document& m) { m["vector_registers"] = 2; }, "at least 4");
  refuse([](Document& m) { m["levels"][0]["kind"] = "independant"; }, "unknown level kind");
  refuse([](Document& m) { m["levels"][1]["name"] = "thread"; }, "occurs twice");
  refuse([](Document& m) { m["levels"].erase(4); }, "`atom` is missing");
  refuse([](Document& m) { m["levels"][4]["kind"] = "sequential"; }, "has the kind");
  refuse([](Document& m) { m["spaces"].erase(2); }, "`register` is missing");
  refuse([](Document& m) { m["atoms"][0]["body"] = "fft"; }, "unknown value");
  refuse([](Document& m) { m["atoms"][0]["operands"][0]["uses"] = "*12"; }, "2 characters");
  refuse([](Document& m) { m["atoms"][0]["operands"][0]["uses"] = "*x"; }, "2 characters");
  refuse([](Document& m) { m["atoms"][0]["operands"].erase(0); }, "role `result`");
  refuse([](Document& m) { m["atoms"][0]["operands"].erase(1); }, "`left` and `right`");
  refuse([](Document& m) { m["atoms"][0]["throughput"] = 0; }, "positive");
  refuse([](Document& m) { m["speed"] = 1; }, "unknown key `speed`");
}

}  // namespace
}  // namespace tileopt
