/// Which dependence pairs a tree reverses or a band carries: the legality test of the passes (verify has its own).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/tree.h"

namespace tileopt {

class OrderChecker {
 public:
  OrderChecker(const Tree& tree, const std::vector<StatementSpace>& statements);
  /// A pair of `dependences` { S -> T } (program instances) that does not run strictly forward, or "".
  std::string reversed_pair(const isl::union_map& dependences) const;
  /// A pair that runs at equal time outside the band over `dim` and at different values of `dim`, or "".
  std::string carried_pair(const isl::union_map& dependences, const std::string& dim) const;

 private:
  /// { time -> time' } of one dependence map.
  isl::map times(const isl::map& dependence) const;
  std::map<std::string, isl::map> time_;                     ///< statement -> { S[i] -> [time] }
  std::map<std::string, std::map<std::string, int>> depth_;  ///< statement -> dim -> position in the time vector
};

/// A dimension of `statement` that the dimensions `placed` do not determine, or "".
std::string undetermined_dims(const StatementSpace& statement, const std::vector<std::string>& placed);

}  // namespace tileopt
