// What a leaf touches: instances, subscripts, steps along the box, extents, operands.
#include "tree_edit.h"

namespace tileopt::mutation {

namespace {

using Table = std::vector<std::pair<std::string, AstStatement>>;

std::vector<Change> at_leaves(const Subject& s, const std::function<NodeEdits(const AstLeaf&, const AstStatement&, const Place&)>& edit) {
  return at_every<AstLeaf>(s, [&](const AstLeaf& leaf, const Place& place) { return edit(leaf, place.ast.statements.at(leaf.statement), place); });
}

NodeEdits wrong_corner(const AstLeaf& leaf, const AstStatement&, const Place&) {
  NodeEdits edits;
  for (std::size_t i = 0; i < leaf.instance.size(); ++i)
    for (const std::int64_t by : {1, -1})
      edits.emplace_back(leaf.statement + " iterator " + std::to_string(i), edited(leaf, [&](AstLeaf& l) { l.instance[i] = plus(l.instance[i], by); }));
  return edits;
}

NodeEdits wrong_tile_factor(const AstLeaf& leaf, const AstStatement&, const Place&) {
  NodeEdits edits;
  for (std::size_t i = 0; i < leaf.instance.size(); ++i)
    for (const AstExprPtr& changed : with_constant_changed(leaf.instance[i], 2, 1))
      edits.emplace_back(leaf.statement + ": instance " + ast_expr_text(changed), edited(leaf, [&](AstLeaf& l) { l.instance[i] = changed; }));
  return edits;
}

NodeEdits shifted_write(const AstLeaf& leaf, const AstStatement&, const Place&) {
  NodeEdits edits;
  for (std::size_t d = 0; d < leaf.write.size(); ++d)
    for (const std::int64_t by : {1, -1})
      edits.emplace_back(leaf.statement + " subscript " + std::to_string(d), edited(leaf, [&](AstLeaf& l) { l.write[d] = plus(l.write[d], by); }));
  return edits;
}

std::function<std::vector<Change>(const Subject&)> shifted_read(bool copies) {
  return [=](const Subject& s) {
    return at_leaves(s, [=](const AstLeaf& leaf, const AstStatement& statement, const Place&) {
      NodeEdits edits;
      if (is_copy(statement) != copies) return edits;
      for (std::size_t r = 0; r < leaf.reads.size(); ++r)
        for (std::size_t d = 0; d < leaf.reads[r].size(); ++d)
          for (const std::int64_t by : {1, -1})
            edits.emplace_back(leaf.statement + " reads " + statement.read_arrays[r] + " subscript " + std::to_string(d) + (by > 0 ? " + 1" : " - 1"),
                               edited(leaf, [&](AstLeaf& l) { l.reads[r][d] = plus(l.reads[r][d], by); }));
      return edits;
    });
  };
}

NodeEdits transposed(const AstLeaf& leaf, const AstStatement& statement, const Place&) {
  NodeEdits edits;
  const auto swap_in = [](std::vector<AstExprPtr>& list) {
    if (list.size() < 2 || ast_expr_text(list[0]) == ast_expr_text(list[1])) return false;
    std::swap(list[0], list[1]);
    return true;
  };
  AstLeaf copy = leaf;
  if (swap_in(copy.write)) edits.emplace_back(leaf.statement + " writes transposed", make_node(copy));
  for (std::size_t r = 0; r < leaf.reads.size(); ++r) {
    AstLeaf changed = leaf;
    if (swap_in(changed.reads[r])) edits.emplace_back(leaf.statement + " reads " + statement.read_arrays[r] + " transposed", make_node(changed));
  }
  return edits;
}

// Steps of two dimensions exchanged: the layout of a packed panel, permuted for one of its users.
Table permuted_layout(const AstStatement& s, const Ast& ast) {
  Table edits;
  const auto permuted = [](std::vector<std::vector<long>>& steps) {
    if (steps.size() < 2 || steps[steps.size() - 1] == steps[steps.size() - 2]) return false;
    std::swap(steps[steps.size() - 1], steps[steps.size() - 2]);
    return true;
  };
  AstStatement copy = s;
  if (promoted_array(ast, s.write_array) != nullptr && permuted(copy.write_steps)) edits.emplace_back("layout of " + s.write_array + " when written", copy);
  for (std::size_t r = 0; r < s.read_arrays.size(); ++r) {
    AstStatement changed = s;
    if (promoted_array(ast, s.read_arrays[r]) != nullptr && permuted(changed.read_steps[r])) edits.emplace_back("layout of " + s.read_arrays[r] + " when read", changed);
  }
  return edits;
}

// One operand runs its last box digit from the other end: its steps change sign, and its corner moves to the last lane.
AstNodePtr with_moved_writes(const AstNodePtr& node, const std::string& statement, const std::vector<long>& by) {
  if (node == nullptr) return node;
  const auto move = [&](AstNodePtr& child) { child = with_moved_writes(child, statement, by); };
  if (const auto* block = std::get_if<AstBlock>(&node->node))
    return edited(*block, [&](AstBlock& b) {
      for (AstNodePtr& child : b.children) move(child);
    });
  if (const auto* loop = std::get_if<AstFor>(&node->node)) return edited(*loop, [&](AstFor& l) { move(l.body); });
  if (const auto* branch = std::get_if<AstIf>(&node->node))
    return edited(*branch, [&](AstIf& b) {
      move(b.then_body);
      move(b.else_body);
    });
  if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) return edited(*allocate, [&](AstAllocate& a) { move(a.body); });
  const AstLeaf& leaf = std::get<AstLeaf>(node->node);
  if (leaf.statement != statement) return node;
  return edited(leaf, [&](AstLeaf& l) {
    for (std::size_t d = 0; d < l.write.size(); ++d) l.write[d] = plus(l.write[d], by[d]);
  });
}

std::vector<Change> reverse_lanes(const Subject& subject) {
  std::vector<Change> changes;
  for (std::size_t k = 0; k < subject.asts.size(); ++k)
    for (const auto& [name, statement] : subject.asts[k].statements) {
      if (statement.box.empty() || statement.box.back().radix < 2) continue;
      changes.push_back(of_kernel(k, name + " writes its lanes reversed", [key = name](Ast& ast) {
        AstStatement& table = ast.statements.at(key);
        std::vector<long> by;
        for (std::vector<long>& row : table.write_steps) {
          by.push_back(row.back() * (table.box.back().radix - 1));
          row.back() = -row.back();
        }
        ast.root = with_moved_writes(ast.root, key, by);
      }));
    }
  return changes;
}

Table wrong_steps(const AstStatement& s, const Ast&) {
  Table edits;
  const auto bump = [&](const std::string& what, const std::function<std::vector<std::vector<long>>&(AstStatement&)>& rows) {
    AstStatement original = s;
    for (std::size_t d = 0; d < rows(original).size(); ++d)
      for (std::size_t b = 0; b < rows(original)[d].size(); ++b) {
        AstStatement copy = s;
        long& step = rows(copy)[d][b];
        step += step == 0 ? 1 : -1;
        edits.emplace_back(what + " step " + std::to_string(d) + " of digit " + std::to_string(b), copy);
      }
  };
  bump("write", [](AstStatement& t) -> std::vector<std::vector<long>>& { return t.write_steps; });
  bump("instance", [](AstStatement& t) -> std::vector<std::vector<long>>& { return t.instance_steps; });
  for (std::size_t r = 0; r < s.read_steps.size(); ++r)
    bump("read", [r](AstStatement& t) -> std::vector<std::vector<long>>& { return t.read_steps[r]; });
  return edits;
}

Table wrong_box(const AstStatement& s, const Ast&) {
  Table edits;
  for (std::size_t b = 0; b < s.box.size(); ++b) {
    if (s.box[b].radix < 2) continue;
    AstStatement copy = s;
    copy.box[b].radix -= 1;
    edits.emplace_back("digit " + s.box[b].name + " one short", copy);
  }
  return edits;
}

// Another statement's body at the same instances: the zero of one reduction where another begins, a copy of another assignment.
std::vector<Change> wrong_identity(const Subject& subject) {
  std::vector<Change> changes;
  for (std::size_t k = 0; k < subject.asts.size(); ++k)
    for (const auto& [name, statement] : subject.asts[k].statements) {
      if (is_copy(statement)) continue;
      const Statement& own = subject.program->statement(statement.statement);
      if (!own.reads.empty()) continue;
      for (const Statement& other : subject.program->statements()) {
        if (other.name == own.name || other.iterators.size() != own.iterators.size() || !other.reads.empty() || other.indices.size() != own.indices.size()) continue;
        changes.push_back(of_kernel(k, name + " runs " + other.name, [key = name, wanted = other.name](Ast& ast) { ast.statements[key].statement = wanted; }));
      }
    }
  return changes;
}

Table swapped_operands(const AstStatement& s, const Ast&) {
  Table edits;
  for (std::size_t a = 0; a < s.read_arrays.size(); ++a)
    for (std::size_t b = a + 1; b < s.read_arrays.size(); ++b) {
      if (s.read_arrays[a] == s.read_arrays[b] || s.read_steps[a].size() != s.read_steps[b].size()) continue;
      AstStatement copy = s;
      std::swap(copy.read_arrays[a], copy.read_arrays[b]);
      edits.emplace_back("reads " + s.read_arrays[a] + " and " + s.read_arrays[b] + " exchanged", copy);
    }
  return edits;
}

NodeEdits changed_extents(const AstLeaf& leaf, std::int64_t by) {
  NodeEdits edits;
  for (std::size_t b = 0; b < leaf.extents.size(); ++b)
    edits.emplace_back(leaf.statement + " extent " + std::to_string(b), edited(leaf, [&](AstLeaf& l) { l.extents[b] = plus(l.extents[b], by); }));
  return edits;
}

}  // namespace

