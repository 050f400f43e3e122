/// The planner of one tile of a product that agents compute together (plan_collective.h): what both of its parts share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "search/contraction.h"
#include "search/statement_shape.h"

namespace tileopt {

/// What else the epilogue reads: a tile of it comes into the block's memory first.
struct Operand {
  std::string tensor;
  std::size_t read = 0;             ///< of the epilogue
  int row_dim = -1, lane_dim = -1;  ///< subscripts that rows and lanes move; -1: none
  bool lanes_are_fast = true;
  long element_bytes = 4;
};

/// One factor as it lies.
struct Factor {
  const AccessView* access = nullptr;
  std::size_t across = 0, along = 0;  ///< subscripts that rows (or lanes), and the sum, move
  long extent = 0;                    ///< of the tile across
  bool along_is_fast = true;
};

/// One side of a tile in the block's memory.
struct TileSide {
  int dim = -1;  ///< subscript that it moves; -1: none
  long extent = 0;
  const std::vector<long>* steps = nullptr;  ///< of the atom's digits along it
};

class CollectivePlanner {
 public:
  static constexpr long kPieceBytes = 16;  ///< that an agent copies at a time, and that swizzled rows consist of

  CollectivePlanner(const PlanRequest& request, const Contraction& contraction, std::string epilogue, const Atom& atom, const Atom& box, const Atom& store, long groups, long lanes, double least_lanes);

  bool shape(std::string& why_not);
  std::string label() const { return atom_.name + " tiles of " + std::to_string(rows()) + "x" + std::to_string(lanes_); }
  double seconds() const;
  PlanPart build(NameTable& names) const;

 private:
  int element_bytes() const { return c_.view.accesses[1 + c_.left].element_bytes; }
  long rows() const { return groups_ * group_rows_; }
  long threads() const { return groups_ * together_; }
  /// Of a box digit, or of the agents behind them. The open extent of the box is the outermost digit of the lanes.
  long radix_of(std::size_t d) const {
    const std::size_t box = atom_.extents.size();
    if (d >= box) return atom_.agents[d - box];
    if (atom_.extents[d] != 0) return atom_.extents[d];
    // Open digits of the lanes: each fills up to the next one, the farthest takes what is left.
    long above = lanes_;
    for (std::size_t other = 0; other < box; ++other)
      if (atom_.steps.lanes[other] > atom_.steps.lanes[d]) above = std::min(above, atom_.steps.lanes[other]);
    return std::max(1L, above / atom_.steps.lanes[d]);
  }
  const MemberRange& range(std::size_t m) const { return c_.view.ranges[m]; }
  const std::string& iterator(std::size_t m) const { return c_.view.members[m]; }
  std::size_t sum() const { return c_.reduction.back(); }
  /// Rows that one digit of the atom's box runs over: they lie in what one agent copies.
  long reach(bool right) const {
    const std::vector<long>& steps = right ? atom_.steps.lanes : atom_.steps.rows;
    long most = 1;
    for (std::size_t d = 0; d < atom_.extents.size(); ++d)
      if (d != chunk()) most = std::max(most, steps[d] * radix_of(d));
    return most;
  }
  bool find_operands(std::string& why_not);
  std::size_t iterator_of(std::size_t m) const;
  std::size_t result_read() const;
  long operand_elements(const Operand& operand) const;
  long agents_across(long extent, long most, const std::vector<long>& steps) const;
  TileSide lanes_side(int dim) const { return {dim, chunk_lanes(), &atom_.steps.lanes}; }
  TileSide rows_side(int dim) const { return {dim, rows(), &atom_.steps.rows}; }
  Promotion promote_tile(const std::string& tensor, const TileSide& fast, const TileSide& slow, const std::string& after, NameTable& digits) const;
  Promotion promote_operand(const Operand& operand, const std::string& after, NameTable& digits) const;
  bool find_factor(std::size_t read, std::size_t across, long extent, Factor& factor, std::string& why_not) const;
  long slots() const;
  long slot_bytes() const { return (rows() + lanes_) * depth_ * element_bytes(); }
  /// The farthest digit of the lanes in the atom's box: what is made of the result is stored one value of it after the other.
  std::size_t chunk() const {
    std::size_t far = 0;
    for (std::size_t d = 0; d < atom_.extents.size(); ++d)
      if (atom_.steps.lanes[d] > atom_.steps.lanes[far]) far = d;
    return far;
  }
  bool in_chunks() const { return radix_of(chunk()) > 1; }
  long chunk_lanes() const { return lanes_ / radix_of(chunk()); }
  /// Neighbours of the epilogue's result lie along the lanes.
  bool stores_lanes() const;
  long stage_bytes() const {
    const long fast = stores_lanes() ? chunk_lanes() : rows(), slow = stores_lanes() ? rows() : chunk_lanes();
    long bytes = slow * (fast + stage_pad()) * stage_element_bytes();
    for (const Operand& operand : operands_) bytes += operand_elements(operand) * operand.element_bytes + kBlockAlignment;
    return bytes;
  }
  long stage_pad() const { return kPieceBytes / stage_element_bytes(); }
  long stage_element_bytes() const { return size_bytes(request_.program().tensor(request_.program().statement(epilogue_).write.tensor).type); }
  Promotion promote_factor(const Factor& factor, const std::string& after, NameTable& digits) const;
  Promotion stage_result(const std::string& after, NameTable& digits) const;
  std::string fresh(std::string name) const {
    while (request_.program().has_tensor(name)) name += "_";
    return name;
  }
  std::string level(LevelKind kind) const { return level_of_kind(request_.machine, kind); }

  const PlanRequest& request_;
  const Contraction c_;
  std::string epilogue_;
  StatementView last_;  ///< of the epilogue
  const Atom& atom_;
  const Atom& box_;
  const Atom& store_;
  long groups_, lanes_;
  double least_lanes_;  ///< from which the tile pays
  long together_ = 1, group_rows_ = 0, depth_ = 0;
  Factor left_, right_;
  std::vector<Operand> operands_;
  const Atom* boxes_ = nullptr;   ///< copies a whole box, issued by one agent
  const Atom* pieces_ = nullptr;  ///< copies what one agent has side by side
  std::string no_boxes_;          ///< why the first is not used
};

}  // namespace tileopt
