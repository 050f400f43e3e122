#include "cost_models/block_footprint.h"

#include <algorithm>
#include <cmath>

#include "cost_models/lane_access.h"

namespace tileopt {
namespace {

/// By how much the box moves along dimension d with the next value of a loop.
long shift(const TensorFootprint& tensor, std::size_t loop, std::size_t d) {
  if (loop >= tensor.moved.size() || tensor.moved[loop].last.empty() || tensor.block.last.empty()) return 0;
  const long low = std::abs(tensor.moved[loop].first[d] - tensor.block.first[d]), high = std::abs(tensor.moved[loop].last[d] - tensor.block.last[d]);
  return std::max(low, high);
}

double whole_bytes(const TensorFootprint& tensor) {
  double bytes = double(tensor.element_bytes);
  for (const double extent : tensor.extents) bytes *= extent;
  return std::max(bytes, double(kSectorBytes));
}

double blocks_of(const std::vector<double>& values) {
  double blocks = 1;
  for (const double value : values) blocks *= value;
  return blocks;
}

}  // namespace

bool moves_with(const TensorFootprint& tensor, std::size_t loop) {
  for (std::size_t d = 0; d < tensor.extents.size(); ++d)
    if (shift(tensor, loop, d) != 0) return true;
  return false;
}

void TouchedBox::add(const std::vector<long>& low, const std::vector<long>& high) {
  if (last.empty()) {
    first = low;
    last = high;
    return;
  }
  for (std::size_t d = 0; d < low.size(); ++d) {
    first[d] = std::min(first[d], low[d]);
    last[d] = std::max(last[d], high[d]);
  }
}

double union_bytes(const TensorFootprint& tensor, const std::vector<double>& values) {
  if (tensor.extents.empty()) return double(kSectorBytes);
  if (tensor.block.last.empty()) return 0;
  std::vector<double> extents;
  for (std::size_t d = 0; d < tensor.extents.size(); ++d) extents.push_back(double(tensor.block.last[d] - tensor.block.first[d] + 1));
  double apart = 1;  // boxes that do not meet
  for (std::size_t loop = values.size(); loop-- > 0;) {
    if (values[loop] <= 1 || !moves_with(tensor, loop)) continue;
    bool meets = false;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const double step = double(shift(tensor, loop, d));
      if (step == 0 || step > extents[d]) continue;
      extents[d] += step * (values[loop] - 1);
      meets = true;
    }
    if (!meets) apart *= values[loop];
  }
  double bytes = apart;
  for (std::size_t d = 0; d + 1 < extents.size(); ++d) bytes *= std::min(extents[d], tensor.extents[d]);
  const double run = std::min(extents.back(), tensor.extents.back()) * double(tensor.element_bytes);
  bytes *= std::ceil(run / kSectorBytes) * kSectorBytes;
  // Rows that lie beside each other share sectors.
  return std::min(bytes, whole_bytes(tensor) + kSectorBytes);
}

DeepTraffic traffic_beyond(const std::map<std::string, TensorFootprint>& tensors, const BlockGrid& grid, double capacity) {
  const std::size_t loops = grid.trips.size();
  const auto inner_values = [&](std::size_t depth) {
    std::vector<double> values(loops, 1);
    for (std::size_t l = depth; l < loops; ++l) values[l] = grid.trips[l];
    return values;
  };
  const auto together_bytes = [&](const std::vector<double>& values) {
    double bytes = 0;
    for (const auto& [name, tensor] : tensors) bytes += tensor.scattered ? std::min(whole_bytes(tensor), tensor.asked_bytes) : union_bytes(tensor, values);
    return bytes;
  };
  std::size_t depth = 0;
  while (depth < loops && together_bytes(inner_values(depth)) > capacity) ++depth;
  // Blocks that run at a time, the innermost loops first.
  std::vector<double> wave(loops, 1);
  double left = std::max(1.0, grid.together);
  for (std::size_t l = loops; l-- > 0 && left > 1;) {
    wave[l] = std::min(grid.trips[l], std::ceil(left));
    left /= wave[l];
  }
  DeepTraffic traffic;
  for (const auto& [name, tensor] : tensors) {
    const double all = union_bytes(tensor, grid.trips);
    double bytes;
    if (tensor.scattered) {
      const double whole = whole_bytes(tensor);
      bytes = whole <= capacity ? std::min(whole, tensor.asked_bytes) : tensor.asked_bytes;
    } else {
      std::size_t last = depth;
      while (last > 0 && !moves_with(tensor, last - 1)) --last;
      double repeats = 1;
      for (std::size_t l = 0; l < last; ++l) repeats *= grid.trips[l];
      const double nested = union_bytes(tensor, inner_values(depth)) * repeats;
      const double waves = union_bytes(tensor, wave) * std::max(1.0, blocks_of(grid.trips) / blocks_of(wave));
      bytes = std::max(all, std::min({nested, waves, std::max(all, tensor.asked_bytes)}));
      bytes = std::min(bytes, std::max(tensor.asked_bytes, double(kSectorBytes)));
    }
    if (tensor.read) traffic.read += bytes;
    if (tensor.written) traffic.written += tensor.scattered ? bytes : std::min(all, std::max(tensor.asked_bytes, double(kSectorBytes)));
  }
  return traffic;
}

}  // namespace tileopt
