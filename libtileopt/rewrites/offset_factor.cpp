/// offset(C): a sum of products of signed bytes becomes one of unsigned by signed bytes, which processors have an instruction for.
///
///   C[i, j] = sum(i32(A[i, k]) * i32(B[k, j]))   ->   A_offset[..] = u8(i32(A[..]) + 128),  B_total[j] = sum(i32(B[k, j])),
///                                                    C[i, j] = -128 * B_total[j] + sum(i32(A_offset[i, k]) * i32(B[k, j]))
///
/// The first factor is the one that is offset.
/// Conditions: C is a sum of i32 from 0, by itself in its loops (reduction_parts.h); each term is a product of two i8 tensors that nothing
/// writes; the terms that B_total sums are the same for all elements that share it; loops and subscripts run over 0 or more.
/// Numerics: none; the same bits, as integers wrap: a * b = (a + 128) * b - 128 * b.
#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "rewrites/reduction_parts.h"
#include "rewrites/rewrite.h"
#include "support/text.h"

namespace tileopt {

namespace {

constexpr std::int64_t kOffset = 128;  ///< from i8 to u8

ExprPtr integer(std::int64_t value) { return make_expr(ElementType::i32, Literal{static_cast<double>(value), value}); }

class Offset {
 public:
  Offset(const Program& program, const Rewriting& rewriting)
      : program_(program), rewriting_(rewriting), statement_(program.statement(rewriting.arguments[0])), names_(program) {}

  Candidate<Rewritten> run() {
    if (statement_.combine != Combine::sum) return fails(statement_.name + " is no sum", statement_.where, "name a statement that adds up");
    TILEOPT_TRY(parts, reduction_parts(program_, rewriting_, statement_));
    parts_ = parts;
    const Literal* start = std::get_if<Literal>(&parts_.init->body->node);
    if (start == nullptr || start->real != 0 || start->integer != 0) return fails(parts_.init->name + " does not start from 0", parts_.init->where, "start from 0");
    if (auto problem = find_factors()) return std::move(*problem);
    if (auto problem = find_totals()) return std::move(*problem);
    return rewrite();
  }

 private:
  std::optional<Infeasible> find_factors() {
    const Binary* product = std::get_if<Binary>(&statement_.body->node);
    if (product == nullptr || product->op != BinaryOp::mul || statement_.body->type != ElementType::i32)
      return fails("the terms of " + statement_.name + " are no products of i32", statement_.where, "keep the sum");
    for (const auto& [side, factor] : {std::pair(&product->left, &left_), std::pair(&product->right, &right_)}) {
      const Cast* cast = std::get_if<Cast>(&(*side)->node);
      const Read* read = cast != nullptr ? std::get_if<Read>(&cast->operand->node) : nullptr;
      if (read == nullptr || cast->operand->type != ElementType::i8)
        return fails("a factor of " + statement_.name + " is no i8 element as i32", statement_.where, "keep the sum");
      *factor = read->access;
      const std::string& tensor = statement_.reads[read->access].tensor;
      for (const Statement& s : program_.statements())
        if (s.write.tensor == tensor) return fails(s.name + " writes `" + tensor + "`", s.where, "offset arguments that are only read");
      if (index_of(*factor).n_piece() != 1) return fails("`" + tensor + "` is read at elements of several kinds", statement_.reads[*factor].where, "keep the sum");
    }
    return std::nullopt;
  }

  isl::pw_multi_aff index_of(std::size_t read) const {
    return isl::manage(isl_pw_multi_aff_gist(statement_.reads[read].index.copy(), statement_.domain.copy()));
  }

