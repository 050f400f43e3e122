/// The predicted time of kernels on a GPU, and what binds it: from what their launches ask for (LaunchCounts) and the rates of the machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cost_models/launch_walk.h"

namespace tileopt {

/// What may bind a launch.
enum class Resource { memory, cache, issue, arithmetic, access, shared, matrix, updates, latency, launch };
/// "memory", "L2", "instructions", ...: as `explain` names it.
std::string resource_name(Resource resource);

/// One launch. All seconds are of all its blocks.
struct LaunchCost {
  LaunchCounts counts;
  double resident = 1;  ///< blocks on one core at a time
  double waves = 1;     ///< rounds of blocks, not rounded
  double seconds = 0;
  Resource binding = Resource::memory;
  std::vector<std::pair<Resource, double>> parts;  ///< seconds that each resource alone needs
};
LaunchCost cost_launch(const LaunchCounts& counts, const Machine& machine);

/// A program's kernels: they run one after the other.
struct DeviceCost {
  double seconds = 0;
  std::vector<LaunchCost> launches;
  Resource binding() const;  ///< of the longest launch
  std::vector<std::pair<Resource, double>> parts() const;  ///< sums over the launches
};
DeviceCost add_launches(const std::vector<LaunchCounts>& launches, const Machine& machine);

}  // namespace tileopt
