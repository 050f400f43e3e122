/// common_subexpressions(S): parts of S's expression that are computed more often than need be go into locals.
///
///   S[i, j]: ... g(x[i]) ...   ->   S_common[i]: S_common[i] = g(x[i]),   S[i, j]: ... S_common[i] ...
///
/// A part goes where it does not depend on all loops of S, or where a later statement computes the same over loops of the same
/// names; all these then read the local.
///
/// common_subexpressions(S, Y) keeps the one part in Y, which a later statement writes: nothing is stored beside the result
/// (rewrites/place_local.cpp has the conditions). The loops that both statements have around them stay around all.
/// Conditions: the part calls a function or divides, reads something, and does so in every instance of S; what it reads does not
/// change between the local's assignment and the uses; loops run over 0 or more. Statements on which data decides keep their expressions.
/// Numerics: none; the same bits.
#include <algorithm>
#include <cmath>
#include <set>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "rewrites/rewrite.h"
#include "support/text.h"

namespace tileopt {

namespace {

bool is_costly(const ExprPtr& expr) {
  bool calls = false, reads = false;
  walk_expr(expr, [&](const Expr& e) {
    const Binary* binary = std::get_if<Binary>(&e.node);
    calls = calls || std::holds_alternative<Call>(e.node) || (binary && (binary->op == BinaryOp::divide || binary->op == BinaryOp::floor_div || binary->op == BinaryOp::modulo));
    reads = reads || std::holds_alternative<Read>(e.node);
  });
  return calls && reads;
}

isl::pw_multi_aff everywhere(const Access& access, const Statement& statement) {
  return isl::manage(isl_pw_multi_aff_gist(access.index.copy(), statement.domain.copy()));
}
isl::pw_aff everywhere(const isl::pw_aff& index, const Statement& statement) { return index.gist(statement.domain); }

/// The iterators that an expression of a statement depends on, by position; nothing where an access has several pieces or is
/// not made in every instance.
std::optional<std::set<std::size_t>> dependence(const Program& program, const Statement& statement, const ExprPtr& expr) {
  std::set<std::size_t> found;
  bool plain = true;
  const auto add = [&](const auto& function, auto involves) {
    for (std::size_t d = 0; d < statement.iterators.size(); ++d)
      if (involves(function.get(), isl_dim_in, static_cast<unsigned>(d), 1u) != isl_bool_false) found.insert(d);
  };
  walk_expr(expr, [&](const Expr& e) {
    if (const Read* read = std::get_if<Read>(&e.node)) {
      const Access& access = statement.reads[read->access];
      const isl::pw_multi_aff index = everywhere(access, statement);
      plain = plain && index.n_piece() == 1 && access_map(program, statement, access).domain().is_equal(domain_of(program, statement));
      add(index, isl_pw_multi_aff_involves_dims);
    }
    if (const IndexValue* value = std::get_if<IndexValue>(&e.node)) {
      const isl::pw_aff index = everywhere(statement.indices[value->index], statement);
      plain = plain && isl_pw_aff_n_piece(index.get()) == 1;
      add(index, isl_pw_aff_involves_dims);
    }
  });
  return plain ? std::optional(found) : std::nullopt;
}

/// One part of one statement.
struct Part {
  ExprPtr expr;
  std::vector<std::string> loops;  ///< names of the iterators that it depends on, in order
};

class Sharing {
 public:
  Sharing(const Program& program, const Rewriting& rewriting)
      : program_(program), rewriting_(rewriting), statement_(program.statement(rewriting.arguments[0])) {}

