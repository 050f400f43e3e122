/// Pins, read and understood: what each line of a @schedule asks for, and whether a finished Plan grants it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"
#include "search/statement_view.h"

namespace tileopt {

/// A loop as pins name it: `i`, or `S.i` where several statements have an `i`; or the name of a digit.
struct LoopName {
  std::string statement;  ///< "" = any
  std::string name;
};

struct TilePin {
  std::string level;
  LoopName loop;
  long extent = 0;  ///< 0, on sequential levels only: the loop is not cut
  const Pin* pin = nullptr;
};
struct LoopPin {
  LoopName loop;
  std::optional<long> factor;  ///< unroll(i=4)
  const Pin* pin = nullptr;
};
struct OrderPin {
  std::vector<LoopName> loops;
  const Pin* pin = nullptr;
};
struct PromotePin {
  std::string tensor;
  std::string space;           ///< "none": not promoted
  std::optional<LoopName> after;
  const Pin* pin = nullptr;
};
struct AtomPin {
  std::string statement;
  std::string atom;            ///< "" = scalar
  const Pin* pin = nullptr;
};
struct FusePin {
  std::vector<std::string> statements;
  const Pin* pin = nullptr;
};

struct PipelinePin {
  LoopName loop;
  std::optional<long> slots;     ///< 1: nothing runs ahead
  std::optional<long> distance;
  const Pin* pin = nullptr;
};

/// All pins of a schedule by primitive.
struct PinTable {
  std::vector<TilePin> tiles;
  std::vector<OrderPin> orders;
  std::vector<PromotePin> promotes;
  std::vector<LoopPin> parallels, vectorizes, unrolls;
  std::vector<AtomPin> atoms;
  std::vector<FusePin> fuses;
  std::optional<std::string> schedule;  ///< "original", "isl" or "wavefront"
  const Pin* schedule_pin = nullptr;
  std::vector<PipelinePin> pipelines;
  bool versions = true;  ///< kernels may have several; versions("off")

  bool empty() const;
  /// The extent pinned for this iterator of this statement below its digit of `level`.
  std::optional<long> tile(const std::string& level, const std::string& statement, const std::string& iterator) const;
  bool parallel(const std::string& statement, const std::string& iterator) const;
  bool vectorized(const std::string& statement, const std::string& iterator) const;
  const AtomPin* atom(const std::string& statement) const;
  const PromotePin* promote(const std::string& tensor) const;
};

/// Checks arguments and names against the program and the machine.
/// @throws Errors(invalid_pin) with the pins' positions, all of them in one run.
PinTable read_pins(const Program& program, const Pins& pins, const Machine& machine);

/// `tile("thread", i=64)`, as it is written.
std::string pin_call(const Pin& pin);
/// "pin `tile(\"thread\", i=64)`", for messages.
std::string pin_text(const Pin& pin);

}  // namespace tileopt
