#include "backends/c_common/check_ast.h"

#include <algorithm>
#include <map>
#include <set>

#include "backends/c_common/integer_c.h"
#include "backends/c_common/refusal.h"

namespace tileopt {

namespace {
class Checker {
 public:
  Checker(const Ast& ast, const Program& program, const Signature& signature, const PrintableSpaces& printable)
      : ast_(ast), program_(program), printable_(printable) {
    for (const TensorArgument& argument : signature.arguments) ranks_[argument.tensor] = argument.shape.size();
    for (const TensorArgument& local : signature.locals) ranks_[local.tensor] = local.shape.size();
    sizes_.insert(signature.sizes.begin(), signature.sizes.end());
    for (const TensorArgument& argument : signature.arguments)
      if (argument.role == TensorRole::in) inputs_.insert(argument.tensor);
    for (const Array& array : ast.arrays) {
      if (ranks_.count(array.name) != 0) fail(array.name, "promoted array " + array.name + " has the name of a tensor");
      if (array.extents.empty()) fail(array.name, "promoted array " + array.name + " has no extents");
      if (std::find(printable.spaces.begin(), printable.spaces.end(), array.space) == printable.spaces.end())
        fail(array.name, "promoted array " + array.name + " lives in unknown space `" + array.space + "`");
      if (!array.ring.empty() && (!printable.barriers || ast.find_ring(array.ring) == nullptr || ast.find_ring(array.ring)->slots != array.slots))
        fail(array.name, "array " + array.name + " is of ring " + array.ring + ", which has other slots, or no form");
      promoted_[array.name] = array.extents.size() + (array.ring.empty() ? 0 : 1);
    }
  }

  void run() {
    if (printable_.barriers) check_syncs(ast_.root);
    else if (synchronizes(ast_.root)) fail(ast_.kernel, "kernel " + ast_.kernel + " has roles, rings or barriers, which C with OpenMP has no form for");
    for (const auto& [name, statement] : ast_.statements) check_statement(statement);
    check(ast_.root, sizes_, {});
  }

 private:
  using Names = std::set<std::string>;

  [[noreturn]] static void fail(const std::string& entry, const std::string& reason) { refuse("ast", entry, reason); }

