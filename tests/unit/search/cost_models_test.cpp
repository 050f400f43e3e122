#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cost_models/cpu_blocking.h"
#include "cost_models/data_volume.h"
#include "cost_models/machines.h"

namespace tileopt {
namespace {

RegisterTile tile(const std::string& machine, int bytes, double rows = 1024, double lanes = 1024) {
  return choose_register_tile(find_machine(machine), bytes, rows, lanes, std::nullopt, std::nullopt);
}

TEST(CpuBlocking, RegisterTilesOfTheKnownMachines) {
  EXPECT_EQ(tile("x86-64-v3", 4).rows, 6);
  EXPECT_EQ(tile("x86-64-v3", 4).lanes, 16);
  EXPECT_EQ(tile("x86-64-v3", 8).lanes, 8);
  EXPECT_EQ(tile("zen4", 4).rows, 14);
  EXPECT_EQ(tile("zen4", 4).lanes, 32);
  EXPECT_EQ(tile("c11", 4).rows, 4);
  EXPECT_EQ(tile("c11", 4).lanes, 4);
}

TEST(CpuBlocking, TilesFitTheRegisterFileAndHideTheLatency) {
  for (const char* name : {"x86-64-v3", "zen4"}) {
    const Machine machine = find_machine(name);
    for (const int bytes : {4, 8}) {
      const RegisterTile t = tile(name, bytes);
      const long vectors = t.lanes * bytes / machine.vector_bytes;
      EXPECT_LE(t.rows * vectors + vectors + 1, machine.vector_registers);
      EXPECT_GE(double(t.rows * vectors), machine.fma_latency * machine.fma_per_cycle);
      EXPECT_GT(t.efficiency, 0.9);
    }
  }
}

TEST(CpuBlocking, SmallProblemsGetSmallerTiles) {
  EXPECT_LE(tile("zen4", 4, 1024, 16).lanes, 16);
  EXPECT_LT(tile("x86-64-v3", 4, 2, 2).efficiency, 0.3);
}

TEST(CpuBlocking, BlocksAreMultiplesAndShared) {
  for (const double extent : {1.0, 7.0, 100.0, 1024.0, 5000.0}) {
    for (const long most : {6L, 250L, 4096L}) {
      const long block = balance_block(extent, most, 6, 2);
      EXPECT_EQ(block % 6, 0);
      EXPECT_LE(block, std::max(most, 6L));
    }
  }
  EXPECT_EQ(balance_block(1024, 252, 6, 1), 210) << "five equal blocks, not four of 252 and a rest";
}

TEST(DataVolume, SubscriptExtentIsTheRangeOfTheSubscript) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<long> coefficients;
    std::vector<double> spans;
    long low = 0, high = 0;
    for (int m = 0; m < 3; ++m) {
      coefficients.push_back(static_cast<long>(random() % 7) - 3);
      spans.push_back(1 + double(random() % 9));
      const long most = coefficients.back() * static_cast<long>(spans.back() - 1);
      low += std::min(most, 0L);
      high += std::max(most, 0L);
    }
    EXPECT_EQ(subscript_extent(coefficients, spans), double(high - low + 1));
  }
}

TEST(DataVolume, FootprintsCountLines) {
  const NestAccess rows{"A", 4, false, {{1, 0}, {0, 1}}};
  EXPECT_EQ(footprint_bytes(rows, {3, 16}, 64), 3 * 64);
  EXPECT_EQ(footprint_bytes(rows, {3, 17}, 64), 3 * 128);
  const NestAccess columns{"A", 4, false, {{0, 1}, {1, 0}}};
  EXPECT_EQ(footprint_bytes(columns, {1, 100}, 64), 100 * 64) << "a column touches a line for every element";
}

Nest transpose(std::vector<NestLoop> loops) {
  return {std::move(loops), {{"B", 4, true, {{0, 1}, {1, 0}}}, {"A", 4, false, {{1, 0}, {0, 1}}}}, 0, false};
}

TEST(DataVolume, TilesHelpATransposition) {
  const Machine machine = find_machine("x86-64-v3");
  const NestCost plain = estimate_nest(transpose({{0, 4096}, {1, 4096}}), 2, machine);
  const NestCost tiled = estimate_nest(transpose({{0, 128}, {1, 128}, {0, 32}, {1, 32}}), 2, machine);
  EXPECT_LT(tiled.seconds, 0.8 * plain.seconds);
}

TEST(DataVolume, TilesDoNotHelpAStream) {
  const Machine machine = find_machine("x86-64-v3");
  const auto stream = [](std::vector<NestLoop> loops) {
    return Nest{std::move(loops), {{"B", 4, true, {{1, 0}, {0, 1}}}, {"A", 4, false, {{1, 0}, {0, 1}}}}, 1, true};
  };
  const NestCost plain = estimate_nest(stream({{0, 4096}, {1, 4096}}), 2, machine);
  const NestCost tiled = estimate_nest(stream({{0, 128}, {1, 32}, {0, 32}, {1, 128}}), 2, machine);
  EXPECT_GE(tiled.seconds, 0.99 * plain.seconds);
  EXPECT_EQ(plain.binding, "DRAM");
}

TEST(DataVolume, NoPredictionBeatsTheRoofline) {
  const Machine machine = find_machine("x86-64-v3");
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const double outer = 16 << random() % 6, inner = 16 << random() % 6;
    const NestCost cost = estimate_nest(transpose({{0, outer}, {1, inner}, {0, 16}, {1, 16}}), 2, machine);
    EXPECT_GE(cost.seconds, cost.compute_seconds);
    for (const double memory : cost.memory_seconds) EXPECT_GE(cost.seconds, memory);
  }
}

}  // namespace
}  // namespace tileopt
