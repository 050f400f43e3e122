#include "interpreter/tree_walk.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "support/error.h"
#include "support/text.h"

namespace tileopt {

namespace {
/// Positions of a statement's dimensions in the order in which the tree binds them, then the rest.
std::vector<std::uint32_t> binding_order(const Tree& tree, const WalkStatement& statement) {
  std::vector<std::uint32_t> order;
  for (const std::string& dim : path_dims(tree, statement.name)) {
    const auto found = std::find(statement.dims.begin(), statement.dims.end(), dim);
    TILEOPT_CHECK(found != statement.dims.end(), "statement " + statement.name + " has no dimension " + dim);
    order.push_back(static_cast<std::uint32_t>(found - statement.dims.begin()));
  }
  for (std::uint32_t d = 0; d < statement.dims.size(); ++d)
    if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
  return order;
}
}  // namespace

std::vector<std::int64_t> visiting_order(std::int64_t low, std::int64_t high, LoopOrder order, std::uint64_t seed) {
  std::vector<std::int64_t> values;
  for (std::int64_t x = low; x <= high; ++x) values.push_back(x);
  switch (order) {
    case LoopOrder::forward: break;
    case LoopOrder::reversed: std::reverse(values.begin(), values.end()); break;
    case LoopOrder::shuffled: {
      std::mt19937_64 random(seed);
      for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
      break;
    }
  }
  return values;
}

TreeWalk::TreeWalk(const Tree& tree, std::vector<WalkStatement> statements, WalkOrder order)
    : statements_(std::move(statements)), order_(std::move(order)) {
  for (const WalkStatement& s : statements_) {
    bounds_.emplace_back(s.domain, binding_order(tree, s));
    points_.emplace_back(s.dims.size() + bounds_.back().extra_slots() + 1);
  }
  std::vector<std::size_t> all(statements_.size());
  std::iota(all.begin(), all.end(), std::size_t(0));
  std::vector<std::size_t> levels(all.size(), 0);
  root_ = lower(tree, all, levels);
}

void TreeWalk::reserve_slots(std::size_t statement, std::size_t extra) {
  const std::size_t needed = statements_[statement].dims.size() + extra + 1;
  if (points_[statement].size() < needed) points_[statement].resize(needed);
}

std::size_t TreeWalk::add(Node node) {
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

std::size_t TreeWalk::lower_leaf(const std::vector<std::size_t>& statements, std::vector<std::size_t>& levels) {
  Node leaf;
  for (const std::size_t s : statements) {
    TILEOPT_CHECK(statements.size() == 1 || levels[s] == statements_[s].dims.size(),
                  "statements that share a leaf have dimensions that no band binds");
    leaf.entries.push_back({s, levels[s]});
  }
  std::size_t node = add(std::move(leaf));
  for (const std::size_t s : statements) {
    for (std::size_t level = statements_[s].dims.size(); level-- > levels[s];) {
      Node band;
      band.band = true;
      band.entries.push_back({s, level});
      band.children.push_back(node);
      node = add(std::move(band));
    }
    levels[s] = statements_[s].dims.size();
  }
  return node;
}

std::size_t TreeWalk::lower(const Tree& tree, const std::vector<std::size_t>& statements, std::vector<std::size_t>& levels) {
  Node node;
  switch (tree.kind()) {
    case Tree::Kind::nested: return lower(tree.child(), statements, levels);
    case Tree::Kind::leaf: return lower_leaf(statements, levels);
    case Tree::Kind::allocate:
      node.arrays = tree.arrays();
      node.children.push_back(lower(tree.child(), statements, levels));
      break;
    case Tree::Kind::band: {
      node.band = true;
      const LevelKind kind = order_.level ? order_.level(tree.dim()) : LevelKind::sequential;
      node.independent = kind == LevelKind::independent;
      node.free = node.independent || kind == LevelKind::lockstep;
      for (const std::size_t s : statements) node.entries.push_back({s, levels[s]++});
      node.children.push_back(lower(tree.child(), statements, levels));
      break;
    }
    case Tree::Kind::sequence:
      for (const Tree::Branch& branch : tree.branches()) {
        std::vector<std::size_t> below;
        for (const std::size_t s : statements)
          if (contains(branch.statements, statements_[s].name)) below.push_back(s);
        if (!below.empty()) node.children.push_back(lower(branch.tree, below, levels));
      }
      break;
  }
  return add(std::move(node));
}

void TreeWalk::run(TreeVisitor& visitor) {
  active_.clear();
  bands_walked_ = 0;
  for (const DomainBounds& bounds : bounds_) active_.push_back(!bounds.empty());
  walk(nodes_[root_], visitor);
}

void TreeWalk::walk(Node& node, TreeVisitor& visitor) {
  if (node.band) {
    if (node.entries.size() == 1 && !node.free) walk_single_band(node, visitor);
    else walk_band(node, visitor);
    return;
  }
  if (!node.arrays.empty()) visitor.open(node.arrays);
  if (node.children.empty()) walk_leaf(node, visitor);
  for (const std::size_t child : node.children) walk(nodes_[child], visitor);
}

bool TreeWalk::range_of(const Entry& entry, TreeVisitor& visitor, std::int64_t* low, std::int64_t* high) {
  const DomainBounds& bounds = bounds_[entry.statement];
  if (!bounds.range(entry.level, points_[entry.statement].data(), low, high)) return false;
  if (!is_guarded(entry)) return true;
  const std::uint32_t dimension = bounds.iterator(entry.level);
  const std::int64_t value = visitor.guarded_value(entry.statement, dimension);
  const bool inside = *low <= value && value <= *high;
  *low = inside ? value : std::numeric_limits<std::int64_t>::max();
  *high = inside ? value : std::numeric_limits<std::int64_t>::min();
  return inside;
}

bool TreeWalk::is_guarded(const Entry& entry) const {
  const std::vector<char>& guarded = statements_[entry.statement].guarded;
  return !guarded.empty() && guarded[bounds_[entry.statement].iterator(entry.level)];
}

/// Copies run where the statements that they serve run.
void TreeWalk::restrict_followers(Node& node) const {
  const auto follows = [&](const Entry& entry) { return statements_[entry.statement].follows; };
  const auto leads = [&](const Entry& entry) { return !follows(entry) && !bounds_[entry.statement].empty(); };
  if (std::none_of(node.entries.begin(), node.entries.end(), leads)) return;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  for (const Entry& entry : node.entries) {
    if (!leads(entry)) continue;
    if (!is_guarded(entry)) return;
    first = std::min(first, entry.low);
    last = std::max(last, entry.high);
  }
  for (Entry& entry : node.entries) {
    if (!follows(entry)) continue;
    entry.low = std::max(entry.low, first);
    entry.high = std::min(entry.high, last);
  }
}

void TreeWalk::walk_single_band(Node& node, TreeVisitor& visitor) {
  const Entry entry = node.entries.front();
  if (!active_[entry.statement]) return;
  const DomainBounds& bounds = bounds_[entry.statement];
  std::int64_t* values = points_[entry.statement].data();
  std::int64_t low, high;
  if (!range_of(entry, visitor, &low, &high)) return;
  std::int64_t& iterator = values[bounds.iterator(entry.level)];
  Node& child = nodes_[node.children.front()];
  const bool leaf = !child.band && child.children.empty() && child.arrays.empty();
  if (leaf && bounds.exact()) {
    for (iterator = low; iterator <= high; ++iterator) visitor.visit(entry.statement);
    return;
  }
  for (iterator = low; iterator <= high; ++iterator) walk(child, visitor);
}

void TreeWalk::walk_band(Node& node, TreeVisitor& visitor) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  for (Entry& entry : node.entries) {
    entry.outer_active = active_[entry.statement];
    entry.high = std::numeric_limits<std::int64_t>::min();
    entry.low = std::numeric_limits<std::int64_t>::max();
    if (entry.outer_active) range_of(entry, visitor, &entry.low, &entry.high);
  }
  if (node.entries.size() > 1) restrict_followers(node);
  for (const Entry& entry : node.entries) {
    if (entry.low > entry.high) continue;
    first = std::min(first, entry.low);
    last = std::max(last, entry.high);
  }
  if (node.independent) visitor.begin_parallel();
  if (node.free && order_.order != LoopOrder::forward) {
    for (const std::int64_t x : visiting_order(first, last, order_.order, order_.seed + ++bands_walked_)) enter_value(node, x, visitor);
  } else {
    for (std::int64_t x = first; x <= last; ++x) enter_value(node, x, visitor);
  }
  if (node.independent) visitor.end_parallel();
  for (const Entry& entry : node.entries) active_[entry.statement] = entry.outer_active;
}

void TreeWalk::enter_value(Node& node, std::int64_t value, TreeVisitor& visitor) {
  if (node.independent) visitor.next_agent();
  for (const Entry& entry : node.entries) {
    active_[entry.statement] = entry.low <= value && value <= entry.high;
    points_[entry.statement][bounds_[entry.statement].iterator(entry.level)] = value;
  }
  walk(nodes_[node.children.front()], visitor);
}

void TreeWalk::walk_leaf(const Node& node, TreeVisitor& visitor) {
  for (const Entry& entry : node.entries) {
    if (!active_[entry.statement]) continue;
    const DomainBounds& bounds = bounds_[entry.statement];
    if (bounds.exact() || bounds.contains(points_[entry.statement].data())) visitor.visit(entry.statement);
  }
}

}  // namespace tileopt
