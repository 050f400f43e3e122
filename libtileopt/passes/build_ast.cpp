/// Loops from the promoted tree, on atom-level statements: the printer unrolls boxes, isl never does.
/// Leaves get their operands pulled back onto the loops (at_each_domain; create_leaf would drop guards silently).
#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <set>

#include "passes/agent_loops.h"
#include "passes/ast_convert.h"
#include "passes/await_atoms.h"
#include "passes/bind_guards.h"
#include "passes/leaf_functions.h"
#include "passes/pass_limit.h"
#include "passes/passes.h"
#include "passes/shift_copies.h"
#include "support/text.h"

namespace tileopt {

namespace {
/// What a `nested` or `allocate` node stands for in the loops around it: one leaf. Under `nested` a block is whole or cut;
/// under `allocate` it is one lifetime, which isl would split if it saw the statements inside (it may run all copies of a
/// band before all computations where that respects the order).
struct Block {
  std::string name;                 ///< leaf statement of the outer loops
  std::vector<std::string> prefix;  ///< digits of the loops around
  std::vector<std::string> arrays;  ///< allocate: whose lifetime it is
  std::optional<isl::set> interior; ///< nested: { name[prefix] }, every statement below runs its whole box of digits
  AstNodePtr full, edge;
};

/// Collects one AstLeaf for every leaf that isl creates; the isl node keeps its number as annotation.
class LeafCollector {
 public:
  LeafCollector(const std::vector<LeafStatement>& statements, const std::vector<Block>& blocks) : statements_(statements), blocks_(blocks) {}
  std::vector<AstLeaf> leaves;
  std::exception_ptr error;

  static isl_ast_node* at_each_domain(isl_ast_node* node, isl_ast_build* build, void* user) {
    auto* self = static_cast<LeafCollector*>(user);
    try {
      self->leaves.push_back(self->make_leaf(build));
    } catch (...) {
      self->error = std::current_exception();
      isl_ast_node_free(node);
      return nullptr;
    }
    isl_id* id = isl_id_alloc(isl_ast_build_get_ctx(build), std::to_string(self->leaves.size() - 1).c_str(), nullptr);
    return isl_ast_node_set_annotation(node, id);
  }

