/// The original order in parts: where a statement gets a place of its own, and whether that keeps every dependence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"

namespace tileopt {

/// Band dimensions on the way to `statement`, outermost first.
std::vector<std::string> loops_around(const Program& program, const std::string& statement);

/// Statements that share the loop `dimension` on the way to `statement` with it, itself included.
std::vector<std::string> sharers(const Tree& order, const std::string& statement, const std::string& dimension,
                                 const std::vector<std::string>& all);

/// The tree of the statements that `keep` names; nothing where there is none.
std::optional<Tree::Branch> restrict_tree(const Tree::Branch& branch, const std::vector<std::string>& keep);

/// Pulls the loops below the `shared` outermost ones around `statement` apart:
///   ... > N   ->   ... > (N of what comes before statement ; slot... ; N of what comes after it)
Tree distribute(const Program& program, const std::string& statement, std::size_t shared, const std::vector<Tree::Branch>& slot);

/// The least number of outer loops that `statement` must keep sharing so that pulling the others apart reverses no two
/// accesses to one element, one of them a write. At most `most`.
std::size_t least_shared(const Program& program, const std::string& statement, std::size_t most);

/// `order` with the leaf of `statement` replaced (the loops around it stay).
Tree replace_leaf(const Tree& order, const std::vector<std::string>& all, const std::string& statement, const std::vector<Tree::Branch>& pieces);

/// What the loop `dimension` on the way to `statement` runs.
Tree below_loop(const Tree& order, const std::string& statement, const std::string& dimension);
/// The original order with that loop, and all in it, replaced.
Tree replace_loop(const Program& program, const std::string& statement, const std::string& dimension, const std::vector<Tree::Branch>& pieces);

/// Pairs { X -> Y } of `pairs` between whose two instances, in the original order, an element that `read` reads at X is
/// written. `read`: { X -> tensor }.
isl::map changed_between(const Program& program, const isl::map& read, const isl::map& pairs);

}  // namespace tileopt
