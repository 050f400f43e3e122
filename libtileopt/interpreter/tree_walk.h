/// Visits the instances of a tree's statements in the order of the tree, at concrete sizes. The same walk serves a Program's
/// original order (dimensions are iterators) and every stage of the driver (dimensions are digits).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "interpreter/domain_bounds.h"
#include "ir/machine.h"
#include "ir/tree.h"

namespace tileopt {

/// In which order the values of a band are visited where the tree leaves it open (independent and lockstep levels).
enum class LoopOrder { forward, reversed, shuffled };

/// One statement of a walk.
struct WalkStatement {
  std::string name;
  std::vector<std::string> dims;  ///< in tuple order; those that no band binds run innermost, in this order
  isl::set domain;                ///< { name[dims] }, parameters fixed
  std::vector<char> guarded = {};  ///< per dimension: TreeVisitor::guarded_value gives the only value that is visited; empty: none
  bool follows = false;            ///< a copy: in bands that are guarded for all other statements it runs for their values alone
};

/// Which bands are free, and how they are visited.
struct WalkOrder {
  std::function<LevelKind(const std::string& dim)> level;  ///< empty: every band is sequential
  LoopOrder order = LoopOrder::forward;
  std::uint64_t seed = 0;                                  ///< of `shuffled`
};

/// Values low..high in the given order; `seed` is that of `shuffled`.
std::vector<std::int64_t> visiting_order(std::int64_t low, std::int64_t high, LoopOrder order, std::uint64_t seed);

/// What is done on the way.
class TreeVisitor {
 public:
  virtual ~TreeVisitor() = default;
  /// `statement`: its number in the walk; its dimensions are in TreeWalk::point(statement).
  virtual void visit(std::size_t statement) = 0;
  /// The value of a guarded dimension, under the values of the outer ones (Statement::guards).
  virtual std::int64_t guarded_value(std::size_t /*statement*/, std::size_t /*dimension*/) { return 0; }
  /// The lifetime of promoted arrays begins.
  virtual void open(const std::vector<std::string>& /*arrays*/) {}
  /// Around a band of an independent level, and before each of its values: another agent runs what follows.
  virtual void begin_parallel() {}
  virtual void next_agent() {}
  virtual void end_parallel() {}
};

/// The tree lowered once: every band knows the bounds of each of its statements, so that a band shared by several statements
/// walks the union of their ranges and runs, at each value, those whose range holds it.
class TreeWalk {
 public:
  /// Statements of the tree that are not listed are left out.
  TreeWalk(const Tree& tree, std::vector<WalkStatement> statements, WalkOrder order = {});

  /// Dimensions of the current instance, with at least as many free slots behind them as were reserved.
  std::int64_t* point(std::size_t statement) { return points_[statement].data(); }
  void reserve_slots(std::size_t statement, std::size_t extra);
  const WalkStatement& statement(std::size_t number) const { return statements_[number]; }
  std::size_t size() const { return statements_.size(); }

  void run(TreeVisitor& visitor);

 private:
  struct Entry {
    std::size_t statement;
    std::size_t level;
    std::int64_t low = 0, high = 0;  ///< range during the current walk of the band
    bool outer_active = false;       ///< whether the statement was active around it
  };
  struct Node {
    std::vector<Entry> entries;         ///< of a band; of a leaf its statements
    std::vector<std::size_t> children;  ///< a band or allocation has one, a sequence many, a leaf none
    std::vector<std::string> arrays;    ///< of an allocation
    bool band = false;
    bool independent = false;           ///< a band whose values are run by different agents
    bool free = false;                  ///< a band whose values may be visited in any order
  };
  std::size_t lower(const Tree& tree, const std::vector<std::size_t>& statements, std::vector<std::size_t>& levels);
  std::size_t lower_leaf(const std::vector<std::size_t>& statements, std::vector<std::size_t>& levels);
  std::size_t add(Node node);
  void walk(Node& node, TreeVisitor& visitor);
  /// Range of the entry's dimension under the outer ones; one value, or none, where it is guarded.
  bool range_of(const Entry& entry, TreeVisitor& visitor, std::int64_t* low, std::int64_t* high);
  bool is_guarded(const Entry& entry) const;
  void restrict_followers(Node& node) const;
  void walk_single_band(Node& node, TreeVisitor& visitor);
  void walk_band(Node& node, TreeVisitor& visitor);
  void walk_leaf(const Node& node, TreeVisitor& visitor);
  void enter_value(Node& node, std::int64_t value, TreeVisitor& visitor);

  std::vector<WalkStatement> statements_;
  WalkOrder order_;
  std::vector<DomainBounds> bounds_;
  std::vector<std::vector<std::int64_t>> points_;
  std::vector<bool> active_;  ///< whether the values bound so far can lead to an instance
  std::vector<Node> nodes_;
  std::size_t root_ = 0;
  std::uint64_t bands_walked_ = 0;
};

}  // namespace tileopt