void add_access_operators(std::vector<Operator>& operators) {
  const auto leaves = [](auto edit) { return [edit](const Subject& s) { return at_leaves(s, edit); }; };
  const auto tables = [](auto edit) { return [edit](const Subject& s) { return at_every_statement(s, edit); }; };
  operators.push_back({"wrong-corner", "a leaf runs the instance beside its own", {"coverage", "values", "order"}, false, leaves(wrong_corner)});
  operators.push_back({"wrong-tile-factor", "the corner of a box is a multiple of another size", {"coverage", "values", "order"}, false, leaves(wrong_tile_factor)});
  operators.push_back({"shift-write", "a leaf writes the element beside its own", {"values", "bounds", "races", "padding"}, false, leaves(shifted_write)});
  operators.push_back({"shift-read", "a leaf reads the element beside its own", {"values", "bounds", "coverage"}, false, shifted_read(false)});
  operators.push_back({"copy-source-offset", "a copy reads the element beside its own", {"values", "bounds"}, false, shifted_read(true)});
  operators.push_back({"transpose-subscripts", "two subscripts of an access change places", {"values", "bounds", "coverage"}, false, leaves(transposed)});
  operators.push_back({"permute-layout", "one user of a promoted array has another layout in mind", {"values", "bounds", "races", "padding"}, false, tables(permuted_layout)});
  operators.push_back({"reverse-lanes", "the lanes of a write are reversed", {"values", "bounds", "coverage"}, false, reverse_lanes});
  operators.push_back({"wrong-step", "an operand moves wrongly along its box", {"values", "bounds", "races", "coverage", "padding"}, false, tables(wrong_steps)});
  operators.push_back({"short-box", "a box digit is one short", {"coverage", "values", "padding"}, false, tables(wrong_box)});
  operators.push_back({"wrong-identity", "a reduction starts from the value of another", {"coverage", "values"}, false, wrong_identity});
  operators.push_back({"swap-operands", "two operands are exchanged", {"values", "bounds"}, false, tables(swapped_operands)});
  operators.push_back({"extent-plus-one", "a partial box is one too long", {"coverage", "bounds", "values", "padding"}, false,
                       leaves([](const AstLeaf& leaf, const AstStatement&, const Place&) { return changed_extents(leaf, 1); })});
  operators.push_back({"extent-minus-one", "a partial box is one too short", {"coverage", "values", "padding"}, false,
                       leaves([](const AstLeaf& leaf, const AstStatement&, const Place&) { return changed_extents(leaf, -1); })});
  operators.push_back({"drop-extents", "a partial box runs whole", {"coverage", "bounds", "values", "padding"}, false,
                       leaves([](const AstLeaf& leaf, const AstStatement&, const Place&) -> NodeEdits {
                         if (leaf.extents.empty()) return {};
                         return {{leaf.statement, edited(leaf, [](AstLeaf& l) { l.extents.clear(); })}};
                       })});
}

}  // namespace tileopt::mutation