  /// The outer iterators that the second factor moves with, and whether all elements that share them have the same terms.
  std::optional<Infeasible> find_totals() {
    const isl::set domain = domain_of(program_, statement_);
    const isl::pw_multi_aff index = index_of(right_);
    std::vector<std::string> kept;
    for (std::size_t d = 0; d < statement_.iterators.size(); ++d) {
      const bool inner = d >= parts_.outer;
      if (!inner && isl_pw_multi_aff_involves_dims(index.get(), isl_dim_in, static_cast<unsigned>(d), 1) == isl_bool_false) continue;
      if (!domain.is_subset(isl::manage(isl_set_lower_bound_si(domain.copy(), isl_dim_set, static_cast<unsigned>(d), 0))))
        return fails("loop " + statement_.iterators[d] + " has values below 0", statement_.where, "let the loop start at 0");
      if (!inner) shared_.push_back(d);
      total_iterators_.push_back(d);
      kept.push_back("d" + std::to_string(d));
    }
    total_ = names_.take(statement_.reads[right_].tensor + "_total");
    const isl::pw_multi_aff to_total = tuple_function(program_.ctx(), statement_.name, statement_.iterators.size(), total_, kept);
    terms_ = domain.apply(to_total.as_map()).coalesce();
    // Every element of C has exactly the terms that some element with the same shared iterators has: one without them would keep the total.
    const isl::set elements = domain_of(program_, *parts_.init).preimage(outer_of_sum());
    if (!elements.intersect(terms_.preimage(to_total)).is_equal(domain))
      return fails("elements of " + statement_.write.tensor + " that share factors of `" + statement_.reads[right_].tensor + "` have other terms", statement_.where, "keep the sum");
    return std::nullopt;
  }
  isl::pw_multi_aff outer_of_sum() const {
    std::vector<std::string> outer;
    for (std::size_t d = 0; d < parts_.outer; ++d) outer.push_back("d" + std::to_string(d));
    return tuple_function(program_.ctx(), statement_.name, statement_.iterators.size(), parts_.init->name, outer);
  }

  Candidate<Rewritten> rewrite() {
    ProgramParts parts = take_apart(program_);
    const Access& left = statement_.reads[left_];
    const Tensor& source = program_.tensor(left.tensor);
    const std::string offset = names_.take(left.tensor + "_offset"), init = names_.take(total_ + "_init");
    Tensor bytes{offset, ElementType::u8, source.shape, TensorRole::local, statement_.where};
    TILEOPT_TRY(totals, total_tensor());
    parts.tensors.push_back(std::move(bytes));
    parts.tensors.push_back(totals);
    std::vector<Statement> first = {make_offset(offset), make_total_init(init), make_total()};
    std::vector<Tree::Branch> order;
    for (const Statement& s : first) order.push_back({{s.name}, Tree::bands(s.iterators, Tree::leaf())});
    std::vector<std::string> all;
    for (const Statement& s : parts.statements) all.push_back(s.name);
    if (parts.order.kind() == Tree::Kind::sequence) order.insert(order.end(), parts.order.branches().begin(), parts.order.branches().end());
    else order.push_back({all, parts.order});
    parts.order = Tree::sequence(std::move(order));

    Statement& sum = parts.statement(statement_.name);
    const std::size_t read = add_read(sum, {offset, isl::manage(isl_pw_multi_aff_set_tuple_id(left.index.copy(), isl_dim_out, isl_id_alloc(program_.ctx().get(), offset.c_str(), nullptr))), left.where});
    const Binary product = std::get<Binary>(statement_.body->node);
    const ExprPtr unsigned_factor = make_expr(ElementType::i32, Cast{make_expr(ElementType::u8, Read{read})});
    sum.body = make_expr(ElementType::i32, Binary{BinaryOp::mul, unsigned_factor, product.right});
    drop_unused(sum);
    Statement& start = parts.statement(parts_.init->name);
    const Access total{total_, total_of_element().intersect_domain(start.domain), statement_.where};
    const std::size_t at = add_read(start, total);
    start.body = make_expr(ElementType::i32, Binary{BinaryOp::mul, integer(-kOffset), make_expr(ElementType::i32, Read{at})});
    parts.statements.insert(parts.statements.begin(), first.begin(), first.end());
    return Rewritten{put_together(program_, std::move(parts)), true, {}};
  }

  /// { C_init[outer] -> B_total[shared] }
  isl::pw_multi_aff total_of_element() const {
    std::vector<std::string> element;
    for (const std::size_t d : shared_) element.push_back("d" + std::to_string(d));
    return tuple_function(program_.ctx(), parts_.init->name, parts_.outer, total_, element);
  }
  /// Its elements: those that the initialisation of C asks for.
  isl::set total_elements() const { return domain_of(program_, *parts_.init).apply(total_of_element().as_map()).coalesce(); }

