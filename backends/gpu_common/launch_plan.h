/// One launch of an Ast: the independent loops that its blocks are numbered by, and how many threads a block has.
#pragma once

#include <string>
#include <vector>

#include "ir/ast.h"

namespace tileopt {

/// One independent loop of a launch.
struct BlockLoop {
  const AstFor* loop = nullptr;
  bool dependent = false;  ///< its bounds mention block loops around it: the grid holds the hull, blocks test
};

struct LaunchPlan {
  std::vector<BlockLoop> blocks;          ///< outermost first; the innermost one is the fastest digit of the block number
  long threads = 1;                        ///< of a block: the largest product of the radices of nested agent loops
};

/// Product of the radices of the agent loops below `node`, which are the same around all its leaves: the weight of an agent loop around.
long agent_weight(const AstNodePtr& node);

/// `root`: the outermost independent loop. @throws Refusal (code "ast") where the loops have another shape than a launch (an edited dump).
LaunchPlan plan_launch(const AstFor& root, const std::string& independent);

}  // namespace tileopt
