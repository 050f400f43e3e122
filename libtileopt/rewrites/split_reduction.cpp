/// split(C, k, chunk=c): C[w] (+)= f(k)   ->   P[k // c, w] (+)= f(k),  then  C[w] (+)= P[q, w] for all chunks q.
/// With shared=n the n outermost loops stay around everything; else as few as the dependences allow.
/// With parts=n the chunks are dealt in turn to n partial results: P[k // c % n, w]. So a scatter H[s] += v gets n private copies. With most=m
/// as well, where C has at most m elements, each copy lives by itself: the loop over q stands outside of all three statements. Where C has
/// more, it is accumulated as before:
///
///   C_direct[..]           C[w] (+)= body
///
///   C_partial_init[q, e]   P[q, e] = identity
///   C_partial[q, (b,) ...] P[q, w] (+)= body             k counts inside its chunk
///   C[e, q]                C[e] (+)= P[q, e]
///
/// Conditions: C is a reduction that does not read what it accumulates into elsewhere; k runs over 0 or more, is not read from
/// memory, does not move the element, and its loop is C's own; where data decides what counts, all elements are set before; partial results in another order need a monoid that is
/// commutative, or chunks of the loop outside all others that repeat an element; a monoid rounds nothing.
/// Numerics: reassociate, unless nothing rounds.
#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "rewrites/rewrite.h"
#include "support/text.h"

namespace tileopt {

namespace {

/// Names and numbers of one split.
class Split {
 public:
  Split(const Program& program, const Rewriting& rewriting)
      : program_(program), rewriting_(rewriting), statement_(program.statement(rewriting.arguments[0])),
        loops_(loops_around(program, statement_.name)), chunk_(rewriting.sizes.at("chunk")) {
    const auto found = rewriting.sizes.find("parts");
    if (found != rewriting.sizes.end()) parts_ = found->second;
    if (const auto most = rewriting.sizes.find("most"); most != rewriting.sizes.end()) most_ = most->second;
  }

  Candidate<Rewritten> run() {
    if (auto problem = check()) return std::move(*problem);
    const std::string& loop = rewriting_.arguments[1];
    const auto at = static_cast<std::size_t>(std::find(loops_.begin(), loops_.end(), loop) - loops_.begin());
    shared_ = least_shared(program_, statement_.name, at);
    if (const auto asked = rewriting_.sizes.find("shared"); asked != rewriting_.sizes.end()) {
      const auto wanted = static_cast<std::size_t>(asked->second);
      if (wanted < shared_ || wanted > at)
        return fails(std::to_string(wanted) + " loops around " + statement_.name + " cannot stay around its parts", statement_.where,
                     "from " + std::to_string(shared_) + " to " + std::to_string(at) + " can");
      shared_ = wanted;
    }
    few_ = program_.context();
    if (most_ > 0)
      if (auto problem = find_few()) return std::move(*problem);
    name_everything();
    ProgramParts parts = take_apart(program_);
    const Statement partial = make_partial();
    const isl::map touched = partial_elements(partial);
    if (touched.is_empty()) return fails(statement_.name + " never runs", statement_.where, "drop the rewrite");
    Tensor array = program_.tensor(statement_.write.tensor);
    array.name = array_;
    array.role = TensorRole::local;
    array.facts = {};
    array.layout = {};
    array.shape.insert(array.shape.begin(), chunk_count(partial));
    parts.tensors.push_back(std::move(array));
    const std::size_t position = parts.position(statement_.name);
    Statement whole = make_combination(touched.range());
    parts.statements[position] = whole;
    parts.statements.insert(parts.statements.begin() + static_cast<std::ptrdiff_t>(position), {make_init(touched.range()), partial});
    if (!direct_.empty()) parts.statements.insert(parts.statements.begin() + static_cast<std::ptrdiff_t>(position) + 3, make_direct());
    parts.order = make_order(partial, whole);
    const bool exact = regroups_exactly(program_, statement_);
    return Rewritten{put_together(program_, std::move(parts)), exact, exact ? std::vector<std::string>{} : std::vector<std::string>{"reassociate"}};
  }

