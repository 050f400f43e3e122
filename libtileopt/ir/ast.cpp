/// Ast as a document. Blocks are written as lists and a list of one is the node itself, so that nesting without meaning
/// leaves no trace: write -> read -> write gives the same bytes.
#include "ir/ast.h"

#include <set>

#include "ir/ast_fields.h"

namespace tileopt {

namespace {

Document write_exprs(const std::vector<AstExprPtr>& exprs) {
  Document list = Document::array();
  for (const AstExprPtr& expr : exprs) list.push_back(ast_expr_text(expr));
  return list;
}

Document write_statement(const AstStatement& statement) {
  Document document;
  document["name"] = statement.name;
  document["kind"] = statement.kind;
  document["statement"] = statement.statement;
  document["atom"] = statement.atom;
  document["box"] = Document::array();
  for (const AstStatement::BoxDigit& digit : statement.box) {
    Document entry;
    entry["name"] = digit.name;
    entry["radix"] = digit.radix;
    document["box"].push_back(entry);
  }
  document["instance_steps"] = statement.instance_steps;
  document["write_array"] = statement.write_array;
  document["write_steps"] = statement.write_steps;
  document["read_arrays"] = statement.read_arrays;
  document["read_steps"] = statement.read_steps;
  document["index_steps"] = statement.index_steps;
  document["zero_fill"] = statement.zero_fill;
  return document;
}

Document write_binding(const AstBinding& binding) {
  Document document;
  document["leaf"] = binding.leaf;
  document["guard"] = binding.guard;
  document["reads"] = Document::array();
  for (const auto& [access, subscripts] : binding.reads) document["reads"].push_back({{"access", access}, {"subscripts", write_exprs(subscripts)}});
  document["indices"] = Document::array();
  for (const auto& [index, value] : binding.indices) document["indices"].push_back({{"index", index}, {"value", ast_expr_text(value)}});
  return document;
}

void write_into(const AstNodePtr& node, Document& list);

Document write_body(const AstNodePtr& node) {
  Document list = Document::array();
  if (node != nullptr) write_into(node, list);
  return list;
}

struct NodeWriter {
  Document& list;
  void operator()(const AstBlock& block) const {
    for (const AstNodePtr& child : block.children) write_into(child, list);
  }
  void operator()(const AstFor& loop) const {
    Document document;
    document["for"] = loop.variable;
    document["digit"] = loop.digit;
    document["level"] = loop.level;
    document["lower"] = ast_expr_text(loop.lower);
    document["upper"] = ast_expr_text(loop.upper);
    document["step"] = loop.step;
    if (loop.binding) document["binding"] = write_binding(*loop.binding);
    document["body"] = write_body(loop.body);
    list.push_back(document);
  }
  void operator()(const AstIf& branch) const {
    Document document;
    document["if"] = ast_expr_text(branch.condition);
    document["then"] = write_body(branch.then_body);
    if (branch.else_body != nullptr) document["else"] = write_body(branch.else_body);
    list.push_back(document);
  }
  void operator()(const AstAllocate& allocate) const {
    Document document;
    document["allocate"] = allocate.arrays;
    document["body"] = write_body(allocate.body);
    list.push_back(document);
  }
  void operator()(const AstLeaf& leaf) const {
    Document document;
    document["leaf"] = leaf.statement;
    document["instance"] = write_exprs(leaf.instance);
    document["write"] = write_exprs(leaf.write);
    document["reads"] = Document::array();
    for (const auto& read : leaf.reads) document["reads"].push_back(write_exprs(read));
    document["indices"] = write_exprs(leaf.indices);
    document["extents"] = write_exprs(leaf.extents);
    list.push_back(document);
  }
};

void write_into(const AstNodePtr& node, Document& list) { std::visit(NodeWriter{list}, node->node); }

void check_steps(const Field& field, const std::vector<std::vector<long>>& steps, std::size_t box) {
  for (const std::vector<long>& row : steps)
    if (row.size() != box) field.fail("expected one step for each of the " + std::to_string(box) + " box digits");
}

AstStatement read_statement(const Field& field) {
  field.allow_only({"name", "kind", "statement", "atom", "box", "instance_steps", "write_array", "write_steps", "read_arrays",
                    "read_steps", "index_steps", "zero_fill"});
  AstStatement statement;
  statement.name = field["name"].name();
  statement.kind = field["kind"].text();
  const bool copy = statement.kind == "copy_in" || statement.kind == "copy_out";
  if (!copy && statement.kind != "compute") field["kind"].fail("expected compute, copy_in or copy_out");
  statement.statement = field["statement"].text();
  statement.atom = field["atom"].text();
  long points = 1;
  for (const Field& digit : field["box"].items()) {
    digit.allow_only({"name", "radix"});
    statement.box.push_back({digit["name"].name(), digit["radix"].integer()});
    if (statement.box.back().radix < 1) digit["radix"].fail("a radix is at least 1");
    if (__builtin_mul_overflow(points, statement.box.back().radix, &points)) digit["radix"].fail("too many box points");
  }
  const std::size_t box = statement.box.size();
  statement.instance_steps = field["instance_steps"].matrix();
  check_steps(field["instance_steps"], statement.instance_steps, box);
  statement.write_array = field["write_array"].name();
  statement.write_steps = field["write_steps"].matrix();
  check_steps(field["write_steps"], statement.write_steps, box);
  statement.read_arrays = field["read_arrays"].names();
  for (const Field& read : field["read_steps"].items()) {
    statement.read_steps.push_back(read.matrix());
    check_steps(read, statement.read_steps.back(), box);
  }
  if (statement.read_steps.size() != statement.read_arrays.size()) field["read_steps"].fail("expected one entry for each of read_arrays");
  if (copy && statement.read_arrays.size() != 1) field["read_arrays"].fail("a copy reads one array");
  statement.index_steps = field["index_steps"].matrix();
  check_steps(field["index_steps"], statement.index_steps, box);
  statement.zero_fill = field["zero_fill"].boolean();
  return statement;
}

class NodeReader {
 public:
  explicit NodeReader(const Ast& ast) : ast_(ast) {
    for (const Array& array : ast.arrays) arrays_.insert(array.name);
  }

