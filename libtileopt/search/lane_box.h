/// Whether the innermost loop of a nest runs as boxes of an atom (several whole vectors, and a masked one at the end), and how long they are.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/plan_parts.h"

namespace tileopt {

struct LaneBox {
  long extent = 0;                           ///< iterations of the loop that one box runs
  std::map<std::string, std::string> atoms;  ///< statement -> atom
};

/// The box along `member` for all `statements` below its loop; nothing where one of them is no vector arithmetic on neighbours, where the
/// machine has no atom for it, where pins decide otherwise, or where the loop is too short to fill a vector.
/// `tile`: the loop runs inside tiles of so many iterations, and at least two boxes have to divide one; 0: it is not tiled.
std::optional<LaneBox> choose_lane_box(const PlanRequest& request, const std::map<std::string, StatementView>& views,
                                       const std::vector<std::string>& statements, const std::string& member, long tile);

/// What an atom of the statement would do with lanes along `member`: "elementwise", "reduce", or "" where it is no vector arithmetic on neighbours.
std::string lane_body(const Machine& machine, const Program& program, const StatementView& view, const std::string& member);

/// Elements along `member` that one access of a thread moves, on machines that have wide accesses: of the smallest elements that lie side by
/// side along it; 0: none.
long widest_run(const Machine& machine, const Program& program, const StatementView& view, const std::string& member);

/// The box along `member` that a thread runs with wide accesses, for all `statements` below its loop.
std::optional<LaneBox> choose_wide_box(const PlanRequest& request, const std::map<std::string, StatementView>& views, const std::vector<std::string>& statements,
                                       const std::string& member);

/// Lanes of the square boxes in which an operand whose neighbours lie along `rows` is turned, so that they lie along `lanes` as the result's do;
/// nothing where the statement is no such assignment, or either loop is shorter than that.
struct SquareBox {
  long extent = 0;
  std::string atom;
};
std::optional<SquareBox> choose_square_box(const PlanRequest& request, const StatementView& view, const std::string& rows, const std::string& lanes);

}  // namespace tileopt
