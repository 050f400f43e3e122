/// One leaf of a stage, executed over the points of its box.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interpreter/flat_affine.h"
#include "interpreter/scalar_code.h"
#include "interpreter/stage_array.h"
#include "interpreter/tree_interpreter.h"
#include "ir/program.h"
#include "ir/stages.h"

namespace tileopt {

/// Carries a fault out of the walk; never leaves TreeInterpreter.
struct FaultSignal {
  TreeFault::Kind kind;
  std::string array;
  std::vector<std::int64_t> index;
};

/// The operands of a leaf at the corner of its box, for the instance that runs. Asked for only where needed: an access in the
/// untaken branch of a ternary may have no value.
class LeafCorner {
 public:
  virtual ~LeafCorner() = default;
  /// Subscripts into `subscripts`; false where the stage gives none.
  virtual bool write(std::int64_t* subscripts) = 0;
  virtual bool read(std::size_t access, std::int64_t* subscripts) = 0;
  virtual bool index(std::size_t number, std::int64_t* value) = 0;
  virtual bool extent(std::size_t digit, std::int64_t* value) = 0;
  virtual bool limited() const = 0;  ///< extents cut the box
  /// Program iterators.
  virtual bool instance(std::int64_t* iterators) = 0;
};

/// What all leaves of a run share.
struct LeafRun {
  const ErrorModel* model;
  Agents* agents;
  bool find_races;
  const StageArray* watched = nullptr;
  std::int64_t watched_offset = 0;
  bool watched_written = false;   ///< set when the watched element is written
};

struct StageOperand {
  StageArray* array = nullptr;
  ElementType type = ElementType::f32;        ///< of the value in the program
  std::vector<std::vector<long>> steps;       ///< [array dimension][box digit]
};

/// A leaf apart from its corner. For copies `statement` is null.
struct LeafShape {
  std::string name;
  LeafKind kind = LeafKind::compute;
  const Statement* statement = nullptr;
  ExprPtr merge;                              ///< of a monoid: over Read{0}, the element, and Read{1}, the body
  const FlatSet* domain = nullptr;            ///< compute: { S[iterators] } at the sizes of the run
  std::vector<long> radices;                  ///< of the box
  std::vector<bool> whole;                    ///< digits along which what is written beyond the extents is lost
  bool zero_fill = false;
  bool atomic = false;                        ///< agents may update one element at once
  StageOperand write;
  std::vector<StageOperand> reads;
  std::vector<std::vector<long>> index_steps, instance_steps;
};

class StageLeaf : private OperandSource {
 public:
  StageLeaf(LeafShape shape, LeafRun& run);

  /// Runs the box; gives the number of points. @throws FaultSignal.
  std::int64_t execute(LeafCorner& corner);
  const LeafShape& shape() const { return shape_; }
  /// The value that guard number `guard` demands of its iterator; `corner` gives what it reads. @throws FaultSignal.
  std::int64_t guard_value(std::size_t guard, LeafCorner& corner);

 private:
  /// Corner subscripts of an operand during one execution.
  struct Place {
    std::vector<std::int64_t> corner;
    std::vector<std::int64_t> element;  ///< at the current point
    bool known = false;
  };
  void begin(LeafCorner& corner);
  void run_point();
  void store_zero();
  void copy();
  void compute();
  std::int64_t offset(const StageOperand& operand, Place& place);
  std::int64_t locate(const StageOperand& operand, Place& place);
  std::int64_t write_offset();
  std::int64_t read_offset(std::size_t access);
  /// Notes the read of the element.
  void touch(const StageOperand& operand, std::int64_t at, const Place& place);
  /// Component `component` of an element as the operand's type has it.
  static TracedValue component_of(const StageOperand& operand, std::int64_t at, std::size_t component);
  /// What the statement makes of the old element and `value`.
  const TracedValue* combine(const TracedValue* value, std::int64_t at);
  void touch_write(std::int64_t at);
  void store(std::int64_t at, const std::vector<StageValue>& values);
  bool is_padding();
  /// Whether the guards and the predicate of the statement hold at the current point.
  bool has_effect();
  [[noreturn]] void fail(TreeFault::Kind kind, const StageOperand& operand, const Place& place) const;

  TracedValue read(std::size_t access, std::size_t component, bool speculative) override;
  std::int64_t index_value(std::size_t index, bool speculative) override;

  LeafShape shape_;
  LeafRun& run_;
  std::vector<ScalarCode> code_;      ///< compute: the body, and what merges a monoid
  std::vector<StageValue> values_;    ///< an element to store
  StateOperands states_;
  std::vector<std::pair<std::size_t, ScalarCode>> guards_;  ///< iterator, value
  std::vector<ScalarCode> predicate_; ///< at most one
  Place write_;
  std::vector<Place> reads_;
  std::vector<std::int64_t> point_;   ///< box point
  std::vector<std::int64_t> extents_;
  std::vector<std::int64_t> iterators_;
  LeafCorner* corner_ = nullptr;
  bool unusable_ = false;             ///< an operand of a padded point holds no value
};

}  // namespace tileopt
