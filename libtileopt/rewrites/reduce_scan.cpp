/// reduce_scan(y, block=S): a recurrence y[i] = y[i - 1] (+) x[i] in blocks of S steps that do not wait for each other: what each comes to first,
/// then what stands before each, then the recurrence in each from there. x is read twice and y is written once.
///
///   y_total = identity ; y_total[p] (+)= x[i]                     for all i = S p + k of block p
///   y_base[0] = start ; y_base[p] = y_base[p - 1] ; y_base[p] (+)= y_total[p - 1]
///   y[i] = y_base[p] where block p starts, y[i - 1] elsewhere ; y[i] (+)= x[i]
///
/// y_base and y are recurrences in turn, which chained_scan may cut further.
/// Conditions and numerics: those of chained_scan.
#include "rewrites/scan_blocks.h"

namespace tileopt {

namespace {

class ReduceScan : ScanBlocks {
 public:
  ReduceScan(const Program& program, const Rewriting& rewriting) : ScanBlocks(program, rewriting) {}

  Candidate<Rewritten> run() {
    if (auto refused = find()) return *refused;
    if (!start_->reads.empty()) return condition_fails(rewriting_, start_->name + " starts from no constant", start_->where, "take it once");
    return rewrite();
  }

 private:
  /// i, of the step k of block p.
  std::string step() const { return std::to_string(block_) + " * " + at(0) + " + " + at(1); }
  /// { [outer, i] } as { [outer, p, k] }
  isl::set in_blocks(const isl::set& steps) const {
    const isl::set inside(program_.ctx(), "{ " + tuple_text("", outer_ + 2) + " : " + at(0) + " >= 0 and 0 <= " + at(1) + " < " + std::to_string(block_) + " }");
    return isl::manage(isl_set_remove_redundancies(steps.preimage(function("", outer_ + 2, "", {step()})).intersect(inside).coalesce().release()));
  }

  Rewritten rewrite() {
    const std::string loop = carry_->iterators[outer_], y = carry_->write.tensor;
    FreshNames names(program_);
    const std::string p = names.take(loop + "_part"), total = names.take(y + "_total"), base = names.take(y + "_base");
    const isl::set blocks = this->blocks();
    const isl::map next = function("", outer_ + 1, "", {at(0) + " + 1"}).as_map();
    const isl::set later = blocks.intersect(blocks.apply(next)).coalesce(), first = blocks.subtract(later).coalesce();
    const isl::set steps = in_blocks(elements_);
    const isl::set starts = steps.intersect(isl::set(program_.ctx(), "{ " + tuple_text("", outer_ + 2) + " : " + at(1) + " = 0 }")).unite(
        in_blocks(isl::manage(isl_set_reset_tuple_id(domain_of(program_, *start_).release()))));

    std::vector<Statement> made;
    Statement total_init = make(names.take(total + "_init"), {p}, blocks, total, {at(0)}), of_total = make(total, {p, loop}, in_blocks(terms_), total, {at(0)});
    total_init.body = identity_of(program_, statement_);
    add_term(of_total, step());
    Statement base_init = make(names.take(base + "_init"), {p}, first, base, {at(0)}), base_carry = make(names.take(base + "_carry"), {p}, later, base, {at(0)}), of_base = make(base, {p}, later, base, {at(0)});
    base_init.body = start_->body;
    copy(base_carry, base, {at(0) + " - 1"});
    accumulate(of_base, total, {at(0) + " - 1"});
    Statement start = make(names.take(start_->name), {p, loop}, starts.coalesce(), base, {at(0)}), carry = make(names.take(carry_->name), {p, loop}, steps.subtract(starts).coalesce(), base, {at(0)}),
              sum = make(statement_.name, {p, loop}, in_blocks(terms_), base, {at(0)});
    copy(start, base, {at(0)});
    start.write = of_step(start, *carry_, carry_->write, step());
    carry.write = of_step(carry, *carry_, carry_->write, step());
    carry.reads = {of_step(carry, *carry_, carry_->write, step() + " - 1")};
    carry.body = make_expr(statement_.body->type, Read{0});
    sum.write = of_step(sum, *carry_, carry_->write, step());
    add_term(sum, step());

    ProgramParts parts = take_apart(program_);
    for (const std::string& local : {total, base}) add_local(parts, local, {scan_extent(blocks, outer_)});
    const auto leaf = [](const Statement& s) { return Tree::Branch{{s.name}, Tree::leaf()}; };
    std::vector<Tree::Branch> pieces = {
        {{total_init.name, of_total.name}, Tree::band(p, Tree::sequence({leaf(total_init), {{of_total.name}, Tree::band(loop, Tree::leaf())}}))},
        {{base_init.name, base_carry.name, of_base.name}, Tree::band(p, Tree::sequence({leaf(base_init), leaf(base_carry), leaf(of_base)}))},
        {{start.name, carry.name, sum.name}, Tree::band(p, Tree::band(loop, Tree::sequence({leaf(start), leaf(carry), leaf(sum)})))}};
    return replaced(std::move(parts), {total_init, of_total, base_init, base_carry, of_base, start, carry, sum}, pieces);
  }
};

}  // namespace

Candidate<Rewritten> reduce_scan(const Program& program, const Rewriting& rewriting) { return ReduceScan(program, rewriting).run(); }

}  // namespace tileopt
