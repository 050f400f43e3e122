/// Ast as a document. Blocks are written as lists and a list of one is the node itself, so that nesting without meaning
/// leaves no trace: write -> read -> write gives the same bytes.
#include "ir/ast.h"

#include <set>

#include "ir/ast_fields.h"

namespace tileopt {

namespace {
constexpr long kMostAgents = 1L << 20;  ///< along one axis

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
    if (digit.whole) entry["whole"] = true;
    document["box"].push_back(entry);
  }
  document["instance_steps"] = statement.instance_steps;
  document["write_array"] = statement.write_array;
  document["write_steps"] = statement.write_steps;
  document["read_arrays"] = statement.read_arrays;
  document["read_steps"] = statement.read_steps;
  document["index_steps"] = statement.index_steps;
  document["zero_fill"] = statement.zero_fill;
  if (statement.stream) document["stream"] = true;
  if (!statement.prefetch.empty()) document["prefetch"] = statement.prefetch;
  if (!statement.signal.empty()) document["signal"] = statement.signal;
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
    if (loop.persistent) document["persistent"] = true;
    if (loop.agents != 0) document["agents"] = loop.agents;
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
    if (!allocate.rings.empty()) document["rings"] = allocate.rings;
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
    if (leaf.signal_position != nullptr) document["signal_position"] = ast_expr_text(leaf.signal_position);
    list.push_back(document);
  }
  void operator()(const AstRoles& roles) const {
    Document document;
    document["roles"] = Document::array();
    for (const AstRole& role : roles.roles)
      document["roles"].push_back({{"name", role.name}, {"threads", role.threads}, {"body", write_body(role.body)}});
    list.push_back(document);
  }
  void operator()(const AstSync& sync) const {
    Document document;
    document["sync"] = sync.statement;
    if (sync.position != nullptr) document["position"] = ast_expr_text(sync.position);
    if (sync.pending != 0) document["pending"] = sync.pending;
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
                    "read_steps", "index_steps", "zero_fill", "stream", "prefetch", "signal"});
  AstStatement statement;
  statement.name = field["name"].name();
  statement.kind = field["kind"].text();
  const bool copy = statement.kind == "copy_in" || statement.kind == "copy_out";
  if (!copy && statement.kind != "compute") field["kind"].fail("expected compute, copy_in or copy_out");
  statement.statement = field["statement"].text();
  statement.atom = field["atom"].text();
  long points = 1;
  for (const Field& digit : field["box"].items()) {
    digit.allow_only({"name", "radix", "whole"});
    statement.box.push_back({digit["name"].name(), digit["radix"].integer(), digit.has("whole") && digit["whole"].boolean()});
    if (statement.box.back().whole && copy) digit["whole"].fail("a copy moves what its extents say");
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
  if (field.has("stream")) statement.stream = field["stream"].boolean();
  if (field.has("prefetch")) statement.prefetch = field["prefetch"].name();
  if (field.has("signal")) statement.signal = field["signal"].name();
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
    if (field.has("roles")) return roles(field);
    if (field.has("sync")) return sync(field);
    field.fail("expected for, if, allocate, leaf, roles or sync");
  }
  AstNodePtr loop(const Field& field) const {
    field.allow_only({"for", "digit", "level", "lower", "upper", "step", "persistent", "agents", "binding", "body"});
    AstFor loop;
    loop.variable = field["for"].name();
    loop.digit = field["digit"].text();
    loop.level = field["level"].text();
    loop.lower = field["lower"].expr();
    loop.upper = field["upper"].expr();
    loop.step = field["step"].integer();
    if (loop.step < 1) field["step"].fail("a step is at least 1");
    if (field.has("persistent")) loop.persistent = field["persistent"].boolean();
    if (field.has("agents")) loop.agents = field["agents"].integer();
    if (loop.agents < 0 || loop.agents > kMostAgents) field["agents"].fail("expected an integer from 0 to " + std::to_string(kMostAgents));
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
    field.allow_only({"allocate", "rings", "body"});
    AstAllocate allocate;
    allocate.arrays = field["allocate"].names();
    for (const std::string& array : allocate.arrays)
      if (arrays_.count(array) == 0) field["allocate"].fail("array `" + array + "` is not declared in arrays");
    if (field.has("rings")) allocate.rings = field["rings"].names();
    for (const std::string& ring : allocate.rings)
      if (ast_.find_ring(ring) == nullptr) field["rings"].fail("ring `" + ring + "` is not declared in rings");
    allocate.body = body(field["body"]);
    return make_node(std::move(allocate));
  }
  AstNodePtr roles(const Field& field) const {
    field.allow_only({"roles"});
    AstRoles roles;
    for (const Field& entry : field["roles"].items()) {
      entry.allow_only({"name", "threads", "body"});
      roles.roles.push_back({entry["name"].name(), entry["threads"].integer(), body(entry["body"])});
      if (roles.roles.back().threads < 1) entry["threads"].fail("a role has at least one thread");
      for (std::size_t i = 0; i + 1 < roles.roles.size(); ++i)
        if (roles.roles[i].name == roles.roles.back().name) entry["name"].fail("a second role `" + roles.roles[i].name + "`");
    }
    return make_node(std::move(roles));
  }
  AstNodePtr sync(const Field& field) const {
    field.allow_only({"sync", "position", "pending"});
    AstSync sync;
    sync.statement = field["sync"].name();
    const auto found = ast_.synchronizations.find(sync.statement);
    if (found == ast_.synchronizations.end()) field["sync"].fail("statement `" + sync.statement + "` is not declared in synchronizations");
    if (field.has("position")) sync.position = field["position"].expr();
    if (field.has("pending")) sync.pending = field["pending"].integer();
    if (sync.pending < 0 || (sync.pending > 0 && found->second.kind != SyncKind::await)) field["pending"].fail("groups in flight of an await");
    return make_node(std::move(sync));
  }
  AstNodePtr leaf(const Field& field) const {
    field.allow_only({"leaf", "instance", "write", "reads", "indices", "extents", "signal_position"});
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
    if (field.has("signal_position")) leaf.signal_position = field["signal_position"].expr();
    if (statement.signal.empty() == (leaf.signal_position != nullptr)) field.fail("a leaf has a signal_position where its statement signals a barrier");
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

/// Rings, barriers and synchronisation statements: absent where a kernel has none.
void read_synchronizations(const Field& field, Ast& ast) {
  if (field.has("rings"))
    for (const Field& entry : field["rings"].items()) {
      if (ast.find_ring(entry["name"].text()) != nullptr) entry.fail("a second ring `" + entry["name"].text() + "`");
      ast.rings.push_back(read_ring(entry));
    }
  if (field.has("barriers"))
    for (const Field& entry : field["barriers"].items()) {
      if (ast.find_barrier(entry["name"].text()) != nullptr) entry.fail("a second barrier `" + entry["name"].text() + "`");
      ast.barriers.push_back(read_barrier(entry));
      const std::string& ring = ast.barriers.back().ring;
      if (!ring.empty() && ast.find_ring(ring) == nullptr) entry["ring"].fail("ring `" + ring + "` is not declared in rings");
    }
  if (field.has("synchronizations"))
    for (const Field& entry : field["synchronizations"].items()) {
      Synchronization synchronization = read_synchronization(entry);
      if (targets_barrier(synchronization.kind) && ast.find_barrier(synchronization.target) == nullptr)
        entry["target"].fail("barrier `" + synchronization.target + "` is not declared in barriers");
      if (!ast.synchronizations.emplace(synchronization.name, synchronization).second)
        entry.fail("a second synchronization `" + synchronization.name + "`");
    }
}

}  // namespace

