#include "rewrites/program_edit.h"

#include <algorithm>
#include <optional>

#include "support/text.h"

namespace tileopt {

Statement& ProgramParts::statement(const std::string& name) { return statements[position(name)]; }

std::size_t ProgramParts::position(const std::string& name) const {
  for (std::size_t s = 0; s < statements.size(); ++s)
    if (statements[s].name == name) return s;
  TILEOPT_CHECK(false, "no statement " + name);
}

ProgramParts take_apart(const Program& program) { return {program.tensors(), program.statements(), program.order()}; }

Program put_together(const Program& program, ProgramParts parts) {
  ProgramBuilder builder(program.ctx(), program.name());
  builder.file(program.file()).text(program.text()).context(program.context()).numerics(program.numerics()).order(parts.order);
  for (const std::string& parameter : program.parameters()) builder.parameter(parameter);
  for (Tensor& tensor : parts.tensors) builder.tensor(std::move(tensor));
  for (const Monoid& monoid : program.monoids()) builder.monoid(monoid);
  for (Statement& statement : parts.statements) builder.statement(std::move(statement));
  return builder.build();
}

FreshNames::FreshNames(const Program& program) : taken_(program.parameters()) {
  taken_.push_back(program.name());
  for (const Tensor& tensor : program.tensors()) taken_.push_back(tensor.name);
  for (const Monoid& monoid : program.monoids()) taken_.push_back(monoid.name);
  for (const Statement& statement : program.statements()) {
    taken_.push_back(statement.name);
    taken_.insert(taken_.end(), statement.iterators.begin(), statement.iterators.end());
  }
}

std::string FreshNames::take(const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; contains(taken_, name); ++n) name = wanted + "_" + std::to_string(n);
  taken_.push_back(name);
  return name;
}

std::string tuple_text(const std::string& name, std::size_t dimensions) {
  std::vector<std::string> dims;
  for (std::size_t d = 0; d < dimensions; ++d) dims.push_back("d" + std::to_string(d));
  return name + "[" + join(dims, ", ") + "]";
}

isl::pw_multi_aff tuple_function(isl::ctx ctx, const std::string& from, std::size_t inputs, const std::string& to,
                                 const std::vector<std::string>& outputs) {
  std::vector<std::string> values;
  for (const std::string& output : outputs) values.push_back("(" + output + ")");
  return isl::pw_multi_aff(ctx, "{ " + tuple_text(from, inputs) + " -> " + to + "[" + join(values, ", ") + "] }");
}

Statement reindex(const Statement& old, const std::string& name, const std::vector<std::string>& iterators, const isl::set& domain,
                  const isl::pw_multi_aff& to_old) {
  Statement result = old;
  result.name = name;
  result.iterators = iterators;
  result.domain = domain;
  const isl::pw_multi_aff here = to_old.intersect_domain(domain);
  result.write.index = old.write.index.pullback(here).coalesce();
  for (Access& read : result.reads) read.index = read.index.pullback(here).coalesce();
  for (isl::pw_aff& index : result.indices) index = index.pullback(here).gist(domain).coalesce();
  for (Guard& guard : result.guards) {
    const auto at = std::find(iterators.begin(), iterators.end(), old.iterators[guard.iterator]);
    TILEOPT_CHECK(at != iterators.end(), "a guard of " + old.name + " loses its iterator");
    guard.iterator = static_cast<std::size_t>(at - iterators.begin());
  }
  return result;
}

void change_expressions(Statement& statement, const std::function<ExprPtr(const ExprPtr&)>& change) {
  statement.body = rebuild(statement.body, change);
  if (statement.predicate) statement.predicate = rebuild(statement.predicate, change);
  for (Guard& guard : statement.guards) guard.value = rebuild(guard.value, change);
}

std::size_t add_read(Statement& statement, const Access& access) {
  for (std::size_t r = 0; r < statement.reads.size(); ++r)
    if (statement.reads[r].tensor == access.tensor &&
        isl_pw_multi_aff_plain_is_equal(statement.reads[r].index.get(), access.index.get()) == isl_bool_true) return r;
  statement.reads.push_back(access);
  return statement.reads.size() - 1;
}

std::size_t add_index(Statement& statement, const isl::pw_aff& value) {
  for (std::size_t x = 0; x < statement.indices.size(); ++x)
    if (isl_pw_aff_plain_is_equal(statement.indices[x].get(), value.get()) == isl_bool_true) return x;
  statement.indices.push_back(value);
  return statement.indices.size() - 1;
}

void drop_unused(Statement& statement) {
  std::vector<bool> reads(statement.reads.size()), indices(statement.indices.size());
  const auto mark = [&](const ExprPtr& expr) {
    if (!expr) return;
    walk_expr(expr, [&](const Expr& e) {
      if (const Read* read = std::get_if<Read>(&e.node)) reads[read->access] = true;
      if (const IndexValue* index = std::get_if<IndexValue>(&e.node)) indices[index->index] = true;
    });
  };
  mark(statement.body);
  mark(statement.predicate);
  for (const Guard& guard : statement.guards) mark(guard.value);
  const auto compact = [](auto& list, const std::vector<bool>& used) {
    std::vector<std::size_t> renumbered(used.size());
    auto old = std::move(list);
    list.clear();
    for (std::size_t i = 0; i < used.size(); ++i) {
      renumbered[i] = list.size();
      if (used[i]) list.push_back(std::move(old[i]));
    }
    return renumbered;
  };
  const std::vector<std::size_t> read_number = compact(statement.reads, reads), index_number = compact(statement.indices, indices);
  change_expressions(statement, [&](const ExprPtr& e) -> ExprPtr {
    if (const Read* read = std::get_if<Read>(&e->node)) return make_expr(e->type, Read{read_number[read->access]});
    if (const IndexValue* index = std::get_if<IndexValue>(&e->node)) return make_expr(e->type, IndexValue{index_number[index->index]});
    return e;
  });
}

isl::set domain_of(const Program& program, const Statement& statement) { return statement.domain.intersect_params(program.context()); }

isl::map access_map(const Program& program, const Statement& statement, const Access& access) {
  return access.index.as_map().intersect_domain(domain_of(program, statement));
}

std::optional<std::size_t> plain_iterator(const Access& access, std::size_t subscript) {
  const isl::pw_aff value = isl::manage(isl_pw_multi_aff_get_pw_aff(access.index.get(), static_cast<int>(subscript)));
  if (isl_pw_aff_isa_aff(value.get()) != isl_bool_true && isl_pw_aff_n_piece(value.get()) != 1) return std::nullopt;
  const isl::map relation = value.as_map();
  const int inputs = isl_map_dim(relation.get(), isl_dim_in);
  for (int i = 0; i < inputs; ++i) {
    isl_local_space* local = isl_local_space_from_space(isl_space_domain(isl_map_get_space(relation.get())));
    const isl::map variable = isl::manage(isl_map_from_aff(isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(i))));
    if (relation.is_subset(variable)) return static_cast<std::size_t>(i);
  }
  return std::nullopt;
}

}  // namespace tileopt