 private:
  AstLeaf make_leaf(isl_ast_build* build) const {
    const isl::map schedule = isl::manage(isl_map_from_union_map(isl_ast_build_get_schedule(build)));
    const std::string name = poly::input_name(schedule);
    for (const Block& block : blocks_)
      if (block.name == name) return block_leaf(build, block, schedule);
    const auto found = std::find_if(statements_.begin(), statements_.end(), [&](const LeafStatement& s) { return s.name == name; });
    TILEOPT_CHECK(found != statements_.end(), "isl made a leaf of unknown statement " + name);
    const LeafStatement& s = *found;
    const isl::pw_multi_aff instance = isl::manage(isl_pw_multi_aff_from_map(isl_map_reverse(schedule.copy())));  // { [time] -> leaf[dims] }
    const isl::set times = schedule.range();
    const auto expression = [&](const isl::pw_aff& value) {
      isl::pw_aff here = isl::manage(isl_pw_aff_pullback_pw_multi_aff(value.copy(), instance.copy())).coalesce();
      // A copy of the leaf may lie where the access is never performed (the other branch of an affine choice).
      here = here.intersect_domain(times);
      if (here.domain().is_empty()) return ast_integer(0);
      const isl::ast_expr expr = isl::manage(isl_ast_build_expr_from_pw_aff(build, here.copy()));
      return convert_expr(expr);
    };
    const auto subscripts = [&](const isl::pw_multi_aff& index) {
      std::vector<AstExprPtr> result;
      const int count = isl_pw_multi_aff_dim(index.get(), isl_dim_out);
      for (int i = 0; i < count; ++i) result.push_back(expression(isl::manage(isl_pw_multi_aff_get_pw_aff(index.get(), i))));
      return result;
    };
    AstLeaf leaf;
    leaf.statement = s.name;
    if (s.kind == LeafKind::compute) leaf.instance = subscripts(s.instance);
    leaf.write = subscripts(s.write.index);
    for (const LeafAccess& read : s.reads) leaf.reads.push_back(subscripts(read.index));
    for (const isl::pw_aff& index : s.indices) leaf.indices.push_back(expression(index));
    for (const isl::pw_aff& extent : s.extents) leaf.extents.push_back(expression(extent));
    return leaf;
  }
  /// Operands of a block: its prefix digits, and the condition under which it is whole.
  static AstLeaf block_leaf(isl_ast_build* build, const Block& block, const isl::map& schedule) {
    AstLeaf leaf;
    leaf.statement = block.name;
    const isl::pw_multi_aff prefix = isl::manage(isl_pw_multi_aff_from_map(isl_map_reverse(schedule.copy())));  // { [time] -> block[prefix] }
    const int digits = isl_pw_multi_aff_dim(prefix.get(), isl_dim_out);
    for (int i = 0; i < digits; ++i)
      leaf.instance.push_back(convert_expr(isl::manage(isl_ast_build_expr_from_pw_aff(build, isl_pw_multi_aff_get_pw_aff(prefix.get(), i)))));
    if (!block.interior) return leaf;
    const isl::set times = block.interior->apply(schedule);
    leaf.extents.push_back(convert_expr(isl::manage(isl_ast_build_expr_from_set(build, times.copy()))));
    return leaf;
  }
  const std::vector<LeafStatement>& statements_;
  const std::vector<Block>& blocks_;
};

AstStatement make_statement(const LeafStatement& s, const KernelPlan& plan) {
  AstStatement result;
  result.name = s.name;
  result.kind = s.kind == LeafKind::compute ? "compute" : s.kind == LeafKind::copy_in ? "copy_in" : "copy_out";
  result.statement = s.statement;
  result.atom = s.atom;
  for (const FittedSchedule::BoxDigit& digit : s.box) result.box.push_back({digit.name, digit.radix, digit.whole});
  result.instance_steps = s.instance_steps;
  result.write_array = s.write.array;
  result.write_steps = s.write.steps;
  for (const LeafAccess& read : s.reads) {
    result.read_arrays.push_back(read.array);
    result.read_steps.push_back(read.steps);
  }
  result.index_steps = s.index_steps;
  result.zero_fill = s.zero_fill;
  if (const auto choice = plan.atoms.find(s.statement); s.kind == LeafKind::compute && choice != plan.atoms.end()) {
    result.stream = choice->second.stream;
    result.prefetch = choice->second.prefetch;
  }
  if (s.kind == LeafKind::copy_out)
    result.stream = std::any_of(plan.promotions.begin(), plan.promotions.end(), [&](const Promotion& p) { return p.stream && p.array == s.reads.front().array; });
  return result;
}

/// { leaf[inner] -> leaf[prefix, inner] } with the prefix as parameters of the digits' names.
isl::pw_multi_aff bind_prefix(const LeafStatement& s, std::size_t prefix) {
  isl_space* inner = isl_space_set_alloc(s.domain.ctx().get(), 0, static_cast<unsigned>(s.dims.size() - prefix));
  inner = isl_space_set_tuple_name(inner, isl_dim_set, s.name.c_str());
  for (std::size_t i = 0; i < prefix; ++i) {
    inner = isl_space_add_dims(inner, isl_dim_param, 1);
    inner = isl_space_set_dim_name(inner, isl_dim_param, static_cast<unsigned>(i), s.dims[i].c_str());
  }
  isl_aff_list* values = isl_aff_list_alloc(s.domain.ctx().get(), static_cast<int>(s.dims.size()));
  for (std::size_t i = 0; i < s.dims.size(); ++i) {
    isl_local_space* local = isl_local_space_from_space(isl_space_copy(inner));
    values = isl_aff_list_add(values, i < prefix ? isl_aff_var_on_domain(local, isl_dim_param, static_cast<unsigned>(i))
                                                 : isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(i - prefix)));
  }
  isl_space* space = isl_space_add_dims(isl_space_from_domain(inner), isl_dim_out, static_cast<unsigned>(s.dims.size()));
  space = isl_space_set_tuple_name(space, isl_dim_out, s.name.c_str());
  return isl::manage(isl_pw_multi_aff_from_multi_aff(isl_multi_aff_from_aff_list(space, values)));
}

/// The statement over its inner dimensions, on `domain`.
LeafStatement inner_statement(const LeafStatement& s, std::size_t prefix, const isl::set& domain) {
  const isl::pw_multi_aff bind = bind_prefix(s, prefix);
  LeafStatement inner = s;
  inner.dims.assign(s.dims.begin() + static_cast<long>(prefix), s.dims.end());
  inner.domain = domain;
  inner.instance = s.instance.pullback(bind);
  inner.write.index = s.write.index.pullback(bind);
  for (LeafAccess& read : inner.reads) read.index = read.index.pullback(bind);
  const auto pull = [&](isl::pw_aff& value) { value = isl::manage(isl_pw_aff_pullback_pw_multi_aff(value.copy(), bind.copy())); };
  for (isl::pw_aff& index : inner.indices) pull(index);
  for (isl::pw_aff& extent : inner.extents) pull(extent);
  return inner;
}

/// Loops of a tree. A `nested` node becomes three small sets of loops instead of one that separates whole from cut blocks
/// (which grows without bound): the blocks, the whole block without parameters, any block with its digits as parameters.
class LoopBuilder {
 public:
  LoopBuilder(const PromotedSchedule& promoted, const SynchronizedSchedule::AgentLevels& agents) : promoted_(promoted), agents_(agents) {}

