/// reduce_scan(y, block=S): a recurrence y[i] = y[i - 1] (+) x[i] in blocks of S steps that do not wait for each other: what each comes to first,
/// then what stands before each, then the recurrence in each from there. x is read twice and y is written once.
///
///   y_total = identity ; y_total[p] (+)= x[i]                     for all i = S p + k of block p
///   y_base[0] = start ; y_base[p] = y_base[p - 1] ; y_base[p] (+)= y_total[p - 1]
///   y[i] = y_base[p] where block p starts, y[i - 1] elsewhere ; y[i] (+)= x[i]
///
/// y_base and y are recurrences in turn, which chained_scan may cut further.
/// Conditions and numerics: those of chained_scan.
#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "rewrites/rewrite.h"
#include "rewrites/scan_recurrence.h"
#include "support/text.h"

namespace tileopt {

namespace {

using Names = std::vector<std::string>;

class ReduceScan {
 public:
  ReduceScan(const Program& program, const Rewriting& rewriting)
      : program_(program), rewriting_(rewriting), statement_(program.statement(rewriting.arguments[0])), block_(rewriting.sizes.at("block")) {}

  Candidate<Rewritten> run() {
    TILEOPT_TRY(recurrence, find_scan_recurrence(program_, rewriting_, statement_));
    carry_ = recurrence.carry;
    outer_ = recurrence.along;
    group_ = recurrence.group;
    if (outer_ + 1 != carry_->iterators.size())
      return condition_fails(rewriting_, "loops stand inside of " + carry_->iterators[outer_], carry_->where, "take block_scan");
    TILEOPT_TRY(steps, find_scan_steps(program_, rewriting_, statement_, recurrence));
    start_ = steps.start;
    if (!start_->reads.empty()) return condition_fails(rewriting_, start_->name + " starts from no constant", start_->where, "take it once");
    return rewrite(steps.terms, steps.elements);
  }

 private:
  std::string at(std::size_t further) const { return "d" + std::to_string(outer_ + further); }
  Names with_outer(const Names& more) const {
    Names values;
    for (std::size_t d = 0; d < outer_; ++d) values.push_back("d" + std::to_string(d));
    values.insert(values.end(), more.begin(), more.end());
    return values;
  }
  isl::pw_multi_aff function(const std::string& from, std::size_t inputs, const std::string& to, const Names& values) const {
    return tuple_function(program_.ctx(), from, inputs, to, with_outer(values));
  }
  /// i, of the step k of block p.
  std::string step() const { return std::to_string(block_) + " * " + at(0) + " + " + at(1); }
  /// { [outer, i] } as { [outer, p, k] }
  isl::set in_blocks(const isl::set& steps) const {
    const isl::set inside(program_.ctx(), "{ " + tuple_text("", outer_ + 2) + " : " + at(0) + " >= 0 and 0 <= " + at(1) + " < " + std::to_string(block_) + " }");
    return isl::manage(isl_set_remove_redundancies(steps.preimage(function("", outer_ + 2, "", {step()})).intersect(inside).coalesce().release()));
  }

  Statement make(const std::string& name, const Names& loops, const isl::set& domain, const std::string& tensor) const {
    Statement s;
    s.name = name;
    s.where = statement_.where;
    s.iterators.assign(carry_->iterators.begin(), carry_->iterators.begin() + static_cast<std::ptrdiff_t>(outer_));
    s.iterators.insert(s.iterators.end(), loops.begin(), loops.end());
    s.domain = isl::manage(isl_set_set_tuple_name(domain.copy(), name.c_str()));
    s.write = access(s, tensor, {at(0)});
    return s;
  }
  Access access(const Statement& s, const std::string& tensor, const Names& values) const {
    return {tensor, function(s.name, s.iterators.size(), tensor, values).intersect_domain(s.domain), statement_.write.where};
  }
  /// The access of the recurrence at step `place_of` over the loops of `s`.
  Access of_step(const Statement& s, const Statement& old, const Access& read, const std::string& place_of) const {
    const isl::pw_multi_aff place = function(s.name, s.iterators.size(), "", {place_of}).intersect_domain(s.domain);
    return {read.tensor, scan_access(program_, old, read).pullback(place).coalesce(), read.where};
  }
  ExprPtr read() const { return make_expr(statement_.body->type, Read{0}); }
  void combine(Statement& s) const {
    s.combine = statement_.combine;
    s.monoid = statement_.monoid;
  }
  /// The recurrence's term at the step of the last loop of `s`.
  void add_term(Statement& s) const {
    combine(s);
    s.body = statement_.body;
    for (const Access& each : statement_.reads) s.reads.push_back(of_step(s, statement_, each, step()));
    for (const isl::pw_aff& index : statement_.indices) {
      const isl::pw_aff value = isl::manage(isl_pw_aff_gist(index.copy(), domain_of(program_, statement_).release()));
      const isl::pw_multi_aff place = function(s.name, s.iterators.size(), "", {step()}).intersect_domain(s.domain);
      s.indices.push_back(isl::manage(isl_pw_aff_reset_tuple_id(value.copy(), isl_dim_in)).pullback(place).coalesce());
    }
  }