  Candidate<Rewritten> run() {
    if (statement_.conditional())
      return fails("data decides whether " + statement_.name + " has an effect", statement_.where, "keep the expression");
    for (const std::string& loop : loops_around(program_, statement_.name))
      if (!contains(statement_.iterators, loop)) return fails("the loops of " + statement_.name + " are not its iterators", statement_.where, "keep the expression");
    if (rewriting_.arguments.size() > 1) {
      if (auto problem = find_target()) return std::move(*problem);
    }
    search(statement_.body);
    if (chosen_.empty())
      return fails("no part of " + statement_.name + "'s expression is computed more often than need be", statement_.where, "keep the expression");
    ProgramParts parts = take_apart(program_);
    FreshNames names(program_);
    std::vector<Tree::Branch> slot;
    const std::size_t depth = loops_around(program_, statement_.name).size();
    const std::size_t shared = std::max(least_shared(program_, statement_.name, depth), kept_loops_);
    std::vector<std::string> locals;
    for (const Part& part : chosen_) {
      const std::string name = names.take(statement_.name + "_common");
      if (auto problem = add_local(parts, part, name, shared, slot)) return std::move(*problem);
      locals.push_back(name);
    }
    const std::vector<std::string> loops = loops_around(program_, statement_.name);
    slot.push_back({{statement_.name}, Tree::bands({loops.begin() + static_cast<std::ptrdiff_t>(shared), loops.end()}, Tree::leaf())});
    parts.order = distribute(program_, statement_.name, shared, slot);
    const Program placed = put_together(program_, parts);
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      bool used = false;
      for (Statement& s : parts.statements)
        if (!contains(locals, s.name)) used = replace(placed, s, chosen_[i], locals[i], shared) || used;
      if (!used) return fails("what `" + statement_.name + "` computes twice changes in between", statement_.where, "keep the expression");
    }
    Program shared_program = put_together(program_, std::move(parts));
    if (kept_.empty()) return Rewritten{std::move(shared_program), true, {}};
    if (locals.size() != 1) return fails(std::to_string(locals.size()) + " parts do not fit into `" + kept_ + "`", statement_.where, "keep them in locals");
    return place_local(shared_program, rewriting_, locals.front(), kept_);
  }

 private:
  std::optional<Infeasible> find_target() {
    kept_ = rewriting_.arguments[1];
    for (const Statement& s : program_.statements())
      if (s.write.tensor == kept_) kept_loops_ = common_loops(program_, statement_.name, s.name);
    if (program_.has_tensor(kept_)) return std::nullopt;
    return fails("there is no tensor `" + kept_ + "`", statement_.where, "name a result that a later statement writes");
  }

  /// The largest parts that are worth a local, outermost first.
  void search(const ExprPtr& expr) {
    if (is_costly(expr)) {
      const auto loops = dependence(program_, statement_, expr);
      if (loops && (loops->size() < statement_.iterators.size() || occurs_later(expr, *loops))) {
        for (const Part& part : chosen_)
          if (part.expr == expr) return;
        Part part{expr, {}};
        for (const std::size_t d : *loops) part.loops.push_back(statement_.iterators[d]);
        chosen_.push_back(std::move(part));
        return;
      }
    }
    if (std::holds_alternative<Select>(expr->node)) return;  // a branch may not be evaluated everywhere
    for (const ExprPtr& operand : operands(*expr)) search(operand);
  }

  bool occurs_later(const ExprPtr& expr, const std::set<std::size_t>& loops) const {
    Part part{expr, {}};
    for (const std::size_t d : loops) part.loops.push_back(statement_.iterators[d]);
    bool after = false;
    for (const Statement& other : program_.statements()) {
      if (other.name == statement_.name) after = true;
      else if (after && other.guards.empty() && finds(other, other.body, part)) return true;
    }
    return false;
  }
  bool finds(const Statement& other, const ExprPtr& expr, const Part& part) const {
    if (same(other, expr, part)) return true;
    for (const ExprPtr& operand : operands(*expr))
      if (finds(other, operand, part)) return true;
    return false;
  }

