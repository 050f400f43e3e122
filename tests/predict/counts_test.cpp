// What launches are counted to ask for: bytes, sectors, rounds of banks, blocks.
#include <gtest/gtest.h>

#include "cost_models/block_footprint.h"
#include "cost_models/lane_access.h"
#include "cost_models/machines.h"
#include "driver/predict_device.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt {
namespace {

DeviceCost predict(const std::string& text, const std::string& sizes, const Machine& machine, const std::string& pins = "") {
  const poly::Context context;
  const auto program = std::make_shared<const Program>(parse_tile_file(context.get(), text, "test.tile").programs.at(0));
  const std::map<std::string, std::int64_t> given = parse_sizes(sizes, "test");
  ResolveOptions options;
  options.typical_sizes = {given.begin(), given.end()};
  const Candidate<ResolvedPlan> plan = resolve_plan(*program, pins.empty() ? Pins() : parse_pins(pins, "pins"), machine, options);
  if (const auto* refused = std::get_if<Infeasible>(&plan)) {
    ADD_FAILURE() << to_string(*refused);
    return {};
  }
  const Candidate<DeviceCost> cost = predict_plan(program, std::get<ResolvedPlan>(plan).plan, machine, find_backend(machine.backend), options.typical_sizes);
  if (const auto* refused = std::get_if<Infeasible>(&cost)) {
    ADD_FAILURE() << to_string(*refused);
    return {};
  }
  return std::get<DeviceCost>(cost);
}

const char* const doubled = "def f(X: f32[N], Y: out[f32[N]]):\n    for i in range(N):\n        Y[i] = 2.0 * X[i]\n";

TEST(LaneAccess, SectorsLinesAndRounds) {
  const Multiprocessor multiprocessor = *find_machine("h200").multiprocessor;
  std::vector<long> straight, apart, column;
  for (long lane = 0; lane < 32; ++lane) {
    straight.push_back(4 * lane);
    apart.push_back(32 * lane);
    column.push_back(128 * lane);
  }
  EXPECT_EQ(count_pieces(straight, 4, kSectorBytes), 4);
  EXPECT_EQ(count_pieces(apart, 4, kSectorBytes), 32);
  EXPECT_EQ(count_pieces({30, -2}, 4, kSectorBytes), 3) << "elements across the border of two sectors";
  EXPECT_EQ(count_pieces(straight, 4, 128), 1);
  EXPECT_EQ(count_bank_rounds(straight, 4, multiprocessor), 1);
  EXPECT_EQ(count_bank_rounds(column, 4, multiprocessor), 32);
  const std::vector<long> one(32, 64);
  EXPECT_EQ(count_bank_rounds(one, 4, multiprocessor), 1) << "one word for all lanes";
  EXPECT_EQ(count_bank_turns(one, multiprocessor), 32) << "updates of one element come one after the other";
  EXPECT_EQ(count_bank_turns(straight, multiprocessor), 1);
}

TEST(BlockFootprint, TilesOfAProductAreSharedByTheBlocksOfAWave) {
  // A block reads 128 rows of A along i and 256 of B along j, all 4096 terms of both.
  TensorFootprint a, b;
  a.element_bytes = b.element_bytes = 2;
  a.extents = b.extents = {65536, 4096};
  a.read = b.read = true;
  a.asked_bytes = b.asked_bytes = 1e15;
  a.block.add({0, 0}, {127, 4095});
  b.block.add({0, 0}, {255, 4095});
  a.moved.resize(2);
  b.moved.resize(2);
  a.moved[0].add({128, 0}, {255, 4095});
  a.moved[1] = a.block;
  b.moved[0] = b.block;
  b.moved[1].add({256, 0}, {511, 4095});
  EXPECT_DOUBLE_EQ(union_bytes(a, {4, 8}), 4 * 128 * 8192.0);
  EXPECT_DOUBLE_EQ(union_bytes(b, {4, 8}), 8 * 256 * 8192.0);
  const BlockGrid grid{{512, 256}, 128};
  const DeepTraffic traffic = traffic_beyond({{"A", a}, {"B", b}}, grid, 2e7);
  // No row of tiles fits: 128 blocks at a time read half of B. A block of A stays for the whole row.
  EXPECT_DOUBLE_EQ(traffic.read, 512 * (128 * 8192.0 + 2 * 128 * 256 * 8192.0));
  const DeepTraffic roomy = traffic_beyond({{"A", a}, {"B", b}}, grid, 2e9);
  EXPECT_DOUBLE_EQ(roomy.read, 2 * 65536 * 8192.0) << "all of both stays: each comes once";
}

TEST(LaunchCounts, ACopyMovesWhatItTouches) {
  const DeviceCost cost = predict(doubled, "N=16777216", find_machine("h200"));
  ASSERT_EQ(cost.launches.size(), 1u);
  const LaunchCounts& counts = cost.launches.front().counts;
  EXPECT_NEAR(counts.read_bytes, 4.0 * 16777216, 64);
  EXPECT_NEAR(counts.written_bytes, 4.0 * 16777216, 64);
  EXPECT_NEAR(counts.cache_bytes, 8.0 * 16777216, 4096);
  EXPECT_EQ(cost.binding(), Resource::memory);
  EXPECT_EQ(counts.shared_bytes, 0);
}

TEST(LaunchCounts, ElementsApartCostWholeSectors) {
  const char* const strided = "def f(X: f32[8 * N], Y: out[f32[N]]):\n    for i in range(N):\n        Y[i] = 2.0 * X[8 * i]\n";
  const LaunchCounts counts = predict(strided, "N=1048576", find_machine("h200")).launches.at(0).counts;
  EXPECT_NEAR(counts.read_bytes, 32.0 * 1048576, 4096);
  EXPECT_NEAR(counts.asked_bytes / counts.cache_bytes, 8.0 / 36, 0.01);
}

TEST(LaunchCounts, TurnedTilesHaveFewConflicts) {
  const char* const turned = "def f(A: f32[M, N], B: out[f32[N, M]]):\n    for i, j in grid(M, N):\n        B[j, i] = A[i, j]\n";
  const LaunchCounts shared = predict(turned, "M=4096,N=4096", find_machine("h200")).launches.at(0).counts;
  EXPECT_GT(shared.shared_rounds, 0);
  EXPECT_LT(shared.shared_rounds, 2.2 * shared.shared_accesses);
  EXPECT_NEAR(shared.cache_bytes, 8.0 * 4096 * 4096, 1e5);
  const LaunchCounts straight = predict(turned, "M=4096,N=4096", find_machine("h200"), "promote(A, \"none\")").launches.at(0).counts;
  EXPECT_EQ(straight.shared_rounds, 0);
  EXPECT_GT(straight.cache_lines, 2 * shared.cache_lines) << "one side is touched across its rows";
}

TEST(LaunchCounts, EdgesAreCountedAsTheyAre) {
  const LaunchCounts whole = predict(doubled, "N=1048576", find_machine("h200")).launches.at(0).counts;
  const LaunchCounts ragged = predict(doubled, "N=1048577", find_machine("h200")).launches.at(0).counts;
  EXPECT_GE(ragged.blocks, whole.blocks);
  EXPECT_LE(ragged.blocks, whole.blocks + 1);
  EXPECT_NEAR(ragged.read_bytes, whole.read_bytes, 64);
}

TEST(LaunchCounts, MoreWorkIsNeverFaster) {
  double before = 0;
  for (const char* sizes : {"N=1024", "N=65536", "N=1048576", "N=16777216", "N=268435456"}) {
    const double seconds = predict(doubled, sizes, find_machine("h200")).seconds;
    EXPECT_GE(seconds, before) << sizes;
    before = seconds;
  }
}

TEST(DeviceCost, NothingIsFasterThanTheMemory) {
  for (const char* name : {"h200", "h100", "a100", "rtx4090", "mi210", "mi300x", "rx7900xtx"}) {
    const Machine machine = find_machine(name);
    const double seconds = predict(doubled, "N=67108864", machine).seconds;
    EXPECT_GT(seconds, 8.0 * 67108864 / machine.memories.back().bandwidth) << name;
    EXPECT_LT(seconds, 4 * 8.0 * 67108864 / machine.memories.back().bandwidth) << name;
  }
}

TEST(DeviceCost, UnknownRatesAreCautious) {
  Machine unknown = find_machine("h200");
  unknown.multiprocessor->rates.reset();
  const double known = predict(doubled, "N=67108864", find_machine("h200")).seconds;
  EXPECT_GT(predict(doubled, "N=67108864", unknown).seconds, known);
}

}  // namespace
}  // namespace tileopt
