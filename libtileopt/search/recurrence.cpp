#include "search/recurrence.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tileopt {

namespace {

/// A float's addition takes four cycles on most processors, an integer's takes one; so do comparisons of integers, minima and choices.
constexpr double kIntegerLatency = 0.25;
constexpr double kCall = 20;

/// The read is at a fixed distance from what the instance writes, and not at the same place: instance after instance waits for the one before.
bool reads_neighbour(const Statement& statement, const Access& read) {
  if (read.tensor != statement.write.tensor) return false;
  const isl::pw_multi_aff distance = isl::manage(isl_pw_multi_aff_sub(read.index.copy(), statement.write.index.copy()));
  bool fixed = true, moved = false;
  for (int d = 0; d < static_cast<int>(isl_pw_multi_aff_dim(distance.get(), isl_dim_out)); ++d) {
    const isl::pw_aff along = isl::manage(isl_pw_multi_aff_get_pw_aff(distance.get(), d));
    fixed = fixed && isl_pw_aff_is_cst(along.get()) == isl_bool_true;
    moved = moved || !isl::manage(isl_pw_aff_zero_set(along.copy())).is_equal(isl::manage(isl_pw_aff_domain(along.copy())));
  }
  return fixed && moved;
}

double latency(const Expr& expr) {
  if (std::holds_alternative<Call>(expr.node)) return kCall;
  if (const auto* chosen = std::get_if<Select>(&expr.node)) return is_float(chosen->then_value->type) ? 1 : kIntegerLatency;
  if (const auto* unary = std::get_if<Unary>(&expr.node)) return is_float(unary->operand->type) ? 1 : kIntegerLatency;
  if (const auto* binary = std::get_if<Binary>(&expr.node)) return is_float(binary->left->type) ? 1 : kIntegerLatency;
  return 0;
}

/// The longest chains below expressions, by expression: subexpressions are shared.
class Chains {
 public:
  explicit Chains(const std::vector<bool>& neighbours) : neighbours_(neighbours) {}

  /// Negative: no neighbour is read below `expr`.
  double below(const ExprPtr& expr) {
    const auto known = chains_.find(expr.get());
    if (known != chains_.end()) return known->second;
    double chain = -1;
    if (const auto* read = std::get_if<Read>(&expr->node)) {
      if (neighbours_[read->access]) chain = 0;
    } else {
      for (const ExprPtr& operand : operands(*expr)) chain = std::max(chain, below(operand));
      if (chain >= 0) chain += latency(*expr);
    }
    return chains_[expr.get()] = chain;
  }

 private:
  const std::vector<bool>& neighbours_;
  std::map<const Expr*, double> chains_;
};

}  // namespace

double recurrence_operations(const Statement& statement) {
  if (statement.combine != Combine::assign) return 0;
  std::vector<bool> neighbours;
  for (const Access& read : statement.reads) neighbours.push_back(reads_neighbour(statement, read));
  if (std::find(neighbours.begin(), neighbours.end(), true) == neighbours.end()) return 0;
  // A plain copy still waits for the store before it.
  return std::max(kIntegerLatency, Chains(neighbours).below(statement.body));
}

}  // namespace tileopt