  /// `expr` of `other` is the part, over iterators of the same names.
  bool same(const Statement& other, const ExprPtr& expr, const Part& part) const {
    for (const std::string& loop : part.loops)
      if (!contains(other.iterators, loop)) return false;
    return equal(other, expr, part.expr);
  }
  bool equal(const Statement& other, const ExprPtr& a, const ExprPtr& b) const {
    if (a->type != b->type || a->node.index() != b->node.index()) return false;
    if (const Read* read = std::get_if<Read>(&a->node)) {
      const Access &mine = statement_.reads[std::get<Read>(b->node).access], &theirs = other.reads[read->access];
      return mine.tensor == theirs.tensor && by_name(everywhere(theirs, other).as_map(), other) == by_name(everywhere(mine, statement_).as_map(), statement_) &&
             everywhere(theirs, other).n_piece() == 1;
    }
    if (const IndexValue* value = std::get_if<IndexValue>(&a->node))
      return by_name(everywhere(other.indices[value->index], other).as_map(), other) ==
             by_name(everywhere(statement_.indices[std::get<IndexValue>(b->node).index], statement_).as_map(), statement_);
    if (const Literal* literal = std::get_if<Literal>(&a->node)) {
      const Literal& wanted = std::get<Literal>(b->node);
      return literal->real == wanted.real && std::signbit(literal->real) == std::signbit(wanted.real) && literal->integer == wanted.integer;
    }
    if (const Unary* unary = std::get_if<Unary>(&a->node); unary && unary->op != std::get<Unary>(b->node).op) return false;
    if (const Binary* binary = std::get_if<Binary>(&a->node); binary && binary->op != std::get<Binary>(b->node).op) return false;
    if (const Call* call = std::get_if<Call>(&a->node); call && call->function != std::get<Call>(b->node).function) return false;
    if (const Component* component = std::get_if<Component>(&a->node); component && component->index != std::get<Component>(b->node).index) return false;
    const std::vector<ExprPtr> left = operands(*a), right = operands(*b);
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!equal(other, left[i], right[i])) return false;
    return left.size() == right.size();
  }
  /// The function as text over iterator names: it depends on none but the part's.
  static std::string by_name(isl::map function, const Statement& statement) {
    isl_map* named = isl_map_reset_tuple_id(function.release(), isl_dim_in);
    for (std::size_t d = 0; d < statement.iterators.size(); ++d) named = isl_map_set_dim_name(named, isl_dim_in, static_cast<unsigned>(d), statement.iterators[d].c_str());
    for (std::size_t d = statement.iterators.size(); d-- > 0;) {
      const auto at = static_cast<unsigned>(d);
      if (isl_map_involves_dims(named, isl_dim_in, at, 1) == isl_bool_false) named = isl_map_project_out(named, isl_dim_in, at, 1);
    }
    return poly::to_text(isl::manage(named));
  }

  /// The local, and the statement that computes it: over the shared loops and those that the part depends on.
  std::optional<Infeasible> add_local(ProgramParts& parts, const Part& part, const std::string& name, std::size_t shared, std::vector<Tree::Branch>& slot) const {
    std::vector<std::size_t> kept;
    std::vector<std::string> own;
    for (std::size_t d = 0; d < statement_.iterators.size(); ++d) {
      const bool outer = d < shared;
      if (!outer && !contains(part.loops, statement_.iterators[d])) continue;
      kept.push_back(d);
      if (!outer) own.push_back(statement_.iterators[d]);
    }
    std::vector<std::string> values, from(statement_.iterators.size(), "0");
    for (std::size_t k = 0; k < kept.size(); ++k) {
      values.push_back("d" + std::to_string(kept[k]));
      from[kept[k]] = "d" + std::to_string(k);
    }
    const isl::map project = tuple_function(program_.ctx(), statement_.name, statement_.iterators.size(), name, values).as_map();
    Statement s;
    s.name = name;
    s.where = statement_.where;
    for (const std::size_t d : kept) s.iterators.push_back(statement_.iterators[d]);
    s.domain = domain_of(program_, statement_).apply(project).coalesce();
    const isl::pw_multi_aff to_source = tuple_function(program_.ctx(), name, kept.size(), statement_.name, from);
    for (const Access& read : statement_.reads)
      s.reads.push_back({read.tensor, everywhere(read, statement_).pullback(to_source).intersect_domain(s.domain).coalesce(), read.where});
    for (const isl::pw_aff& index : statement_.indices) s.indices.push_back(everywhere(index, statement_).pullback(to_source));
    s.body = part.expr;
    std::vector<std::string> subscripts;
    Tensor local{name, part.expr->type, {}, TensorRole::local, statement_.where};
    for (const std::string& loop : part.loops) {
      const auto at = static_cast<std::size_t>(std::find(s.iterators.begin(), s.iterators.end(), loop) - s.iterators.begin());
      subscripts.push_back("d" + std::to_string(at));
      if (!s.domain.is_subset(isl::manage(isl_set_lower_bound_si(s.domain.copy(), isl_dim_set, static_cast<unsigned>(at), 0))))
        return fails("loop " + loop + " has values below 0", statement_.where, "let the loop start at 0");
      const isl::pw_aff last = isl::manage(isl_set_dim_max(s.domain.copy(), static_cast<int>(at)));
      const isl::pw_aff one(program_.ctx(), "{ [(1)] }"), none(program_.ctx(), "{ [(0)] }");
      local.shape.push_back(isl::manage(isl_pw_aff_union_max(last.add(one).release(), none.copy())).coalesce());
    }
    s.write = {name, tuple_function(program_.ctx(), name, s.iterators.size(), name, subscripts).intersect_domain(s.domain), statement_.where};
    drop_unused(s);
    const std::size_t position = parts.position(statement_.name);
    parts.statements.insert(parts.statements.begin() + static_cast<std::ptrdiff_t>(position), std::move(s));
    parts.tensors.push_back(std::move(local));
    slot.push_back({{name}, Tree::bands(own, Tree::leaf())});
    return std::nullopt;
  }

