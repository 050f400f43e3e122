#include "cost_models/device_cost.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tileopt {
namespace {

constexpr double kOverlapLoss = 0.12;  ///< part of the hidden resources' time that shows
constexpr double kFilled = 0.85;       ///< part of a chain that one resource takes, which then binds

}  // namespace

std::string resource_name(Resource resource) {
  switch (resource) {
    case Resource::memory: return "memory";
    case Resource::cache: return "L2";
    case Resource::issue: return "instructions";
    case Resource::arithmetic: return "arithmetic";
    case Resource::access: return "loads and stores";
    case Resource::shared: return "shared memory";
    case Resource::matrix: return "matrix units";
    case Resource::updates: return "atomic updates";
    case Resource::latency: return "latency";
    case Resource::launch: return "launches";
  }
  return "";
}

LaunchCost cost_launch(const LaunchCounts& counts, const Machine& machine) {
  const Multiprocessor& m = *machine.multiprocessor;
  const Rates rates = m.rates.value_or(Rates());
  const double cores = std::max(1, machine.cores), frequency = std::max(machine.frequency, 1e8), warp = m.warp;
  LaunchCost cost;
  cost.counts = counts;
  cost.resident = resident_blocks(counts, machine);
  cost.waves = counts.blocks / (cores * cost.resident);
  // Cores that have most blocks: of a last round that is not full some have none.
  const double full = std::floor(cost.waves), rest = counts.blocks - full * cores * cost.resident;
  const double most_blocks = full * cost.resident + std::ceil(rest / cores);
  const double uneven = most_blocks * cores / std::max(1.0, counts.blocks);
  const auto on_cores = [&](double cycles) { return cycles / cores / frequency * uneven; };

  double near_bandwidth = 0, cache_bandwidth = 0, memory_bandwidth = 0;
  for (const Memory& memory : machine.memories) {
    if (!memory.shared && near_bandwidth == 0) near_bandwidth = memory.bandwidth / frequency;
    if (memory.shared && cache_bandwidth == 0) cache_bandwidth = memory.bandwidth;
    memory_bandwidth = memory.bandwidth;
  }
  near_bandwidth = std::max(1.0, near_bandwidth);
  const double memory = counts.read_bytes / (memory_bandwidth * rates.read_part) + counts.written_bytes / (memory_bandwidth * rates.write_part);
  const double cache = counts.cache_bytes / std::max(1.0, cache_bandwidth);
  const double issue = on_cores(counts.instructions / rates.issue);
  const double arithmetic = on_cores(warp * std::max({counts.multiply_add / std::max(1.0, machine.fma_per_cycle), counts.integer / rates.integer,
                                                      counts.convert / rates.convert, counts.special / rates.special, counts.doubles / rates.doubles}));
  const double access = on_cores(std::max(counts.accesses * warp / rates.access, counts.cache_lines));
  const double shared = on_cores(counts.shared_rounds + counts.matrix_bytes / near_bandwidth);
  const double matrix = on_cores(counts.matrix_cycles / rates.matrix_part);
  const double updates = counts.updates / rates.updates / frequency;

  // A round of blocks takes as long as one block's chain; some of what it waits for is in the cache.
  const double beyond = counts.cache_bytes > 0 ? std::min(1.0, counts.read_bytes / counts.cache_bytes) : 0;
  const double wait = rates.cache_latency + (rates.memory_latency - rates.cache_latency) * beyond;
  const double chain = std::max(counts.chain_cycles + counts.chain_waits * wait, counts.hidden_waits * wait);
  const double latency = (full + (rest > 0 ? 1 : 0)) * chain / frequency;

  cost.parts = {{Resource::memory, memory}, {Resource::cache, cache}, {Resource::issue, issue}, {Resource::arithmetic, arithmetic},
                {Resource::access, access}, {Resource::shared, shared}, {Resource::matrix, matrix}, {Resource::updates, updates}, {Resource::latency, latency}};
  // What cores wait for from outside, and what goes on in them: the smaller of the two is hidden, but for a part.
  const double outside = std::max({memory, cache, updates}), inside = std::max({issue, arithmetic, access, shared, matrix, latency});
  const double largest = std::max(outside, inside);
  for (const auto& [resource, seconds] : cost.parts)
    if (seconds == largest) cost.binding = resource;
  // A chain that one resource fills names it.
  if (cost.binding == Resource::latency) {
    double most = kFilled * latency;
    for (const auto& [resource, seconds] : cost.parts) {
      if (resource == Resource::latency || seconds < most) continue;
      most = seconds;
      cost.binding = resource;
    }
  }
  if (rates.launch_seconds > largest) cost.binding = Resource::launch;
  cost.seconds = counts.launches * (rates.launch_seconds + largest + kOverlapLoss * std::min(outside, inside));
  cost.parts.emplace_back(Resource::launch, rates.launch_seconds);
  for (auto& [resource, seconds] : cost.parts) seconds *= counts.launches;
  return cost;
}

Resource DeviceCost::binding() const {
  const auto longest = std::max_element(launches.begin(), launches.end(), [](const LaunchCost& a, const LaunchCost& b) { return a.seconds < b.seconds; });
  return longest == launches.end() ? Resource::launch : longest->binding;
}

std::vector<std::pair<Resource, double>> DeviceCost::parts() const {
  std::map<Resource, double> sums;
  for (const LaunchCost& launch : launches)
    for (const auto& [resource, seconds] : launch.parts) sums[resource] += seconds;
  return {sums.begin(), sums.end()};
}

DeviceCost add_launches(const std::vector<LaunchCounts>& launches, const Machine& machine) {
  DeviceCost cost;
  for (const LaunchCounts& counts : launches) {
    cost.launches.push_back(cost_launch(counts, machine));
    cost.seconds += cost.launches.back().seconds;
  }
  return cost;
}

}  // namespace tileopt