  Candidate<AstNodePtr> build(const Tree& tree, const std::vector<LeafStatement>& statements, const isl::set& context) {
    std::vector<Block> blocks;
    std::vector<LeafStatement> outer = statements;
    std::optional<Infeasible> problem;
    std::vector<std::string> names;
    for (const LeafStatement& s : statements) names.push_back(s.name);
    const Tree loops = cut_nested(tree, names, {}, statements, context, outer, blocks, problem);
    if (problem) return *problem;
    std::vector<StatementSpace> spaces;
    for (const LeafStatement& s : outer) spaces.push_back(s.space());
    LeafCollector collector(outer, blocks);
    isl::schedule schedule = emit_schedule(loops, spaces);
    isl_ast_build* build = isl_ast_build_from_context(context.copy());
    build = isl_ast_build_set_iterators(build, iterator_names(context.ctx().get()));
    build = isl_ast_build_set_at_each_domain(build, &LeafCollector::at_each_domain, &collector);
    isl_ast_node* node = isl_ast_build_node_from_schedule(build, schedule.release());
    isl_ast_build_free(build);
    if (collector.error) {
      isl_ast_node_free(node);
      std::rethrow_exception(collector.error);
    }
    const char* detail = isl_ctx_last_error_msg(context.ctx().get());  // null where isl was told to stop
    if (node == nullptr) return refuse(std::string("isl finds no loops: ") + (detail == nullptr ? "it was stopped" : detail));
    const AstConverter converter(
        collector.leaves,
        [&](const std::string& statement, int depth) {
          const std::vector<std::string> path = path_dims(loops, statement);
          TILEOPT_CHECK(static_cast<std::size_t>(depth) < path.size(),
                        "isl made a loop at depth " + std::to_string(depth) + " above " + statement + " in tree " + loops.write());
          const std::string dim = path[static_cast<std::size_t>(depth)];
          return std::pair<std::string, std::string>(dim, promoted_.level(dim));
        },
        [&](AstLeaf leaf) -> AstNodePtr {
          for (const Block& block : blocks)
            if (block.name == leaf.statement) {
              std::map<std::string, AstExprPtr> values;  // a digit of one value has no loop that would name it
              for (std::size_t i = 0; i < leaf.instance.size(); ++i) values[block.prefix[i]] = leaf.instance[i];
              const AstNodePtr edge = substitute_names(block.edge, values);
              if (!block.interior) return make_node(AstAllocate{block.arrays, edge});
              whole_.insert(ast_expr_text(leaf.extents.front()));
              return make_node(AstIf{leaf.extents.front(), substitute_names(block.full, values), edge});
            }
          return make_node(std::move(leaf));
        },
        [&](const std::string& level) { return !agents_.empty() && (level == agents_.agent || level == agents_.independent); });
    return converter.convert(isl::manage(node));
  }

  /// Texts of the conditions under which blocks are whole.
  const std::set<std::string>& whole() const { return whole_; }

