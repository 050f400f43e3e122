/// block_scan(y, block=B): a recurrence y[i] = y[i - 1] (+) x[i] in blocks that do not wait for each other.
///
///   y[i]      scanned from the identity in every block of i, but for the first one, which starts as the recurrence does
///   y_offset[b] = y_offset[b - 1] (+) y[B b - 1]     what all blocks before b come to
///   y[i] = y_offset[i // B] (+) y[i]                 in all blocks but the first
///
/// y is the statement that adds the term, as `scan` leaves it: beside it stand an assignment y[i] = y[i - 1] and whatever sets the
/// first elements.
/// Conditions: these are the only writers of y, stand in one nest of their own, and run i from 0 or more; data decides nothing.
/// Numerics: reassociate, unless nothing rounds. A monoid need not be commutative, but must not round.
#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "rewrites/rewrite.h"
#include "rewrites/scan_recurrence.h"
#include "support/text.h"

namespace tileopt {

namespace {

class BlockScan {
 public:
  BlockScan(const Program& program, const Rewriting& rewriting)
      : program_(program), rewriting_(rewriting), statement_(program.statement(rewriting.arguments[0])), block_(rewriting.sizes.at("block")) {}

  Candidate<Rewritten> run() {
    TILEOPT_TRY(recurrence, find_scan_recurrence(program_, rewriting_, statement_));
    carry_ = recurrence.carry;
    along_ = recurrence.along;
    group_ = recurrence.group;
    return rewrite();
  }

 private:
  Rewritten rewrite() {
    FreshNames names(program_);
    block_loop_ = names.take(carry_->iterators[along_] + "_block");
    offset_ = names.take(carry_->write.tensor + "_offset");
    ProgramParts parts = take_apart(program_);
    const std::size_t rank = carry_->iterators.size();

    // A block starts anew where the recurrence reaches its first element.
    const isl::set carried = carry_->domain;
    const isl::set starts = carried.intersect(multiples(carry_->name, rank)).coalesce();
    const std::string start_name = names.take(statement_.name + "_start");
    std::vector<Statement> scanned;
    for (const std::string& name : group_) {
      const Statement& s = program_.statement(name);
      if (name == carry_->name) {
        scanned.push_back(in_blocks(s, name, carried.subtract(starts).coalesce()));
        Statement start = in_blocks(s, start_name, starts);
        start.reads.clear();
        start.body = identity_of(program_, statement_);
        scanned.push_back(start);
      } else {
        scanned.push_back(in_blocks(s, name, s.domain));
      }
    }
    add_offset(parts);
    // { y_carry[.., B b, ..] -> [.., b, ..] }: the blocks that get an offset, and those of them whose predecessor has one.
    const isl::set blocks = starts.apply(block_number(carry_->name, rank));
    std::vector<std::string> next = coordinates(rank);
    next[along_] += " + 1";
    const isl::set later = blocks.intersect(blocks.apply(tuple_function(program_.ctx(), "", rank, "", next).as_map()));
    const std::vector<Statement> offsets = {make_offset(names.take(offset_ + "_first"), blocks.subtract(later).coalesce(), false),
                                      make_offset(names.take(offset_ + "_next"), later.coalesce(), true)};
    const std::vector<Statement> applied = {make_apply(names.take(statement_.name + "_apply"), starts)};

    parts.order = make_order(scanned, start_name, offsets, applied);
    std::erase_if(parts.statements, [&](const Statement& s) { return contains(group_, s.name); });
    std::vector<std::string> all, kept;
    for (const std::vector<Statement>* list : std::initializer_list<const std::vector<Statement>*>{&scanned, &offsets, &applied})
      for (const Statement& s : *list) parts.statements.push_back(s);
    for (const Statement& s : parts.statements) {
      all.push_back(s.name);
      if (!domain_of(program_, s).is_empty()) kept.push_back(s.name);
    }
    parts.order = restrict_tree({all, parts.order}, kept)->tree;
    std::erase_if(parts.statements, [&](const Statement& s) { return !contains(kept, s.name); });
    const bool exact = regroups_exactly(program_, statement_);
    return Rewritten{put_together(program_, std::move(parts)), exact, exact ? std::vector<std::string>{} : std::vector<std::string>{"reassociate"}};
  }

