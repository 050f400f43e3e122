/// What all rewrites share. A rewrite is a free function Program -> Candidate<Rewritten> in a file of its own; it checks its
/// side conditions and says which one fails. That the result means the same is checked once more by running both programs
/// (driver/check_rewrites.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/plan.h"
#include "ir/program.h"
#include "support/error.h"

namespace tileopt {

struct Rewritten {
  Program program;
  bool exact = true;                  ///< gives the very bits of the program before, in the original order
  std::vector<std::string> numerics;  ///< permissions used
};

/// The side condition that fails. `where`: the piece of source that breaks it.
Infeasible condition_fails(const Rewriting& rewriting, const std::string& condition, const SourceLocation& where, const std::string& hint);

/// The permission that @numerics does not grant.
Infeasible not_granted(const Rewriting& rewriting, const std::string& permission, const std::string& why, const SourceLocation& where);

/// Whether updates of this kind give the same bits however they are grouped: no rounding.
bool regroups_exactly(const Program& program, const Statement& statement);

/// Whether the updates of `statement` may be grouped another way: nothing rounds, or reassociation is granted. A monoid that
/// rounds may not: no bound is known on how far another grouping lies, so that neither the rewrite nor the kernel could be checked.
std::optional<Infeasible> check_regrouping(const Program& program, const Rewriting& rewriting, const Statement& statement, const std::string& why);

/// What leaves an element as it is, bit by bit, when the reduction of `statement` combines it with it.
ExprPtr identity_of(const Program& program, const Statement& statement);

/// A value (+) another one, as the reduction of `statement` combines them.
ExprPtr combined(const Program& program, const Statement& statement, const ExprPtr& left, const ExprPtr& right);

/// A pure producer: a local, written once per element by one assignment, is computed where it is read.
Candidate<Rewritten> inline_producer(const Program& program, const Rewriting& rewriting);
/// A reduction in chunks of one loop, each into a partial result of its own, which are then combined.
Candidate<Rewritten> split_reduction(const Program& program, const Rewriting& rewriting);

/// A reduction whose terms grow along a loop of its result: a recurrence in linear work.
Candidate<Rewritten> scan_prefix(const Program& program, const Rewriting& rewriting);
/// A recurrence in blocks: scanned each by itself, what they come to, and that added to their elements.
Candidate<Rewritten> block_scan(const Program& program, const Rewriting& rewriting);
/// A recurrence in blocks, one after the other, each of runs scanned each by itself: one pass.
Candidate<Rewritten> chained_scan(const Program& program, const Rewriting& rewriting);
/// A recurrence in blocks that do not wait for each other: what each comes to, what stands before each, and the recurrence from there.
Candidate<Rewritten> reduce_scan(const Program& program, const Rewriting& rewriting);
/// Factors that all terms of a sum have are applied to the sum.
Candidate<Rewritten> hoist_factors(const Program& program, const Rewriting& rewriting);
/// A reduction accumulates into a local, from which one assignment makes its result.
Candidate<Rewritten> reduce_in_local(const Program& program, const Rewriting& rewriting);
/// A local is kept in a tensor until that is written (for `rewriting`, which its refusals name).
Candidate<Rewritten> place_local(const Program& program, const Rewriting& rewriting, const std::string& local, const std::string& target);
/// Loops around `first` that are around `second` too.
std::size_t common_loops(const Program& program, const std::string& first, const std::string& second);
/// What is computed more often than need be goes into locals.
Candidate<Rewritten> common_subexpressions(const Program& program, const Rewriting& rewriting);
/// Products of signed bytes as products of unsigned by signed ones.
Candidate<Rewritten> offset_factor(const Program& program, const Rewriting& rewriting);
/// exp through exp2.
Candidate<Rewritten> exp_to_exp2(const Program& program, const Rewriting& rewriting);

}  // namespace tileopt
