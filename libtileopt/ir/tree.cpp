#include "ir/tree.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "support/error.h"
#include "support/text.h"

namespace tileopt {

struct Tree::Node {
  Kind kind = Kind::leaf;
  std::string dim;
  std::vector<std::string> arrays;
  std::vector<Branch> branches;
  Tree child;
};

std::string StatementSpace::tuple() const { return name + "[" + join(dims, ", ") + "]"; }

Tree::Tree() = default;
Tree Tree::band(std::string dim, Tree child) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::band;
  node->dim = std::move(dim);
  node->child = std::move(child);
  return Tree(node);
}
Tree Tree::sequence(std::vector<Branch> branches) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::sequence;
  node->branches = std::move(branches);
  return Tree(node);
}
Tree Tree::allocate(std::vector<std::string> arrays, Tree child) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::allocate;
  node->arrays = std::move(arrays);
  node->child = std::move(child);
  return Tree(node);
}
Tree Tree::nested(Tree child) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::nested;
  node->child = std::move(child);
  return Tree(node);
}
Tree Tree::bands(const std::vector<std::string>& dims, Tree child) {
  for (std::size_t i = dims.size(); i-- > 0;) child = band(dims[i], std::move(child));
  return child;
}

Tree::Kind Tree::kind() const { return node_ ? node_->kind : Kind::leaf; }
const std::string& Tree::dim() const {
  TILEOPT_CHECK(kind() == Kind::band, "dim() of a node that is no band");
  return node_->dim;
}
const std::vector<std::string>& Tree::arrays() const {
  TILEOPT_CHECK(kind() == Kind::allocate, "arrays() of a node that allocates nothing");
  return node_->arrays;
}
Tree Tree::child() const {
  TILEOPT_CHECK(node_ && kind() != Kind::sequence, "child() of a leaf or a sequence");
  return node_->child;
}
const std::vector<Tree::Branch>& Tree::branches() const {
  TILEOPT_CHECK(kind() == Kind::sequence, "branches() of a node that is no sequence");
  return node_->branches;
}

std::string Tree::write() const {
  switch (kind()) {
    case Kind::leaf: return "";
    case Kind::band: {
      const std::string rest = child().write();
      return dim() + (rest.empty() ? "" : " > " + rest);
    }
    case Kind::allocate: {
      const std::string rest = child().write();
      return "allocate(" + join(arrays(), ", ") + ")" + (rest.empty() ? "" : " > " + rest);
    }
    case Kind::nested: {
      const std::string rest = child().write();
      return std::string("nested") + (rest.empty() ? "" : " > " + rest);
    }
    case Kind::sequence: {
      std::string text = "(";
      for (std::size_t i = 0; i < branches().size(); ++i) {
        const std::string rest = branches()[i].tree.write();
        text += (i ? " ; " : "") + join(branches()[i].statements, ", ") + (rest.empty() ? "" : ": " + rest);
      }
      return text + ")";
    }
  }
  return "";
}

namespace {
/// Recursive descent over the text of Tree::write.
class TreeReader {
 public:
  TreeReader(const std::string& text, const std::string& file) : text_(text), file_(file) {}
  Tree read() {
    skip_space();
    if (position_ == text_.size()) return Tree();
    Tree tree = read_tree(0);
    skip_space();
    if (position_ != text_.size()) fail("unexpected text after the tree");
    return tree;
  }

 private:
  Tree read_tree(int depth) {
    if (depth > 200) fail("the tree is nested more than 200 levels deep");
    skip_space();
    if (peek() == '(') return read_sequence(depth);
    const std::string name = read_name();
    if (name == "allocate") {
      expect('(');
      std::vector<std::string> arrays = read_names();
      expect(')');
      return Tree::allocate(std::move(arrays), read_rest(depth));
    }
    if (name == "nested") return Tree::nested(read_rest(depth));
    return Tree::band(name, read_rest(depth));
  }
  Tree read_rest(int depth) {
    skip_space();
    if (peek() != '>') return Tree();
    ++position_;
    return read_tree(depth + 1);
  }
  Tree read_sequence(int depth) {
    expect('(');
    std::vector<Tree::Branch> branches;
    for (;;) {
      Tree::Branch branch;
      branch.statements = read_names();
      skip_space();
      if (peek() == ':') {
        ++position_;
        branch.tree = read_tree(depth + 1);
      }
      branches.push_back(std::move(branch));
      skip_space();
      if (peek() == ';') {
        ++position_;
        continue;
      }
      expect(')');
      return Tree::sequence(std::move(branches));
    }
  }
  std::vector<std::string> read_names() {
    std::vector<std::string> names{read_name()};
    for (skip_space(); peek() == ','; skip_space()) {
      ++position_;
      names.push_back(read_name());
    }
    return names;
  }
  std::string read_name() {
    skip_space();
    const std::size_t start = position_;
    while (position_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_'))
      ++position_;
    if (start == position_ || std::isdigit(static_cast<unsigned char>(text_[start]))) fail("a name is expected");
    return text_.substr(start, position_ - start);
  }
  void skip_space() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_]))) ++position_;
  }
  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  void expect(char c) {
    skip_space();
    if (peek() != c) fail(std::string("`") + c + "` is expected");
    ++position_;
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw Errors(Diagnostic{ErrorCode::invalid_plan, {file_, 0, 0},
                            message + " at column " + std::to_string(position_ + 1) + " of tree `" + text_.substr(0, 200) + "`",
                            "write a tree as `i0 > (S: j0 ; T)`", ""});
  }
  const std::string& text_;
  const std::string& file_;
  std::size_t position_ = 0;
};

