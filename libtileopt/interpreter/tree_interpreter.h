/// Execution of any stage of the driver on concrete sizes: its statements in its own order, with its own copies, arrays and
/// access functions, in the declared types. A wrong copy, layout, order or missing instance gives a wrong value, which
/// `compare` (interpreter.h) finds; what gives no value at all is a TreeFault.
///
/// Shares no code with the passes. Instances are enumerated with flat integer code, not with isl.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interpreter/host_array.h"
#include "interpreter/tree_walk.h"
#include "ir/ast.h"
#include "ir/machine.h"
#include "ir/program.h"
#include "ir/stages.h"

namespace tileopt {

struct TreeOptions {
  LoopOrder order = LoopOrder::forward;  ///< of bands on independent and lockstep levels
  std::uint64_t seed = 1;                ///< of LoopOrder::shuffled
  bool find_races = true;                ///< elements that two iterations of an independent band touch, one of them writing
  std::int64_t max_points = std::int64_t(1) << 26;  ///< points of leaves, and iterations of an Ast's loops
};

/// Where a run is: a statement of the stage and the values of its dimensions (of the loops around, in an Ast).
struct TreePoint {
  std::string statement;
  std::vector<std::pair<std::string, std::int64_t>> digits;
  std::string text() const;  ///< "C[ic=0, jc=1]"
};

/// What a stage does that no correct one may.
struct TreeFault {
  enum class Kind {
    uninitialised,  ///< a value is used that nobody wrote in the array's lifetime
    out_of_bounds,
    race,           ///< two iterations of a parallel band touch one element, and one of them writes
    undefined,      ///< an operand or instance has no value at this point
  };
  Kind kind;
  TreePoint where;
  std::string array;
  std::vector<std::int64_t> index;
  std::string text() const;  ///< one line
};

/// What one stage of one kernel does, apart from where it comes from.
struct StageCode {
  Tree tree;
  std::vector<LeafStatement> statements;
  std::vector<Array> arrays;                  ///< promoted arrays
  std::map<std::string, std::string> levels;  ///< dimension -> level name; others are sequential
  static StageCode of(const PromotedSchedule& promoted);
};

/// The state of a run over several kernels: program tensors keep their values from one `run` to the next.
class TreeInterpreter {
 public:
  /// `program`, `machine` and `arguments` are those of the stages; they must outlive this, and `arguments` are not changed.
  /// @throws Errors(invalid_size) where `sizes` do not fit or an array would be too large.
  TreeInterpreter(const Program& program, const Machine& machine, const Sizes& sizes, const Arrays& arguments,
                  const TreeOptions& options = {});
  ~TreeInterpreter();

  /// One kernel at one stage. Nothing where it ran to its end; after a fault the values are those of the moment.
  /// A Schedule runs in the program's original order: every instance is sent through its members and back.
  /// @throws Errors(invalid_size) beyond `max_points`.
  std::optional<TreeFault> run(const Schedule& schedule);
  std::optional<TreeFault> run(const DigitSchedule& digits);
  std::optional<TreeFault> run(const FittedSchedule& fitted);
  std::optional<TreeFault> run(const StageCode& code);
  std::optional<TreeFault> run(const Ast& ast);

  /// Remembers who writes element `offset` (row-major) of tensor `tensor` last.
  void watch(const std::string& tensor, std::int64_t offset);
  const std::optional<TreePoint>& last_writer() const;

  /// out and inout tensors: the arguments with what was written.
  Arrays results() const;
  std::int64_t points() const;  ///< box points that ran

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tileopt