  Rewritten rewrite(const isl::set& terms, const isl::set& elements) {
    const std::string loop = carry_->iterators[outer_], y = carry_->write.tensor;
    FreshNames names(program_);
    const std::string p = names.take(loop + "_part"), total = names.take(y + "_total"), base = names.take(y + "_base");
    const isl::set blocks = elements.apply(function("", outer_ + 1, "", {"floor(" + at(0) + " / " + std::to_string(block_) + ")"}).as_map()).coalesce();
    const isl::map next = function("", outer_ + 1, "", {at(0) + " + 1"}).as_map();
    const isl::set later = blocks.intersect(blocks.apply(next)).coalesce(), first = blocks.subtract(later).coalesce();
    const isl::set steps = in_blocks(elements);
    const isl::set starts = steps.intersect(isl::set(program_.ctx(), "{ " + tuple_text("", outer_ + 2) + " : " + at(1) + " = 0 }")).unite(
        in_blocks(isl::manage(isl_set_reset_tuple_id(domain_of(program_, *start_).release()))));

    std::vector<Statement> made;
    Statement total_init = make(names.take(total + "_init"), {p}, blocks, total), of_total = make(total, {p, loop}, in_blocks(terms), total);
    total_init.body = identity_of(program_, statement_);
    add_term(of_total);
    Statement base_init = make(names.take(base + "_init"), {p}, first, base), base_carry = make(names.take(base + "_carry"), {p}, later, base), of_base = make(base, {p}, later, base);
    base_init.body = start_->body;
    base_carry.reads = {access(base_carry, base, {at(0) + " - 1"})};
    base_carry.body = read();
    of_base.reads = {access(of_base, total, {at(0) + " - 1"})};
    of_base.body = read();
    combine(of_base);
    Statement start = make(names.take(start_->name), {p, loop}, starts.coalesce(), base), carry = make(names.take(carry_->name), {p, loop}, steps.subtract(starts).coalesce(), base),
              sum = make(statement_.name, {p, loop}, in_blocks(terms), base);
    start.write = of_step(start, *carry_, carry_->write, step());
    start.reads = {access(start, base, {at(0)})};
    start.body = read();
    carry.write = of_step(carry, *carry_, carry_->write, step());
    carry.reads = {of_step(carry, *carry_, carry_->write, step() + " - 1")};
    carry.body = read();
    sum.write = of_step(sum, *carry_, carry_->write, step());
    add_term(sum);

    ProgramParts parts = take_apart(program_);
    for (const std::string& local : {total, base}) add_local(parts, local, elements, blocks);
    const auto leaf = [](const Statement& s) { return Tree::Branch{{s.name}, Tree::leaf()}; };
    std::vector<Tree::Branch> pieces = {
        {{total_init.name, of_total.name}, Tree::band(p, Tree::sequence({leaf(total_init), {{of_total.name}, Tree::band(loop, Tree::leaf())}}))},
        {{base_init.name, base_carry.name, of_base.name}, Tree::band(p, Tree::sequence({leaf(base_init), leaf(base_carry), leaf(of_base)}))},
        {{start.name, carry.name, sum.name}, Tree::band(p, Tree::band(loop, Tree::sequence({leaf(start), leaf(carry), leaf(sum)})))}};
    parts.order = replace_loop(program_, carry_->name, loop, pieces);
    const std::size_t position = parts.position(group_.front());
    std::erase_if(parts.statements, [&](const Statement& s) { return contains(group_, s.name); });
    const std::vector<Statement> all = {total_init, of_total, base_init, base_carry, of_base, start, carry, sum};
    parts.statements.insert(parts.statements.begin() + static_cast<std::ptrdiff_t>(std::min(position, parts.statements.size())), all.begin(), all.end());
    const bool exact = regroups_exactly(program_, statement_);
    return Rewritten{put_together(program_, std::move(parts)), exact, exact ? Names{} : Names{"reassociate"}};
  }

  /// A local over the outer loops and the blocks.
  void add_local(ProgramParts& parts, const std::string& name, const isl::set& elements, const isl::set& blocks) const {
    Tensor tensor = program_.tensor(carry_->write.tensor);
    tensor.name = name;
    tensor.role = TensorRole::local;
    tensor.facts = {};
    tensor.layout = {};
    tensor.shape.clear();
    for (std::size_t d = 0; d < outer_; ++d) tensor.shape.push_back(scan_extent(elements, d));
    tensor.shape.push_back(scan_extent(blocks, outer_));
    parts.tensors.push_back(std::move(tensor));
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& statement_;
  long block_;
  const Statement *carry_ = nullptr, *start_ = nullptr;
  std::size_t outer_ = 0;
  Names group_;
};

}  // namespace

Candidate<Rewritten> reduce_scan(const Program& program, const Rewriting& rewriting) { return ReduceScan(program, rewriting).run(); }

}  // namespace tileopt
