/// scan(y): a reduction whose terms grow along one loop of the result becomes a recurrence,
///   y[i] = (+) x[j] for j in J(i), J(i) within J(i + 1)   ->   y[i] = y[i - 1] (+) x[j] for the j that are new in J(i).
///
///   y_init[i]      y[i] = start                 where there is no i - 1
///   y_first[i, j]  y[i] (+)= x[j]               there, for all of J(i); left out where J(i) is empty
///   y_carry[i]     y[i] = y[i - 1]              elsewhere
///   y[i]           y[i] (+)= x[j]               the new j; keeps its loop over j where there may be several
///
/// Conditions: y's reduction has one initialisation, by a constant, and nothing else writes y; data decides nothing; the
/// reduction loops hold nothing else; the terms do not depend on i, and what they read does not change between i - 1 and i.
/// New terms come last in index order: then every bit is the same, whatever the numerics. Else the monoid must be commutative,
/// and reassociate granted unless nothing rounds.
#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "rewrites/reduction_parts.h"
#include "rewrites/rewrite.h"
#include "support/text.h"

namespace tileopt {

namespace {

/// { S[..] -> S[..] }: one further along iterator `position`.
isl::map step(isl::ctx ctx, const std::string& name, std::size_t dimensions, std::size_t position) {
  std::vector<std::string> values;
  for (std::size_t d = 0; d < dimensions; ++d) values.push_back("d" + std::to_string(d) + (d == position ? " + 1" : ""));
  return tuple_function(ctx, name, dimensions, name, values).as_map();
}

class PrefixScan {
 public:
  PrefixScan(const Program& program, const Rewriting& rewriting)
      : program_(program), rewriting_(rewriting), statement_(program.statement(rewriting.arguments[0])), domain_(domain_of(program, statement_)) {}

  Candidate<Rewritten> run() {
    TILEOPT_TRY(parts, reduction_parts(program_, rewriting_, statement_));
    init_ = parts.init;
    outer_ = parts.outer;
    std::optional<Infeasible> refused;
    std::optional<std::size_t> repeating;  // a loop along which nothing is new
    for (std::size_t p = 0; p < outer_; ++p) {
      if (rewriting_.arguments.size() > 1 && statement_.iterators[p] != rewriting_.arguments[1]) continue;
      auto problem = check_along(p);
      if (!problem && !fresh_.is_empty()) return rewrite(p);
      if (problem && !refused) refused = std::move(problem);
      else if (!problem && !repeating) repeating = p;
    }
    if (repeating && !check_along(*repeating)) return rewrite(*repeating);
    if (refused) return std::move(*refused);
    return fails(statement_.name + " has no loop to scan along", statement_.where, "the result moves with the loop of a scan");
  }

 private:
  /// { y[outer, inner] -> y_init[outer] }
  isl::map to_outer(const isl::set& domain) const {
    std::vector<std::string> values;
    for (std::size_t d = 0; d < outer_; ++d) values.push_back("d" + std::to_string(d));
    return tuple_function(program_.ctx(), statement_.name, statement_.iterators.size(), init_->name, values).as_map().intersect_domain(domain);
  }

  std::optional<Infeasible> check_along(std::size_t along) {
    const std::string& loop = statement_.iterators[along];
    step_ = step(program_.ctx(), statement_.name, statement_.iterators.size(), along);
    outer_step_ = step(program_.ctx(), init_->name, outer_, along);
    const isl::set elements = domain_of(program_, *init_);
    isl::set next = domain_.apply(step_);  // terms of the element before, seen from here
    next = next.intersect(to_outer(next).intersect_range(elements).domain());
    if (!next.is_subset(domain_))
      return fails("a term of " + statement_.name + " is missing one step further along " + loop, statement_.where,
                   "a scan only gains terms: its range starts at a place that does not move with " + loop + " and ends with it, as in range(" + loop + " + 1)");
    if (next.is_empty()) return fails("no element of " + statement_.name + " has a predecessor along " + loop, statement_.where, "keep the reduction");
    if (auto problem = check_terms(loop)) return problem;
    continued_ = elements.intersect(elements.apply(outer_step_)).coalesce();
    fresh_ = domain_.subtract(next).intersect(to_outer(domain_).intersect_range(continued_).domain()).coalesce();
    in_order_ = comes_last(next);
    if (in_order_) return std::nullopt;
    const bool monoid = statement_.combine == Combine::monoid;
    if (monoid && !program_.monoid(statement_.monoid).commutative)
      return fails("new terms do not come last, and `" + statement_.monoid + "` is not commutative", statement_.where, "let the range end with " + loop);
    return check_regrouping(program_, rewriting_, statement_, "new terms of " + statement_.name + " do not come last");
  }