 private:
  std::optional<Infeasible> check() const {
    const std::string& loop = rewriting_.arguments[1];
    const std::string& tensor = statement_.write.tensor;
    if (statement_.combine == Combine::assign) return fails(statement_.name + " is no reduction", statement_.where, "name a statement that accumulates");
    for (const Access& read : statement_.reads)
      if (read.tensor == tensor) return fails(statement_.name + " reads `" + tensor + "`, which it accumulates into", read.where, "no split is right there");
    const auto iterator = std::find(statement_.iterators.begin(), statement_.iterators.end(), loop);
    if (iterator == statement_.iterators.end() || !contains(loops_, loop))
      return fails(statement_.name + " has no loop " + loop, statement_.where, "its loops: " + join(loops_, ", "));
    const auto position = static_cast<std::size_t>(iterator - statement_.iterators.begin());
    if (statement_.guard_of(position))
      return fails(loop + " takes one value, which is read from memory", statement_.where, "split another loop");
    if (moves(statement_.write.index.as_map(), position))
      return fails(loop + " moves the element that " + statement_.name + " accumulates into", statement_.write.where, "split a loop that repeats an element");
    std::vector<std::string> all;
    for (const Statement& s : program_.statements()) all.push_back(s.name);
    if (const auto together = sharers(program_.order(), statement_.name, loop, all); together.size() > 1)
      return fails("loop " + loop + " holds " + (together.front() == statement_.name ? together[1] : together.front()) + " too", statement_.where,
                   "only a loop of the reduction's own can be split");
    if (loops_ != statement_.iterators) return fails("the loops of " + statement_.name + " are not those of its source", statement_.where, "drop the rewrite");
    const isl::set values = isl::manage(isl_set_project_out(isl_set_project_out(domain_of(program_, statement_).release(), isl_dim_set,
                                            static_cast<unsigned>(position) + 1, static_cast<unsigned>(loops_.size() - position - 1)),
                                        isl_dim_set, 0, static_cast<unsigned>(position)));
    if (!values.is_subset(isl::set(program_.ctx(), "{ [k] : k >= 0 }")))
      return fails(loop + " has values below 0", statement_.where, "let the loop start at 0");
    if (auto problem = check_regrouping(program_, rewriting_, statement_, "chunks of " + statement_.name + " are combined in another order")) return problem;
    if (auto problem = check_initialised()) return problem;
    return check_order(position);
  }

  /// few_: the sizes at which the result has at most most_ elements.
  std::optional<Infeasible> find_few() {
    if (parts_ == 0) return fails("most= without parts=", statement_.where, "say how many copies there are");
    isl::val elements(program_.ctx(), 1);
    std::optional<isl::pw_aff> extent;
    for (const isl::pw_aff& each : program_.tensor(statement_.write.tensor).shape) {
      if (const auto constant = poly::constant_of(each)) elements = elements.mul(isl::val(program_.ctx(), *constant));
      else if (extent) return fails("how many elements `" + statement_.write.tensor + "` has is no affine function of the sizes", statement_.where, "leave out most");
      else extent = each;
    }
    const isl::val most(program_.ctx(), most_);
    if (!extent && elements.gt(most)) return fails("`" + statement_.write.tensor + "` has more than " + std::to_string(most_) + " elements", statement_.where, "leave out the split");
    if (!extent) return std::nullopt;
    const isl::pw_aff count = isl::manage(isl_pw_aff_scale_val(extent->copy(), elements.copy()));
    const isl::pw_aff limit = isl::manage(isl_pw_aff_val_on_domain(isl_pw_aff_domain(count.copy()), most.copy()));
    few_ = isl::manage(isl_pw_aff_le_set(count.copy(), limit.copy())).intersect(program_.context()).coalesce();
    if (few_.is_empty()) return fails("`" + statement_.write.tensor + "` has more than " + std::to_string(most_) + " elements", statement_.where, "leave out the split");
    if (!statement_.domain.intersect_params(program_.context().subtract(few_)).is_empty()) direct_ = "direct";
    return std::nullopt;
  }

  /// The combination reads every element that may get a contribution, whatever data decides: each must have a value before.
  std::optional<Infeasible> check_initialised() const {
    const Tensor& tensor = program_.tensor(statement_.write.tensor);
    if (!statement_.conditional() || tensor.role == TensorRole::inout) return std::nullopt;
    const isl::map mine = access_map(program_, statement_, statement_.write);
    const isl::union_map order = program_.original_order();
    isl::set open = mine.domain();  // instances whose element nothing sets before for certain
    for (const Statement& s : program_.statements()) {
      if (s.write.tensor != tensor.name || s.updates()) continue;
      const isl::map sets = access_map(program_, s, s.write).apply_range(mine.reverse());  // { s -> C }
      const isl::union_map before = poly::lex_lt(order.intersect_domain(isl::union_set(domain_of(program_, s))), order.intersect_domain(isl::union_set(mine.domain())));
      const isl::union_map earlier = isl::union_map(sets).intersect(before);
      for (const isl::set& set : poly::sorted_sets(earlier.range())) open = open.subtract(set);
    }
    if (open.is_empty()) return std::nullopt;
    Infeasible refused = fails("data decides whether an element of `" + tensor.name + "` is set before " + statement_.name, statement_.where,
                               "set all elements before, whatever the data is");
    refused.witness = poly::sample_text(open);
    return refused;
  }

