/// hoist(y): factors that are the same in all terms of a sum are applied once, afterwards.
///
///   y[i] += a[i] * f(i, k) / b[i]   ->   y[i] += f(i, k),  then  y_scale[i]: y[i] = a[i] * y[i] / b[i]   where there are terms
///
/// Conditions: y is a sum from 0, by itself in its loops (reduction_parts.h); a factor reads, in every term, what does not depend on
/// the inner loops and does not change in them; something remains to be summed.
/// Numerics: reassociate (the sum of products is the product of the sum), unless the element is an integer.
#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "rewrites/reduction_parts.h"
#include "rewrites/rewrite.h"

namespace tileopt {

namespace {

class Hoist {
 public:
  Hoist(const Program& program, const Rewriting& rewriting)
      : program_(program), rewriting_(rewriting), statement_(program.statement(rewriting.arguments[0])) {}

  Candidate<Rewritten> run() {
    if (statement_.combine != Combine::sum) return fails(statement_.name + " is no sum", statement_.where, "name a statement that adds up");
    TILEOPT_TRY(parts, reduction_parts(program_, rewriting_, statement_));
    parts_ = parts;
    const Literal* start = std::get_if<Literal>(&parts_.init->body->node);
    if (start == nullptr || start->real != 0 || start->integer != 0) return fails(parts_.init->name + " does not start from 0", parts_.init->where, "start from 0");
    const bool rounds = is_float(statement_.body->type);
    if (rounds && !program_.numerics().reassociate)
      return not_granted(rewriting_, "reassociate=True", "the factor is applied to the sum, not to its terms", statement_.where);
    const ExprPtr rest = peel(statement_.body);
    if (steps_.empty() || !rest)
      return fails(steps_.empty() ? "no factor of " + statement_.name + "'s terms is the same in all of them" : "all terms of " + statement_.name + " are the same",
                   statement_.where, "keep the reduction");
    return rewrite(rest, !rounds);
  }

 private:
  /// A factor that goes, or a divisor.
  struct Step {
    ExprPtr value;
    bool divides;
  };

  /// What remains of a product; null where that is 1. Factors that go are added to the steps.
  ExprPtr peel(const ExprPtr& expr) {
    if (is_invariant(expr)) {
      steps_.push_back({expr, false});
      return nullptr;
    }
    const Binary* node = std::get_if<Binary>(&expr->node);
    if (node != nullptr && node->op == BinaryOp::mul) {
      const ExprPtr left = peel(node->left), right = peel(node->right);
      if (!left || !right) return left ? left : right;
      return make_expr(expr->type, Binary{BinaryOp::mul, left, right});
    }
    if (node != nullptr && node->op == BinaryOp::divide && is_invariant(node->right)) {
      const ExprPtr left = peel(node->left);
      steps_.push_back({node->right, true});
      return left;
    }
    return expr;
  }

  bool is_invariant(const ExprPtr& expr) const {
    bool invariant = true;
    walk_expr(expr, [&](const Expr& e) {
      if (const Read* read = std::get_if<Read>(&e.node)) invariant = invariant && is_invariant_read(statement_.reads[read->access]);
      if (const IndexValue* index = std::get_if<IndexValue>(&e.node)) {
        const isl::pw_aff value = statement_.indices[index->index].gist(statement_.domain);
        invariant = invariant && isl_pw_aff_n_piece(value.get()) == 1 &&
                    isl_pw_aff_involves_dims(value.get(), isl_dim_in, first(), inner()) == isl_bool_false;
      }
    });
    return invariant;
  }

  bool is_invariant_read(const Access& read) const {
    const isl::pw_multi_aff index = everywhere(read);
    if (index.n_piece() != 1 || isl_pw_multi_aff_involves_dims(index.get(), isl_dim_in, first(), inner()) != isl_bool_false) return false;
    const isl::map here = access_map(program_, statement_, read);
    if (!here.domain().is_equal(domain_of(program_, statement_))) return false;
    return changed_between(program_, here, parts_.to_outer.apply_range(parts_.to_outer.reverse())).is_empty();
  }