  /// Terms are the same one step further, and still there.
  std::optional<Infeasible> check_terms(const std::string& loop) const {
    const isl::map pairs = step_.intersect_domain(domain_).intersect_range(domain_);
    for (const Access& read : statement_.reads) {
      const isl::map here = access_map(program_, statement_, read);
      if (!pairs.apply_range(here).is_equal(here.intersect_domain(pairs.domain())))
        return fails("the terms of " + statement_.name + " depend on " + loop + " through `" + read.tensor + "`", read.where,
                     "a scan adds the same terms at every step: move what depends on " + loop + " out of the reduction");
      const isl::map changed = changed_between(program_, here, pairs);
      if (changed.is_empty()) continue;
      Infeasible refused = fails("`" + read.tensor + "` changes while " + statement_.name + " is scanned", read.where, "compute what is scanned in a loop before");
      refused.witness = poly::sample_text(changed);
      return refused;
    }
    for (const isl::pw_aff& index : statement_.indices) {
      const isl::map here = index.as_map().intersect_domain(domain_);
      if (!pairs.apply_range(here).is_equal(here.intersect_domain(pairs.domain())))
        return fails("the terms of " + statement_.name + " depend on " + loop, statement_.where,
                     "a scan adds the same terms at every step: move what depends on " + loop + " out of the reduction");
    }
    return std::nullopt;
  }

  /// No new term precedes an old one of its element.
  bool comes_last(const isl::set& old_terms) const {
    const isl::map same = to_outer(fresh_).apply_range(to_outer(old_terms).reverse());  // { new -> old }
    const isl::map later = isl::manage(isl_map_lex_lt(isl_set_get_space(domain_.get())));
    return same.intersect(later).is_empty();
  }

  Rewritten rewrite(std::size_t along) {
    along_ = along;
    FreshNames names(program_);
    ProgramParts parts = take_apart(program_);
    const std::vector<std::string> inner(statement_.iterators.begin() + static_cast<std::ptrdiff_t>(outer_), statement_.iterators.end());
    const std::string first_name = names.take(statement_.name + "_first"), carry_name = names.take(statement_.name + "_carry");
    std::vector<Tree::Branch> slot;
    std::vector<Statement> added;

    Statement& init = parts.statement(init_->name);
    const isl::set beginning = init_->domain.subtract(continued_).coalesce();
    if (!beginning.intersect_params(program_.context()).is_empty()) {
      init.domain = beginning;
      init.write.index = init.write.index.intersect_domain(beginning).coalesce();
    }
    const isl::set first_terms = domain_.subtract(to_outer(domain_).intersect_range(continued_).domain()).coalesce();
    if (!first_terms.is_empty()) {
      added.push_back(renamed(first_name, first_terms));
      slot.push_back({{first_name}, Tree::bands(inner, Tree::leaf())});
    }
    added.push_back(make_carry(carry_name));
    slot.push_back({{carry_name}, Tree::leaf()});
    const isl::map term = to_outer(fresh_).reverse();  // { y_init[outer] -> y[outer, inner] }
    if (!fresh_.is_empty()) {
      const bool single = term.is_single_valued();
      added.push_back(single ? make_single(term) : renamed(statement_.name, fresh_));
      slot.push_back({{statement_.name}, Tree::bands(single ? std::vector<std::string>{} : inner, Tree::leaf())});
    }
    const std::size_t position = parts.position(statement_.name);
    parts.statements.erase(parts.statements.begin() + static_cast<std::ptrdiff_t>(position));
    parts.statements.insert(parts.statements.begin() + static_cast<std::ptrdiff_t>(position), added.begin(), added.end());
    parts.order = distribute(program_, statement_.name, outer_, slot);
    if (beginning.intersect_params(program_.context()).is_empty()) parts = without(std::move(parts), init_->name);
    const bool exact = in_order_ || regroups_exactly(program_, statement_);
    return Rewritten{put_together(program_, std::move(parts)), exact, exact ? std::vector<std::string>{} : std::vector<std::string>{"reassociate"}};
  }