  /// A monoid that is not commutative takes contributions in index order.
  std::optional<Infeasible> check_order(std::size_t position) const {
    if (statement_.combine != Combine::monoid || program_.monoid(statement_.monoid).commutative) return std::nullopt;
    const isl::map elements = access_map(program_, statement_, statement_.write);
    isl::map before = elements.reverse();  // { C[w] -> iterators outside k }
    before = isl::manage(isl_map_project_out(before.release(), isl_dim_out, static_cast<unsigned>(position),
                                             static_cast<unsigned>(loops_.size() - position)));
    if (parts_ == 0 && before.is_single_valued()) return std::nullopt;
    return fails("`" + statement_.monoid + "` is not commutative, and the chunks would be combined out of order", statement_.where,
                 parts_ ? "leave out parts" : "split the outermost loop that repeats an element");
  }

  static bool moves(const isl::map& access, std::size_t position) {
    return isl_map_involves_dims(access.get(), isl_dim_in, static_cast<unsigned>(position), 1) == isl_bool_true && !is_independent(access, position);
  }
  /// The element is the same for all values of the iterator that the domain allows.
  static bool is_independent(const isl::map& access, std::size_t position) {
    const isl::set domain = access.domain();
    const isl::map others = isl::manage(isl_map_eliminate(isl_set_identity(domain.copy()), isl_dim_out, static_cast<unsigned>(position), 1)).intersect_range(domain);
    return others.apply_range(access).is_single_valued();
  }

  void name_everything() {
    FreshNames names(program_);
    const std::string& loop = rewriting_.arguments[1];
    array_ = names.take(statement_.write.tensor + "_partial");
    partial_ = array_ == statement_.name + "_partial" ? array_ : names.take(statement_.name + "_partial");
    init_ = names.take(partial_ + "_init");
    if (!direct_.empty()) direct_ = names.take(statement_.name + "_direct");
    chunk_iterator_ = names.take(loop + "_chunk");
    if (parts_) round_iterator_ = names.take(loop + "_round");
    outer_.assign(loops_.begin(), loops_.begin() + static_cast<std::ptrdiff_t>(shared_));
    const std::size_t rank = program_.tensor(statement_.write.tensor).shape.size();
    for (std::size_t d = 0; d < rank; ++d) {
      const auto iterator = plain_iterator(statement_.write, d);
      const std::string wanted = iterator ? statement_.iterators[*iterator] : statement_.write.tensor + "_" + std::to_string(d);
      const bool free = iterator && !contains(outer_, wanted) && !contains(elements_, wanted);
      elements_.push_back(free ? wanted : names.take(wanted));
    }
  }

