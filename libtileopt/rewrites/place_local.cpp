/// The elements of a local t lie in a tensor Y until that is written.
///
///   t[w(p)] = f(p) ... g(t[r(s)]) ... Y[e] = h(t[e])   ->   Y[w(p)] = f(p) ... g(Y[r(s)]) ... Y[e] = h(Y[e])
///
/// Conditions: t is a local with one writer, an assignment that makes every element once; Y is a result of the same type and rank; one
/// assignment writes it, to the elements that t has and to no others, and reads t only where it writes; no data decides whether the two have
/// an effect; nothing else reads Y, and what reads t does so before its element of Y is written.
/// Numerics: none; the same bits.
#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "rewrites/rewrite.h"

namespace tileopt {

namespace {

class Placement {
 public:
  Placement(const Program& program, const Rewriting& rewriting, const Tensor& local, const Tensor& target)
      : program_(program), rewriting_(rewriting), local_(local), target_(target) {}

  Candidate<Rewritten> run() {
    if (local_.role != TensorRole::local) return fails("`" + local_.name + "` is no local", local_.where, "only locals can be placed elsewhere");
    if (target_.role == TensorRole::in || target_.name == local_.name) return fails("`" + target_.name + "` is no result", target_.where, "name a tensor that is written");
    if (local_.type != target_.type || local_.shape.size() != target_.shape.size())
      return fails("`" + local_.name + "` and `" + target_.name + "` differ in type or rank", local_.where, "keep the local");
    const Statement* maker = writer(local_);
    const Statement* last = writer(target_);
    if (maker == nullptr || last == nullptr)
      return fails("`" + (maker == nullptr ? local_ : target_).name + "` is not written by one assignment on which no data decides", local_.where, "keep the local");
    made_ = in_place(access_map(program_, *maker, maker->write));
    overwritten_ = access_map(program_, *last, last->write);
    if (!made_.is_injective() || !overwritten_.is_injective()) return fails("an element is written more than once", maker->where, "keep the local");
    if (!made_.range().is_equal(overwritten_.range()))
      return fails("`" + local_.name + "` and what " + last->name + " writes are not the same elements", last->where, "keep the local");
    for (const Statement& s : program_.statements())
      if (auto problem = check_reads(s, *last)) return std::move(*problem);
    return rewrite();
  }

 private:
  const Statement* writer(const Tensor& tensor) const {
    const Statement* found = nullptr;
    for (const Statement& s : program_.statements()) {
      if (s.write.tensor != tensor.name) continue;
      if (found != nullptr || s.combine != Combine::assign || s.conditional()) return nullptr;
      found = &s;
    }
    return found;
  }

  /// { S -> t } as { S -> Y }
  isl::map in_place(isl::map access) const { return isl::manage(isl_map_set_tuple_name(access.release(), isl_dim_out, target_.name.c_str())); }

  std::optional<Infeasible> check_reads(const Statement& s, const Statement& last) const {
    const isl::union_map order = program_.original_order();
    for (const Access& read : s.reads) {
      if (read.tensor == target_.name) return fails(s.name + " reads `" + target_.name + "`", read.where, "keep the local");
      if (read.tensor != local_.name) continue;
      if (s.conditional()) return fails("data decides whether " + s.name + " has an effect", read.where, "keep the local");
      const isl::map element = in_place(access_map(program_, s, read));
      if (s.name == last.name) {
        if (!element.is_subset(overwritten_)) return fails(s.name + " reads other elements than it writes", read.where, "keep the local");
        continue;
      }
      const isl::map pairs = element.apply_range(overwritten_.reverse());  // { S -> last }
      const isl::union_map earlier = poly::lex_lt(order.intersect_domain(isl::union_set(pairs.domain())), order.intersect_domain(isl::union_set(pairs.range())));
      if (!isl::union_map(pairs).is_subset(earlier))
        return fails(s.name + " reads `" + local_.name + "` after " + last.name + " has written there", read.where, "keep the local");
    }
    return std::nullopt;
  }

  Rewritten rewrite() const {
    ProgramParts parts = take_apart(program_);
    const auto move = [&](Access& access) {
      if (access.tensor != local_.name) return;
      access.tensor = target_.name;
      access.index = isl::manage(isl_pw_multi_aff_set_tuple_id(access.index.copy(), isl_dim_out, isl_id_alloc(program_.ctx().get(), target_.name.c_str(), nullptr)));
    };
    for (Statement& s : parts.statements) {
      move(s.write);
      for (Access& read : s.reads) move(read);
    }
    std::erase_if(parts.tensors, [&](const Tensor& t) { return t.name == local_.name; });
    return Rewritten{put_together(program_, std::move(parts)), true, {}};
  }

  Infeasible fails(const std::string& condition, const SourceLocation& where, const std::string& hint) const {
    return condition_fails(rewriting_, condition, where, hint);
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Tensor& local_;
  const Tensor& target_;
  isl::map made_, overwritten_;
};

}  // namespace

Candidate<Rewritten> place_local(const Program& program, const Rewriting& rewriting, const std::string& local, const std::string& target) {
  return Placement(program, rewriting, program.tensor(local), program.tensor(target)).run();
}

}  // namespace tileopt
