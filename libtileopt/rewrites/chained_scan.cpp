/// chained_scan(y, block=B, run=R, groups=G): a recurrence y[i] = y[i - 1] (+) x[i] in blocks of B steps, one after the other, each scanned
/// by B / R runs that do not wait for each other. One pass: x is read once and y written once.
///
///   i = B b + R r + s,   r = (B / R / G) g + m
///
///   y_sum = start                                          what everything before comes to
///   for every block b:
///     r > (y_run = identity ; s > (y_run (+)= x ; y_part[r, s] = y_run) ; y_total[r] = y_run)       the runs, each by itself
///     g > (y_group = identity ; m > y_group (+)= y_total[r])                                         what a group of runs comes to
///     g > (y_base[g] = y_sum ; y_sum (+)= y_group)                                                   what stands before each group
///     g > (y_next = y_base[g] ; m > (y_before[r] = y_next ; y_next (+)= y_total[r]))                 ... and before each run
///     r > s > y[i] = y_before[r] (+) y_part[r, s]
///
/// Conditions: those of block_scan; i is the innermost loop; what starts y does not move with i, and nothing has been added where it does; the
/// first step adds the term that the others add, or none.
/// Numerics: reassociate, unless nothing rounds. A monoid need not be commutative, but must not round.
#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/scan_blocks.h"

namespace tileopt {

namespace {

class ChainedScan : ScanBlocks {
 public:
  ChainedScan(const Program& program, const Rewriting& rewriting) : ScanBlocks(program, rewriting), run_(rewriting.sizes.at("run")), groups_(rewriting.sizes.at("groups")) {}

  Candidate<Rewritten> run() {
    if (block_ % run_ != 0 || block_ / run_ % groups_ != 0)
      return condition_fails(rewriting_, "blocks are no whole number of groups of runs", statement_.where, "let run * groups divide block");
    if (auto refused = find()) return *refused;
    return rewrite();
  }

 private:
  /// { [outer, b] } x { [d] : 0 <= d < extent }
  isl::set times(const isl::set& blocks, long extent) const {
    const std::size_t rank = outer_ + 1;
    isl_set* set = isl_set_add_dims(blocks.copy(), isl_dim_set, 1);
    set = isl_set_lower_bound_si(set, isl_dim_set, static_cast<unsigned>(rank), 0);
    return isl::manage(isl_set_upper_bound_si(set, isl_dim_set, static_cast<unsigned>(rank), static_cast<int>(extent - 1)));
  }

  isl::pw_aff constant(long value) const { return isl::pw_aff(program_.ctx(), "{ [(" + std::to_string(value) + ")] }"); }

