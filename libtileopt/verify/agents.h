/// Who runs what, and in which order: program order of one agent, what joins agents, and when an asynchronous run is done.
/// All relations are exact and affine: no transitive closure is taken.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "ir/machine.h"
#include "verify/execution.h"

namespace tileopt::proof {

/// An agent loop around an occurrence: its level, its place among the loops of that level counted from the innermost one outwards, its
/// position among the occurrence's loops, and the radix of the digit of the agent's number that its values are (0: it does not say).
struct AgentLoop {
  std::string level;
  std::size_t axis = 0, position = 0;
  long agents = 0;
};
/// Innermost first. Where all loops say their radix, an agent is the number that they are the digits of, the innermost one least
/// significant; else equal values at equal places of a level name the same agent, whatever digits of the Plan the loops are over.
std::vector<AgentLoop> agent_loops(const Execution& execution, const Occurrence& occurrence);
/// The agent loops and the role of two occurrences allow one agent to run both.
bool may_share_agent(const Occurrence& first, const Occurrence& second);
/// { A[..] -> B[..] : equal values of the agent loops that both have } over all that there could be.
isl::map equal_agents(const Execution& execution, const Occurrence& first, const Occurrence& second);
/// The same over all points.
isl::map same_agent(const Execution& execution, const Occurrence& first, const Occurrence& second);
/// Different agents may run the two of some pair { A[..] -> B[..] }. Several threads run what stands in no agent loop of theirs.
bool in_other_agents(const Execution& execution, const Occurrence& first, const Occurrence& second, const isl::map& pairs);
/// Several threads run this occurrence: its role has them, or it stands in fewer agent loops than others of its kernel.
bool has_threads(const Execution& execution, const Occurrence& occurrence);

/// Every thread of the agent runs the statement: what one thread closes or waits for says nothing about the others.
bool run_by_all(const Execution& execution, const Sync& sync);

/// { A[..] -> B[..] : one agent runs both, A first }, with the first `shared` loop values equal.
isl::map program_order(const Execution& execution, const Occurrence& first, const Occurrence& second, std::size_t shared = 0);

/// What orders runs of different agents, or an asynchronous run and what follows it.
class Ordering {
 public:
  explicit Ordering(const Execution& execution) : execution_(execution) {}

  /// { X[..] -> w[..] : X was issued, and is done when w returns }: at least w's `pending` commits lie between the commit that
  /// closes X's group and w. The first `shared` loop values are equal all the way.
  isl::map awaited(const Leaf& leaf, const Sync& await, std::size_t shared) const;
  /// { X[..] -> Y[..] : X is done before Y starts }, in one agent or across a barrier that joins both. `private_to_threads`:
  /// what the two touch is each thread's own, so that which thread of an agent runs what does not matter.
  isl::map done_before(const Leaf& first, const Occurrence& second, std::size_t shared, bool private_to_threads) const;
  /// { X[..] -> s[..] : the agent that ran X, or issued it, sees it done when it comes to s }
  isl::map done_before_sync(const Leaf& leaf, const Sync& sync, std::size_t shared) const;
  /// { c[..] -> w[..] : the group that commit c closes is done when w returns }
  isl::map closed_before(const Sync& commit, const Sync& await, std::size_t shared) const;
  /// { X[..] } done at some await or wait with the first `shared` loop values of X.
  isl::set completed(const Leaf& leaf, std::size_t shared) const;

  /// Barriers that all threads pass together which run the two: of the block, or of the one agent that both are in.
  std::vector<const Sync*> joins(const Occurrence& first, const Occurrence& second) const;
  /// Commits of a pipe by the agents that run `occurrence`.
  std::vector<const Sync*> commits(const Occurrence& occurrence, const std::string& pipe) const;

 private:
  /// { X[..] -> w[..] : X has signalled the phase that w waits for }
  isl::map signalled(const Leaf& leaf, const Sync& wait, std::size_t shared) const;
  isl::map ends_at(const Leaf& leaf, const Sync& sync, std::size_t shared) const;
  isl::map chain(const Occurrence& first, const Sync& await, long commits, std::size_t shared) const;

  const Execution& execution_;
  /// What is asked of a leaf for every array that it touches, and of every pair of events.
  mutable std::map<std::tuple<const Leaf*, const Sync*, std::size_t>, isl::map> awaited_;
};

/// `pairs` { A[..] -> B[..] } without those that the end of a launch orders, or that are in different blocks of one launch. A run of the
/// outermost independent loop around an occurrence is a launch; loops outside of it run on the host, launch after launch. Different
/// iterations of an independent loop are compared by check_races.
isl::map in_one_block(const Execution& execution, const Occurrence& first, const Occurrence& second, const isl::map& pairs);

/// The outermost loops of both that are over blocks: in_one_block leaves pairs with equal values of them alone.
std::size_t block_prefix(const Execution& execution, const Occurrence& first, const Occurrence& second);

/// The barrier statement joins all threads of the block: it stands in no role and in no agent loop.
bool joins_block(const Execution& execution, const Sync& sync);
/// The barrier statement joins all threads of the agent that runs it.
bool joins_agent(const Execution& execution, const Sync& sync);

}  // namespace tileopt::proof
