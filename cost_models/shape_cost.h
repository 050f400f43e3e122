/// The analytic cost of a kernel on a CPU: computation, copies, loops, and the bytes between cache levels (docs/search.md,
/// "Cost").
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "cost_models/kernel_shape.h"

namespace tileopt {

/// Caches that the model looks at, at most.
inline constexpr std::size_t most_memories = 4;

/// Seconds, and what they are made of. Parts overlap: the largest one binds, three tenths of the others show beside it.
struct Cost {
  double seconds = 0;
  double compute = 0;                             ///< arithmetic of the statements, loads and stores that hit L1, loop starts
  double copies = 0;                              ///< instructions that move elements into promoted arrays and back
  std::array<double, most_memories> memory = {};  ///< traffic that comes from beyond cache l of the machine
  int binding = 0;                                ///< 0: compute, 1: copies, 2 + l: memory l
};

/// What the cost is made of, as counts: the raw material of features. Units: counts of instances, elements and bytes.
struct CostCounts {
  double instances = 0;         ///< of all statements
  double padded = 0;            ///< instances that atoms run, padding included
  double vector_instances = 0;  ///< instances that run in lanes
  double operations = 0;
  double loop_iterations = 0;
  double innermost_trips = 0;  ///< of the statement with the most instances
  double copied_elements = 0;
  double register_tile = 0;    ///< elements of the largest register tile
  double tile_efficiency = 1;  ///< of that tile: part of the peak that its inner loop can reach
  double parallel_trips = 1;   ///< iterations of the thread loop; 1: there is none
  double nearest_bytes = 0;    ///< touched by the innermost two loops of the statement with the most instances
  std::array<double, most_memories> bytes = {};  ///< from beyond cache l
};

/// Evaluates shapes of one machine. Not for several threads at once: it keeps its scratch memory.
class ShapeCostModel {
 public:
  ShapeCostModel(const Machine& machine, int threads);

  /// A microsecond or two for a register tile with its packing.
  Cost estimate(const KernelShape& shape, CostCounts* counts = nullptr);
  const std::vector<std::string>& memory_names() const { return names_; }

 private:
  struct Level {
    double capacity = 0, bandwidth = 0;
    double line = 64;
    bool shared = false;
  };

  void read_trips(const KernelShape& shape, const ShapeStatement& statement);
  void read_footprints(const KernelShape& shape, const ShapeStatement& statement);
  double level_bytes(const ShapeStatement& statement, const Level& level) const;
  double compute_cycles(const KernelShape& shape, const ShapeStatement& statement, CostCounts* counts) const;
  double copy_cycles(const ShapeStatement& statement, CostCounts* counts) const;
  double speedup(const KernelShape& shape, const ShapeStatement& statement, double* parallel_trips) const;
  double& span(std::size_t depth, std::size_t member) { return spans_[depth * members_ + member]; }
  double footprint(std::size_t stream, std::size_t depth) const { return footprints_[stream * (depth_ + 1) + depth]; }

  const Machine& machine_;
  int threads_;
  std::vector<std::string> names_;
  std::vector<Level> levels_;
  // Of the statement that is looked at: path depth 0 is outside all loops.
  std::size_t depth_ = 0, members_ = 0;
  std::vector<double> trips_;       ///< by position in the path
  std::vector<double> around_;      ///< by depth: product of the trips outside it
  std::vector<double> spans_;       ///< by depth and member: values inside
  std::vector<double> footprints_;  ///< by stream and depth: bytes, in whole lines
  std::vector<std::size_t> mover_;  ///< by stream and depth: depth just inside the innermost loop outside `depth` that moves it
};

/// "compute", "copies", or the memory that the traffic comes from.
std::string binding_name(const Cost& cost, const std::vector<std::string>& memories);
/// Name -> seconds of every part, in a fixed order.
std::vector<std::pair<std::string, double>> breakdown(const Cost& cost, const std::vector<std::string>& memories);
/// Kernels run one after another.
Cost add(const Cost& a, const Cost& b);

}  // namespace tileopt