const Ring* Ast::find_ring(const std::string& ring) const {
  for (const Ring& known : rings)
    if (known.name == ring) return &known;
  return nullptr;
}
const Barrier* Ast::find_barrier(const std::string& barrier) const {
  for (const Barrier& known : barriers)
    if (known.name == barrier) return &known;
  return nullptr;
}

bool synchronizes(const AstNodePtr& node) {
  if (node == nullptr) return false;
  struct Visit {
    bool operator()(const AstBlock& n) const {
      for (const AstNodePtr& child : n.children)
        if (synchronizes(child)) return true;
      return false;
    }
    bool operator()(const AstFor& n) const { return n.persistent || synchronizes(n.body); }
    bool operator()(const AstIf& n) const { return synchronizes(n.then_body) || synchronizes(n.else_body); }
    bool operator()(const AstAllocate& n) const { return !n.rings.empty() || synchronizes(n.body); }
    bool operator()(const AstLeaf& n) const { return n.signal_position != nullptr; }
    bool operator()(const AstRoles&) const { return true; }
    bool operator()(const AstSync&) const { return true; }
  };
  return std::visit(Visit{}, node->node);
}

Document Ast::write() const {
  Document document;
  document["kernel"] = kernel;
  if (!when.empty()) document["when"] = when;
  document["arrays"] = Document::array();
  for (const Array& array : arrays) document["arrays"].push_back(array.write());
  document["statements"] = Document::array();
  for (const auto& [name, statement] : statements) document["statements"].push_back(write_statement(statement));
  if (!rings.empty()) {
    document["rings"] = Document::array();
    for (const Ring& ring : rings) document["rings"].push_back(write_ring(ring));
  }
  if (!barriers.empty()) {
    document["barriers"] = Document::array();
    for (const Barrier& barrier : barriers) document["barriers"].push_back(write_barrier(barrier));
  }
  if (!synchronizations.empty()) {
    document["synchronizations"] = Document::array();
    for (const auto& [name, synchronization] : synchronizations)
      document["synchronizations"].push_back(write_synchronization(synchronization));
  }
  document["body"] = write_body(root);
  return document;
}

Ast Ast::read(const Document& document, const std::string& file) {
  const Field field(document, "", file);
  field.allow_only({"kernel", "when", "arrays", "statements", "rings", "barriers", "synchronizations", "body"});
  Ast ast;
  ast.kernel = field["kernel"].name();
  if (field.has("when")) ast.when = field["when"].text();
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
  read_synchronizations(field, ast);
  ast.root = NodeReader(ast).body(field["body"]);
  return ast;
}

}  // namespace tileopt
