/// What the operands of leaves ask of memory, counted for one warp of one block.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cost_models/array_place.h"
#include "cost_models/block_footprint.h"
#include "cost_models/instruction_mix.h"
#include "cost_models/lane_values.h"
#include "cost_models/launch_walk.h"
#include "cost_models/leaf_facts.h"

namespace tileopt {

inline constexpr double kUnrolled = 4;  ///< iterations of a loop whose loads compilers issue together

/// What one warp does one after the other.
struct Chain {
  double cycles = 0;
  double waits = 0;    ///< for memory
  double hidden = 0;   ///< beside everything else
  double matrix = 0;   ///< cycles of the units for matrices: beside everything else of the loop around
  double copied = 0;   ///< bytes that copies ahead bring: likewise
  Chain& operator+=(const Chain& other) {
    cycles += other.cycles;
    waits += other.waits;
    hidden += other.hidden;
    matrix += other.matrix;
    copied += other.copied;
    return *this;
  }
  Chain times(double factor) const { return {cycles * factor, waits * factor, hidden * factor, matrix * factor, copied * factor}; }
};

/// Where a walk over a launch stands, and what it has counted.
struct WalkState {
  enum class Recording { none, typical, moved };  ///< boxes are not looked at; of a typical block; of the next one along a loop
  struct BlockLoop {
    std::string variable;
    long step = 1;
    bool several = false;
  };
  struct SerialLoop {
    std::string variable;
    long step = 1;
    double trips = 1;
  };

  WalkState(const Program& source, const Ast& tree, const PrintFacts& facts, const Machine& target, const Sizes& sizes);

  const Program& program_;
  const Ast& ast_;
  LeafFacts facts_;
  const Machine& machine_;
  const Rates rates_;
  std::map<std::string, ArrayPlace> places_;
  LaneScope scope_;                               ///< sizes, and the loops around
  std::size_t lanes_;                             ///< of a warp
  std::string independent_;                       ///< level of the loops over blocks
  std::map<std::string, InstructionMix> mixes_;   ///< by leaf statement
  std::vector<LaunchCounts> launches_;            ///< that are done

  // Of the launch that is walked.
  LaunchCounts counts_;
  std::map<std::string, TensorFootprint> tensors_;
  BlockGrid grid_;
  std::vector<BlockLoop> block_loops_;            ///< around, outermost first
  std::vector<SerialLoop> loops_;                 ///< around that one thread runs, outermost first
  Recording recording_ = Recording::none;
  std::size_t moved_loop_ = 0;
  double block_weight_ = 1, warp_weight_ = 1;     ///< blocks, and warps of all blocks, that this one stands for
  double matrix_groups_ = 1;                      ///< groups of agents of a block that run matrix instructions
  double in_flight_ = 0, registers_ = 0;
  long shared_ = 0;                               ///< bytes of a block
  long most_slots_ = 1;                           ///< of a ring
  std::set<std::string> reserved_;                ///< arrays that `shared_` counts
  std::array<long, kMostLanes> thread_{};         ///< numbers in the block, by lane
  std::array<bool, kMostLanes> active_{};
  int agent_depth_ = 0, bound_ = 0;               ///< loops around over agents; whose value comes from memory
  std::set<std::pair<std::string, std::size_t>> known_reads_;  ///< of leaves, by number: a loop around has read them for its value
  bool overwritten_ = false;                      ///< the next leaf writes the same element
};

/// Counts one operand at a time.
class OperandCounter : protected WalkState {
 protected:
  using WalkState::WalkState;

  /// What one access of a leaf needs: subscripts at the corner, steps along the box, neighbours that it moves at once.
  struct Operand {
    std::string array;
    const std::vector<AstExprPtr>& corner;
    const std::vector<std::vector<long>>& steps;
    long piece = 1;
    bool written = false;
    bool engine = false;  ///< no thread does it
    bool atomic = false;  ///< read, combined and written at once
  };

  bool any_active() const { return std::any_of(active_.begin(), active_.begin() + std::ptrdiff_t(lanes_), [](bool a) { return a; }); }
  double active_count() const { return double(std::count(active_.begin(), active_.begin() + std::ptrdiff_t(lanes_), true)); }
  void issue(double count, double times) { counts_.instructions += count * warp_weight_ * times; }
  void issue_integer(double count, double times);
  long piece_of(const AstLeaf& leaf, std::size_t number, const std::string& array);
  std::vector<Lanes> evaluate(const std::vector<AstExprPtr>& exprs);
  /// One operand of a leaf, at all points of its box that differ in it.
  Chain touch(const Operand& operand, const std::vector<long>& box, double times);
  std::vector<std::vector<long>> addresses(const ArrayPlace& place, const std::vector<Lanes>& corner, const std::vector<std::vector<long>>& offsets) const;
  /// Part of the sectors that the iteration before has not brought: what the innermost loop moves by less stays in the nearest cache.
  double fresh_part(const ArrayPlace& place, const std::vector<AstExprPtr>& corner, const std::set<long>& sectors);
  void record(const ArrayPlace& place, const std::string& name, const std::vector<Lanes>& corner, const std::vector<std::vector<long>>& offsets, bool written);
};

}  // namespace tileopt
