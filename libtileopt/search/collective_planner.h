/// The planner of one tile of a product that agents compute together (plan_collective.h): what both of its parts share.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "passes/bulk_copy.h"
#include "search/contraction.h"
#include "search/statement_shape.h"

namespace tileopt {

inline constexpr long kGroups = 2;       ///< of agents that run an atom together, in a block: one issues while the other waits
inline constexpr double kFewRows = 128;  ///< up to which the columns are the tile's rows: few rows are its lanes, and blocks are many
inline constexpr double kLeastSide = 64; ///< of a problem, along the rows and along the lanes

/// Rows of a tile that so many groups of agents compute.
long rows_of(const Atom& atom, long groups);

/// What else the epilogue reads: a tile of it comes into the block's memory first.
struct Operand {
  std::string tensor;
  std::size_t read = 0;             ///< of the epilogue
  std::vector<int> row_dims;        ///< subscript that each loop of the rows moves; -1: none
  int lane_dim = -1;                ///< the same of the lanes
  bool lanes_are_fast = true;
  long element_bytes = 4;
};

/// A loop along which one side of a tile runs, and how far.
struct SideLoop {
  std::size_t member = 0;
  long extent = 1;
};

/// One factor as it lies.
struct Factor {
  const AccessView* access = nullptr;
  std::vector<std::string> statements;  ///< products that read it
  std::vector<std::size_t> across;  ///< subscripts that the loops of the rows (or of the lanes) move, the farthest first
  std::size_t along = 0;            ///< subscript that the sum moves
  std::vector<long> extents;        ///< of the tile across
  std::vector<long> apart;          ///< elements of the subscript, from one row (or lane) to the next
  bool along_is_fast = true;
  long extent() const {
    long product = 1;
    for (const long e : extents) product *= e;
    return product;
  }
};

/// Part of a digit that counts along several loops: a digit of one of them.
struct DigitPart {
  std::size_t loop = 0;
  long radix = 1, weight = 1;
};
/// A digit of a count along loops of these extents, the nearest last: its parts, the farthest first.
std::vector<DigitPart> digit_parts(const std::vector<long>& extents, long radix, long weight);

/// They take the same element where their statements, which may be two, have equal iterators.
bool same_place(const Access& first, const Access& second);

/// The ways in which rows of a tile run along loops that move the left factor alone, each the nearest last: along one
/// of them that is not the contraction's own, or along several.
std::vector<std::vector<SideLoop>> share_rows(const PlanRequest& request, const Contraction& contraction, const Atom& atom, long groups);

/// One side of a tile in the block's memory.
struct TileSide {
  std::vector<int> dims;      ///< subscript that each loop moves, the nearest last; -1: none
  std::vector<long> extents;  ///< of the loops
  const std::vector<long>* steps = nullptr;  ///< of the atom's digits along it
  bool moves() const { return std::any_of(dims.begin(), dims.end(), [](int dim) { return dim >= 0; }); }
  long extent() const {
    long product = 1;
    for (const long e : extents) product *= e;
    return product;
  }
};

class CollectivePlanner {
 public:
  static constexpr long kPieceBytes = 16;  ///< that an agent copies at a time, and that swizzled rows consist of

  /// `products` run in the same loops (alike_products) and their results meet in the epilogue.
  CollectivePlanner(const PlanRequest& request, std::vector<Contraction> products, std::string epilogue, const Atom& atom, const Atom& box, const Atom& store, std::vector<SideLoop> rows, long groups, long lanes, double least_lanes);
  CollectivePlanner(const CollectivePlanner&) = delete;
  CollectivePlanner& operator=(const CollectivePlanner&) = delete;

