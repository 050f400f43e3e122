/// Which loops of a kernel may be cut, moved and run in parallel, and what may be kept near: what random Plans draw from.
/// The answers err on the side of refusing; what the passes decide is the compiler's own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/dependences.h"
#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"
#include "ir/stages.h"

namespace tileopt::testing {

/// Dependences of one kernel between values of its members. A loop's band is named by a member or a digit of it.
class OrderChoices {
 public:
  OrderChoices(const Program& program, const Dependences& dependences, const KernelPlan& plan);

  /// Whether a band over `inner`, with bands over the members `around` outside both, may take values of `outer` below it: no
  /// dependence among `statements` increases `outer` and decreases `inner`.
  bool may_pass(const std::string& outer, const std::string& inner, const std::vector<std::string>& around,
                const std::vector<std::string>& statements) const;
  /// Whether values of `outer` above a sequence may be taken into its branches: no dependence from a later branch to an earlier
  /// one increases `outer`.
  bool may_enter(const std::string& outer, const std::vector<Tree::Branch>& branches, const std::vector<std::string>& around) const;
  /// Whether the iterations of `member` may run at once: no dependence among `statements`, relaxed ones included, changes it.
  bool may_run_at_once(const std::string& member, const std::vector<std::string>& statements) const;

 private:
  struct Pair {
    std::string from, to;
    isl::map members;  ///< { [members of from] -> [members of to] }
  };
  enum class Change { same, up, down };
  /// Whether some dependence between `statements` changes the members so.
  bool exists(const std::vector<Pair>& pairs, const std::string& from, const std::string& to,
              const std::vector<std::pair<std::string, Change>>& changes) const;
  int position(const std::string& statement, const std::string& member) const;

  /// `answer()`, once for each question.
  template <class Answer>
  bool once(const std::string& question, Answer&& answer) const {
    const auto known = answers_.find(question);
    return known != answers_.end() ? known->second : answers_.emplace(question, answer()).first->second;
  }

  std::map<std::string, std::vector<std::string>> members_;
  std::vector<Pair> validity_, racing_;
  mutable std::map<std::string, bool> answers_;
};

/// The choices of all kernels of a base Plan, which every random Plan made from it draws from.
using PlanChoices = std::map<std::string, OrderChoices>;

/// A tensor that may be kept below a band.
struct KeepChoice {
  std::string tensor;
  std::string after;
  std::string statement;       ///< names the occurrence of `after`
  std::vector<long> size;      ///< of the box that is kept
};
/// All tensors and bands of the kernel whose footprint has a constant size of at most `most` elements. Only where all digits
/// below the band are bounded can that be.
std::vector<KeepChoice> keep_choices(const DigitSchedule& digits, long most);

}  // namespace tileopt::testing