  AstNodePtr body(const Field& field) const {
    std::vector<AstNodePtr> children;
    for (const Field& item : field.items()) children.push_back(node(item));
    return children.size() == 1 ? children.front() : make_node(AstBlock{std::move(children)});
  }

 private:
  AstNodePtr node(const Field& field) const {
    if (field.has("for")) return loop(field);
    if (field.has("if")) return branch(field);
    if (field.has("allocate")) return allocate(field);
    if (field.has("leaf")) return leaf(field);
    field.fail("expected for, if, allocate or leaf");
  }
  AstNodePtr loop(const Field& field) const {
    field.allow_only({"for", "digit", "level", "lower", "upper", "step", "binding", "body"});
    AstFor loop;
    loop.variable = field["for"].name();
    loop.digit = field["digit"].text();
    loop.level = field["level"].text();
    loop.lower = field["lower"].expr();
    loop.upper = field["upper"].expr();
    loop.step = field["step"].integer();
    if (loop.step < 1) field["step"].fail("a step is at least 1");
    if (field.has("binding")) loop.binding = binding(field["binding"]);
    loop.body = body(field["body"]);
    return make_node(std::move(loop));
  }
  AstBinding binding(const Field& field) const {
    field.allow_only({"leaf", "guard", "reads", "indices"});
    AstBinding result;
    result.leaf = field["leaf"].name();
    const auto found = ast_.statements.find(result.leaf);
    if (found == ast_.statements.end()) field["leaf"].fail("statement `" + result.leaf + "` is not declared in statements");
    result.guard = static_cast<std::size_t>(field["guard"].integer());
    for (const Field& item : field["reads"].items()) {
      item.allow_only({"access", "subscripts"});
      const auto access = static_cast<std::size_t>(item["access"].integer());
      if (access >= found->second.read_arrays.size()) item["access"].fail("the statement has no read of this number");
      result.reads[access] = counted(item["subscripts"], found->second.read_steps[access].size());
    }
    for (const Field& item : field["indices"].items()) {
      item.allow_only({"index", "value"});
      const auto index = static_cast<std::size_t>(item["index"].integer());
      if (index >= found->second.index_steps.size()) item["index"].fail("the statement has no index value of this number");
      result.indices[index] = item["value"].expr();
    }
    return result;
  }
  AstNodePtr branch(const Field& field) const {
    field.allow_only({"if", "then", "else"});
    AstIf branch;
    branch.condition = field["if"].expr();
    branch.then_body = body(field["then"]);
    if (field.has("else")) branch.else_body = body(field["else"]);
    return make_node(std::move(branch));
  }
  AstNodePtr allocate(const Field& field) const {
    field.allow_only({"allocate", "body"});
    AstAllocate allocate;
    allocate.arrays = field["allocate"].names();
    for (const std::string& array : allocate.arrays)
      if (arrays_.count(array) == 0) field["allocate"].fail("array `" + array + "` is not declared in arrays");
    allocate.body = body(field["body"]);
    return make_node(std::move(allocate));
  }
  AstNodePtr leaf(const Field& field) const {
    field.allow_only({"leaf", "instance", "write", "reads", "indices", "extents"});
    AstLeaf leaf;
    leaf.statement = field["leaf"].name();
    const auto found = ast_.statements.find(leaf.statement);
    if (found == ast_.statements.end()) field["leaf"].fail("statement `" + leaf.statement + "` is not declared in statements");
    const AstStatement& statement = found->second;
    leaf.instance = counted(field["instance"], statement.instance_steps.size());
    leaf.write = counted(field["write"], statement.write_steps.size());
    const std::vector<Field> reads = field["reads"].items();
    if (reads.size() != statement.read_arrays.size()) field["reads"].fail("expected one entry for each array that the statement reads");
    for (std::size_t r = 0; r < reads.size(); ++r) leaf.reads.push_back(counted(reads[r], statement.read_steps[r].size()));
    leaf.indices = counted(field["indices"], statement.index_steps.size());
    if (!field["extents"].items().empty()) leaf.extents = counted(field["extents"], statement.box.size());
    return make_node(std::move(leaf));
  }
  static std::vector<AstExprPtr> counted(const Field& field, std::size_t count) {
    std::vector<AstExprPtr> exprs = field.exprs();
    if (exprs.size() != count) field.fail("expected " + std::to_string(count) + " expressions");
    return exprs;
  }

