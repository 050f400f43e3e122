/// One warp of one block, run on paper: what it issues, and how long it takes by itself.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "cost_models/operand_counter.h"

namespace tileopt {

inline constexpr double kLatency = 4;  ///< cycles from one arithmetic instruction to one that needs its result

/// Iterations of a loop that stand for all, with how many each stands for.
std::vector<std::pair<long, double>> sample_trips(long trips);

std::vector<AstNodePtr> nodes_below(const AstNodePtr& node);
bool any_below(const AstNodePtr& node, const std::function<bool(const AstNode&)>& test);
/// Product of the radices of the loops over agents around the first leaf below; 0: there is no leaf.
long agents_below(const AstNodePtr& node);

class WarpWalk : protected OperandCounter {
 protected:
  using OperandCounter::OperandCounter;

  /// Bytes that the cache all cores share brings to each of them.
  double copied_per_cycle() const;
  double matrix_time(double cycles) const { return cycles * matrix_groups_ / rates_.matrix_part; }
  /// `times`: executions by this warp that this one stands for. The chain of one.
  Chain walk(const AstNodePtr& node, double times);
  /// Two leaves beside each other that write one element: compilers keep it in a register between them.
  bool writes_same(const AstNodePtr& first, const AstNodePtr& second) const;
  Chain walk_agents(const AstFor& loop, double times);
  Chain walk_branch(const AstIf& branch, double times);
  Chain walk_loop(const AstFor& loop, double times);
  /// A value from memory: some value within the bounds, the same for the same element.
  Chain walk_bound(const AstFor& loop, double times);
  Chain walk_sync(const AstSync& sync, double times);
  double block_share() const { return warp_weight_ / std::max(1.0, std::ceil(double(counts_.threads) / double(lanes_))); }
  Chain walk_leaf(const AstLeaf& leaf, double times);
  /// Extents of the box at this place: the largest of the lanes.
  std::vector<long> box_of(const AstLeaf& leaf, const AstStatement& statement);
  /// Each of the agents that run it together counts its part.
  Chain run_matrix(const Atom& atom, const AstStatement& statement, double times);
  /// A copy that goes on by itself: what it moves, and a wait that the slots hide.
  Chain run_copy(const AstLeaf& leaf, const AstStatement& statement, const Atom& atom, const std::vector<long>& box, double times);
  /// Asynchronous copies of one iteration wait together.
  double copies_of_loop() const;
  Chain run_plain(const AstLeaf& leaf, const AstStatement& statement, const Atom* atom, const std::vector<long>& box, double points, double times);
};

}  // namespace tileopt
