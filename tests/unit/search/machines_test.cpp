#include "cost_models/machines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/error.h"
#include "support/text.h"

namespace tileopt {
namespace {

TEST(Machines, AllBuiltInFilesLoadUnderTheirName) {
  EXPECT_EQ(machine_names(), (std::vector<std::string>{"a100", "c11", "h100", "h200", "haswell", "host", "mi210", "mi300x", "neoverse-n1", "rtx4090", "rx7900xtx", "skylake-x", "x86-64-v3", "zen4"}));
  for (const std::string& name : machine_names()) {
    const Machine machine = find_machine(name);
    EXPECT_EQ(machine.name, name);
    for (const char* space : {"workspace", "stack", "register"}) EXPECT_NE(machine.find_space(space), nullptr) << name;
    EXPECT_EQ(Machine::read(machine.write(), name).write(), machine.write());
  }
}

TEST(Machines, CpusHaveThreadsLanesAndTiles) {
  for (const char* name : {"host", "zen4", "skylake-x", "haswell", "neoverse-n1", "x86-64-v3", "c11"}) {
    const Machine machine = find_machine(name);
    EXPECT_EQ(machine.backend, "openmp");
    EXPECT_FALSE(machine.has_agents());
    for (const char* level : {"thread", "simd", "serial", "unroll", "atom"}) EXPECT_NE(machine.find_level(level), nullptr) << name;
    ASSERT_NE(machine.find_atom("outer_product_fma"), nullptr) << name;
    ASSERT_NE(machine.find_atom("vector_box"), nullptr) << name;
    const double registers = machine.find_space("register")->capacity;
    EXPECT_EQ(registers, machine.vector_bytes > 0 ? machine.vector_bytes * machine.vector_registers : 1024) << name;
  }
}

TEST(Machines, GpusHaveBlocksOfThreads) {
  for (const char* name : {"h200", "h100", "a100", "rtx4090"}) {
    const Machine machine = find_machine(name);
    EXPECT_EQ(machine.backend, "cuda");
    EXPECT_TRUE(machine.has_agents());
    EXPECT_EQ(machine.find_level("block")->kind, LevelKind::independent) << name;
    EXPECT_EQ(machine.find_level("thread")->count, 1024) << name;
    EXPECT_EQ(machine.find_space("shared")->level, "block") << name;
    EXPECT_EQ(machine.find_space("register")->level, "thread") << name;
    ASSERT_TRUE(machine.multiprocessor.has_value()) << name;
    // A block may have all of a multiprocessor's shared memory but for the kilobyte that the system keeps.
    EXPECT_EQ(static_cast<long>(machine.find_space("shared")->capacity), machine.multiprocessor->shared_bytes - 1024) << name;
  }
}

TEST(Machines, AmdsWavesAndMemoryOfABlock) {
  for (const auto& [name, wave] : {std::pair<const char*, int>{"mi210", 64}, {"mi300x", 64}, {"rx7900xtx", 32}}) {
    const Machine machine = find_machine(name);
    EXPECT_EQ(machine.backend, "hip") << name;
    ASSERT_TRUE(machine.multiprocessor.has_value()) << name;
    EXPECT_EQ(machine.multiprocessor->warp, wave) << name;
    EXPECT_EQ(machine.find_level("thread")->count, 1024) << name;
    EXPECT_EQ(machine.find_space("shared")->capacity, 65536) << name;
    EXPECT_GE(machine.multiprocessor->shared_bytes, 65536) << name;
    EXPECT_EQ(machine.find_space("register")->capacity, 1024) << name << ": 256 registers";
    for (std::size_t i = 1; i < machine.memories.size(); ++i) EXPECT_GE(machine.memories[i].capacity, machine.memories[i - 1].capacity) << name;
  }
}

TEST(Machines, RatesOfGpusAreReadAndWritten) {
  for (const char* name : {"h200", "h100", "a100", "rtx4090", "mi210", "mi300x", "rx7900xtx"}) {
    const Machine machine = find_machine(name);
    ASSERT_TRUE(machine.multiprocessor->rates.has_value()) << name;
    EXPECT_EQ(Machine::read(machine.write(), "test.json").write(), machine.write()) << name;
    EXPECT_LE(machine.multiprocessor->rates->read_part, 1) << name;
    EXPECT_LE(machine.multiprocessor->rates->matrix_part, 1) << name;
    EXPECT_LT(machine.multiprocessor->rates->cache_latency, machine.multiprocessor->rates->memory_latency) << name;
  }
  Document document = find_machine("h200").write();
  document["multiprocessor"]["rates"].erase("issue");
  EXPECT_EQ(Machine::read(document, "test.json").multiprocessor->rates->issue, Rates().issue) << "what is left out is taken cautiously";
  document["multiprocessor"]["rates"]["issue"] = 0;
  EXPECT_THROW(Machine::read(document, "test.json"), Errors);
  document["multiprocessor"]["rates"]["issue"] = 4;
  document["multiprocessor"]["rates"]["speed"] = 4;
  EXPECT_THROW(Machine::read(document, "test.json"), Errors);
}

TEST(Machines, BlocksAndThreadsGoTogether) {
  Document document = find_machine("h200").write();
  document.erase("multiprocessor");
  EXPECT_THROW(Machine::read(document, "test.json"), Errors);
  document = find_machine("h200").write();
  document["spaces"][1]["level"] = "warp";
  EXPECT_THROW(Machine::read(document, "test.json"), Errors);
}

TEST(Machines, VectorUnitsOfTheBuiltIns) {
  EXPECT_EQ(find_machine("zen4").vector_bytes, 64);
  EXPECT_EQ(find_machine("zen4").vector_registers, 32);
  EXPECT_EQ(find_machine("x86-64-v3").vector_bytes, 32);
  EXPECT_EQ(find_machine("x86-64-v3").vector_registers, 16);
  EXPECT_EQ(find_machine("c11").vector_bytes, 0);
}

TEST(Machines, UnknownNamesGetHints) {
  try {
    find_machine("zen5");
    FAIL();
  } catch (const Errors& errors) {
    EXPECT_EQ(errors.diagnostics().at(0).code, ErrorCode::unknown_machine);
    EXPECT_NE(errors.diagnostics().at(0).hint.find("did you mean `zen4`?"), std::string::npos);
  }
  EXPECT_THROW(find_machine(""), Errors);
}

TEST(Machines, FilesAreFoundByPath) {
  const std::string path = (std::filesystem::temp_directory_path() / ("machine" + std::to_string(getpid()) + ".json")).string();
  Machine machine = find_machine("zen4");
  machine.name = "mine";
  write_file(path, machine.write().dump(2));
  EXPECT_EQ(find_machine(path).name, "mine");
  write_file(path, "{\"format\": ");
  EXPECT_THROW(find_machine(path), Errors);
  std::filesystem::remove(path);
  EXPECT_THROW(find_machine(path), Errors);
}

TEST(Host, IsSane) {
  const Machine machine = detect_host();
  EXPECT_GE(machine.cores, 1);
  EXPECT_EQ(machine.find_level("thread")->count, machine.cores);
  EXPECT_GT(machine.frequency, 1e8);
  ASSERT_GE(machine.memories.size(), 2u);
  EXPECT_EQ(machine.memories.front().name, "L1");
  EXPECT_EQ(machine.memories.back().name, "DRAM");
  for (std::size_t i = 1; i + 1 < machine.memories.size(); ++i) {
    EXPECT_GE(machine.memories[i].capacity, machine.memories[i - 1].capacity);
  }
}

TEST(Host, AGuestCountsOnItsCoresPartOfTheLastCache) {
  HostFacts facts;
  facts.cores = 2;
  facts.caches = {{1, 48 << 10, 64, 12, false}, {2, 2 << 20, 64, 16, false}, {3, 260 << 20, 64, 20, true}};
  EXPECT_EQ(make_host_machine(facts).find_memory("L3")->capacity, 260 << 20);
  facts.flags = {"hypervisor"};
  EXPECT_EQ(make_host_machine(facts).find_memory("L3")->capacity, 8 << 20);
  EXPECT_EQ(make_host_machine(facts).find_memory("L2")->capacity, 2 << 20);
}

TEST(Host, WidestVectorsThatTheFlagsAllow) {
  HostFacts facts;
  facts.architecture = "x86_64";
  EXPECT_EQ(make_host_machine(facts).vector_bytes, 0);
  facts.flags = {"sse2"};
  EXPECT_EQ(make_host_machine(facts).vector_bytes, 16);
  facts.flags = {"sse2", "avx2", "fma"};
  EXPECT_EQ(make_host_machine(facts).vector_bytes, 32);
  EXPECT_EQ(make_host_machine(facts).features, facts.flags);
  facts.flags = {"sse2", "avx2", "fma", "avx512f"};
  EXPECT_EQ(make_host_machine(facts).vector_bytes, 32) << "AVX-512F alone lacks what gcc needs for 64-byte vectors of all types";
  facts.flags = {"sse2", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"};
  EXPECT_EQ(make_host_machine(facts).vector_bytes, 64);
  EXPECT_EQ(make_host_machine(facts).flags.front(), "-march=native");
  facts.architecture = "aarch64";
  facts.flags = {"asimd"};
  EXPECT_EQ(make_host_machine(facts).vector_registers, 32);
  EXPECT_EQ(make_host_machine(facts).flags.front(), "-mcpu=native");
}

}  // namespace
}  // namespace tileopt
