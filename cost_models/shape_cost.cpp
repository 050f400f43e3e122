#include "cost_models/shape_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tileopt {
namespace {

constexpr double kCapacityShare = 0.5;  ///< associativity and other data take the rest of a cache
constexpr double kOverlapLoss =
    0.3;  ///< part of the hidden resources' time that shows: chosen on 70 measured plans of gemm and conv2d
constexpr double kIterationCycles = 1;  ///< of a loop that is not the innermost one
constexpr double kLoopStartCycles = 8;  ///< bounds, branch miss and vector remainder of one run of the innermost loop
constexpr double kOperationsPerCycle = 2;
constexpr double kLoadsPerCycle = 2;
constexpr double kLoadsPerFma = 0.75;  ///< beyond, load slots and address arithmetic show in practice
constexpr double kManyLoads = 0.9;
constexpr double kTileStartCycles = 12;  ///< of a register tile, beside its loads and stores
constexpr double kSpillFactor = 3;
constexpr double kSharedScaling = 1.5;  ///< what several threads get out of a shared memory, at most

/// The contiguous subscript alone moves with `member`, by one or not at all.
bool is_contiguous(const ShapeStream& stream, int member) {
  if (stream.coefficients.empty()) return false;
  const auto m = static_cast<std::size_t>(member);
  for (std::size_t d = 0; d + 1 < stream.coefficients.size(); ++d) {
    if (stream.coefficients[d][m] != 0) return stream.packed;
  }
  return stream.packed || std::abs(stream.coefficients.back()[m]) <= 1;
}

}  // namespace

ShapeCostModel::ShapeCostModel(const Machine& machine, int threads) : machine_(machine), threads_(std::max(1, threads)) {
  for (std::size_t l = 0; l + 1 < machine.memories.size() && levels_.size() < most_memories; ++l) {
    const Memory &cache = machine.memories[l], &beyond = machine.memories[l + 1];
    if (cache.capacity <= 0 || beyond.bandwidth <= 0) continue;
    levels_.push_back({kCapacityShare * cache.capacity, beyond.bandwidth, double(std::max(cache.line, 1)), beyond.shared});
    names_.push_back(beyond.name);
  }
}

void ShapeCostModel::read_trips(const KernelShape& shape, const ShapeStatement& statement) {
  depth_ = statement.path.size();
  members_ = shape.members.size();
  trips_.assign(depth_, 1);
  around_.assign(depth_ + 1, 1);
  spans_.assign((depth_ + 1) * members_, 1);
  for (std::size_t p = 0; p < depth_; ++p) {
    const ShapeDigit& digit = shape.digits[static_cast<std::size_t>(statement.path[p])];
    const auto m = static_cast<std::size_t>(digit.member);
    double inside = 1, left = shape.extents[m];
    bool found = false;
    for (const int other : shape.digits_of[m]) {
      const ShapeDigit& d = shape.digits[static_cast<std::size_t>(other)];
      if (other == statement.path[p])
        found = true;
      else if (found)
        inside = d.radix == 0 ? left : inside * double(d.radix);
    }
    // On average: the last of the tiles around it holds fewer.
    double trips = std::ceil(left / inside);
    if (digit.radix > 0) trips /= std::ceil(left / (inside * double(digit.radix)));
    if (digit.kind == LevelKind::atom && statement.padded && digit.radix > 0) trips = double(digit.radix);
    trips_[p] = std::max(1.0, trips);
  }
  for (std::size_t p = 0; p < depth_; ++p) around_[p + 1] = around_[p] * trips_[p];
  for (std::size_t p = depth_; p-- > 0;) {
    for (std::size_t m = 0; m < members_; ++m) span(p, m) = span(p + 1, m);
    const auto m = static_cast<std::size_t>(shape.digits[static_cast<std::size_t>(statement.path[p])].member);
    span(p, m) *= trips_[p];
  }
  for (std::size_t p = 0; p < depth_; ++p) {
    // An edge tile is shorter: a member never runs over more values than it has, but for the padding of an atom.
    for (std::size_t m = 0; m < members_; ++m) span(p, m) = std::min(span(p, m), std::max(shape.extents[m], span(p + 1, m)));
  }
}

void ShapeCostModel::read_footprints(const KernelShape& shape, const ShapeStatement& statement) {
  const double line = levels_.empty() ? 64 : levels_.front().line;
  footprints_.assign(statement.streams.size() * (depth_ + 1), 0);
  mover_.assign(statement.streams.size() * (depth_ + 1), 0);
  for (std::size_t s = 0; s < statement.streams.size(); ++s) {
    const ShapeStream& stream = statement.streams[s];
    for (std::size_t d = 0; d <= depth_; ++d) {
      double rows = 1, run = 1;
      for (std::size_t row = 0; row < stream.coefficients.size(); ++row) {
        const std::vector<long>& coefficients = stream.coefficients[row];
        double extent = 1;
        for (std::size_t m = 0; m < members_; ++m) {
          if (coefficients[m] != 0) extent += double(std::abs(coefficients[m])) * (span(d, m) - 1);
        }
        if (stream.packed || row + 1 == stream.coefficients.size())
          run *= extent;
        else
          rows *= extent;
      }
      // Where a subscript is not known, every instance may touch a line of its own.
      if (stream.coefficients.empty()) rows = around_[depth_] / around_[d];
      footprints_[s * (depth_ + 1) + d] = rows * std::ceil(run * stream.element_bytes / line) * line;
      if (d == 0) continue;
      const auto member = static_cast<std::size_t>(shape.digits[static_cast<std::size_t>(statement.path[d - 1])].member);
      bool moves = stream.coefficients.empty();
      for (const std::vector<long>& row : stream.coefficients) moves = moves || row[member] != 0;
      mover_[s * (depth_ + 1) + d] = moves && trips_[d - 1] > 1 ? d : mover_[s * (depth_ + 1) + d - 1];
    }
  }
}

