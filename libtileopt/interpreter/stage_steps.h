/// The operands of a stage's statements as flat functions of the dimensions that a TreeWalk binds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interpreter/stage_leaf.h"
#include "ir/program.h"
#include "ir/stages.h"

namespace tileopt {

/// Between a walk and a leaf: at each point of the walk, zero or more executions of the leaf.
class StageStep : public LeafCorner {
 public:
  /// Starts at `point`, with room for `slots()` numbers behind its dimensions; false where the leaf does not run there.
  virtual bool begin(std::int64_t* point) = 0;
  /// Goes on to the next execution at the same point.
  virtual bool next() { return false; }
  virtual std::size_t slots() const = 0;
};

/// 20-schedule: the walk's point is an instance; it is sent through its members ({ S[iterators] -> [members] }) and back.
std::unique_ptr<StageStep> members_step(const Statement& statement, const isl::map& members, const isl::set& domain, const Sizes& sizes);

/// 30-digits: the walk's point are digits. `domain`: that of `space`, parameters fixed; `instances`: { S[iterators] }, likewise.
std::unique_ptr<StageStep> digits_step(const Statement& statement, const StatementSpace& space, const isl::set& domain,
                                       const isl::set& instances, const Sizes& sizes);

/// The digits of a statement that are not in an atom's box.
struct BoxSpace {
  std::vector<std::string> dims;
  isl::set domain;                         ///< { S[dims] }: the projection of the digits' domain
  std::vector<std::size_t> positions;      ///< of `dims` among all digits
  std::vector<std::size_t> box_positions;  ///< of the box's digits among all digits
  std::vector<long> radices;
};
BoxSpace without_box(const StatementSpace& space, const isl::set& domain, const std::vector<FittedSchedule::BoxDigit>& box);
/// 40-fitted: the walk's point are the digits outside the box; every point of the box that is in the domain runs.
std::unique_ptr<StageStep> boxed_step(const Statement& statement, const StatementSpace& space, const isl::set& domain,
                                      const isl::set& instances, const BoxSpace& outer, const Sizes& sizes);

/// 50-promoted and later: the leaf's own functions. `domain`: that of the leaf, parameters fixed.
std::unique_ptr<StageStep> leaf_step(const LeafStatement& leaf, const isl::set& domain, const Sizes& sizes);

}  // namespace tileopt
