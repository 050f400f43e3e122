#include "cost_models/data_volume.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tileopt {
namespace {

constexpr double kLoopStartCycles = 8;     ///< bounds, branch miss and vector remainder of one run of the innermost loop
constexpr double kOperationsPerCycle = 2;  ///< scalar or vector operations issued per cycle
constexpr double kOperationsInFlight = 200;  ///< that a core holds at once: 224 to 512 entries of its reorder buffer
constexpr double kOverlapLoss = 0.1;       ///< part of the hidden resources' time that shows

bool moves(const NestAccess& access, std::size_t member) {
  return std::any_of(access.coefficients.begin(), access.coefficients.end(), [&](const auto& row) { return row[member] != 0; });
}

/// Lines of the elements one by one, neighbours together: what members that move several subscripts touch is no rectangle.
double distinct_runs(const NestAccess& access, const std::vector<double>& spans, int line) {
  double runs = 1;
  for (std::size_t m = 0; m < spans.size(); ++m) {
    long across = 0;
    for (std::size_t d = 0; d + 1 < access.coefficients.size(); ++d) across += std::abs(access.coefficients[d][m]);
    const long along = std::abs(access.coefficients.back()[m]);
    if (across == 0 && along <= 1) runs *= along == 0 ? 1 : std::ceil(spans[m] * access.element_bytes / line);
    else runs *= spans[m];
  }
  return runs;
}

/// Accesses that differ by constants only share their lines.
std::vector<NestAccess> merge_accesses(const std::vector<NestAccess>& accesses) {
  std::vector<NestAccess> merged;
  for (const NestAccess& access : accesses) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const NestAccess& m) {
      return m.tensor == access.tensor && m.coefficients == access.coefficients;
    });
    if (same == merged.end()) merged.push_back(access);
    else same->write = same->write || access.write;
  }
  return merged;
}

/// Values each member runs over in the loops from `depth` inwards.
std::vector<double> spans_below(const Nest& nest, std::size_t members, std::size_t depth) {
  std::vector<double> spans(members, 1);
  for (std::size_t l = depth; l < nest.loops.size(); ++l) spans[nest.loops[l].member] *= nest.loops[l].trips;
  return spans;
}

double total_footprint(const std::vector<NestAccess>& accesses, const std::vector<double>& spans, int line) {
  double bytes = 0;
  for (const NestAccess& access : accesses) bytes += footprint_bytes(access, spans, line);
  return bytes;
}

/// Bytes that come from beyond a cache of `capacity`: tiles that fit it are loaded once per iteration of the loops around
/// them, except of those that do not move the access and lie inside the innermost one that does. One run of the innermost loop
/// counts as a tile even where it does not fit: neighbours on a line are used at once.
double traffic_bytes(const Nest& nest, const std::vector<NestAccess>& accesses, std::size_t members, double capacity, int line) {
  std::size_t depth = 0;
  while (depth + 1 < nest.loops.size() && total_footprint(accesses, spans_below(nest, members, depth), line) > capacity) ++depth;
  const std::vector<double> spans = spans_below(nest, members, depth);
  double bytes = 0;
  for (const NestAccess& access : accesses) {
    std::size_t last = depth;
    while (last > 0 && !moves(access, nest.loops[last - 1].member)) --last;
    double repeats = 1;
    for (std::size_t l = 0; l < last; ++l) repeats *= nest.loops[l].trips;
    bytes += footprint_bytes(access, spans, line) * repeats * (access.write ? 2 : 1);
  }
  return bytes;
}

double compute_cycles(const Nest& nest, const Machine& machine) {
  double instances = 1;
  for (const NestLoop& loop : nest.loops) instances *= loop.trips;
  if (nest.loops.empty()) return nest.operations;
  const NestLoop& inner = nest.loops.back();
  const int element_bytes = nest.accesses.empty() ? 4 : nest.accesses.front().element_bytes;
  const double lanes = nest.vector ? std::max(1.0, double(machine.vector_bytes) / element_bytes) : 1;
  // Lanes of what does not lie side by side are fetched one by one; without lanes everything is.
  double scalar_accesses = 0;
  for (const NestAccess& access : nest.accesses) {
    if (!nest.vector) break;
    const bool contiguous = !access.coefficients.empty() && std::abs(access.coefficients.back()[inner.member]) <= 1 &&
                            std::all_of(access.coefficients.begin(), access.coefficients.end() - 1,
                                        [&](const auto& row) { return row[inner.member] == 0; });
    if (!contiguous && !access.coefficients.empty()) scalar_accesses += 1;
  }
  const double vector_runs = std::ceil(inner.trips / lanes) / inner.trips;
  const double per_instance = (nest.operations + double(nest.accesses.size())) / kOperationsPerCycle * vector_runs + scalar_accesses;
  const double issued = instances * per_instance + instances / inner.trips * kLoopStartCycles;
  if (nest.recurrence_operations <= 0) return issued;
  // What waits for each other takes its latency; as many iterations as the processor has in flight take it together.
  const double in_flight = std::max(1.0, kOperationsInFlight / (nest.operations + double(nest.accesses.size())));
  const double waited = instances * nest.recurrence_operations * std::max(1.0, double(machine.fma_latency)) / std::clamp(nest.independent, 1.0, in_flight);
  return std::max(issued, waited);
}

}  // namespace

double subscript_extent(const std::vector<long>& coefficients, const std::vector<double>& spans) {
  double extent = 1;
  for (std::size_t m = 0; m < coefficients.size(); ++m) extent += double(std::abs(coefficients[m])) * (spans[m] - 1);
  return extent;
}

double footprint_bytes(const NestAccess& access, const std::vector<double>& spans, int line) {
  if (access.coefficients.empty()) return line;
  double rows = 1;
  for (std::size_t d = 0; d + 1 < access.coefficients.size(); ++d) rows *= subscript_extent(access.coefficients[d], spans);
  const double run = subscript_extent(access.coefficients.back(), spans) * access.element_bytes;
  return std::min(rows * std::ceil(run / line), distinct_runs(access, spans, line)) * line;
}

NestCost estimate_nest(const Nest& nest, std::size_t members, const Machine& machine) {
  const std::vector<NestAccess> accesses = merge_accesses(nest.accesses);
  NestCost cost;
  cost.compute_seconds = compute_cycles(nest, machine) / std::max(machine.frequency, 1e8);
  cost.binding = "compute";
  cost.seconds = cost.compute_seconds;
  double sum = cost.compute_seconds;
  for (std::size_t l = 0; l + 1 < machine.memories.size(); ++l) {
    const Memory &cache = machine.memories[l], &beyond = machine.memories[l + 1];
    if (cache.capacity <= 0 || beyond.bandwidth <= 0) continue;
    // Half the capacity: associativity and other data take the rest.
    const double seconds = traffic_bytes(nest, accesses, members, cache.capacity / 2, cache.line) / beyond.bandwidth;
    cost.memory_seconds.push_back(seconds);
    sum += seconds;
    if (seconds > cost.seconds) {
      cost.seconds = seconds;
      cost.binding = beyond.name;
    }
  }
  cost.seconds += kOverlapLoss * (sum - cost.seconds);
  return cost;
}

}  // namespace tileopt