  Candidate<Tensor> total_tensor() const {
    Tensor tensor{total_, ElementType::i32, {}, TensorRole::local, statement_.where};
    const isl::set elements = total_elements();
    const isl::pw_aff one(program_.ctx(), "{ [(1)] }"), none(program_.ctx(), "{ [(0)] }");
    for (std::size_t d = 0; d < shared_.size(); ++d) {
      if (!elements.is_subset(isl::manage(isl_set_lower_bound_si(elements.copy(), isl_dim_set, static_cast<unsigned>(d), 0))))
        return fails("loop " + statement_.iterators[shared_[d]] + " has values below 0", parts_.init->where, "let the loop start at 0");
      const isl::pw_aff last = isl::manage(isl_set_dim_max(elements.copy(), static_cast<int>(d)));
      tensor.shape.push_back(isl::manage(isl_pw_aff_union_max(last.add(one).release(), none.copy())).coalesce());
    }
    return tensor;
  }

  Statement start_statement(const std::string& name, std::vector<std::string> iterators, const isl::set& domain) const {
    Statement s;
    s.name = name;
    s.where = statement_.where;
    s.iterators = std::move(iterators);
    s.domain = isl::manage(isl_set_set_tuple_name(domain.copy(), name.c_str()));
    return s;
  }
  /// Subscripts are the first `rank` iterators.
  Access plain(const Statement& s, const std::string& tensor, std::size_t rank) const {
    std::vector<std::string> values;
    for (std::size_t d = 0; d < rank; ++d) values.push_back("d" + std::to_string(d));
    return {tensor, tuple_function(program_.ctx(), s.name, s.iterators.size(), tensor, values).intersect_domain(s.domain), statement_.where};
  }

  /// A_offset[p] = u8(i32(A[p]) + 128), for all p that the sum reads.
  Statement make_offset(const std::string& name) {
    const Access& left = statement_.reads[left_];
    std::vector<std::string> iterators;
    const std::size_t rank = program_.tensor(left.tensor).shape.size();
    for (std::size_t d = 0; d < rank; ++d) {
      const auto plain = plain_iterator(left, d);
      const std::string wanted = plain ? statement_.iterators[*plain] : left.tensor + "_" + std::to_string(d);
      iterators.push_back(contains(iterators, wanted) || !plain ? names_.take(wanted) : wanted);
    }
    Statement s = start_statement(name, iterators, access_map(program_, statement_, left).range().coalesce());
    s.write = plain(s, name, rank);
    s.reads = {plain(s, left.tensor, rank)};
    const ExprPtr wide = make_expr(ElementType::i32, Cast{make_expr(ElementType::i8, Read{0})});
    s.body = make_expr(ElementType::u8, Cast{make_expr(ElementType::i32, Binary{BinaryOp::add, wide, integer(kOffset)})});
    return s;
  }

  Statement make_total_init(const std::string& name) const {
    std::vector<std::string> iterators;
    for (const std::size_t d : shared_) iterators.push_back(statement_.iterators[d]);
    Statement s = start_statement(name, iterators, total_elements());
    s.write = plain(s, total_, iterators.size());
    s.body = integer(0);
    return s;
  }

  Statement make_total() const {
    std::vector<std::string> iterators, from(statement_.iterators.size(), "0");
    for (std::size_t i = 0; i < total_iterators_.size(); ++i) {
      iterators.push_back(statement_.iterators[total_iterators_[i]]);
      from[total_iterators_[i]] = "d" + std::to_string(i);
    }
    Statement s = start_statement(total_, iterators, terms_);
    s.combine = Combine::sum;
    s.write = plain(s, total_, shared_.size());
    const isl::pw_multi_aff to_sum = tuple_function(program_.ctx(), total_, iterators.size(), statement_.name, from);
    const Access& right = statement_.reads[right_];
    s.reads = {{right.tensor, index_of(right_).pullback(to_sum).intersect_domain(s.domain).coalesce(), right.where}};
    s.body = make_expr(ElementType::i32, Cast{make_expr(ElementType::i8, Read{0})});
    return s;
  }

  Infeasible fails(const std::string& condition, const SourceLocation& where, const std::string& hint) const {
    return condition_fails(rewriting_, condition, where, hint);
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& statement_;
  FreshNames names_;
  ReductionParts parts_;
  std::size_t left_ = 0, right_ = 0;          ///< reads: the factor that is offset, the other one
  std::string total_;
  std::vector<std::size_t> shared_;           ///< outer iterators that the other factor moves with
  std::vector<std::size_t> total_iterators_;  ///< those and the inner ones
  isl::set terms_;                            ///< { B_total[shared, inner] }
};

}  // namespace

Candidate<Rewritten> offset_factor(const Program& program, const Rewriting& rewriting) { return Offset(program, rewriting).run(); }

}  // namespace tileopt