  bool shape(std::string& why_not);
  /// The problem does not fill one tile.
  bool is_small() const;
  /// Facts about the sizes with which an engine could copy boxes of all factors; none: nothing is in its way, or something else is.
  std::vector<isl::pw_aff> facts_for_boxes() const;
  /// From here on as if the sizes were known to grant them.
  void suppose_boxes() { boxes_ = engine_; }
  std::string label() const { return atom_.name + " tiles of " + std::to_string(rows()) + "x" + std::to_string(lanes_); }
  double seconds() const;  ///< predicted, to rank tiles
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
  std::vector<long> row_extents() const {
    std::vector<long> extents;
    for (const SideLoop& loop : rows_) extents.push_back(loop.extent);
    return extents;
  }
  bool is_row(std::size_t m) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const SideLoop& loop) { return loop.member == m; });
  }
  /// A digit of the rows that lies inside of one loop.
  DigitPart row_digit(long radix, long weight) const { return digit_parts(row_extents(), radix, weight).front(); }
  std::string names_of_rows() const;
  /// Rows that one digit of the atom's box runs over: they lie in what one agent copies.
  long reach(bool right) const {
    const std::vector<long>& steps = right ? atom_.steps.lanes : atom_.steps.rows;
    long most = 1;
    for (std::size_t d = 0; d < atom_.extents.size(); ++d)
      if (d != chunk()) most = std::max(most, steps[d] * radix_of(d));
    return most;
  }
  bool find_operands(std::string& why_not);
  bool find_factors(std::string& why_not);
  bool order_sums(std::string& why_not);
  std::optional<long> iterations(std::size_t m) const;
  double terms() const;
  long runs() const;
  double step_cycles() const;
  std::size_t iterator_of(std::size_t m) const;
  std::size_t result_read() const;
  long operand_elements(const Operand& operand) const;
  long agents_across(long extent, long most, const std::vector<long>& steps) const;
  TileSide lanes_side(int dim) const { return {{dim}, {chunk_lanes()}, &atom_.steps.lanes}; }
  TileSide rows_side(std::vector<int> dims) const { return {std::move(dims), row_extents(), &atom_.steps.rows}; }
  Promotion promote_tile(const std::string& tensor, const TileSide& fast, const TileSide& slow, const std::string& after, NameTable& digits) const;
  Promotion promote_operand(const Operand& operand, const std::string& after, NameTable& digits) const;
  bool moves_across(const AccessView& access, std::size_t m, std::string& why_not) const;
  bool is_result(const std::string& tensor) const {
    return std::any_of(products_.begin(), products_.end(), [&](const Contraction& p) { return p.view.accesses[0].tensor == tensor; });
  }
  std::string why_no_boxes() const { return obstacles_.empty() ? "the machine has no engine for them" : obstacles_.front().reason; }
  std::string names_of_products() const;
  std::string names_of_results() const;
  bool find_factor(const AccessView& access, const std::vector<SideLoop>& across, Factor& factor, std::string& why_not) const;
  bool add_factors(const Contraction& product, std::string& why_not);
  long slots() const;
  long slot_bytes() const { return long(lefts_.size() * std::size_t(rows()) + rights_.size() * std::size_t(lanes_)) * depth_ * element_bytes(); }
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
  Promotion keep_result(const Contraction& product, const std::string& after, NameTable& digits) const;
  Promotion promote_factor(const Factor& factor, bool right, const std::string& after, NameTable& digits) const;
  Promotion stage_result(const std::string& after, NameTable& digits) const;
  std::string fresh(std::string name) const {
    while (request_.program().has_tensor(name)) name += "_";
    return name;
  }
  std::string level(LevelKind kind) const { return level_of_kind(request_.machine, kind); }

  const PlanRequest& request_;
  const std::vector<Contraction> products_;
  const Contraction& c_ = products_.front();  ///< whose loops are those of all
  std::string epilogue_;
  StatementView last_;  ///< of the epilogue
  const Atom& atom_;
  const Atom& box_;
  const Atom& store_;
  std::vector<SideLoop> rows_;     ///< loops that the tile's rows run along, the nearest last
  std::size_t sum_ = 0;            ///< whose terms a tile holds
  std::vector<std::size_t> sums_;  ///< all that is summed over, outermost loop first
  long groups_, lanes_;
  double least_lanes_;  ///< from which the tile pays
  long together_ = 1, group_rows_ = 0, depth_ = 0;
  std::vector<Factor> lefts_, rights_;  ///< one of each tensor
  std::vector<Operand> operands_;
  const Atom* engine_ = nullptr;  ///< copies a whole box, issued by one agent
  const Atom* boxes_ = nullptr;   ///< the same, where it takes all factors as they lie
  const Atom* pieces_ = nullptr;  ///< copies what one agent has side by side
  std::vector<BoxObstacle> obstacles_;  ///< why the first is not used
};

}  // namespace tileopt
