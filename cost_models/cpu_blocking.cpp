#include "cost_models/cpu_blocking.h"

#include <algorithm>
#include <cmath>

namespace tileopt {
namespace {

constexpr double kLoadsPerCycle = 2;
constexpr double kMaskedCost = 2;      ///< of a masked tile, in whole ones
constexpr double kStreamedShare = 0.5; ///< of the time of its products that a panel from L2 may take to arrive
constexpr double kLoadsPerFma = 0.75;  ///< beyond, load slots and address arithmetic show in practice

/// Registers that hold anything but accumulators: the right vectors and one broadcast left element.
long spare_registers(long vectors) { return vectors + 1; }

RegisterTile rate_tile(const Machine& machine, long rows, long vectors, long vector_lanes, double problem_rows, double problem_lanes, bool masked) {
  RegisterTile tile;
  tile.rows = rows;
  tile.lanes = vectors * vector_lanes;
  const double fmas = double(rows * vectors);
  const double issue = fmas / machine.fma_per_cycle;
  const double chain = machine.fma_latency;
  const double loads = double(rows + vectors) / kLoadsPerCycle;
  const double cycles = std::max({issue, chain, loads});
  tile.binding = cycles == issue ? "fma" : cycles == chain ? "latency" : "loads";
  const double used_rows = std::ceil(problem_rows / rows) * rows, used_lanes = std::ceil(problem_lanes / tile.lanes) * tile.lanes;
  double filled = problem_rows * problem_lanes / (used_rows * used_lanes);
  if (masked) {
    const double whole = std::floor(problem_rows / rows) * std::floor(problem_lanes / tile.lanes);
    const double all = used_rows / rows * used_lanes / tile.lanes;
    filled = problem_rows * problem_lanes / (double(rows * tile.lanes) * (whole + kMaskedCost * (all - whole)));
  }
  if (filled < 0.75) tile.binding = "padding";
  const bool many_loads = double(rows + vectors) > kLoadsPerFma * fmas;
  tile.efficiency = issue / cycles * filled * (many_loads ? 0.9 : 1);
  return tile;
}

/// Multiplications per packed element read: the larger, the less the panels' bandwidth matters. Decides among equals.
double intensity(const RegisterTile& tile) { return double(tile.rows * tile.lanes) / double(tile.rows + tile.lanes); }

}  // namespace

RegisterTile choose_register_tile(const Machine& machine, int element_bytes, double rows, double lanes,
                                  std::optional<long> pinned_rows, std::optional<long> pinned_lanes, bool masked) {
  const bool vectors = machine.vector_bytes >= element_bytes;
  const long vector_lanes = vectors ? machine.vector_bytes / element_bytes : 1;
  // Without vectors the accumulators are scalars: 16 of them suit any processor.
  const long registers = vectors ? machine.vector_registers : 21;
  RegisterTile best;
  const auto consider = [&](long tile_rows, long tile_vectors) {
    if (pinned_rows && *pinned_rows != tile_rows) return;
    if (pinned_lanes && *pinned_lanes != tile_vectors * vector_lanes) return;
    if (tile_rows * tile_vectors + spare_registers(tile_vectors) > registers) return;
    const RegisterTile tile = rate_tile(machine, tile_rows, tile_vectors, vector_lanes, rows, lanes, masked);
    const bool better = tile.efficiency > best.efficiency * 1.02;
    const bool equal = tile.efficiency > best.efficiency * 0.98;
    if (better || (equal && intensity(tile) > intensity(best))) best = tile;
  };
  const long most_vectors = vectors ? 4 : 8;
  for (const long count : {2L, 3L, 1L, 4L, 6L, 8L}) {
    if (count > most_vectors) continue;
    // One vector register is left to the compiler: what fills the file exactly is spilled by some compilers.
    const long most_rows = (registers - spare_registers(count) - (vectors ? 1 : 0)) / count;
    for (long tile_rows = most_rows; tile_rows >= 1; --tile_rows) consider(tile_rows, count);
  }
  if (best.efficiency == 0) {
    best.rows = pinned_rows.value_or(4);
    best.lanes = pinned_lanes.value_or(2 * vector_lanes);
    best.binding = "the pin";
  }
  return best;
}

double cache_bytes(const Machine& machine, int level) {
  double bytes = 32 << 10;
  for (int l = 1; l <= level; ++l) {
    const Memory* memory = machine.find_memory("L" + std::to_string(l));
    if (memory && memory->capacity > 0) bytes = memory->capacity;
  }
  return bytes;
}

bool streams_from_l2(const Machine& machine, int element_bytes, long rows, long lanes, long depth) {
  const Memory* l2 = machine.find_memory("L2");
  if (l2 == nullptr || l2->capacity <= 0 || l2->bandwidth <= 0 || machine.vector_bytes < element_bytes) return false;
  const double vectors = double(lanes * element_bytes) / machine.vector_bytes;
  const double products = double(rows) * vectors / (machine.fma_per_cycle * double(depth));
  const double loads = double(lanes * element_bytes) / (l2->bandwidth / machine.frequency);
  return loads <= kStreamedShare * products;
}

long choose_reduction_block(const Machine& machine, int element_bytes, long rows, long lanes, long depth, double extent, double fixed) {
  // With other summation loops inside, passes over the result cost more.
  const double bytes = streams_from_l2(machine, element_bytes, rows, lanes, depth) ? cache_bytes(machine, 2) / 8 : (fixed > 1 ? 1.25 : 0.5) * cache_bytes(machine, 1);
  const double panel = bytes / double(element_bytes * lanes) / std::max(fixed, 1.0);
  const double target = std::clamp(panel, 256 / std::max(fixed, 1.0), 512.0);
  const long block = std::max(16L, static_cast<long>(target) / 16 * 16);
  return balance_block(extent, block, extent < double(block) ? 1 : 16, 1);
}

long balance_block(double extent, long most, long step, long share) {
  most = std::max(step, most / step * step);
  double blocks = std::ceil(std::max(extent, 1.0) / double(most));
  if (share > 1 && extent >= double(share * step)) blocks = std::ceil(blocks / double(share)) * double(share);
  const double each = std::ceil(std::max(extent, 1.0) / blocks / double(step)) * double(step);
  return std::clamp(static_cast<long>(each), step, most);
}

}  // namespace tileopt
