/// Finds where agents meet. A band on an independent level ends in a join, which orders what its iterations wrote against all
/// that follows; agents of a block meet where statements cross; lockstep bands may carry only a reduction into one register element, which the printer splits over lanes.
#include <algorithm>

#include "passes/agent_crossings.h"
#include "passes/order_check.h"
#include "passes/pass_limit.h"
#include "passes/passes.h"
#include "support/text.h"

namespace tileopt {

namespace {
void statements_below(const Tree& tree, const std::vector<std::string>& active, const std::string& dim, std::vector<std::string>& found) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return;
    case Tree::Kind::band:
      if (tree.dim() == dim)
        for (const std::string& name : active)
          if (!contains(found, name)) found.push_back(name);
      return statements_below(tree.child(), active, dim, found);
    case Tree::Kind::allocate:
    case Tree::Kind::nested: return statements_below(tree.child(), active, dim, found);
    case Tree::Kind::sequence:
      for (const Tree::Branch& b : tree.branches()) statements_below(b.tree, b.statements, dim, found);
  }
}

isl::union_map between(const isl::union_map& dependences, const std::vector<std::string>& statements) {
  isl::union_map kept = poly::empty_union_map(dependences.ctx());
  for (const isl::map& m : poly::sorted_maps(dependences))
    if (contains(statements, poly::input_name(m)) && contains(statements, poly::output_name(m))) kept = kept.unite(isl::union_map(m));
  return kept;
}

/// Position of the scope digit on a path; -1 for the whole kernel.
long scope_depth(const Array& array, const std::vector<std::string>& path) {
  if (array.scope.empty()) return -1;
  return std::find(path.begin(), path.end(), array.scope) - path.begin();
}
}  // namespace

Candidate<SynchronizedSchedule> SynchronizedSchedule::create(PipelinedSchedule pipelined, const Machine& machine) {
  SynchronizedSchedule result(std::move(pipelined));
  const PromotedSchedule& promoted = result.promoted();
  const KernelPlan& plan = promoted.plan();
  const DigitSchedule& digits = promoted.fitted().digits();
  const auto refuse = [&](const std::string& digit, const std::string& reason) {
    return Infeasible{"legality", "place_barriers", plan.name, "kernels[" + plan.name + "].digits[" + plan.owner(digit) + "]", reason};
  };
  std::vector<std::string> all;
  for (const LeafStatement& s : promoted.statements()) all.push_back(s.name);
  const OrderChecker checker(plan.tree, digits.statements());
  const isl::union_map relaxed = between(digits.kernel().dependences().relaxed, plan.statements);
  const auto array_of = [&](const std::string& name) {
    return std::find_if(promoted.arrays().begin(), promoted.arrays().end(), [&](const Array& a) { return a.name == name; });
  };

  for (const std::string& name : all) {
    std::string lanes;
    for (const std::string& dim : path_dims(promoted.tree(), name)) {
      const LevelKind kind = machine.find_level(promoted.level(dim))->kind;
      if (kind == LevelKind::lockstep) lanes = dim;
      if (kind == LevelKind::independent && !lanes.empty())
        return refuse(plan.find_digit(dim) != nullptr ? dim : lanes,
                      "digit " + dim + " on level " + promoted.level(dim) + " is inside digit " + lanes + " on level " + promoted.level(lanes) +
                          ": lanes cannot start agents of their own; put " + dim + " outside");
    }
  }
  for (const auto& [member, table] : plan.digits)
    for (const Digit& digit : table) {
      const LevelKind kind = machine.find_level(digit.level)->kind;
      if (kind != LevelKind::independent && kind != LevelKind::lockstep) continue;
      std::vector<std::string> below;
      statements_below(promoted.tree(), all, digit.name, below);
      if (kind == LevelKind::independent) result.joins_.push_back({digit.name, below});
      for (const std::string& name : below) {
        const LeafStatement& leaf = promoted.statement(name);
        const auto array = array_of(leaf.write.array);
        const long depth = std::find(leaf.dims.begin(), leaf.dims.end(), digit.name) - leaf.dims.begin();
        const bool in_register = array != promoted.arrays().end() && array->space == "register" && scope_depth(*array, leaf.dims) < depth;
        if (kind == LevelKind::independent && in_register)
          return refuse(digit.name, "iterations of `" + digit.name + "` on level " + digit.level + " would share register array " + array->name);
        if (kind != LevelKind::lockstep || leaf.kind != LeafKind::compute || relaxed.is_empty()) continue;
        if (!checker.carried_pair(between(relaxed, {leaf.statement}), digit.name)) continue;
        if (promoted.program().statement(leaf.statement).combine == Combine::monoid)
          return refuse(digit.name, "digit " + digit.name + " on level " + digit.level + " carries the monoid reduction of " + leaf.statement +
                                        ", whose lanes nothing merges");
        if (!in_register || array->elements() != 1)
          return refuse(digit.name, "digit " + digit.name + " on level " + digit.level + " carries the reduction of " + leaf.statement +
                                        ": promote " + leaf.write.array + " to one register above it");
      }
    }
  if (!machine.has_agents()) return result;
  for (const Level& level : machine.levels) {
    if (level.kind == LevelKind::independent) result.agent_levels_.independent = level.name;
    if (level.kind == LevelKind::barrier) result.agent_levels_.agent = level.name;
  }
  for (const LeafStatement& leaf : promoted.statements())
    if (const Pipe* pipe = leaf.kind == LeafKind::compute ? machine.pipe_of(leaf.atom) : nullptr) result.flights_.emplace(leaf.name, *pipe);
  if (auto problem = find_shared_owner(promoted, machine)) return *problem;
  result.crossings_ = find_crossings(promoted, machine);
  return result;
}

Document SynchronizedSchedule::write() const {
  Document d;
  d["kernel"] = promoted().plan().name;
  d["joins"] = Document::array();
  for (const Join& join : joins_) d["joins"].push_back({{"digit", join.digit}, {"orders", join.crossing}});
  if (agent_levels_.empty()) return d;
  d["crossings"] = Document::array();
  for (const Crossing& crossing : crossings_) d["crossings"].push_back({{"first", crossing.first}, {"second", crossing.second}, {"array", crossing.array}});
  for (const auto& [statement, pipe] : flights_) d["flights"][statement] = pipe.name;
  return d;
}

Candidate<SynchronizedSchedule> place_barriers(const PipelinedSchedule& pipelined, const Machine& machine) {
  const PromotedSchedule& promoted = pipelined.promoted();
  return within_limit(promoted.program().ctx(), "place_barriers", promoted.plan().name, [&] { return SynchronizedSchedule::create(pipelined, machine); });
}

}  // namespace tileopt
