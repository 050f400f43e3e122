/// Which dependence pairs a tree reverses or a band carries: the legality test of the passes (verify has its own).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/stages.h"
#include "ir/tree.h"

namespace tileopt {

/// Two instances of a dependence. False where there is none.
struct DependencePair {
  std::string source, sink;  ///< statements
  isl::map instances;        ///< { source[..] -> sink[..] }, all pairs that break the rule
  explicit operator bool() const { return !source.empty(); }
};

class OrderChecker {
 public:
  OrderChecker(const Tree& tree, const std::vector<StatementSpace>& statements);
  /// Pairs of `dependences` { S -> T } (program instances) that do not run strictly forward, or none.
  DependencePair reversed_pair(const isl::union_map& dependences) const;
  /// Pairs that run at equal time outside the band over `dim` and at different values of `dim`, or none.
  DependencePair carried_pair(const isl::union_map& dependences, const std::string& dim) const;

 private:
  /// { time -> time' } of one dependence map.
  isl::map times(const isl::map& dependence) const;
  std::map<std::string, isl::map> time_;                     ///< statement -> { S[i] -> [time] }
  std::map<std::string, std::map<std::string, int>> depth_;  ///< statement -> dim -> position in the time vector
};

/// "`S` (f.tile:4:9) writes A before `T` (f.tile:6:9) reads it".
std::string dependence_text(const Program& program, const Dependences& dependences, const DependencePair& pair);
/// "N = 3: S[i = 0] must run before T[i' = 1]".
std::string witness_text(const DependencePair& pair);

/// A dimension of `statement` that the dimensions `placed` do not determine, or "".
std::string undetermined_dims(const StatementSpace& statement, const std::vector<std::string>& placed);

}  // namespace tileopt