  /// Puts the local in the place of the part wherever `s` computes it and the local holds its value. `placed`: the program with the
  /// local, before it is used.
  bool replace(const Program& placed, Statement& s, const Part& part, const std::string& local, std::size_t shared) const {
    if (!s.guards.empty() || !finds(s, s.body, part)) return false;
    const Statement& producer = placed.statement(local);
    for (std::size_t d = 0; d < shared; ++d)
      if (!contains(s.iterators, producer.iterators[d])) return false;
    std::vector<std::string> values;
    for (const std::string& iterator : producer.iterators)
      values.push_back("d" + std::to_string(std::find(s.iterators.begin(), s.iterators.end(), iterator) - s.iterators.begin()));
    const isl::pw_multi_aff instance = tuple_function(program_.ctx(), s.name, s.iterators.size(), local, values).intersect_domain(s.domain);
    const isl::map pairs = instance.as_map().intersect_domain(domain_of(program_, s)).intersect_range(domain_of(program_, producer));
    if (!pairs.domain().is_equal(domain_of(program_, s))) return false;
    const isl::union_map order = placed.original_order();
    const isl::union_map earlier = poly::lex_lt(order.intersect_domain(isl::union_set(pairs.range())), order.intersect_domain(isl::union_set(pairs.domain())));
    if (!isl::union_map(pairs.reverse()).is_subset(earlier)) return false;
    for (const Access& read : producer.reads)
      if (!changed_between(placed, access_map(placed, producer, read), pairs.reverse()).is_empty()) return false;
    if (shared > 0 && !changed_between(placed, access_map(placed, producer, producer.write), pairs.reverse()).is_empty()) return false;
    const std::size_t read = add_read(s, {local, producer.write.index.pullback(instance).coalesce(), s.where});
    s.body = substitute(s, s.body, part, make_expr(part.expr->type, Read{read}));
    drop_unused(s);
    return true;
  }
  ExprPtr substitute(const Statement& s, const ExprPtr& expr, const Part& part, const ExprPtr& value) const {
    if (same(s, expr, part)) return value;
    std::vector<ExprPtr> changed;
    for (const ExprPtr& operand : operands(*expr)) changed.push_back(substitute(s, operand, part, value));
    return changed.empty() ? expr : with_operands(*expr, changed);
  }
  static ExprPtr with_operands(const Expr& e, const std::vector<ExprPtr>& v) {
    if (const Unary* n = std::get_if<Unary>(&e.node)) return make_expr(e.type, Unary{n->op, v[0]});
    if (const Binary* n = std::get_if<Binary>(&e.node)) return make_expr(e.type, Binary{n->op, v[0], v[1]});
    if (std::holds_alternative<Select>(e.node)) return make_expr(e.type, Select{v[0], v[1], v[2]});
    if (std::holds_alternative<Cast>(e.node)) return make_expr(e.type, Cast{v[0]});
    if (const Call* n = std::get_if<Call>(&e.node)) return make_expr(e.type, Call{n->function, v});
    if (std::holds_alternative<MakeTuple>(e.node)) return make_expr(e.type, MakeTuple{v});
    if (const Component* n = std::get_if<Component>(&e.node)) return make_expr(e.type, Component{v[0], n->index});
    TILEOPT_CHECK(false, "a leaf has no operands");
  }

  Infeasible fails(const std::string& condition, const SourceLocation& where, const std::string& hint) const {
    return condition_fails(rewriting_, condition, where, hint);
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& statement_;
  std::vector<Part> chosen_;
  std::string kept_;             ///< tensor that holds the part; "": a local
  std::size_t kept_loops_ = 0;
};

}  // namespace

std::size_t common_loops(const Program& program, const std::string& first, const std::string& second) {
  std::vector<std::string> all;
  for (const Statement& s : program.statements()) all.push_back(s.name);
  std::size_t count = 0;
  for (const std::string& loop : loops_around(program, first)) count += contains(sharers(program.order(), first, loop, all), second);
  return count;
}

Candidate<Rewritten> common_subexpressions(const Program& program, const Rewriting& rewriting) { return Sharing(program, rewriting).run(); }

}  // namespace tileopt