bool find_path(const Tree& tree, const std::string& statement, bool inside, std::vector<std::string>& path) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return inside;
    case Tree::Kind::band:
      path.push_back(tree.dim());
      if (find_path(tree.child(), statement, inside, path)) return true;
      path.pop_back();
      return false;
    case Tree::Kind::allocate:
    case Tree::Kind::nested: return find_path(tree.child(), statement, inside, path);
    case Tree::Kind::sequence:
      for (const Tree::Branch& branch : tree.branches())
        if (contains(branch.statements, statement) && find_path(branch.tree, statement, true, path)) return true;
      return false;
  }
  return false;
}

/// One time entry of a statement: a sequence position or a dimension.
struct TimeEntry {
  long position = 0;
  std::string dim;  ///< empty: the constant `position`
};

void collect_time(const Tree& tree, const std::string& statement, std::vector<TimeEntry>& time) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return;
    case Tree::Kind::band:
      time.push_back({0, tree.dim()});
      return collect_time(tree.child(), statement, time);
    case Tree::Kind::allocate:
    case Tree::Kind::nested: return collect_time(tree.child(), statement, time);
    case Tree::Kind::sequence:
      for (std::size_t i = 0; i < tree.branches().size(); ++i)
        if (contains(tree.branches()[i].statements, statement)) {
          time.push_back({static_cast<long>(i), ""});
          return collect_time(tree.branches()[i].tree, statement, time);
        }
      TILEOPT_CHECK(false, "statement " + statement + " is missing from a sequence of tree " + tree.write());
  }
}

unsigned dim_position(const StatementSpace& statement, const std::string& dim) {
  const auto found = std::find(statement.dims.begin(), statement.dims.end(), dim);
  TILEOPT_CHECK(found != statement.dims.end(), "statement " + statement.tuple() + " has no dimension " + dim);
  return static_cast<unsigned>(found - statement.dims.begin());
}

isl_aff* dim_value(const StatementSpace& statement, const std::string& dim) {
  isl_local_space* space = isl_local_space_from_space(isl_set_get_space(statement.domain.get()));
  return isl_aff_var_on_domain(space, isl_dim_set, dim_position(statement, dim));
}

/// Bands above a promotion stay whole: peeling them would copy the packed nest once for every statement that joins or leaves.
bool allocates_below(const Tree& tree) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return false;
    case Tree::Kind::allocate: return true;
    case Tree::Kind::band:
    case Tree::Kind::nested: return allocates_below(tree.child());
    case Tree::Kind::sequence:
      return std::any_of(tree.branches().begin(), tree.branches().end(), [](const Tree::Branch& b) { return allocates_below(b.tree); });
  }
  return false;
}

/// Inserts `tree` at a node whose active statements are `active`.
class ScheduleEmitter {
 public:
  explicit ScheduleEmitter(const std::vector<StatementSpace>& statements) : statements_(statements) {}
  isl::schedule emit(const Tree& tree) {
    isl::union_set domain = poly::empty_union_set(statements_.front().domain.ctx());
    std::vector<std::string> names;
    for (const StatementSpace& s : statements_) {
      domain = domain.unite(isl::union_set(s.domain));
      names.push_back(s.name);
    }
    isl::schedule_node node = isl::schedule_node::from_domain(domain).child(0);
    return insert(node, tree, names).schedule();
  }