  const Ast& ast_;
  std::set<std::string> arrays_;
};

}  // namespace

Document Ast::write() const {
  Document document;
  document["kernel"] = kernel;
  document["arrays"] = Document::array();
  for (const Array& array : arrays) document["arrays"].push_back(array.write());
  document["statements"] = Document::array();
  for (const auto& [name, statement] : statements) document["statements"].push_back(write_statement(statement));
  document["body"] = write_body(root);
  return document;
}

Ast Ast::read(const Document& document, const std::string& file) {
  const Field field(document, "", file);
  field.allow_only({"kernel", "arrays", "statements", "body"});
  Ast ast;
  ast.kernel = field["kernel"].name();
  for (const Field& array : field["arrays"].items()) {
    ast.arrays.push_back(read_array(array));
    for (std::size_t i = 0; i + 1 < ast.arrays.size(); ++i)
      if (ast.arrays[i].name == ast.arrays.back().name) array.fail("a second array `" + ast.arrays[i].name + "`");
  }
  for (const Field& entry : field["statements"].items()) {
    AstStatement statement = read_statement(entry);
    if (ast.statements.count(statement.name) != 0) entry.fail("a second statement `" + statement.name + "`");
    ast.statements.emplace(statement.name, std::move(statement));
  }
  ast.root = NodeReader(ast).body(field["body"]);
  return ast;
}

}  // namespace tileopt