  isl::pw_multi_aff everywhere(const Access& read) const { return isl::manage(isl_pw_multi_aff_gist(read.index.copy(), statement_.domain.copy())); }
  unsigned first() const { return static_cast<unsigned>(parts_.outer); }
  unsigned inner() const { return static_cast<unsigned>(statement_.iterators.size() - parts_.outer); }

  Rewritten rewrite(const ExprPtr& rest, bool exact) const {
    FreshNames names(program_);
    ProgramParts parts = take_apart(program_);
    const std::string name = names.take(statement_.name + "_scale");
    Statement& sum = parts.statement(statement_.name);
    sum.body = rest;
    drop_unused(sum);
    const std::size_t position = parts.position(statement_.name);
    parts.statements.insert(parts.statements.begin() + static_cast<std::ptrdiff_t>(position) + 1, make_scale(name));
    const std::vector<std::string> inner_loops(statement_.iterators.begin() + static_cast<std::ptrdiff_t>(parts_.outer), statement_.iterators.end());
    parts.order = distribute(program_, statement_.name, parts_.outer,
                             {{{statement_.name}, Tree::bands(inner_loops, Tree::leaf())}, {{name}, Tree::leaf()}});
    return Rewritten{put_together(program_, std::move(parts)), exact, exact ? std::vector<std::string>{} : std::vector<std::string>{"reassociate"}};
  }

  /// y[i] = factor * y[i], where there were terms: elsewhere the sum is 0 whatever the factor is.
  Statement make_scale(const std::string& name) const {
    Statement s;
    s.name = name;
    s.where = statement_.where;
    s.iterators = parts_.init->iterators;
    s.domain = isl::manage(isl_set_set_tuple_name(parts_.to_outer.range().coalesce().release(), name.c_str()));
    std::vector<std::string> to_init, to_sum;
    for (std::size_t d = 0; d < statement_.iterators.size(); ++d) {
      if (d < parts_.outer) to_init.push_back("d" + std::to_string(d));
      to_sum.push_back(d < parts_.outer ? to_init.back() : "0");
    }
    const isl::pw_multi_aff init = tuple_function(program_.ctx(), name, parts_.outer, parts_.init->name, to_init).intersect_domain(s.domain);
    const isl::pw_multi_aff sum = tuple_function(program_.ctx(), name, parts_.outer, statement_.name, to_sum).intersect_domain(s.domain);
    const isl::pw_multi_aff element = isl::manage(isl_pw_multi_aff_gist(parts_.init->write.index.copy(), parts_.init->domain.copy()));
    s.write = {statement_.write.tensor, element.pullback(init).coalesce(), statement_.write.where};
    s.reads = {s.write};
    std::vector<std::size_t> reads, indices;
    for (const Access& read : statement_.reads) {
      const bool moved = is_invariant_read(read);
      reads.push_back(moved ? add_read(s, {read.tensor, everywhere(read).pullback(sum).coalesce(), read.where}) : 0);
    }
    for (const isl::pw_aff& index : statement_.indices) {
      const isl::pw_aff value = index.gist(statement_.domain);
      indices.push_back(add_index(s, value.pullback(tuple_function(program_.ctx(), name, parts_.outer, statement_.name, to_sum))));
    }
    s.body = make_expr(statement_.body->type, Read{0});
    for (const Step& step : steps_) {
      const ExprPtr value = rebuild(step.value, [&](const ExprPtr& e) -> ExprPtr {
        if (const Read* read = std::get_if<Read>(&e->node)) return make_expr(e->type, Read{reads[read->access]});
        if (const IndexValue* index = std::get_if<IndexValue>(&e->node)) return make_expr(e->type, IndexValue{indices[index->index]});
        return e;
      });
      s.body = step.divides ? make_expr(s.body->type, Binary{BinaryOp::divide, s.body, value}) : make_expr(s.body->type, Binary{BinaryOp::mul, value, s.body});
    }
    drop_unused(s);
    return s;
  }

  Infeasible fails(const std::string& condition, const SourceLocation& where, const std::string& hint) const {
    return condition_fails(rewriting_, condition, where, hint);
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& statement_;
  ReductionParts parts_;
  std::vector<Step> steps_;
};

}  // namespace

Candidate<Rewritten> hoist_factors(const Program& program, const Rewriting& rewriting) { return Hoist(program, rewriting).run(); }

}  // namespace tileopt