  static std::vector<std::string> coordinates(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t d = 0; d < count; ++d) names.push_back("d" + std::to_string(d));
    return names;
  }
  isl::set multiples(const std::string& name, std::size_t rank) const {
    return isl::set(program_.ctx(), "{ " + tuple_text(name, rank) + " : d" + std::to_string(along_) + " mod " + std::to_string(block_) + " = 0 }");
  }
  isl::map block_number(const std::string& name, std::size_t rank) const {
    std::vector<std::string> values = coordinates(rank);
    values[along_] = "floor(d" + std::to_string(along_) + " / " + std::to_string(block_) + ")";
    return tuple_function(program_.ctx(), name, rank, "", values).as_map();
  }

  /// `s` on a part of its domain, with the block of i outside i.
  Statement in_blocks(const Statement& s, const std::string& name, const isl::set& part) const {
    std::vector<std::string> iterators = s.iterators, values;
    iterators.insert(iterators.begin() + static_cast<std::ptrdiff_t>(along_), block_loop_);
    for (std::size_t d = 0; d < s.iterators.size(); ++d) values.push_back("d" + std::to_string(d < along_ ? d : d + 1));
    const std::string tuple = tuple_text(name, iterators.size()), b = "d" + std::to_string(along_), i = "d" + std::to_string(along_ + 1);
    const std::string size = std::to_string(block_);
    const isl::set inside(program_.ctx(), "{ " + tuple + " : " + size + " * " + b + " <= " + i + " < " + size + " * " + b + " + " + size + " }");
    const isl::pw_multi_aff to_old = tuple_function(program_.ctx(), name, iterators.size(), s.name, values);
    return reindex(s, name, iterators, part.preimage(to_old).intersect(inside).coalesce(), to_old);
  }

  /// y_offset[outer, b, inner]
  void add_offset(ProgramParts& parts) const {
    Tensor tensor = program_.tensor(carry_->write.tensor);
    tensor.name = offset_;
    tensor.role = TensorRole::local;
    tensor.facts = {};
    tensor.layout = {};
    tensor.shape.clear();
    const isl::set blocks = domain_of(program_, *carry_).apply(block_number(carry_->name, carry_->iterators.size()));
    for (std::size_t d = 0; d < carry_->iterators.size(); ++d) tensor.shape.push_back(extent(blocks, d));
    parts.tensors.push_back(std::move(tensor));
  }
  isl::pw_aff extent(const isl::set& elements, std::size_t dimension) const {
    const isl::pw_aff last = isl::manage(isl_set_dim_max(elements.copy(), static_cast<int>(dimension)));
    const isl::pw_aff one(program_.ctx(), "{ [(1)] }"), none(program_.ctx(), "{ [(0)] }");
    return isl::manage(isl_pw_aff_union_max(last.add(one).release(), none.copy())).coalesce();
  }

  Access access(const Statement& s, const std::string& tensor, const std::vector<std::string>& values) const {
    return {tensor, tuple_function(program_.ctx(), s.name, s.iterators.size(), tensor, values).intersect_domain(s.domain), statement_.write.where};
  }
  /// The result's element for the recurrence's instance at `values` over the iterators of `s`.
  Access element(const Statement& s, const std::vector<std::string>& values) const {
    const isl::pw_multi_aff place = tuple_function(program_.ctx(), s.name, s.iterators.size(), carry_->name, values).intersect_domain(s.domain);
    const isl::pw_multi_aff everywhere = isl::manage(isl_pw_multi_aff_gist(carry_->write.index.copy(), carry_->domain.copy()));
    return {carry_->write.tensor, everywhere.pullback(place).coalesce(), carry_->write.where};
  }