double ShapeCostModel::level_bytes(const ShapeStatement& statement, const Level& level) const {
  // The outermost depth whose data fit: what is inside it is loaded once per iteration of the loops around.
  std::size_t depth = 0;
  for (; depth + 1 < depth_; ++depth) {
    double bytes = 0;
    for (std::size_t s = 0; s < statement.streams.size(); ++s) {
      const ShapeStream& stream = statement.streams[s];
      if (!stream.active || stream.created || depth > stream.below) continue;
      bytes += footprint(s, std::max(depth, stream.renewed));
    }
    if (bytes <= level.capacity) break;
  }
  double bytes = 0;
  for (std::size_t s = 0; s < statement.streams.size(); ++s) {
    const ShapeStream& stream = statement.streams[s];
    if (!stream.active) continue;
    const std::size_t at = std::min(depth, stream.below);
    // Filled and read while it stays in the cache.
    if (stream.renewed > 0 && depth <= stream.renewed) continue;
    const std::size_t last = std::max(mover_[s * (depth_ + 1) + at], std::min(stream.renewed, at));
    bytes += footprint(s, at) * around_[last] * (stream.write ? 2 : 1);
  }
  return bytes;
}

double ShapeCostModel::compute_cycles(const KernelShape& shape, const ShapeStatement& statement, CostCounts* counts) const {
  if (depth_ == 0) return statement.operations;
  const double vector_lanes = std::max(1.0, double(machine_.vector_bytes) / statement.element_bytes);
  std::size_t loops = depth_;
  while (loops > 0 && shape.digits[static_cast<std::size_t>(statement.path[loops - 1])].kind == LevelKind::atom) --loops;
  double cycles = 0;
  for (std::size_t d = 1; d < loops; ++d) cycles += around_[d] * kIterationCycles;
  if (counts) counts->loop_iterations += loops > 0 ? around_[loops] : 1;

  if (statement.leaf == ShapeLeaf::plain || loops == depth_) {
    const ShapeDigit& inner = shape.digits[static_cast<std::size_t>(statement.path.back())];
    const bool vector = inner.kind == LevelKind::lockstep;
    double touched = 0, scattered = 0;
    for (const ShapeStream& stream : statement.streams) {
      if (stream.copy || !stream.active) continue;
      touched += 1;
      if (!stream.coefficients.empty() && !is_contiguous(stream, inner.member)) scattered += 1;
    }
    const double trips = trips_.back();
    const double runs = vector ? std::ceil(trips / vector_lanes) / trips : 1;
    const double each = (statement.operations + touched) / kOperationsPerCycle * runs + scattered;
    if (counts && vector) counts->vector_instances += around_[depth_];
    return cycles + around_[depth_] * each + around_[depth_ - 1] * kLoopStartCycles;
  }

  double rows = 1;
  for (std::size_t p = loops; p + 1 < depth_; ++p) rows *= trips_[p];
  rows /= statement.summed_at_once;
  const double vectors = std::ceil(trips_.back() / vector_lanes);
  const double runs = around_[loops];
  if (counts) counts->vector_instances += around_[depth_];
  if (statement.leaf == ShapeLeaf::elementwise) {
    const double touched = double(std::count_if(statement.streams.begin(), statement.streams.end(),
                                                [](const ShapeStream& stream) { return !stream.copy && stream.active; }));
    return cycles + runs * rows * vectors * std::max(1.0, (statement.operations + touched) / kOperationsPerCycle);
  }
  const double issue = rows * vectors * statement.summed_at_once / statement.products / std::max(machine_.fma_per_cycle, 0.1);
  const double chain = machine_.fma_latency, loads = (rows + vectors) / kLoadsPerCycle;
  double each = std::max({issue, chain, loads});
  if (rows + vectors > kLoadsPerFma * rows * vectors) each /= kManyLoads;
  const bool spills = machine_.vector_registers > 0 && rows * vectors + vectors + 1 > machine_.vector_registers;
  if (spills) each *= kSpillFactor;
  const double starts = loops > 0 ? around_[loops - 1] : 1;
  if (statement.result_in_registers)
    cycles += starts * (2 * rows * vectors + kTileStartCycles);
  else
    each += 2 * rows * vectors / kLoadsPerCycle;
  if (counts && rows * trips_.back() >= counts->register_tile) {
    counts->register_tile = rows * trips_.back();
    counts->tile_efficiency = issue / each;
  }
  return cycles + runs * each;
}

