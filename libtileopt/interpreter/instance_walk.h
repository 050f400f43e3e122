/// Visits the statement instances of a Program in its original order at concrete sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interpreter/domain_bounds.h"
#include "interpreter/host_array.h"
#include "ir/program.h"

namespace tileopt {

/// What is done at an instance.
class InstanceVisitor {
 public:
  virtual ~InstanceVisitor() = default;
  /// `statement`: its number in Program::statements(); its iterators are in InstanceWalk::point(statement).
  virtual void visit(std::size_t statement) = 0;
};

/// The order tree lowered once: every band knows the bounds of each of its statements, so that a band shared by several
/// statements walks the union of their ranges and runs, at each value, those whose range holds it.
class InstanceWalk {
 public:
  InstanceWalk(const Program& program, const Sizes& sizes);

  /// Iterator values of the current instance, with at least `extra` free slots behind them.
  std::int64_t* point(std::size_t statement) { return points_[statement].data(); }
  void reserve_slots(std::size_t statement, std::size_t extra);
  /// { S[iterators] }, parameters fixed.
  const isl::set& domain(std::size_t statement) const { return domains_[statement]; }

  void run(InstanceVisitor& visitor);

 private:
  struct Entry {
    std::size_t statement;
    std::size_t level;
    std::int64_t low = 0, high = 0;  ///< range during the current walk of the band
    bool outer_active = false;       ///< whether the statement was active around it
  };
  struct Node {
    std::vector<Entry> entries;         ///< of a band; of a leaf its statements
    std::vector<std::size_t> children;  ///< a band has one, a sequence many, a leaf none
    bool band = false;
  };
  std::size_t lower(const Tree& tree, const std::vector<std::size_t>& statements, std::vector<std::size_t>& levels);
  void walk(Node& node, InstanceVisitor& visitor);
  void walk_band(Node& node, InstanceVisitor& visitor);
  void walk_shared_band(Node& node, InstanceVisitor& visitor);
  void walk_leaf(const Node& node, InstanceVisitor& visitor);
  std::size_t statement_number(const std::string& name) const;

  const Program& program_;
  std::vector<isl::set> domains_;
  std::vector<DomainBounds> bounds_;
  std::vector<std::vector<std::int64_t>> points_;
  std::vector<char> active_;  ///< the outer values of the statement's path hold for it
  std::vector<Node> nodes_;
  std::size_t root_ = 0;
};

}  // namespace tileopt
