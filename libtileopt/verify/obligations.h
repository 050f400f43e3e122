/// The obligations of a Certificate, one file each. docs/proofs.md states every one as an isl formula.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"
#include "verify/agents.h"
#include "verify/execution.h"
#include "verify/last_writers.h"
#include "verify/report.h"

namespace tileopt::proof {

/// Updates of one reduction that share an element among the iterations of a lockstep loop: its pragma must merge them.
struct LaneReduction {
  std::size_t loop = 0;  ///< index into Execution::loops
  std::size_t array = 0;
  Combine combine = Combine::sum;
  friend bool operator==(const LaneReduction&, const LaneReduction&) = default;
};

struct Checker {
  const Execution& execution;
  const Machine& machine;
  const std::vector<PrintFacts>& facts;
  LastWriters& writers;
  Report& report;
  std::vector<std::string>& numerics;  ///< permissions found in use
  std::vector<LaneReduction> lane_reductions = {};  ///< found by `races`, demanded by `text`

  const Program& program() const { return *execution.program; }
  /// What was printed for a loop; null where the printer gave no facts or other loops.
  const PrintFacts::Loop* printed(std::size_t loop) const;
};

/// An obligation still without a verdict.
Obligation obligation(std::string name, std::string subject, SourceLocation where, std::string plan_entry);
std::string kernel_entry(std::size_t kernel, const std::string& rest);  ///< "kernels[0].<rest>"

void check_values(Checker& checker);
void check_versions(Checker& checker);  ///< kernels that hold one statement: which sizes choose which
void check_coverage(Checker& checker);
void check_bindings(Checker& checker);  ///< part of coverage: loops that run one value
/// All guards of the leaf's statement are settled by bound loops among its `outer_loops` outermost loops, and it has no predicate:
/// where the iteration of those loops runs at all, the statement has its effect.
bool guards_settled_outside(const Execution& execution, const Leaf& leaf, std::size_t outer_loops);
void check_order(Checker& checker);
void check_bounds(Checker& checker);
void check_padding(Checker& checker);
void check_races(Checker& checker);
/// Two atomic updates of one reduction may meet in any order; whoever else reads or writes the element may not. Notes what that permits.
bool meet_atomically(Checker& checker, const Leaf& first, const Leaf& second);
void check_happens_before(Checker& checker);  ///< part of races: agents that go on by themselves, and what is done later than issued
void check_fences_of_pipes(Checker& checker);  ///< part of races: what a pipe sees behind a fence alone
void check_collectives(Checker& checker);     ///< instructions that several agents run together
void check_rings(Checker& checker);           ///< slots and waits, and the part of races that rings order
void check_barriers(Checker& checker);        ///< part of waits: who meets, and what an await has waited for
void check_lifetimes(Checker& checker);       ///< arrays that share bytes
void check_text(Checker& checker);
/// Whether `name` occurs in the expression.
bool mentions(const AstExprPtr& expr, const std::string& name);
/// The only node below blocks of one child, where it is a `Node`; else null.
template <class Node>
const Node* only_node(const AstNodePtr& body) {
  if (body == nullptr) return nullptr;
  if (const auto* node = std::get_if<Node>(&body->node)) return node;
  const auto* block = std::get_if<AstBlock>(&body->node);
  return block != nullptr && block->children.size() == 1 ? only_node<Node>(block->children.front()) : nullptr;
}
void check_sync_text(Checker& checker, std::size_t kernel);  ///< part of text: slots, phases, bytes, pending groups
void check_wide_text(Checker& checker, std::size_t kernel);  ///< part of text: accesses that move several elements at once
void check_box_copies(Checker& checker, std::size_t kernel);  ///< part of text: boxes that an engine copies
void check_layouts(Checker& checker, std::size_t kernel);  ///< part of text: where arguments lie
/// Part of text: a loop that holds an element in a variable means what the loop over memory means.
Outcome check_accumulator(const Checker& checker, std::size_t loop, const PrintFacts& facts, const PrintFacts::Accumulator& held);
void check_capacity(Checker& checker);

}  // namespace tileopt::proof
