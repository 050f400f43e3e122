#include "rewrites/order_edit.h"

#include <algorithm>

#include "rewrites/program_edit.h"
#include "support/text.h"

namespace tileopt {

namespace {

std::vector<std::string> names_of(const Program& program) {
  std::vector<std::string> names;
  for (const Statement& s : program.statements()) names.push_back(s.name);
  return names;
}

/// Sequences inside sequences become one.
Tree::Branch in_sequence(const std::vector<Tree::Branch>& pieces) {
  std::vector<Tree::Branch> flat;
  for (const Tree::Branch& piece : pieces) {
    if (piece.statements.empty()) continue;
    if (piece.tree.kind() == Tree::Kind::sequence) flat.insert(flat.end(), piece.tree.branches().begin(), piece.tree.branches().end());
    else flat.push_back(piece);
  }
  if (flat.size() == 1) return flat.front();
  Tree::Branch whole;
  for (const Tree::Branch& piece : flat) whole.statements.insert(whole.statements.end(), piece.statements.begin(), piece.statements.end());
  whole.tree = Tree::sequence(std::move(flat));
  return whole;
}

/// Statements in branches before (after) the one that leads to `statement`.
void neighbours(const Tree& tree, const std::string& statement, std::vector<std::string>& before, std::vector<std::string>& after) {
  if (tree.kind() == Tree::Kind::leaf) return;
  if (tree.kind() != Tree::Kind::sequence) return neighbours(tree.child(), statement, before, after);
  bool passed = false;
  for (const Tree::Branch& branch : tree.branches()) {
    if (contains(branch.statements, statement)) {
      passed = true;
      neighbours(branch.tree, statement, before, after);
      continue;
    }
    std::vector<std::string>& side = passed ? after : before;
    side.insert(side.end(), branch.statements.begin(), branch.statements.end());
  }
}

/// Rebuilds the way to `statement`; `change` gets what lies below `shared` bands.
template <class Change>
Tree::Branch change_below(const Tree::Branch& branch, const std::string& statement, std::size_t shared, Change&& change) {
  if (shared == 0) return change(branch);
  const Tree& tree = branch.tree;
  if (tree.kind() == Tree::Kind::band) {
    Tree::Branch below = change_below({branch.statements, tree.child()}, statement, shared - 1, change);
    return {below.statements, Tree::band(tree.dim(), below.tree)};
  }
  TILEOPT_CHECK(tree.kind() == Tree::Kind::sequence, "the original order has only bands and sequences");
  std::vector<Tree::Branch> pieces;
  for (const Tree::Branch& piece : tree.branches())
    pieces.push_back(contains(piece.statements, statement) ? change_below(piece, statement, shared, change) : piece);
  return in_sequence(pieces);
}

/// Pairs { X -> Y } that touch one element, one of them writing.
isl::map conflicts(const Program& program, const Statement& x, const Statement& y) {
  isl::map pairs = isl::manage(isl_map_empty(isl_space_map_from_domain_and_range(domain_of(program, x).space().release(),
                                                                                 domain_of(program, y).space().release())));
  const auto add = [&](const Access& a, const Access& b) {
    if (a.tensor == b.tensor) pairs = pairs.unite(access_map(program, x, a).apply_range(access_map(program, y, b).reverse()));
  };
  add(x.write, y.write);
  for (const Access& read : y.reads) add(x.write, read);
  for (const Access& read : x.reads) add(read, y.write);
  return pairs;
}

}  // namespace

std::vector<std::string> loops_around(const Program& program, const std::string& statement) { return path_dims(program.order(), statement); }

std::vector<std::string> sharers(const Tree& order, const std::string& statement, const std::string& dimension,
                                 const std::vector<std::string>& all) {
  Tree tree = order;
  std::vector<std::string> active = all;
  for (;;) {
    if (tree.kind() == Tree::Kind::leaf) return active;
    if (tree.kind() == Tree::Kind::sequence) {
      for (const Tree::Branch& branch : tree.branches()) {
        if (!contains(branch.statements, statement)) continue;
        active = branch.statements;
        tree = branch.tree;
        break;
      }
      continue;
    }
    if (tree.kind() == Tree::Kind::band && tree.dim() == dimension) return active;
    tree = tree.child();
  }
}

std::optional<Tree::Branch> restrict_tree(const Tree::Branch& branch, const std::vector<std::string>& keep) {
  Tree::Branch kept;
  for (const std::string& name : branch.statements)
    if (contains(keep, name)) kept.statements.push_back(name);
  if (kept.statements.empty()) return std::nullopt;
  const Tree& tree = branch.tree;
  switch (tree.kind()) {
    case Tree::Kind::leaf: return kept;
    case Tree::Kind::band: {
      const auto below = restrict_tree({branch.statements, tree.child()}, keep);
      return Tree::Branch{kept.statements, Tree::band(tree.dim(), below->tree)};
    }
    case Tree::Kind::sequence: {
      std::vector<Tree::Branch> pieces;
      for (const Tree::Branch& piece : tree.branches())
        if (auto part = restrict_tree(piece, keep)) pieces.push_back(std::move(*part));
      return in_sequence(pieces);
    }
    case Tree::Kind::allocate:
    case Tree::Kind::nested: break;
  }
  TILEOPT_CHECK(false, "the original order has only bands and sequences");
}

Tree distribute(const Program& program, const std::string& statement, std::size_t shared, const std::vector<Tree::Branch>& slot) {
  return change_below({names_of(program), program.order()}, statement, shared, [&](const Tree::Branch& whole) {
           std::vector<std::string> before, after;
           neighbours(whole.tree, statement, before, after);
           std::vector<Tree::Branch> pieces;
           if (auto part = restrict_tree(whole, before)) pieces.push_back(std::move(*part));
           pieces.insert(pieces.end(), slot.begin(), slot.end());
           if (auto part = restrict_tree(whole, after)) pieces.push_back(std::move(*part));
           return in_sequence(pieces);
         }).tree;
}

std::size_t least_shared(const Program& program, const std::string& statement, std::size_t most) {
  const std::vector<StatementSpace> spaces = program.spaces();
  const isl::union_map old_order = program.original_order();
  const std::vector<std::string> loops = loops_around(program, statement);
  const auto keeps_order = [&](std::size_t shared) {
    const std::vector<std::string> own(loops.begin() + static_cast<std::ptrdiff_t>(shared), loops.end());
    const isl::union_map new_order = order_map(distribute(program, statement, shared, {{{statement}, Tree::bands(own, Tree::leaf())}}), spaces);
    for (const Statement& x : program.statements()) {
      for (const Statement& y : program.statements()) {
        if (x.name == y.name) continue;
        const isl::map pairs = conflicts(program, x, y);
        if (pairs.is_empty()) continue;
        const isl::union_set first(domain_of(program, x)), second(domain_of(program, y));
        const isl::union_map before = poly::lex_lt(old_order.intersect_domain(first), old_order.intersect_domain(second));
        const isl::union_map reversed = poly::lex_lt(new_order.intersect_domain(second), new_order.intersect_domain(first)).reverse();
        if (!isl::union_map(pairs).intersect(before).intersect(reversed).is_empty()) return false;
      }
    }
    return true;
  };
  for (std::size_t shared = 0; shared < most; ++shared)
    if (keeps_order(shared)) return shared;
  return most;
}

Tree replace_leaf(const Tree& order, const std::vector<std::string>& all, const std::string& statement, const std::vector<Tree::Branch>& pieces) {
  const std::size_t depth = path_dims(order, statement).size();
  return change_below({all, order}, statement, depth, [&](const Tree::Branch& below) {
           std::vector<std::string> before, after;
           neighbours(below.tree, statement, before, after);
           std::vector<Tree::Branch> parts;
           if (auto part = restrict_tree(below, before)) parts.push_back(std::move(*part));
           parts.insert(parts.end(), pieces.begin(), pieces.end());
           if (auto part = restrict_tree(below, after)) parts.push_back(std::move(*part));
           return in_sequence(parts);
         }).tree;
}

Tree below_loop(const Tree& order, const std::string& statement, const std::string& dimension) {
  switch (order.kind()) {
    case Tree::Kind::band: return order.dim() == dimension ? order.child() : below_loop(order.child(), statement, dimension);
    case Tree::Kind::sequence:
      for (const Tree::Branch& branch : order.branches())
        if (contains(branch.statements, statement)) return below_loop(branch.tree, statement, dimension);
      break;
    case Tree::Kind::leaf:
    case Tree::Kind::allocate:
    case Tree::Kind::nested: break;
  }
  TILEOPT_CHECK(false, "no loop " + dimension + " around " + statement);
}

namespace {
Tree::Branch replaced_loop(const Tree::Branch& branch, const std::string& statement, const std::string& dimension, const std::vector<Tree::Branch>& pieces) {
  const Tree& tree = branch.tree;
  if (tree.kind() == Tree::Kind::band) {
    if (tree.dim() == dimension) return in_sequence(pieces);
    const Tree::Branch below = replaced_loop({branch.statements, tree.child()}, statement, dimension, pieces);
    return {below.statements, Tree::band(tree.dim(), below.tree)};
  }
  TILEOPT_CHECK(tree.kind() == Tree::Kind::sequence, "no loop " + dimension + " around " + statement);
  std::vector<Tree::Branch> parts;
  for (const Tree::Branch& part : tree.branches())
    parts.push_back(contains(part.statements, statement) ? replaced_loop(part, statement, dimension, pieces) : part);
  return in_sequence(parts);
}
}  // namespace

Tree replace_loop(const Program& program, const std::string& statement, const std::string& dimension, const std::vector<Tree::Branch>& pieces) {
  return replaced_loop({names_of(program), program.order()}, statement, dimension, pieces).tree;
}

isl::map changed_between(const Program& program, const isl::map& read, const isl::map& pairs) {
  isl::map changed = isl::manage(isl_map_empty(pairs.space().release()));
  const isl::union_map order = program.original_order();
  const std::string tensor = poly::output_name(read);
  const isl::union_map first = order.intersect_domain(isl::union_set(pairs.domain()));
  const isl::union_map last = order.intersect_domain(isl::union_set(pairs.range()));
  for (const Statement& writer : program.statements()) {
    if (writer.write.tensor != tensor) continue;
    const isl::union_map time = order.intersect_domain(isl::union_set(domain_of(program, writer)));
    const isl::union_map overwritten = isl::union_map(read.apply_range(access_map(program, writer, writer.write).reverse())).intersect(poly::lex_lt(first, time));
    const isl::union_map found = overwritten.apply_range(poly::lex_lt(time, last)).intersect(isl::union_map(pairs));
    if (found.is_empty()) continue;
    for (const isl::map& map : poly::sorted_maps(found)) changed = changed.unite(map);
  }
  return changed;
}

}  // namespace tileopt
