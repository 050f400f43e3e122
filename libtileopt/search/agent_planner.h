/// Plans for GPUs of loops that blocks and threads share: what the loops of a proposal are, and the digits that are made of them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "search/lane_box.h"
#include "search/loop_choice.h"
#include "search/original_loops.h"
#include "support/text.h"

namespace tileopt {

inline constexpr long kBlockThreads = 256;  ///< enough warps to hide latency, few enough that any kernel fits

/// The least power of two that is no less than `extent`, `most` at most.
long power_of_two(double extent, long most);

/// What one option allows itself; the later options ask for less.
struct Ambition {
  bool hoist = true;     ///< free loops move outside of loops that are not, where those are permutable
  bool parallel = true;
  bool promote = true;
  bool cooperate = false;  ///< a block works together on one iteration of the free loops: its threads share the loops inside
  bool wide = true;        ///< threads move several neighbours at once
  bool copies = false;     ///< what a block accumulates is its own, so that it cooperates whatever lies along the loops inside
};

class AgentPlanner {
 public:
  AgentPlanner(const PlanRequest& request, ScheduleProposal proposal) : request_(request), proposal_(std::move(proposal)) {
    for (const std::string& statement : request.kernel.statements()) {
      views_[statement] = view_statement(request.program(), statement, proposal_.members.at(statement), request.sizes);
      note_determined(statement);
    }
    proposal_.tree = separate_leaves(proposal_.tree, request.kernel.statements());
    block_ = level_of_kind(request.machine, LevelKind::independent);
    agent_ = level_of_kind(request.machine, LevelKind::barrier);
    atom_ = level_of_kind(request.machine, LevelKind::atom);
    serial_ = level_of_kind(request.machine, LevelKind::sequential);
  }

  PlanPart build(const Ambition& ambition, NameTable& names) const;
  /// Neighbours in memory lie along loops inside of the free ones: threads should run those.
  bool wants_cooperation() const { return inner_runs(proposal_.tree, request_.kernel.statements()); }
  double seconds(const Ambition& ambition) const { return estimate(proposal_.tree, request_.kernel.statements(), ambition, 1, 0, 1); }

 private:
  struct State {
    Ambition ambition;
    NameTable members, digits;
    std::map<std::string, std::string> renamed;       ///< proposal's member -> member of the Plan
    std::map<std::string, std::vector<Digit>> table;  ///< proposal's member -> digits
    std::vector<std::string> order;
    long block_threads = kBlockThreads;               ///< that share a loop inside of a block
    PlanPart part;
  };
  /// A member whose neighbours one thread moves at once.
  struct Wide {
    std::string member;
    LaneBox box;
  };
  /// Members of a chain by what they become, each in the chain's order.
  struct Roles {
    std::vector<std::string> host, parallel, inside;
  };

  Tree walk(const Tree& tree, const std::vector<std::string>& statements, bool in_block, State& state) const;
  /// Loops inside a block whose threads have no loop yet.
  Tree walk_block(const Tree& tree, const std::vector<std::string>& statements, State& state) const;
  std::string shared_member(const Chain& chain) const;
  /// Partial results that chains below have, one a thread of the block; of rows of constant length, threads that move them.
  long partial_results(const Tree& tree, const std::vector<std::string>& statements) const;
  /// Iterations of `member` that fill a block whose threads share `tree` in steps that are no sequences themselves; 1 where some step is.
  long iterations_beside(const Tree& tree, const std::string& member, const std::vector<std::string>& statements, long threads) const;
  std::optional<Wide> wide_member(const Chain& chain, const std::string& shared) const;
  /// All statements of the chain run boxes of the digit.
  void add_box(const Wide& wide, const Chain& chain, const std::string& digit, State& state) const;
  bool inner_runs(const Tree& tree, const std::vector<std::string>& statements) const;
  double runs(const std::string& member, const std::vector<std::string>& statements) const;
  double best_inner_runs(const Tree& tree, const std::vector<std::string>& statements) const;
  void share_promotions(PlanPart& part) const;
  double estimate(const Tree& tree, const std::vector<std::string>& statements, const Ambition& ambition, double launches, double parallel, double serial) const;
  Roles roles_of(const Chain& chain, bool in_block, const Ambition& ambition) const;
  /// Members that have one value where those before them are fixed: no loops.
  void note_determined(const std::string& statement);
  bool is_free(const std::string& member, const std::vector<std::string>& statements) const;
  double trips(const std::string& member, const std::vector<std::string>& statements) const;
  std::string contiguous_member(const std::vector<std::string>& members, const std::vector<std::string>& statements) const;
  std::optional<long> pinned(const std::string& level, const std::string& member, const std::vector<std::string>& statements) const;
  std::vector<std::string> cut_parallel(const Roles& roles, const Chain& chain, State& state) const;
  void cut(const std::string& member, long agents, long inside, State& state, long run = 1) const;
  std::string reason(const std::string& text) const { return "kernel " + request_.kernel.name() + ": " + text; }

  const PlanRequest& request_;
  ScheduleProposal proposal_;
  std::map<std::string, StatementView> views_;
  std::set<std::pair<std::string, std::string>> determined_;  ///< statement, member
  std::string block_, agent_, serial_, atom_;
};

}  // namespace tileopt
