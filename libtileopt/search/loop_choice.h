/// How one chain of bands (no sequence in between) is cut and ordered: the search space of loop nests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cost_models/data_volume.h"
#include "passes/passes.h"
#include "search/plan_parts.h"

namespace tileopt {

/// Decisions about one chain of bands. Members keep their order except that a permutable group may bring its vector loop innermost.
struct ChainChoice {
  std::vector<std::string> order;        ///< members, outermost first, as point loops
  std::map<std::string, long> tiles;     ///< member -> extent of its tile; absent: not cut
  std::vector<std::string> whole;        ///< members that a pin forbids to cut
  bool distribute = false;               ///< the innermost loop runs inside the branches of the sequence below
  std::string turned, lanes;             ///< boxes are squares of these two: one operand's neighbours lie along `turned`; "": they are not
  bool staged = false;                   ///< the result is gathered in a tile of its own and stored row by row
  double seconds = 0;
  std::string binding;
};

/// A chain with what lies below it.
struct Chain {
  std::vector<std::string> members;                  ///< outermost first
  std::vector<std::vector<std::string>> groups;      ///< permutable sets, outermost first; they partition `members`
  std::vector<std::string> statements;               ///< below the chain
  std::vector<std::string> carried;                  ///< members that carry a dependence at their place
  double runs = 1;                                   ///< iterations of the loops around, at the typical sizes
  bool ends_in_leaf = false;                         ///< one statement below
  bool ends_in_leaves = false;                       ///< a sequence of statements without further loops
};

/// Follows bands from `tree`; `below` is what comes after the last one.
Chain follow_chain(const Tree& tree, const std::vector<std::string>& statements, const ScheduleProposal& proposal, Tree& below);

/// Choices for a chain, best first: tiled ones where the model expects a gain, then the plain loops.
/// `outer`: members of the loops around the chain.
std::vector<ChainChoice> rank_choices(const PlanRequest& request, const Chain& chain, const std::vector<std::string>& outer,
                                      const std::map<std::string, StatementView>& views);

/// The member of `group` that suits SIMD lanes best for all `statements`, or "" where none does.
std::string vector_member(const PlanRequest& request, const std::vector<std::string>& group, const std::vector<std::string>& statements,
                          const std::map<std::string, StatementView>& views);

/// Along `member` results are neighbours (or one reduction), operands neighbours or the same.
bool moves_as_lanes(const Program& program, const StatementView& view, const std::string& member);
/// Lanes along `member` may help: a monoid is combined one by one.
bool suits_lanes(const Program& program, const StatementView& view, const std::string& member);

}  // namespace tileopt
