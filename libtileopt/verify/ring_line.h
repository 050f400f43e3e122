/// A ring as a line: over all runs of its scope, positions g = 0, 1, 2, ... What runs at which position, and in which order, is
/// affine inside one run (`base` and number of positions are symbols); across runs it is order alone, since every role walks
/// all positions of one run before those of the next. So what holds for any number of runs, of any lengths (0 and 1 too), are
/// *difference bounds*:
///
///   least(e, f):  e at g is over before f at h starts, for all h >= g + least
///   most(e, f):   f at g cannot start before e at some x <= g + most is over
///
/// Both compose by addition, so what edges and program orders together order is a shortest path (docs/decisions/015).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/machine.h"
#include "verify/agents.h"
#include "verify/execution.h"

namespace tileopt::proof {

/// One kind of event on a line: all occurrences of one synchronisation statement, or of one access of a leaf, in one role.
struct LineEvent {
  struct Member {
    const Occurrence* at = nullptr;
    const Leaf* leaf = nullptr;  ///< accesses
    const Sync* sync = nullptr;
    isl::map position;  ///< { E[v, b] -> [(k)] }, k >= 0 inside its run: of a wait, the phase's position + shift
  };
  std::string label;  ///< "wait_full", "copy_A writes A_slots"
  std::vector<Member> members;
  std::optional<std::size_t> role;
  bool elected = false;
  bool write = false;     ///< accesses
  std::size_t array = 0;  ///< accesses: index into Execution::arrays
  long shift = 0;         ///< waits: they are at k for the phase of position k - shift
  bool regular = false;   ///< happens at every position of every run

  bool is_access() const { return members.front().leaf != nullptr; }
  const Leaf& leaf() const { return *members.front().leaf; }
  const Synchronization& declared() const { return *members.front().sync->declared; }
  bool is(SyncKind kind) const { return !is_access() && declared().kind == kind; }
};

/// Why a phase of a barrier does not complete as its waits expect; empty: it does.
struct PhaseFault {
  std::string reason, witness;
};

/// Threads that stand for all of a role: the elected one, and two others.
constexpr int kThreadClasses = 3;

class RingLine {
 public:
  /// `rings`: indices of rings of one kernel that have one scope and equal numbers of positions.
  RingLine(const Execution& execution, const Ordering& ordering, std::vector<std::size_t> rings);

  const std::vector<std::size_t>& rings() const { return rings_; }
  const std::vector<LineEvent>& events() const { return events_; }
  const isl::map& positions() const { return positions_; }  ///< { [tile] -> [(k)] } that the ring's arrays are written at
  bool goes_on() const { return goes_on_; }
  /// Threads of a role are told apart by as many classes; 1 where one thread runs the event.
  int classes(const LineEvent& event) const;
  std::string barrier_name(std::size_t barrier) const { return barriers_[barrier]->name; }
  const std::vector<const Barrier*>& barriers() const { return barriers_; }
  bool signals(const LineEvent& event) const;                           ///< completes, with others, a phase
  bool signals(const LineEvent& event, const Barrier& barrier) const;  ///< of this barrier
  const std::optional<PhaseFault>& phase_fault(std::size_t barrier) const { return phase_faults_[barrier]; }

  /// e, run by thread class x, is done at g before f starts in class y at all h >= g + the result; nothing: never ordered.
  /// `one_agent`: both threads are of one agent, or of two roles.
  std::optional<long> least(std::size_t e, int x, std::size_t f, int y, bool one_agent) const;
  /// The phase of g is complete before f at h starts, for all h >= g + the result.
  std::optional<long> least_after_phase(std::size_t barrier, std::size_t f, int y) const {
    return within_[phases_[barrier]][enter_[f][static_cast<std::size_t>(y)]];
  }
  /// Of one thread: e at g comes before the same e at all h >= g + the result.
  std::optional<long> own_step(std::size_t e) const { return own_steps_[e]; }

  struct Cycle {
    std::vector<std::string> steps;  ///< "producer waits ... at g + 4"
  };
  /// A cycle of waits that does not advance.
  std::optional<Cycle> find_deadlock() const;

  /// { [[tile] -> [k]] -> [(number)] }: runs of `event` at a position, each counted `weight` times; empty where their number is
  /// not the same at all positions of an occurrence.
  std::optional<isl::pw_aff> count(const LineEvent& event, long weight) const;

 private:
  using Bound = std::optional<long>;
  struct Node {
    std::string label;
    std::size_t event = 0;
    int cls = 0;
  };

  void collect();
  void add(LineEvent::Member member, const std::string& label, bool elected, std::size_t array, bool write);
  void settle_positions();
  isl::map run_positions(const LineEvent& event) const;
  void make_nodes();
  void check_phases();
  std::optional<PhaseFault> check_phase(const Barrier& barrier) const;
  std::optional<PhaseFault> check_arrivals(const Barrier& barrier) const;
  std::optional<PhaseFault> check_bytes(const Barrier& barrier) const;
  void order_events();
  void add_edges();
  void close();

  /// Differences of positions h - g over the pairs (g of e, h of f) of one run and one agent that `keep` leaves.
  template <class Keep>
  Bound largest_difference(const LineEvent& e, const LineEvent& f, Keep&& keep) const;
  isl::map pairs_in_run(const Occurrence& first, const Occurrence& second) const;
  Bound least_of_order(const LineEvent& e, const LineEvent& f) const;
  Bound most_of_order(const LineEvent& e, const LineEvent& f) const;
  Bound least_of_await(const LineEvent& access, const LineEvent& await) const;
  Bound signal_offset(const LineEvent& access) const;
  void bound_least(std::size_t from, std::size_t to, long value, bool across);
  void bound_most(std::size_t from, std::size_t to, long value);
  void join_classes(std::size_t event);

  const Execution& execution_;
  const Ordering& ordering_;
  std::vector<std::size_t> rings_;
  std::size_t tile_dims_ = 0;
  bool goes_on_ = false;
  isl::map positions_;
  std::vector<LineEvent> events_;
  std::vector<const Barrier*> barriers_;
  std::vector<std::optional<PhaseFault>> phase_faults_;
  std::vector<Bound> own_steps_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::size_t>> enter_, leave_;  ///< [event][class] -> node
  std::vector<std::size_t> phases_;                      ///< [barrier] -> node
  std::vector<std::vector<Bound>> within_, across_;      ///< least, over threads of one agent and over any threads
  std::vector<std::vector<Bound>> needs_;                ///< most: [node][what it needs]
};

/// The lines of a kernel: rings of one scope whose runs have equal numbers of positions share one.
std::vector<RingLine> find_lines(const Execution& execution, const Ordering& ordering, std::size_t kernel);

/// { E[v, b] -> [v0..v(count-1)] }
isl::map loop_prefix(const Occurrence& occurrence, std::size_t count);

}  // namespace tileopt::proof