  static ProgramParts without(ProgramParts parts, const std::string& name) {
    std::vector<std::string> all, kept;
    for (const Statement& s : parts.statements) {
      all.push_back(s.name);
      if (s.name != name) kept.push_back(s.name);
    }
    parts.order = restrict_tree({all, parts.order}, kept)->tree;
    parts.statements.erase(parts.statements.begin() + static_cast<std::ptrdiff_t>(parts.position(name)));
    return parts;
  }

  /// The reduction on a part of its domain.
  Statement renamed(const std::string& name, const isl::set& domain) const {
    std::vector<std::string> values;
    for (std::size_t d = 0; d < statement_.iterators.size(); ++d) values.push_back("d" + std::to_string(d));
    const isl::set here = isl::manage(isl_set_set_tuple_name(domain.copy(), name.c_str()));
    return reindex(statement_, name, statement_.iterators, here,
                   tuple_function(program_.ctx(), name, statement_.iterators.size(), statement_.name, values));
  }

  /// y[i] = y[i - 1]
  Statement make_carry(const std::string& name) const {
    Statement carry;
    carry.name = name;
    carry.iterators = init_->iterators;
    carry.where = statement_.where;
    carry.domain = isl::manage(isl_set_set_tuple_name(continued_.copy(), name.c_str()));
    std::vector<std::string> here, before;
    for (std::size_t d = 0; d < outer_; ++d) {
      here.push_back("d" + std::to_string(d));
      before.push_back("d" + std::to_string(d) + (d == along_ ? " - 1" : ""));
    }
    const auto element = [&](const std::vector<std::string>& values) {
      const isl::pw_multi_aff place = tuple_function(program_.ctx(), name, outer_, init_->name, values).intersect_domain(carry.domain);
      return Access{statement_.write.tensor, init_->write.index.pullback(place).coalesce(), statement_.write.where};
    };
    carry.write = element(here);
    carry.reads = {element(before)};
    carry.body = make_expr(statement_.body->type, Read{0});
    return carry;
  }

  /// The one new term of each element: the inner loops are gone.
  Statement make_single(const isl::map& term) const {
    const std::string& name = statement_.name;
    std::vector<std::string> outer(statement_.iterators.begin(), statement_.iterators.begin() + static_cast<std::ptrdiff_t>(outer_));
    isl::map to_old = isl::manage(isl_map_set_tuple_name(term.copy(), isl_dim_in, name.c_str()));
    return reindex(statement_, name, outer, to_old.domain().coalesce(), poly::as_function(to_old));
  }

  Infeasible fails(const std::string& condition, const SourceLocation& where, const std::string& hint) const {
    return condition_fails(rewriting_, condition, where, hint);
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& statement_;
  isl::set domain_;
  const Statement* init_ = nullptr;
  std::size_t outer_ = 0, along_ = 0;  ///< loops around the reduction; the one to scan along
  isl::map step_, outer_step_;
  isl::set continued_;  ///< { y_init[outer] }: elements with a predecessor
  isl::set fresh_;      ///< { y[outer, inner] }: terms that the predecessor lacks
  bool in_order_ = true;
};

}  // namespace

Candidate<Rewritten> scan_prefix(const Program& program, const Rewriting& rewriting) { return PrefixScan(program, rewriting).run(); }

}  // namespace tileopt