double ShapeCostModel::copy_cycles(const ShapeStatement& statement, CostCounts* counts) const {
  double cycles = 0;
  for (std::size_t s = 0; s < statement.streams.size(); ++s) {
    const ShapeStream& stream = statement.streams[s];
    if (!stream.active || stream.copy_cycles <= 0) continue;
    double elements = 1;
    for (const std::vector<long>& row : stream.coefficients) {
      double extent = 1;
      for (std::size_t m = 0; m < members_; ++m) extent += double(std::abs(row[m])) * (spans_[stream.below * members_ + m] - 1);
      elements *= extent;
    }
    elements *= around_[stream.below];
    if (counts) counts->copied_elements += elements;
    cycles += elements * stream.copy_cycles;
  }
  return cycles;
}

double ShapeCostModel::speedup(const KernelShape& shape, const ShapeStatement& statement, double* parallel_trips) const {
  for (std::size_t p = 0; p < depth_; ++p) {
    if (shape.digits[static_cast<std::size_t>(statement.path[p])].kind != LevelKind::independent) continue;
    // A member that is not cut is shared by its only loop.
    std::size_t loop = p;
    const int member = shape.digits[static_cast<std::size_t>(statement.path[p])].member;
    while (loop < depth_ &&
           (trips_[loop] <= 1 || shape.digits[static_cast<std::size_t>(statement.path[loop])].member != member))
      ++loop;
    *parallel_trips = loop < depth_ ? trips_[loop] : 1;
    return *parallel_trips / std::ceil(*parallel_trips / threads_);
  }
  return 1;
}

Cost ShapeCostModel::estimate(const KernelShape& shape, CostCounts* counts) {
  Cost total;
  const double frequency = std::max(machine_.frequency, 1e8);
  double most = 0;
  for (const ShapeStatement& statement : shape.statements) {
    read_trips(shape, statement);
    read_footprints(shape, statement);
    Cost cost;
    double parallel_trips = 1;
    const double share = speedup(shape, statement, &parallel_trips);
    cost.compute = compute_cycles(shape, statement, counts) / frequency / share;
    cost.copies = copy_cycles(statement, counts) / frequency / share;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const double bytes = level_bytes(statement, levels_[l]);
      cost.memory[l] = bytes / levels_[l].bandwidth / (levels_[l].shared ? std::min(share, kSharedScaling) : share);
      if (counts) counts->bytes[l] += bytes;
    }
    double sum = cost.compute + cost.copies, largest = cost.compute + cost.copies;
    cost.binding = cost.compute >= cost.copies ? 0 : 1;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      sum += cost.memory[l];
      if (cost.memory[l] <= largest) continue;
      largest = cost.memory[l];
      cost.binding = static_cast<int>(2 + l);
    }
    cost.seconds = largest + kOverlapLoss * (sum - largest);
    total = add(total, cost);
    if (!counts) continue;
    double instances = 1;
    for (std::size_t m = 0; m < members_; ++m) {
      const bool on_path = std::any_of(statement.path.begin(), statement.path.end(), [&](int digit) {
        return shape.digits[static_cast<std::size_t>(digit)].member == static_cast<int>(m);
      });
      if (on_path) instances *= shape.extents[m];
    }
    counts->instances += instances;
    counts->operations += instances * statement.operations;
    if (statement.padded) counts->padded += around_[depth_];
    if (instances < most || depth_ == 0) continue;
    most = instances;
    counts->innermost_trips = trips_.back();
    counts->parallel_trips = parallel_trips;
    counts->nearest_bytes = 0;
    for (std::size_t s = 0; s < statement.streams.size(); ++s) {
      if (!statement.streams[s].copy && statement.streams[s].active)
        counts->nearest_bytes += footprint(s, depth_ >= 2 ? depth_ - 2 : 0);
    }
  }
  return total;
}

std::string binding_name(const Cost& cost, const std::vector<std::string>& memories) {
  if (cost.binding == 0) return "compute";
  if (cost.binding == 1) return "copies";
  const auto level = static_cast<std::size_t>(cost.binding - 2);
  return level < memories.size() ? memories[level] : "memory";
}

std::vector<std::pair<std::string, double>> breakdown(const Cost& cost, const std::vector<std::string>& memories) {
  std::vector<std::pair<std::string, double>> parts = {{"compute", cost.compute}, {"copies", cost.copies}};
  for (std::size_t l = 0; l < memories.size() && l < most_memories; ++l) parts.emplace_back(memories[l], cost.memory[l]);
  return parts;
}

Cost add(const Cost& a, const Cost& b) {
  Cost sum = a.seconds >= b.seconds ? a : b;  // what binds the longer one binds both
  sum.seconds = a.seconds + b.seconds;
  sum.compute = a.compute + b.compute;
  sum.copies = a.copies + b.copies;
  for (std::size_t l = 0; l < most_memories; ++l) sum.memory[l] = a.memory[l] + b.memory[l];
  return sum;
}

}  // namespace tileopt
