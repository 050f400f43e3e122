/// local(C): a reduction accumulates into a local, from which one assignment makes its result.
///
///   C[i, j] += f(i, j, k)   ->   C_local[i, j] += f(i, j, k),  then  C_store[i, j]: C[i, j] = C_local[i, j]
///
/// So what accumulates may lie in another place than the result, and in another way: in registers that several threads fill together, say.
/// Conditions: C is an argument that the reduction and its initialisation alone write (reduction_parts.h), and nobody reads before it is stored.
/// Numerics: none, the bits are the same.
#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "rewrites/reduction_parts.h"
#include "rewrites/rewrite.h"

namespace tileopt {

Candidate<Rewritten> reduce_in_local(const Program& program, const Rewriting& rewriting) {
  const Statement& statement = program.statement(rewriting.arguments[0]);
  const Tensor& result = program.tensor(statement.write.tensor);
  TILEOPT_TRY(found, reduction_parts(program, rewriting, statement));
  const ReductionParts& reduction = found;
  if (result.role == TensorRole::local) return condition_fails(rewriting, "`" + result.name + "` is a local already", statement.where, "keep the reduction");
  FreshNames names(program);
  Tensor local;
  local.name = names.take(result.name + "_local");
  local.type = result.type;
  local.shape = result.shape;
  local.role = TensorRole::local;
  local.where = result.where;
  const Statement init = *reduction.init;
  Statement store;
  store.name = names.take(statement.name + "_store");
  store.where = statement.where;
  store.iterators = init.iterators;
  store.domain = isl::manage(isl_set_set_tuple_name(init.domain.copy(), store.name.c_str()));
  std::vector<std::string> same;
  for (std::size_t d = 0; d < reduction.outer; ++d) same.push_back("d" + std::to_string(d));
  const isl::pw_multi_aff to_init = tuple_function(program.ctx(), store.name, reduction.outer, init.name, same).intersect_domain(store.domain);
  const isl::pw_multi_aff element = init.write.index.pullback(to_init).coalesce();
  const auto in_local = [&](const isl::pw_multi_aff& index) { return isl::manage(isl_pw_multi_aff_set_tuple_id(index.copy(), isl_dim_out, isl_id_alloc(program.ctx().get(), local.name.c_str(), nullptr))); };
  store.write = {result.name, element, statement.write.where};
  store.reads = {{local.name, in_local(element), statement.write.where}};
  store.combine = Combine::assign;
  store.body = make_expr(result.type, Read{0});

  ProgramParts parts = take_apart(program);
  for (const std::string& name : {init.name, statement.name}) {
    Statement& writer = parts.statement(name);
    writer.write.tensor = local.name;
    writer.write.index = in_local(writer.write.index);
  }
  parts.tensors.push_back(local);
  const std::size_t position = parts.position(statement.name);
  parts.statements.insert(parts.statements.begin() + static_cast<std::ptrdiff_t>(position) + 1, store);
  const std::vector<std::string> inner(statement.iterators.begin() + static_cast<std::ptrdiff_t>(reduction.outer), statement.iterators.end());
  parts.order = distribute(program, statement.name, reduction.outer, {{{statement.name}, Tree::bands(inner, Tree::leaf())}, {{store.name}, Tree::leaf()}});
  return Rewritten{put_together(program, std::move(parts)), true, {}};
}

}  // namespace tileopt
