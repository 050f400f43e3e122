/// inline(t): t[w(p)] = f(p) ... g(t[r(s)])   ->   ... g(f(p(s))),  p(s) the one instance with w(p) = r(s).
///
/// Conditions: t is a local; one statement writes it, an assignment whose effect no data decides; it writes every element once
/// and does not read t; every read of t leads to one affine instance of it, earlier; nothing that f reads changes in between;
/// no read of t decides an index.
#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "rewrites/rewrite.h"

namespace tileopt {

namespace {

constexpr std::size_t largest_body = 4096;

/// The producer, moved to a consumer's instances.
class Inliner {
 public:
  Inliner(const Program& program, const Rewriting& rewriting, const Statement& producer)
      : program_(program), rewriting_(rewriting), producer_(producer), write_(access_map(program, producer, producer.write)) {}

  /// Replaces every read of the producer's local in `consumer`.
  std::optional<Infeasible> run(Statement& consumer) const {
    const Statement source = consumer;
    std::vector<ExprPtr> values;
    for (std::size_t r = 0; r < source.reads.size(); ++r) {
      const Access& read = source.reads[r];
      if (read.tensor != producer_.write.tensor) {
        values.push_back(make_expr(program_.tensor(read.tensor).type, Read{r}));
        continue;
      }
      for (const Guard& guard : source.guards)
        if (reads(guard.value, r)) return fails("`" + read.tensor + "` decides an index of " + source.name, read.where, "leave it as a local");
      const isl::map pairs = access_map(program_, source, read).apply_range(write_.reverse());  // { S -> P }
      const isl::pw_multi_aff instance = poly::as_function(pairs);
      if (instance.n_piece() != 1)
        return fails("which value of `" + read.tensor + "` " + source.name + " reads is no affine function of its loops", read.where,
                     "inline it by hand there");
      if (auto problem = check_values(source, read, pairs)) return problem;
      values.push_back(moved_body(consumer, instance));
    }
    change_expressions(consumer, [&](const ExprPtr& e) -> ExprPtr {
      const Read* read = std::get_if<Read>(&e->node);
      return read && read->access < values.size() ? values[read->access] : e;
    });
    drop_unused(consumer);
    if (tree_size(consumer.body, largest_body) >= largest_body)
      return fails("the expression of " + source.name + " becomes too large", source.where, "keep the local");
    return std::nullopt;
  }

 private:
  static bool reads(const ExprPtr& expr, std::size_t access) {
    bool found = false;
    walk_expr(expr, [&](const Expr& e) {
      const Read* read = std::get_if<Read>(&e.node);
      found = found || (read && read->access == access);
    });
    return found;
  }

  /// The producer runs before, and what it reads is still there.
  std::optional<Infeasible> check_values(const Statement& consumer, const Access& read, const isl::map& pairs) const {
    const isl::union_map order = program_.original_order();
    const isl::union_map earlier = poly::lex_lt(order.intersect_domain(isl::union_set(pairs.range())), order.intersect_domain(isl::union_set(pairs.domain())));
    if (!isl::union_map(pairs.reverse()).is_subset(earlier) || !access_map(program_, consumer, read).domain().is_subset(pairs.domain()))
      return fails("`" + read.tensor + "` is not always written before " + consumer.name + " reads it", read.where, "keep the local");
    for (const Access& operand : producer_.reads) {
      const isl::map changed = changed_between(program_, access_map(program_, producer_, operand), pairs.reverse());
      if (changed.is_empty()) continue;
      Infeasible refused = fails("`" + operand.tensor + "`, from which `" + read.tensor + "` is computed, changes before " + consumer.name + " reads it",
                                 read.where, "keep the local: it holds the old value");
      refused.witness = poly::sample_text(changed);
      return refused;
    }
    return std::nullopt;
  }

  ExprPtr moved_body(Statement& consumer, const isl::pw_multi_aff& instance) const {
    std::vector<std::size_t> reads, indices;
    for (const Access& operand : producer_.reads)
      reads.push_back(add_read(consumer, {operand.tensor, operand.index.pullback(instance).coalesce(), operand.where}));
    for (const isl::pw_aff& index : producer_.indices)
      indices.push_back(add_index(consumer, index.pullback(instance).gist(consumer.domain).coalesce()));
    return rebuild(producer_.body, [&](const ExprPtr& e) -> ExprPtr {
      if (const Read* read = std::get_if<Read>(&e->node)) return make_expr(e->type, Read{reads[read->access]});
      if (const IndexValue* index = std::get_if<IndexValue>(&e->node)) return make_expr(e->type, IndexValue{indices[index->index]});
      return e;
    });
  }

  Infeasible fails(const std::string& condition, const SourceLocation& where, const std::string& hint) const {
    return condition_fails(rewriting_, condition, where, hint);
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& producer_;
  isl::map write_;  // { P -> t }
};

bool reads_tensor(const Statement& statement, const std::string& tensor) {
  return std::any_of(statement.reads.begin(), statement.reads.end(), [&](const Access& read) { return read.tensor == tensor; });
}

}  // namespace

Candidate<Rewritten> inline_producer(const Program& program, const Rewriting& rewriting) {
  const std::string& name = rewriting.arguments[0];
  const Tensor& local = program.tensor(name);
  if (local.role != TensorRole::local)
    return condition_fails(rewriting, "`" + name + "` is no local", local.where, "only locals can be computed where they are read");
  std::vector<const Statement*> writers;
  for (const Statement& s : program.statements())
    if (s.write.tensor == name) writers.push_back(&s);
  if (writers.size() != 1)
    return condition_fails(rewriting, std::to_string(writers.size()) + " statements write `" + name + "`", local.where,
                           "a producer is one assignment");
  const Statement& producer = *writers.front();
  if (producer.combine != Combine::assign)
    return condition_fails(rewriting, producer.name + " is a reduction", producer.where, "a producer is one assignment");
  if (producer.conditional())
    return condition_fails(rewriting, "data decides whether " + producer.name + " has an effect", producer.where, "keep the local");
  if (reads_tensor(producer, name))
    return condition_fails(rewriting, producer.name + " reads `" + name + "` itself", producer.where, "keep the local");
  if (!access_map(program, producer, producer.write).is_injective())
    return condition_fails(rewriting, producer.name + " writes an element of `" + name + "` more than once", producer.where, "keep the local");

  ProgramParts parts = take_apart(program);
  const Inliner inliner(program, rewriting, producer);
  std::vector<std::string> kept, all;
  for (Statement& s : parts.statements) {
    all.push_back(s.name);
    if (s.name == producer.name) continue;
    kept.push_back(s.name);
    if (!reads_tensor(s, name)) continue;
    if (auto problem = inliner.run(s)) return std::move(*problem);
  }
  if (kept.empty()) return condition_fails(rewriting, "nothing else is computed", producer.where, "keep the local");
  parts.order = restrict_tree({all, program.order()}, kept)->tree;
  parts.statements.erase(parts.statements.begin() + static_cast<std::ptrdiff_t>(parts.position(producer.name)));
  std::erase_if(parts.tensors, [&](const Tensor& t) { return t.name == name; });
  return Rewritten{put_together(program, std::move(parts)), true, {}};
}

}  // namespace tileopt