 private:
  /// __0, __1, ...: numbered by depth and no names of the tile language (isl's own c0, c1, ... step aside for sizes of these names).
  static isl_id_list* iterator_names(isl_ctx* ctx) {
    constexpr int deepest = 64;
    isl_id_list* names = isl_id_list_alloc(ctx, deepest);
    for (int i = 0; i < deepest; ++i) names = isl_id_list_add(names, isl_id_alloc(ctx, ("__" + std::to_string(i)).c_str(), nullptr));
    return names;
  }
  Infeasible refuse(const std::string& reason) const {
    return Infeasible{"codegen", "build_ast", promoted_.plan().name, "kernels[" + promoted_.plan().name + "].tree", reason};
  }
  /// The tree with every outermost `nested` or `allocate` node replaced by the leaf of a block statement.
  Tree cut_nested(const Tree& tree, const std::vector<std::string>& active, std::vector<std::string> prefix,
                  const std::vector<LeafStatement>& statements, const isl::set& context, std::vector<LeafStatement>& outer,
                  std::vector<Block>& blocks, std::optional<Infeasible>& problem) {
    switch (tree.kind()) {
      case Tree::Kind::leaf: return tree;
      case Tree::Kind::band:
        prefix.push_back(tree.dim());
        return Tree::band(tree.dim(), cut_nested(tree.child(), active, prefix, statements, context, outer, blocks, problem));
      case Tree::Kind::sequence: {
        std::vector<Tree::Branch> branches;
        for (const Tree::Branch& b : tree.branches()) {
          const std::size_t before = blocks.size();
          Tree child = cut_nested(b.tree, b.statements, prefix, statements, context, outer, blocks, problem);
          Tree::Branch branch{{}, std::move(child)};
          for (const std::string& name : b.statements)
            if (std::any_of(outer.begin(), outer.end(), [&](const LeafStatement& s) { return s.name == name; })) branch.statements.push_back(name);
          for (std::size_t i = before; i < blocks.size(); ++i) branch.statements.push_back(blocks[i].name);
          branches.push_back(std::move(branch));
        }
        return Tree::sequence(std::move(branches));
      }
      case Tree::Kind::allocate:
      case Tree::Kind::nested: {
        std::vector<LeafStatement> below;
        for (const LeafStatement& s : statements)
          if (contains(active, s.name)) below.push_back(s);
        if (auto refused = add_block(tree, below, prefix, context, outer, blocks)) problem = refused;
        return Tree();
      }
    }
    return tree;
  }
  std::optional<Infeasible> add_block(const Tree& tree, const std::vector<LeafStatement>& below, const std::vector<std::string>& prefix,
                                      const isl::set& context, std::vector<LeafStatement>& outer, std::vector<Block>& blocks) {
    Block block;
    block.name = "block_" + std::to_string(blocks_made_++);
    block.prefix = prefix;
    isl::set touched;
    std::vector<LeafStatement> edge;
    for (const LeafStatement& s : below) {
      const isl::set here = s.domain.apply(keep_dims(s.domain.space(), s.dims, prefix, block.name));
      touched = touched.is_null() ? here : touched.unite(here);
      edge.push_back(inner_statement(s, prefix.size(), s.domain.preimage(bind_prefix(s, prefix.size()))));
    }
    touched = touched.coalesce();
    isl_set* block_context = isl_set_intersect_params(touched.copy(), context.copy());
    for (std::size_t i = 0; i < prefix.size(); ++i) block_context = bind_to_parameter(block_context, static_cast<unsigned>(i), prefix[i]);
    const isl::set inner_context = isl::manage(isl_set_params(block_context));
    if (tree.kind() == Tree::Kind::allocate) block.arrays = tree.arrays();
    else if (auto refused = add_interior(tree, below, prefix, touched, block)) return refused;
    TILEOPT_TRY(edge_loops, build(tree.child(), edge, inner_context));
    block.edge = edge_loops;
    LeafStatement stand_in = below.front();
    stand_in.name = block.name;
    stand_in.dims = prefix;
    stand_in.domain = touched;
    std::vector<LeafStatement> kept;
    for (LeafStatement& s : outer)
      if (std::none_of(below.begin(), below.end(), [&](const LeafStatement& b) { return b.name == s.name; })) kept.push_back(std::move(s));
    kept.push_back(std::move(stand_in));
    outer = std::move(kept);
    blocks.push_back(std::move(block));
    return std::nullopt;
  }
  /// The whole block of a `nested` node and the condition for it.
  std::optional<Infeasible> add_interior(const Tree& tree, const std::vector<LeafStatement>& below, const std::vector<std::string>& prefix,
                                         const isl::set& touched, Block& block) {
    isl::set interior = touched;
    std::vector<LeafStatement> full;
    for (const LeafStatement& s : below) {
      const isl::map to_block = keep_dims(s.domain.space(), s.dims, prefix, block.name);
      std::vector<FittedSchedule::BoxDigit> inner;
      for (std::size_t i = prefix.size(); i < s.dims.size(); ++i) {
        inner.push_back({s.dims[i], promoted_.radix(s.dims[i])});
      }
      const bool bounded = std::all_of(inner.begin(), inner.end(), [](const FittedSchedule::BoxDigit& d) { return d.radix > 0; });
      if (!bounded) return refuse("`nested` above unbounded digits or copies of statement " + s.name + ": whole blocks would have no constant size");
      // A block that lacks the statement, or has it cut, is not whole.
      const isl::set not_whole = fill_box(s.domain, s.dims, inner).subtract(s.domain).unite(cut_points(s)).apply(to_block);
      interior = interior.intersect(s.domain.apply(to_block)).subtract(not_whole).coalesce();
      const isl::set box = fill_box(isl::set::universe(s.domain.space()), s.dims, inner);
      full.push_back(inner_statement(s, prefix.size(), box.preimage(bind_prefix(s, prefix.size()))));
      full.back().extents.clear();
    }
    block.interior = interior.gist(touched);
    TILEOPT_TRY(full_loops, build(tree.child(), full, isl::set(promoted_.program().ctx(), "{ : }")));
    block.full = full_loops;
    return std::nullopt;
  }
  /// { leaf[dims] } whose box of the atom is cut.
  static isl::set cut_points(const LeafStatement& s) {
    isl::set cut = isl::set::empty(s.domain.space());
    for (std::size_t b = 0; b < s.extents.size(); ++b) {
      const isl::val radix(s.domain.ctx(), s.box[b].radix);
      const isl::pw_aff whole = isl::manage(isl_pw_aff_val_on_domain(s.domain.copy(), radix.copy()));
      cut = cut.unite(isl::manage(isl_pw_aff_lt_set(s.extents[b].copy(), whole.copy())));
    }
    return cut;
  }
  /// Dimension `position` of `set` equal to a parameter called `name`.
  static isl_set* bind_to_parameter(isl_set* set, unsigned position, const std::string& name) {
    set = isl_set_add_dims(set, isl_dim_param, 1);
    const auto last = static_cast<unsigned>(isl_set_dim(set, isl_dim_param) - 1);
    set = isl_set_set_dim_name(set, isl_dim_param, last, name.c_str());
    return isl_set_equate(set, isl_dim_param, last, isl_dim_set, position);
  }
  const PromotedSchedule& promoted_;
  const SynchronizedSchedule::AgentLevels& agents_;
  int blocks_made_ = 0;
  std::set<std::string> whole_;
};

/// A version's loops run where the sizes are its own: `if (K % 8 == 0) body`.
AstNodePtr test_sizes(const Kernel& kernel, const AstNodePtr& body) {
  const isl::set context = kernel.whole_program().context(), sizes = kernel.program().context();
  if (context.is_subset(sizes)) return body;
  isl::set when = read_when(kernel.whole_program(), kernel.plan().when, kernel.name());
  const isl::ast_build build = isl::manage(isl_ast_build_from_context(context.copy()));
  const isl::ast_expr test = isl::manage(isl_ast_build_expr_from_set(build.get(), when.release()));
  return make_node(AstIf{convert_expr(test), body, nullptr});
}

Candidate<Ast> build_loops(const SynchronizedSchedule& synchronized) {
  const PromotedSchedule& promoted = synchronized.promoted();
  isl_options_set_ast_build_prefer_pdiv(promoted.program().ctx().get(), 1);
  Ast ast;
  ast.kernel = promoted.plan().name;
  ast.when = promoted.plan().when;
  for (const LeafStatement& s : promoted.statements()) ast.statements.emplace(s.name, make_statement(s, promoted.plan()));
  ast.arrays = promoted.arrays();
  LoopBuilder builder(promoted, synchronized.agent_levels());
  TILEOPT_TRY(root, builder.build(promoted.tree(), promoted.statements(), promoted.program().context()));
  ast.root = bind_guards(root, ast, promoted.program());
  if (const std::string problem = unbound_guard(ast, promoted.program()); !problem.empty())
    return Infeasible{"codegen", "build_ast", ast.kernel, "kernels[" + ast.kernel + "].tree", problem};
  if (!synchronized.agent_levels().empty()) {
    if (auto problem = shift_copies(synchronized, builder.whole(), ast)) return *problem;
    if (auto problem = place_agents(synchronized, ast)) return *problem;
    await_atoms(synchronized, ast);
  }
  ast.root = test_sizes(promoted.fitted().digits().kernel(), ast.root);
  return ast;
}
}  // namespace

Candidate<Ast> build_ast(const SynchronizedSchedule& synchronized) {
  const PromotedSchedule& promoted = synchronized.promoted();
  return within_limit(promoted.program().ctx(), "build_ast", promoted.plan().name, [&] { return build_loops(synchronized); });
}

}  // namespace tileopt