 private:
  isl::schedule_node insert(isl::schedule_node node, const Tree& tree, const std::vector<std::string>& active) {
    switch (tree.kind()) {
      case Tree::Kind::leaf: return node;
      case Tree::Kind::band:
        node = node.insert_partial_schedule(member(tree.dim(), active));
        if (allocates_below(tree.child()))
          node = isl::manage(isl_schedule_node_band_member_set_ast_loop_type(node.release(), 0, isl_ast_loop_atomic));
        return insert(node.child(0), tree.child(), active).parent();
      case Tree::Kind::allocate:
        node = insert_mark(node, "allocate:" + join(tree.arrays(), ","));
        return insert(node.child(0), tree.child(), active).parent();
      case Tree::Kind::nested:
        node = insert_mark(node, "nested");
        return insert(node.child(0), tree.child(), active).parent();
      case Tree::Kind::sequence: return insert_sequence(node, tree);
    }
    return node;
  }
  isl::schedule_node insert_sequence(isl::schedule_node node, const Tree& tree) {
    isl::union_set_list filters(node.ctx(), static_cast<int>(tree.branches().size()));
    for (const Tree::Branch& branch : tree.branches()) filters = filters.add(universe(branch.statements));
    if (tree.branches().size() == 1)
      return insert(node, tree.branches().front().tree, tree.branches().front().statements);
    node = node.insert_sequence(filters);
    for (std::size_t i = 0; i < tree.branches().size(); ++i)
      node = insert(node.child(static_cast<int>(i)).child(0), tree.branches()[i].tree, tree.branches()[i].statements).parent().parent();
    return node;
  }
  static isl::schedule_node insert_mark(isl::schedule_node node, const std::string& text) {
    return node.insert_mark(isl::manage(isl_id_alloc(node.ctx().get(), text.c_str(), nullptr)));
  }
  isl::multi_union_pw_aff member(const std::string& dim, const std::vector<std::string>& active) const {
    isl_union_pw_aff* value = nullptr;
    for (const std::string& name : active) {
      isl_union_pw_aff* piece = isl_union_pw_aff_from_pw_aff(isl_pw_aff_from_aff(dim_value(space(name), dim)));
      value = value == nullptr ? piece : isl_union_pw_aff_union_add(value, piece);
    }
    return isl::manage(isl_multi_union_pw_aff_from_union_pw_aff(value));
  }
  isl::union_set universe(const std::vector<std::string>& names) const {
    isl::union_set all = poly::empty_union_set(statements_.front().domain.ctx());
    for (const std::string& name : names) all = all.unite(isl::union_set(isl::set::universe(space(name).domain.space())));
    return all;
  }
  const StatementSpace& space(const std::string& name) const {
    for (const StatementSpace& s : statements_)
      if (s.name == name) return s;
    TILEOPT_CHECK(false, "the tree names an unknown statement " + name);
    return statements_.front();
  }
  const std::vector<StatementSpace>& statements_;
};
}  // namespace

Tree Tree::read(const std::string& text, const std::string& file) { return TreeReader(text, file).read(); }

std::vector<std::string> path_dims(const Tree& tree, const std::string& statement) {
  std::vector<std::string> path;
  if (tree.kind() == Tree::Kind::leaf) return path;
  find_path(tree, statement, true, path);
  return path;
}

Tree restrict_tree(const Tree& tree, const std::vector<std::string>& statements) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return tree;
    case Tree::Kind::band: return Tree::band(tree.dim(), restrict_tree(tree.child(), statements));
    case Tree::Kind::allocate: return Tree::allocate(tree.arrays(), restrict_tree(tree.child(), statements));
    case Tree::Kind::nested: return Tree::nested(restrict_tree(tree.child(), statements));
    case Tree::Kind::sequence: {
      std::vector<Tree::Branch> branches;
      for (const Tree::Branch& branch : tree.branches()) {
        std::vector<std::string> kept;
        for (const std::string& name : branch.statements)
          if (contains(statements, name)) kept.push_back(name);
        if (!kept.empty()) branches.push_back({kept, restrict_tree(branch.tree, kept)});
      }
      return branches.size() == 1 ? branches.front().tree : Tree::sequence(std::move(branches));
    }
  }
  return tree;
}

isl::union_map order_map(const Tree& tree, const std::vector<StatementSpace>& statements) {
  TILEOPT_CHECK(!statements.empty(), "order of no statements");
  std::vector<std::vector<TimeEntry>> times(statements.size());
  std::size_t depth = 1;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    collect_time(tree, statements[i].name, times[i]);
    depth = std::max(depth, times[i].size());
  }
  isl::union_map order = poly::empty_union_map(statements.front().domain.ctx());
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const StatementSpace& s = statements[i];
    isl_aff_list* values = isl_aff_list_alloc(s.domain.ctx().get(), static_cast<int>(depth));
    for (std::size_t t = 0; t < depth; ++t) {
      const bool is_dim = t < times[i].size() && !times[i][t].dim.empty();
      const long constant = t < times[i].size() ? times[i][t].position : 0;
      isl_aff* value = is_dim ? dim_value(s, times[i][t].dim)
                              : isl_aff_val_on_domain(isl_local_space_from_space(isl_set_get_space(s.domain.get())),
                                                      isl_val_int_from_si(s.domain.ctx().get(), constant));
      values = isl_aff_list_add(values, value);
    }
    isl_space* space = isl_space_from_domain(isl_set_get_space(s.domain.get()));
    space = isl_space_add_dims(space, isl_dim_out, static_cast<unsigned>(depth));
    const isl::map time = isl::manage(isl_map_from_multi_aff(isl_multi_aff_from_aff_list(space, values)));
    order = order.unite(isl::union_map(time.intersect_domain(s.domain)));
  }
  return order;
}

isl::schedule emit_schedule(const Tree& tree, const std::vector<StatementSpace>& statements) {
  TILEOPT_CHECK(!statements.empty(), "schedule of no statements");
  return ScheduleEmitter(statements).emit(tree);
}

}  // namespace tileopt