  /// C_partial[outer, q, (b,) inner] over C[outer, inner]; k counts inside its chunk, so that chunks are outside every block of k.
  Statement make_partial() const {
    const std::string& loop = rewriting_.arguments[1];
    std::vector<std::string> iterators = outer_;
    iterators.push_back(chunk_iterator_);
    if (parts_) iterators.push_back(round_iterator_);
    const std::size_t added = parts_ ? 2 : 1;
    iterators.insert(iterators.end(), loops_.begin() + static_cast<std::ptrdiff_t>(shared_), loops_.end());
    const std::string tuple = tuple_text(partial_, iterators.size()), q = "d" + std::to_string(shared_), b = "d" + std::to_string(shared_ + 1);
    const std::string c = std::to_string(chunk_), n = std::to_string(parts_);
    const std::string first = c + (parts_ ? " * (" + n + " * " + b + " + " + q + ")" : " * " + q);  // of the chunk
    const std::string range = parts_ ? "0 <= " + q + " < " + n + " and " + b + " >= 0 and " : q + " >= 0 and ";
    std::vector<std::string> values;
    std::string k;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      values.push_back("d" + std::to_string(i < shared_ ? i : i + added));
      if (loops_[i] != loop) continue;
      k = values.back();
      values.back() = first + " + " + k;
    }
    const isl::set chunks(program_.ctx(), "{ " + tuple + " : " + range + "0 <= " + k + " < " + c + " }");
    const isl::pw_multi_aff to_old = tuple_function(program_.ctx(), partial_, iterators.size(), statement_.name, values);
    isl::set domain = statement_.domain.preimage(to_old).intersect(chunks).coalesce();
    if (most_ > 0) domain = domain.intersect_params(few_).coalesce();
    Statement partial = reindex(statement_, partial_, iterators, domain, to_old);
    const isl::space instances = domain.space();
    // { C_partial[..] -> C[w] } becomes { C_partial[..] -> P[q, w] }
    isl_multi_pw_aff* index = isl_multi_pw_aff_from_pw_multi_aff(partial.write.index.copy());
    isl_pw_aff_list* list = isl_pw_aff_list_alloc(program_.ctx().get(), 0);
    const auto rank = elements_.size();
    isl_local_space* local = isl_local_space_from_space(instances.copy());
    list = isl_pw_aff_list_add(list, isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(shared_))));
    for (std::size_t d = 0; d < rank; ++d) list = isl_pw_aff_list_add(list, isl_multi_pw_aff_get_pw_aff(index, static_cast<int>(d)));
    isl_multi_pw_aff_free(index);
    isl_space* space = isl_space_add_dims(isl_space_from_domain(instances.copy()), isl_dim_out, static_cast<unsigned>(rank + 1));
    space = isl_space_set_tuple_name(space, isl_dim_out, array_.c_str());
    partial.write.tensor = array_;
    partial.write.index = isl::manage(isl_pw_multi_aff_from_multi_pw_aff(isl_multi_pw_aff_from_pw_aff_list(space, list))).intersect_domain(domain).coalesce();
    return partial;
  }

  /// { C_partial[..] -> [outer, q, e] }: where partial results lie.
  isl::map partial_elements(const Statement& partial) const {
    std::vector<std::string> outer;
    for (std::size_t i = 0; i < shared_; ++i) outer.push_back("d" + std::to_string(i));
    const isl::map place = tuple_function(program_.ctx(), partial.name, partial.iterators.size(), "", outer).as_map();
    isl::map written = access_map(program_, partial, partial.write);
    isl::map touched = isl::manage(isl_map_flat_range_product(place.copy(), isl_map_reset_tuple_id(written.release(), isl_dim_out)));
    if (parts_) {  // every part, also one that gets no chunk: it keeps the identity
      const auto q = static_cast<unsigned>(shared_);
      touched = isl::manage(isl_map_eliminate(touched.release(), isl_dim_out, q, 1));
      touched = isl::manage(isl_map_lower_bound_si(touched.release(), isl_dim_out, q, 0));
      touched = isl::manage(isl_map_upper_bound_si(touched.release(), isl_dim_out, q, static_cast<int>(parts_) - 1));
    }
    return touched;
  }

  /// [params] -> { [(number of partial results)] }
  isl::pw_aff chunk_count(const Statement& partial) const {
    if (parts_) {
      const isl::pw_aff count(program_.ctx(), "{ [(" + std::to_string(parts_) + ")] }");
      if (direct_.empty()) return count;
      const isl::pw_aff none(program_.ctx(), "{ [(0)] }");
      const isl::pw_aff private_copies = isl::manage(isl_pw_aff_intersect_params(count.copy(), few_.copy())), without = isl::manage(isl_pw_aff_intersect_params(none.copy(), few_.complement().release()));
      return isl::manage(isl_pw_aff_union_add(private_copies.copy(), without.copy())).coalesce();
    }
    const isl::pw_aff last = isl::manage(isl_set_dim_max(domain_of(program_, partial).release(), static_cast<int>(shared_)));
    const isl::pw_aff one = isl::pw_aff(program_.ctx(), "{ [(1)] }"), none = isl::pw_aff(program_.ctx(), "{ [(0)] }");
    return isl::manage(isl_pw_aff_union_max(last.add(isl::manage(isl_pw_aff_copy(one.get()))).release(), none.copy())).coalesce();
  }

  /// The statement's iterators over [outer, q, e] in the order of `iterators`.
  Statement start(const std::string& name, const isl::set& touched, bool chunk_last) const {
    Statement s;
    s.name = name;
    s.where = statement_.where;
    s.iterators = outer_;
    if (!chunk_last) s.iterators.push_back(chunk_iterator_);
    s.iterators.insert(s.iterators.end(), elements_.begin(), elements_.end());
    if (chunk_last) s.iterators.push_back(chunk_iterator_);
    isl::set domain = touched;
    const std::size_t rank = elements_.size();
    if (chunk_last) {
      std::vector<std::string> order;
      for (std::size_t i = 0; i < shared_; ++i) order.push_back("d" + std::to_string(i));
      for (std::size_t e = 0; e < rank; ++e) order.push_back("d" + std::to_string(shared_ + 1 + e));
      order.push_back("d" + std::to_string(shared_));
      domain = domain.apply(tuple_function(program_.ctx(), "", shared_ + 1 + rank, "", order).as_map());
    }
    s.domain = isl::manage(isl_set_set_tuple_name(domain.coalesce().release(), name.c_str()));
    return s;
  }
  Access access(const Statement& s, const std::string& tensor, const std::vector<std::size_t>& iterators) const {
    std::vector<std::string> values;
    for (const std::size_t i : iterators) values.push_back("d" + std::to_string(i));
    return {tensor, tuple_function(program_.ctx(), s.name, s.iterators.size(), tensor, values).intersect_domain(s.domain), statement_.write.where};
  }

  Statement make_init(const isl::set& touched) const {
    Statement init = start(init_, touched, false);
    std::vector<std::size_t> element;
    for (std::size_t d = 0; d <= elements_.size(); ++d) element.push_back(shared_ + d);
    init.write = access(init, array_, element);
    init.body = identity_of(program_, statement_);
    return init;
  }

  Statement make_combination(const isl::set& touched) const {
    const bool chunk_last = most_ == 0;
    Statement whole = start(statement_.name, touched, chunk_last);
    std::vector<std::size_t> element, partial = {chunk_last ? shared_ + elements_.size() : shared_};
    for (std::size_t d = 0; d < elements_.size(); ++d) {
      element.push_back(shared_ + d + (chunk_last ? 0 : 1));
      partial.push_back(element.back());
    }
    whole.write = access(whole, statement_.write.tensor, element);
    whole.combine = statement_.combine;
    whole.monoid = statement_.monoid;
    whole.reads = {access(whole, array_, partial)};
    whole.body = make_expr(statement_.body->type, Read{0});
    return whole;
  }

  /// The statement as it was, where its result has too many elements.
  Statement make_direct() const {
    std::vector<std::string> values;
    for (std::size_t d = 0; d < statement_.iterators.size(); ++d) values.push_back("d" + std::to_string(d));
    const isl::pw_multi_aff to_old = tuple_function(program_.ctx(), direct_, statement_.iterators.size(), statement_.name, values);
    const isl::set domain = statement_.domain.preimage(to_old).intersect_params(program_.context().subtract(few_)).coalesce();
    return reindex(statement_, direct_, statement_.iterators, domain, to_old);
  }

  Tree make_order(const Statement& partial, const Statement& whole) const {
    const auto inner = [&](const std::vector<std::string>& iterators) {
      return Tree::bands({iterators.begin() + static_cast<std::ptrdiff_t>(shared_), iterators.end()}, Tree::leaf());
    };
    if (most_ > 0) {
      const auto copies = [&](const std::vector<std::string>& iterators) {
        return Tree::bands({iterators.begin() + static_cast<std::ptrdiff_t>(shared_) + 1, iterators.end()}, Tree::leaf());
      };
      const std::vector<Tree::Branch> steps = {{{init_}, Tree::bands(elements_, Tree::leaf())}, {{partial.name}, copies(partial.iterators)}, {{whole.name}, copies(whole.iterators)}};
      std::vector<Tree::Branch> slot = {{{init_, partial.name, whole.name}, Tree::band(chunk_iterator_, Tree::sequence(steps))}};
      if (!direct_.empty()) slot.push_back({{direct_}, Tree::bands({loops_.begin() + static_cast<std::ptrdiff_t>(shared_), loops_.end()}, Tree::leaf())});
      return distribute(program_, statement_.name, shared_, slot);
    }
    std::vector<std::string> init = {chunk_iterator_};
    init.insert(init.end(), elements_.begin(), elements_.end());
    return distribute(program_, statement_.name, shared_,
                      {{{init_}, Tree::bands(init, Tree::leaf())}, {{partial.name}, inner(partial.iterators)}, {{whole.name}, inner(whole.iterators)}});
  }

  Infeasible fails(const std::string& condition, const SourceLocation& where, const std::string& hint) const {
    return condition_fails(rewriting_, condition, where, hint);
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& statement_;
  std::vector<std::string> loops_;
  long chunk_, parts_ = 0, most_ = 0;
  isl::set few_;         ///< [params] -> { : .. }
  std::string direct_;   ///< "": all sizes are in few_
  std::size_t shared_ = 0;
  std::string array_, partial_, init_, chunk_iterator_, round_iterator_;
  std::vector<std::string> outer_, elements_;
};

}  // namespace

Candidate<Rewritten> split_reduction(const Program& program, const Rewriting& rewriting) { return Split(program, rewriting).run(); }

}  // namespace tileopt