  /// over [outer, b, inner]
  Statement make_offset(const std::string& name, const isl::set& blocks, bool continues) const {
    Statement s;
    s.name = name;
    s.where = statement_.where;
    s.iterators = carry_->iterators;
    s.iterators[along_] = block_loop_;
    s.domain = isl::manage(isl_set_set_tuple_name(blocks.copy(), name.c_str()));
    std::vector<std::string> here = coordinates(s.iterators.size()), before = here, last = here;
    before[along_] += " - 1";
    last[along_] = std::to_string(block_) + " * " + here[along_] + " - 1";
    s.write = access(s, offset_, here);
    s.reads = {element(s, last)};
    s.body = make_expr(statement_.body->type, Read{0});
    if (continues) {
      s.reads.push_back(access(s, offset_, before));
      s.body = combined(program_, statement_, make_expr(s.body->type, Read{1}), s.body);
    }
    return s;
  }

  /// over [outer, b, i, inner]: every element of a block that started anew
  Statement make_apply(const std::string& name, const isl::set& starts) const {
    const std::size_t rank = carry_->iterators.size();
    const isl::map block = block_number(carry_->name, rank);
    const isl::set elements = carry_->domain.apply(block.intersect_range(starts.apply(block))).apply(block.reverse()).intersect(carry_->domain);
    Statement s = in_blocks(*carry_, name, elements.coalesce());
    std::vector<std::string> of_block, of_element;
    for (std::size_t d = 0; d < s.iterators.size(); ++d) {
      if (d != along_ + 1) of_block.push_back("d" + std::to_string(d));
      if (d != along_) of_element.push_back("d" + std::to_string(d));
    }
    s.reads = {access(s, offset_, of_block), element(s, of_element)};
    s.body = combined(program_, statement_, make_expr(statement_.body->type, Read{0}), make_expr(statement_.body->type, Read{1}));
    return s;
  }

  /// The loop over i around the recurrence becomes three nests: blocks, their offsets, all elements.
  Tree make_order(const std::vector<Statement>& scanned, const std::string& start, const std::vector<Statement>& offsets,
                  const std::vector<Statement>& applied) const {
    const std::string& loop = carry_->iterators[along_];
    std::vector<std::string> names, offset_names;
    for (const Statement& s : scanned) names.push_back(s.name);
    const Tree inside = replace_leaf(below_loop(program_.order(), carry_->name, loop), group_, carry_->name, {{{start}, Tree::leaf()}, {{carry_->name}, Tree::leaf()}});
    std::vector<Tree::Branch> leaves;
    for (const Statement& s : offsets) {
      offset_names.push_back(s.name);
      leaves.push_back({{s.name}, Tree::bands({s.iterators.begin() + static_cast<std::ptrdiff_t>(along_) + 1, s.iterators.end()}, Tree::leaf())});
    }
    std::vector<Tree::Branch> pieces = {{names, Tree::band(block_loop_, Tree::band(loop, inside))}, {offset_names, Tree::band(block_loop_, Tree::sequence(leaves))}};
    for (const Statement& s : applied)
      pieces.push_back({{s.name}, Tree::bands({s.iterators.begin() + static_cast<std::ptrdiff_t>(along_), s.iterators.end()}, Tree::leaf())});
    return replace_loop(program_, carry_->name, loop, pieces);
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& statement_;
  long block_;
  const Statement* carry_ = nullptr;
  std::size_t along_ = 0;
  std::vector<std::string> group_;      ///< all writers of the result
  std::string block_loop_, offset_;
};

}  // namespace

Candidate<Rewritten> block_scan(const Program& program, const Rewriting& rewriting) { return BlockScan(program, rewriting).run(); }

}  // namespace tileopt