  Rewritten rewrite() {
    const std::string loop = carry_->iterators[outer_], y = carry_->write.tensor, n = std::to_string(block_ / run_ / groups_);
    const long runs = block_ / run_;
    FreshNames names(program_);
    const auto local = [&](const std::string& part) { return names.take(y + "_" + part); };
    const std::string b = names.take(loop + "_block"), r = names.take(loop + "_run"), g = names.take(loop + "_group"), m = names.take(loop + "_member");
    const std::string sum = local("sum"), run = local("run"), part = local("part"), total = local("total"), group = local("group"), base = local("base"),
                      next = local("next"), before = local("before");
    const std::string step_text = std::to_string(block_) + " * " + at(0) + " + " + std::to_string(run_) + " * " + at(1) + " + " + at(2);

    // { [outer, b] }, { [outer, b, r] }, { [outer, b, r, s] } and so on: the loops of the statements.
    const isl::set outside = isl::manage(isl_set_project_out(elements_.copy(), isl_dim_set, static_cast<unsigned>(outer_), 1));
    const isl::set blocks = this->blocks();
    const isl::set of_runs = times(blocks, runs), of_groups = times(blocks, groups_);
    const isl::pw_multi_aff to_step = function("", outer_ + 3, "", {step_text});
    const auto digits = [&](const isl::set& of_steps) {
      const isl::set inside(program_.ctx(), "{ " + tuple_text("", outer_ + 3) + " : " + at(0) + " >= 0 and 0 <= " + at(1) + " < " + std::to_string(runs) + " and 0 <= " + at(2) + " < " + std::to_string(run_) + " }");
      // Bounds of the blocks themselves: without them isl keeps sums of all digits instead.
      const isl::set within = isl::manage(isl_set_add_dims(blocks.copy(), isl_dim_set, 2));
      return isl::manage(isl_set_remove_redundancies(of_steps.preimage(to_step).intersect(inside).intersect(within).coalesce().release()));
    };
    const isl::set of_members = isl::manage(isl_set_add_dims(of_groups.copy(), isl_dim_set, 1)).intersect(
        isl::set(program_.ctx(), "{ " + tuple_text("", outer_ + 3) + " : 0 <= " + at(2) + " < " + n + " }"));
    const std::string member = n + " * " + at(1) + " + " + at(2);

    std::vector<Statement> made;
    const auto add = [&](Statement s) {
      made.push_back(std::move(s));
      return made.back().name;
    };
    const auto start = [&](const std::string& name, const Names& loops, const isl::set& domain, const std::string& tensor, const Names& values, const ExprPtr& value) {
      Statement s = make(name, loops, domain, tensor, values);
      s.body = value;
      return add(std::move(s));
    };
    const auto copied = [&](const std::string& name, const Names& loops, const isl::set& domain, const std::string& tensor, const Names& values, const std::string& from, const Names& there) {
      Statement s = make(name, loops, domain, tensor, values);
      copy(s, from, there);
      return add(std::move(s));
    };
    const auto added = [&](const std::string& name, const Names& loops, const isl::set& domain, const std::string& tensor, const Names& values, const std::string& from, const Names& there) {
      Statement s = make(name, loops, domain, tensor, values);
      accumulate(s, from, there);
      return add(std::move(s));
    };
    const ExprPtr identity = identity_of(program_, statement_);
    const Names at_block = {at(0)}, at_run = {at(0), at(1)}, at_step = {at(0), at(1), at(2)}, at_member = {at(0), member};
    const Names in_run = {b, r}, in_step = {b, r, loop}, in_group = {b, g}, in_member = {b, g, m};

    const std::string s_start = add(make_start(names.take(sum + "_init"), outside, sum));
    const std::string s_run_init = start(names.take(run + "_init"), in_run, of_runs, run, at_run, identity);
    const std::string s_run = add(make_term(run, in_step, digits(terms_), step_text));
    const std::string s_part = copied(part, in_step, digits(elements_), part, at_step, run, at_run);
    const std::string s_total = copied(total, in_run, of_runs, total, at_run, run, at_run);
    const std::string s_group_init = start(names.take(group + "_init"), in_group, of_groups, group, at_run, identity);
    const std::string s_group = added(group, in_member, of_members, group, at_run, total, at_member);
    const std::string s_base = copied(base, in_group, of_groups, base, at_run, sum, {});
    const std::string s_sum = added(sum, in_group, of_groups, sum, {}, group, at_run);
    const std::string s_next_init = copied(names.take(next + "_init"), in_group, of_groups, next, at_run, base, at_run);
    const std::string s_before = copied(before, in_member, of_members, before, at_member, next, at_run);
    const std::string s_next = added(next, in_member, of_members, next, at_run, total, at_member);
    const std::string s_y = add(make_result(in_step, digits(elements_), step_text, before, part));

    ProgramParts parts = take_apart(program_);
    const isl::pw_aff block_count = scan_extent(blocks, outer_);
    add_local(parts, sum, {});
    for (const std::string& each : {run, total, before}) add_local(parts, each, {block_count, constant(runs)});
    add_local(parts, part, {block_count, constant(runs), constant(run_)});
    for (const std::string& each : {group, base, next}) add_local(parts, each, {block_count, constant(groups_)});

    const auto leaf = [](const std::string& name) { return Tree::Branch{{name}, Tree::leaf()}; };
    const auto nest = [](const std::string& dim, const std::vector<Tree::Branch>& branches) {
      Names all;
      for (const Tree::Branch& branch : branches) all.insert(all.end(), branch.statements.begin(), branch.statements.end());
      return Tree::Branch{all, Tree::band(dim, branches.size() == 1 ? branches.front().tree : Tree::sequence(branches))};
    };
    const Tree::Branch whole = nest(b, {nest(r, {leaf(s_run_init), nest(loop, {leaf(s_run), leaf(s_part)}), leaf(s_total)}),
                                        nest(g, {leaf(s_group_init), nest(m, {leaf(s_group)})}),
                                        nest(g, {leaf(s_base), leaf(s_sum)}),
                                        nest(g, {leaf(s_next_init), nest(m, {leaf(s_before), leaf(s_next)})}),
                                        nest(r, {nest(loop, {leaf(s_y)})})});
    return replaced(std::move(parts), made, {leaf(s_start), whole});
  }

  /// y_sum = what the recurrence starts from, which does not move with i
  Statement make_start(const std::string& name, const isl::set& outside, const std::string& sum) const {
    Statement s = make(name, {}, outside, sum, {});
    s.body = start_->body;
    for (const Access& read : start_->reads) {
      isl::map at_steps = isl::manage(isl_map_reset_tuple_id(access_map(program_, *start_, read).release(), isl_dim_in));
      at_steps = isl::manage(isl_map_project_out(at_steps.release(), isl_dim_in, static_cast<unsigned>(outer_), 1));
      s.reads.push_back({read.tensor, poly::as_function(isl::manage(isl_map_set_tuple_name(at_steps.release(), isl_dim_in, name.c_str()))).intersect_domain(s.domain).coalesce(), read.where});
    }
    return s;
  }
  /// y_run (+)= the term of the step, over [outer, b, r, s]
  Statement make_term(const std::string& run, const Names& loops, const isl::set& domain, const std::string& step) const {
    Statement s = make(run, loops, domain, run, {at(0), at(1)});
    add_term(s, step);
    return s;
  }
  /// y[i] = y_before[r] (+) y_part[r, s], over [outer, b, r, s]
  Statement make_result(const Names& loops, const isl::set& domain, const std::string& step, const std::string& before, const std::string& part) const {
    Statement s = make(statement_.name, loops, domain, before, {at(0), at(1)});
    s.write = of_step(s, *carry_, carry_->write, step);
    s.write.where = statement_.write.where;
    s.reads = {access(s, before, {at(0), at(1)}), access(s, part, {at(0), at(1), at(2)})};
    s.body = combined(program_, statement_, make_expr(statement_.body->type, Read{0}), make_expr(statement_.body->type, Read{1}));
    return s;
  }

  long run_, groups_;
};

}  // namespace

Candidate<Rewritten> chained_scan(const Program& program, const Rewriting& rewriting) { return ChainedScan(program, rewriting).run(); }

}  // namespace tileopt
