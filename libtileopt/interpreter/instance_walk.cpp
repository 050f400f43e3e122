#include "interpreter/instance_walk.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "support/error.h"

namespace tileopt {

namespace {
/// Positions of a statement's iterators in the order in which the tree binds them.
std::vector<std::uint32_t> binding_order(const Program& program, const Statement& statement) {
  std::vector<std::uint32_t> order;
  for (const std::string& dim : path_dims(program.order(), statement.name)) {
    const auto found = std::find(statement.iterators.begin(), statement.iterators.end(), dim);
    TILEOPT_CHECK(found != statement.iterators.end(), "statement " + statement.name + " has no iterator " + dim);
    order.push_back(static_cast<std::uint32_t>(found - statement.iterators.begin()));
  }
  return order;
}
}  // namespace

InstanceWalk::InstanceWalk(const Program& program, const Sizes& sizes) : program_(program) {
  for (const Statement& s : program.statements()) {
    domains_.push_back(fix_parameters(s.domain, sizes));
    bounds_.emplace_back(domains_.back(), binding_order(program, s));
    points_.emplace_back(s.iterators.size() + bounds_.back().extra_slots() + 1);
  }
  std::vector<std::size_t> all(program.statements().size());
  std::iota(all.begin(), all.end(), std::size_t(0));
  std::vector<std::size_t> levels(all.size(), 0);
  root_ = lower(program.order(), all, levels);
}

void InstanceWalk::reserve_slots(std::size_t statement, std::size_t extra) {
  const std::size_t needed = program_.statements()[statement].iterators.size() + extra + 1;
  if (points_[statement].size() < needed) points_[statement].resize(needed);
}

std::size_t InstanceWalk::statement_number(const std::string& name) const {
  for (std::size_t s = 0; s < program_.statements().size(); ++s)
    if (program_.statements()[s].name == name) return s;
  TILEOPT_CHECK(false, "the order names an unknown statement " + name);
  return 0;
}

std::size_t InstanceWalk::lower(const Tree& tree, const std::vector<std::size_t>& statements, std::vector<std::size_t>& levels) {
  Node node;
  switch (tree.kind()) {
    case Tree::Kind::allocate:
    case Tree::Kind::nested: return lower(tree.child(), statements, levels);
    case Tree::Kind::leaf:
      for (const std::size_t s : statements) node.entries.push_back({s, levels[s]});
      break;
    case Tree::Kind::band:
      node.band = true;
      for (const std::size_t s : statements) node.entries.push_back({s, levels[s]++});
      node.children.push_back(lower(tree.child(), statements, levels));
      break;
    case Tree::Kind::sequence:
      for (const Tree::Branch& branch : tree.branches()) {
        std::vector<std::size_t> below;
        for (const std::string& name : branch.statements) below.push_back(statement_number(name));
        node.children.push_back(lower(branch.tree, below, levels));
      }
      break;
  }
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

void InstanceWalk::run(InstanceVisitor& visitor) {
  active_.clear();
  for (const DomainBounds& bounds : bounds_) active_.push_back(!bounds.empty());
  walk(nodes_[root_], visitor);
}

void InstanceWalk::walk(Node& node, InstanceVisitor& visitor) {
  if (node.band) {
    if (node.entries.size() == 1) walk_band(node, visitor);
    else walk_shared_band(node, visitor);
  } else if (!node.children.empty()) {
    for (const std::size_t child : node.children) walk(nodes_[child], visitor);
  } else {
    walk_leaf(node, visitor);
  }
}

void InstanceWalk::walk_band(Node& node, InstanceVisitor& visitor) {
  const Entry entry = node.entries.front();
  if (!active_[entry.statement]) return;
  const DomainBounds& bounds = bounds_[entry.statement];
  std::int64_t* values = points_[entry.statement].data();
  std::int64_t low, high;
  if (!bounds.range(entry.level, values, &low, &high)) return;
  std::int64_t& iterator = values[bounds.iterator(entry.level)];
  Node& child = nodes_[node.children.front()];
  if (!child.band && child.children.empty() && bounds.exact()) {
    for (iterator = low; iterator <= high; ++iterator) visitor.visit(entry.statement);
    return;
  }
  for (iterator = low; iterator <= high; ++iterator) walk(child, visitor);
}

void InstanceWalk::walk_shared_band(Node& node, InstanceVisitor& visitor) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  for (Entry& entry : node.entries) {
    entry.outer_active = active_[entry.statement];
    entry.high = std::numeric_limits<std::int64_t>::min();
    entry.low = std::numeric_limits<std::int64_t>::max();
    if (entry.outer_active)
      bounds_[entry.statement].range(entry.level, points_[entry.statement].data(), &entry.low, &entry.high);
    first = std::min(first, entry.low);
    last = std::max(last, entry.high);
  }
  for (std::int64_t x = first; x <= last; ++x) {
    for (const Entry& entry : node.entries) {
      active_[entry.statement] = entry.low <= x && x <= entry.high;
      points_[entry.statement][bounds_[entry.statement].iterator(entry.level)] = x;
    }
    walk(nodes_[node.children.front()], visitor);
  }
  for (const Entry& entry : node.entries) active_[entry.statement] = entry.outer_active;
}

void InstanceWalk::walk_leaf(const Node& node, InstanceVisitor& visitor) {
  for (const Entry& entry : node.entries) {
    if (!active_[entry.statement]) continue;
    const DomainBounds& bounds = bounds_[entry.statement];
    if (bounds.exact() || bounds.contains(points_[entry.statement].data())) visitor.visit(entry.statement);
  }
}

}  // namespace tileopt