  /// Agents may meet at barriers of the block, and wait for what they have copied themselves.
  void check_syncs(const AstNodePtr& node) const {
    if (node == nullptr) return;
    const auto refuse_roles = [&] { fail(ast_.kernel, "kernel " + ast_.kernel + " has roles, rings or waits, which there is no form for yet"); };
    if (const auto* block = std::get_if<AstBlock>(&node->node))
      for (const AstNodePtr& child : block->children) check_syncs(child);
    if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      if (loop->persistent) refuse_roles();
      check_syncs(loop->body);
    }
    if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      check_syncs(branch->then_body);
      check_syncs(branch->else_body);
    }
    if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
      for (const std::string& ring : allocate->rings)
        if (ast_.find_ring(ring) == nullptr) fail(ring, "ring " + ring + " is not declared");
      check_syncs(allocate->body);
    }
    if (std::holds_alternative<AstRoles>(node->node)) refuse_roles();
    const auto* sync = std::get_if<AstSync>(&node->node);
    if (sync == nullptr) return;
    const auto declared = ast_.synchronizations.find(sync->statement);
    if (declared == ast_.synchronizations.end()) fail(sync->statement, "synchronisation " + sync->statement + " is not declared");
    const Barrier* barrier = ast_.find_barrier(declared->second.target);
    const bool groups = targets_pipe(declared->second.kind);
    if (groups && !declared->second.elected && std::find(printable_.pipes.begin(), printable_.pipes.end(), declared->second.target) != printable_.pipes.end()) return;
    const bool phase = declared->second.kind == SyncKind::wait || declared->second.kind == SyncKind::expect;
    if (printable_.phases && phase && !declared->second.elected && barrier != nullptr && barrier->scope == BarrierScope::mbarrier && sync->position != nullptr) return;
    if (declared->second.kind != SyncKind::barrier || declared->second.elected || barrier == nullptr || barrier->scope != BarrierScope::block) refuse_roles();
  }

  std::size_t rank_of(const std::string& array, const std::string& statement) const {
    const auto tensor = ranks_.find(array);
    if (tensor != ranks_.end()) return tensor->second;
    const auto promoted = promoted_.find(array);
    if (promoted == promoted_.end()) fail(statement, "statement " + statement + " names unknown array " + array);
    return promoted->second;
  }

  void check_statement(const AstStatement& statement) {
    const std::string& name = statement.name;
    if (statement.write_steps.size() != rank_of(statement.write_array, name)) fail(name, "subscripts of " + statement.write_array + " in " + name);
    if (inputs_.count(statement.write_array) != 0) fail(name, "statement " + name + " writes the input " + statement.write_array);
    for (std::size_t r = 0; r < statement.read_arrays.size(); ++r)
      if (statement.read_steps[r].size() != rank_of(statement.read_arrays[r], name)) fail(name, "subscripts of " + statement.read_arrays[r] + " in " + name);
    if (statement.kind != "compute") return check_copy(statement);
    if (!program_.has_statement(statement.statement)) fail(name, "leaf " + name + " runs unknown statement `" + statement.statement + "`");
    const Statement& source = program_.statement(statement.statement);
    if (source.reads.size() != statement.read_arrays.size()) fail(name, "leaf " + name + " has another number of reads than its statement");
    if (source.indices.size() != statement.index_steps.size()) fail(name, "leaf " + name + " has another number of index values than its statement");
    check_kept(statement.write_array, source.body->type, name);
    for (std::size_t r = 0; r < source.reads.size(); ++r)
      check_kept(statement.read_arrays[r], program_.tensor(source.reads[r].tensor).type, name);
  }

  ElementType element_of(const std::string& array) const {
    for (const Array& promoted : ast_.arrays)
      if (promoted.name == array) return promoted.element;
    return program_.tensor(array).type;
  }

  /// A promoted array may keep a type only in one that has all its values.
  void check_kept(const std::string& array, ElementType type, const std::string& statement) const {
    if (!widens_exactly(type, element_of(array)))
      fail(statement, "array " + array + " of " + type_name(element_of(array)) + " cannot keep the " + type_name(type) + " values of " + statement);
  }

  void check_copy(const AstStatement& statement) const {
    const ElementType from = element_of(statement.read_arrays.at(0));
    const ElementType to = element_of(statement.write_array);
    const bool into = statement.kind == "copy_in";
    if (!widens_exactly(into ? from : to, into ? to : from))
      fail(statement.name, "copy " + statement.name + " from " + type_name(from) + " to " + type_name(to) + " is not exact");
    if (statement.zero_fill && !into) fail(statement.name, "copy " + statement.name + " fills with zero on the way out");
  }

  void check(const AstNodePtr& node, const Names& visible, const Names& allocated) {
    if (node == nullptr) return;
    if (const auto* block = std::get_if<AstBlock>(&node->node)) {
      for (const AstNodePtr& child : block->children) check(child, visible, allocated);
    } else if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      check_names(loop->lower, visible, loop->variable);
      check_names(loop->upper, visible, loop->variable);
      if (loop->step < 1) fail(loop->variable, "step of loop " + loop->variable);
      if (loop->binding) check_binding(*loop, visible);
      Names inner = visible;
      if (!inner.insert(loop->variable).second) fail(loop->variable, "loop variable " + loop->variable + " hides another name");
      check(loop->body, inner, allocated);
    } else if (const auto* branch = std::get_if<AstIf>(&node->node)) {
      check_names(branch->condition, visible, "if");
      check(branch->then_body, visible, allocated);
      check(branch->else_body, visible, allocated);
    } else if (const auto* allocate = std::get_if<AstAllocate>(&node->node)) {
      Names inner = allocated;
      for (const std::string& array : allocate->arrays) {
        if (promoted_.count(array) == 0) fail(array, "allocation of unknown array " + array);
        if (!inner.insert(array).second) fail(array, "array " + array + " is allocated inside its own lifetime");
      }
      check(allocate->body, visible, inner);
    } else if (const auto* leaf = std::get_if<AstLeaf>(&node->node)) {
      check_leaf(*leaf, visible, allocated);
    }
  }

  void check_binding(const AstFor& loop, const Names& visible) const {
    const AstBinding& binding = *loop.binding;
    const auto found = ast_.statements.find(binding.leaf);
    const bool known = found != ast_.statements.end() && found->second.kind == "compute" &&
                       binding.guard < program_.statement(found->second.statement).guards.size() && loop.step == 1;
    if (!known) fail(loop.variable, "the value of loop " + loop.variable);
    walk_expr(program_.statement(found->second.statement).guards[binding.guard].value, [&](const Expr& e) {
      if (const auto* read = std::get_if<Read>(&e.node); read != nullptr && binding.reads.count(read->access) == 0)
        fail(loop.variable, "a read of the value of loop " + loop.variable);
      if (const auto* index = std::get_if<IndexValue>(&e.node); index != nullptr && binding.indices.count(index->index) == 0)
        fail(loop.variable, "an index of the value of loop " + loop.variable);
    });
    for (const auto& [access, subscripts] : binding.reads) {
      if (subscripts.size() != rank_of(found->second.read_arrays.at(access), loop.variable)) fail(loop.variable, "subscripts of the value of loop " + loop.variable);
      for (const AstExprPtr& subscript : subscripts) check_names(subscript, visible, loop.variable);
    }
    for (const auto& [index, value] : binding.indices) check_names(value, visible, loop.variable);
  }

  void check_leaf(const AstLeaf& leaf, const Names& visible, const Names& allocated) const {
    const auto found = ast_.statements.find(leaf.statement);
    if (found == ast_.statements.end()) fail(leaf.statement, "leaf of unknown statement " + leaf.statement);
    const AstStatement& statement = found->second;
    const auto require = [&](bool good, const char* what) {
      if (!good) fail(leaf.statement, std::string(what) + " of leaf " + leaf.statement);
    };
    require(leaf.write.size() == statement.write_steps.size(), "written subscripts");
    require(leaf.reads.size() == statement.read_arrays.size(), "reads");
    for (std::size_t r = 0; r < leaf.reads.size(); ++r) require(leaf.reads[r].size() == statement.read_steps[r].size(), "read subscripts");
    require(leaf.indices.size() == statement.index_steps.size(), "index values");
    require(leaf.extents.empty() || leaf.extents.size() == statement.box.size(), "extents");
    for (const std::vector<AstExprPtr>& exprs : {leaf.write, leaf.indices, leaf.extents})
      for (const AstExprPtr& expr : exprs) check_names(expr, visible, leaf.statement);
    for (const auto& read : leaf.reads)
      for (const AstExprPtr& expr : read) check_names(expr, visible, leaf.statement);
    check_alive(statement.write_array, leaf.statement, allocated);
    for (const std::string& array : statement.read_arrays) check_alive(array, leaf.statement, allocated);
  }

  void check_alive(const std::string& array, const std::string& leaf, const Names& allocated) const {
    if (promoted_.count(array) != 0 && allocated.count(array) == 0) fail(leaf, "leaf " + leaf + " uses array " + array + " outside its lifetime");
  }

  static void check_names(const AstExprPtr& expr, const Names& visible, const std::string& where) {
    Names names;
    collect_names(expr, names);
    for (const std::string& name : names)
      if (visible.count(name) == 0) fail(where, "unknown name `" + name + "` in `" + ast_expr_text(expr) + "` of " + where);
  }

  const Ast& ast_;
  const Program& program_;
  const PrintableSpaces& printable_;
  std::map<std::string, std::size_t> ranks_, promoted_;
  Names sizes_, inputs_;
};
}  // namespace

void check_ast(const Ast& ast, const Program& program, const Signature& signature, const PrintableSpaces& printable) {
  Checker(ast, program, signature, printable).run();
}

}  // namespace tileopt
