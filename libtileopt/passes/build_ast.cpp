/// Loops from the promoted tree, on atom-level statements: the printer unrolls boxes, isl never does.
/// Leaves get their operands pulled back onto the loops (at_each_domain; create_leaf would drop guards silently).
#include <exception>

#include "passes/ast_convert.h"
#include "passes/passes.h"
#include "support/text.h"

namespace tileopt {

namespace {
/// Collects one AstLeaf for every leaf that isl creates; the isl node keeps its number as annotation.
class LeafCollector {
 public:
  explicit LeafCollector(const PromotedSchedule& promoted) : promoted_(promoted) {}
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
    const LeafStatement& s = promoted_.statement(poly::input_name(schedule));
    const isl::pw_multi_aff instance = isl::manage(isl_pw_multi_aff_from_map(isl_map_reverse(schedule.copy())));  // { [time] -> leaf[dims] }
    const auto expression = [&](const isl::pw_aff& value) {
      const isl::pw_aff here = isl::manage(isl_pw_aff_pullback_pw_multi_aff(value.copy(), instance.copy())).coalesce();
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
  const PromotedSchedule& promoted_;
};

AstStatement make_statement(const LeafStatement& s) {
  AstStatement result;
  result.name = s.name;
  result.kind = s.kind == LeafKind::compute ? "compute" : s.kind == LeafKind::copy_in ? "copy_in" : "copy_out";
  result.statement = s.statement;
  result.atom = s.atom;
  for (const FittedSchedule::BoxDigit& digit : s.box) result.box.push_back({digit.name, digit.radix});
  result.instance_steps = s.instance_steps;
  result.write_array = s.write.array;
  result.write_steps = s.write.steps;
  for (const LeafAccess& read : s.reads) {
    result.read_arrays.push_back(read.array);
    result.read_steps.push_back(read.steps);
  }
  result.index_steps = s.index_steps;
  result.zero_fill = s.zero_fill;
  return result;
}
}  // namespace

Candidate<Ast> build_ast(const SynchronizedSchedule& synchronized) {
  const PromotedSchedule& promoted = synchronized.promoted();
  const Program& program = promoted.program();
  std::vector<StatementSpace> spaces;
  for (const LeafStatement& s : promoted.statements()) spaces.push_back(s.space());

  isl_ctx* ctx = program.ctx().get();
  isl_options_set_ast_build_prefer_pdiv(ctx, 1);
  LeafCollector collector(promoted);
  isl_ast_build* build = isl_ast_build_from_context(isl_set_copy(program.context().get()));
  build = isl_ast_build_set_at_each_domain(build, &LeafCollector::at_each_domain, &collector);
  const isl::schedule schedule = emit_schedule(promoted.tree(), spaces);
  isl_ast_node* node = isl_ast_build_node_from_schedule(build, schedule.copy());
  isl_ast_build_free(build);
  if (collector.error) {
    isl_ast_node_free(node);
    std::rethrow_exception(collector.error);
  }
  if (node == nullptr)
    return Infeasible{"codegen", "build_ast", promoted.plan().name, "kernels[" + promoted.plan().name + "].tree",
                      std::string("isl finds no loops: ") + isl_ctx_last_error_msg(ctx)};
  Ast ast;
  ast.kernel = promoted.plan().name;
  for (const LeafStatement& s : promoted.statements()) ast.statements.emplace(s.name, make_statement(s));
  ast.arrays = promoted.arrays();
  const AstConverter converter(collector.leaves, [&](const std::string& statement, int depth) {
    const std::string dim = path_dims(promoted.tree(), statement).at(static_cast<std::size_t>(depth));
    return std::pair<std::string, std::string>(dim, promoted.level(dim));
  });
  ast.root = converter.convert(isl::manage(node));
  return ast;
}

}  // namespace tileopt
