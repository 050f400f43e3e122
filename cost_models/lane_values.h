/// Expressions of an Ast, evaluated for all lanes of a warp.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "interpreter/host_array.h"
#include "ir/ast.h"

namespace tileopt {

inline constexpr std::size_t kMostLanes = 64;
using Lanes = std::array<long, kMostLanes>;
Lanes all_lanes(long value);

/// Names in scope, with a value for each lane.
class LaneScope {
 public:
  explicit LaneScope(const Sizes& sizes);
  void push(const std::string& name, const Lanes& values) { values_.emplace_back(name, values); }
  void pop() { values_.pop_back(); }
  /// The innermost one of that name; null: there is none.
  Lanes* find(const std::string& name);
  /// Names that are not in scope are 0; a division by 0 gives 0 (an edited dump is refused elsewhere).
  Lanes evaluate(const AstExprPtr& expr);

 private:
  std::vector<std::pair<std::string, Lanes>> values_;
};

}  // namespace tileopt
