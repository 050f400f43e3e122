/// text, of copies of whole boxes by an engine that is told of the tensor, of the box and of its first element: it moves just the elements of
/// the leaf, to where they belong, and what it fills with zeros is what the leaf fills. Conditions of the engine: CUDA driver API,
/// cuTensorMapEncodeTiled; PTX ISA, "Tensors".
#include <algorithm>

#include "ir/types.h"
#include "support/text.h"
#include "verify/ast_expr_reader.h"
#include "verify/matrix_storage.h"
#include "verify/obligations.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

constexpr long kMostSide = 256;      ///< elements of a box along one dimension
constexpr long kMostApart = 8;       ///< elements of a dimension, from one that is copied to the next
constexpr std::size_t kMostDims = 5;
constexpr long kGroup = 8;           ///< rows after which the pattern of swapped pieces repeats

class BoxChecker {
 public:
  BoxChecker(const Checker& checker, const Leaf& leaf, const PrintFacts::Leaf& printed)
      : checker_(checker), execution_(checker.execution), leaf_(leaf), printed_(printed), tensor_(execution_.array_of(leaf.reads.front())) {}

  Outcome run() {
    if (!printed_.box_copy || printed_.pipe != leaf_.pipe->name) return wrong("it was not printed as a copy of a box by pipe " + leaf_.pipe->name + ", whose bytes a barrier waits for");
    copy_ = &*printed_.box_copy;
    if (Outcome outcome = check_tensor()) return outcome;
    if (Outcome outcome = check_shape()) return outcome;
    if (Outcome outcome = check_corner()) return outcome;
    if (Outcome outcome = check_zeros()) return outcome;
    return check_target();
  }

 private:
  Refutation wrong(const std::string& what, const std::string& witness = "") const { return Refutation{leaf_.label + ": " + what, witness.empty() ? leaf_.label : witness, leaf_.where()}; }
  Refutation differs(const std::string& what, const std::string& printed, const std::string& wanted) const {
    return wrong(what + " was printed as `" + printed + "` and is `" + wanted + "`", "printed: " + printed + " | wanted: " + wanted);
  }
  std::size_t rank() const { return tensor_.tensor->shape.size(); }
  /// Dimension of the tensor at a place of the engine's list, the fastest first.
  std::size_t dimension(std::size_t place) const { return rank() - 1 - place; }
  long step(std::size_t d, std::size_t b) const { return leaf_.statement->read_steps.front()[d][b]; }
  unsigned box_dim(std::size_t b) const { return static_cast<unsigned>(leaf_.loops.size() + b); }
  isl::set known() const { return leaf_.points.intersect_params(execution_.context.params()); }

  /// Extents for all sizes, rows without gaps that start at multiples of 16 bytes.
  Outcome check_tensor() const {
    if (tensor_.promoted != nullptr || tensor_.tensor->role == TensorRole::local) return wrong("it reads " + tensor_.name + ", which is no argument");
    const Tensor& tensor = *tensor_.tensor;
    if (!tensor.layout.order.empty() || !tensor.layout.strides.empty() || tensor.layout.packed) return wrong(tensor.name + " does not lie row by row");
    if (copy_->tensor != tensor.name) return differs("the tensor", copy_->tensor, tensor.name);
    if (copy_->element_bytes != size_bytes(tensor.type)) return differs("the size of an element", std::to_string(copy_->element_bytes), std::to_string(size_bytes(tensor.type)));
    if (rank() < 2 || rank() > kMostDims || copy_->extents.size() != rank() || copy_->box.size() != rank() || copy_->coordinates.size() != rank() || copy_->apart.size() != rank())
      return differs("the number of dimensions", std::to_string(copy_->extents.size()), std::to_string(rank()));
    const isl::set sizes = isl::manage(isl_set_from_params(execution_.sizes[leaf_.kernel].copy()));  // [params] -> { [] }
    const AstExprReader reader(sizes.space(), {});
    for (std::size_t place = 0; place < rank(); ++place) {
      const isl::pw_aff have = reader.value(parse_ast_expr(copy_->extents[place], "print facts"), sizes);
      const isl::pw_aff want = isl::manage(isl_pw_aff_insert_domain(tensor.shape[dimension(place)].copy(), isl_set_get_space(sizes.get())));
      if (!sizes.is_subset(have.eq_set(want))) return wrong("extent " + std::to_string(dimension(place)) + " of " + tensor.name + " was printed as `" + copy_->extents[place] + "`");
    }
    const long elements = kPieceBytes / size_bytes(tensor.type);
    const isl::pw_aff row = isl::manage(isl_pw_aff_insert_domain(tensor.shape.back().copy(), isl_set_get_space(sizes.get())));
    const isl::set whole = isl::manage(isl_pw_aff_zero_set(row.mod(isl::val(row.ctx(), elements)).release()));
    if (const isl::set cut = sizes.subtract(whole); !cut.is_empty()) return wrong("rows of " + tensor.name + " may start between multiples of " + std::to_string(kPieceBytes) + " bytes", poly::sample_text(cut));
    return {};
  }

  /// { [x] : x_d is a multiple }
  static isl::set multiples(const isl::space& space, int d, long of) {
    isl_local_space* local = isl_local_space_from_space(space.copy());
    const isl::pw_aff value = isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(d))));
    return isl::manage(isl_pw_aff_zero_set(value.mod(isl::val(value.ctx(), of)).release()));
  }

  /// The points of the box are the elements of the engine's box, each once.
  Outcome check_shape() const {
    isl_set* box = isl_set_universe(isl_space_set_alloc(leaf_.points.ctx().get(), 0, static_cast<unsigned>(leaf_.box.size())));
    for (std::size_t b = 0; b < leaf_.box.size(); ++b) {
      box = isl_set_lower_bound_si(box, isl_dim_set, static_cast<unsigned>(b), 0);
      box = isl_set_upper_bound_si(box, isl_dim_set, static_cast<unsigned>(b), static_cast<int>(leaf_.statement->box[b].radix - 1));
    }
    isl_map* move = isl_map_universe(isl_space_alloc(leaf_.points.ctx().get(), 0, static_cast<unsigned>(leaf_.box.size()), static_cast<unsigned>(rank())));
    for (std::size_t d = 0; d < rank(); ++d) {
      isl_constraint* equal = isl_constraint_alloc_equality(isl_local_space_from_space(isl_map_get_space(move)));
      equal = isl_constraint_set_coefficient_si(equal, isl_dim_out, static_cast<int>(d), -1);
      for (std::size_t b = 0; b < leaf_.box.size(); ++b) equal = isl_constraint_set_coefficient_si(equal, isl_dim_in, static_cast<int>(b), static_cast<int>(step(d, b)));
      move = isl_map_add_constraint(move, equal);
    }
    const isl::map moved = isl::manage(isl_map_intersect_domain(move, box));
    isl::set wanted = isl::set::universe(moved.range().space());
    for (std::size_t place = 0; place < rank(); ++place) {
      const long side = copy_->box[place], apart = copy_->apart[place];
      if (side < 1 || side > kMostSide) return wrong("a box has 1 to " + std::to_string(kMostSide) + " elements along a dimension, and this one has " + std::to_string(side));
      if (apart < 1 || apart > kMostApart || side % apart != 0 || (place == 0 && apart != 1))
        return wrong("elements of a box are 1 to " + std::to_string(kMostApart) + " apart, neighbours along the last dimension, and these are " + std::to_string(apart) + " apart along " + std::to_string(side));
      if (apart > 1) wanted = wanted.intersect(multiples(wanted.space(), static_cast<int>(dimension(place)), apart));
      wanted = isl::manage(isl_set_lower_bound_si(wanted.release(), isl_dim_set, static_cast<unsigned>(dimension(place)), 0));
      wanted = isl::manage(isl_set_upper_bound_si(wanted.release(), isl_dim_set, static_cast<unsigned>(dimension(place)), static_cast<int>(side - 1)));
    }
    if (!moved.is_injective() || !moved.range().is_equal(wanted)) return wrong("its points are not the elements of the box that was printed");
    if (copy_->swizzle != 0 && copy_->box.front() * copy_->element_bytes != copy_->swizzle) return wrong("rows of the box have " + std::to_string(copy_->box.front() * copy_->element_bytes) + " bytes, and swapped ones " + std::to_string(copy_->swizzle));
    return {};
  }

  /// { L[v, b] -> [(element read along d)] }, beyond the tensor too.
  isl::pw_aff element(std::size_t d) const {
    isl_local_space* local = isl_local_space_from_space(isl_set_get_space(leaf_.points.get()));
    isl_aff* moved = isl_aff_zero_on_domain(local);
    for (std::size_t b = 0; b < leaf_.box.size(); ++b) moved = isl_aff_set_coefficient_si(moved, isl_dim_in, static_cast<int>(box_dim(b)), static_cast<int>(step(d, b)));
    return corner(d).add(isl::manage(isl_pw_aff_from_aff(moved)));
  }
  isl::pw_aff corner(std::size_t d) const { return read(leaf_.node->reads.front()[d]); }
  isl::pw_aff read(const AstExprPtr& expr) const {
    std::map<std::string, unsigned> dims;
    for (const std::string& loop : leaf_.loops) dims.emplace(loop, static_cast<unsigned>(dims.size()));
    return AstExprReader(leaf_.points.space(), dims).value(expr, leaf_.points);
  }

  Outcome check_corner() const {
    for (std::size_t place = 0; place < rank(); ++place) {
      const isl::set other = known().subtract(read(parse_ast_expr(copy_->coordinates[place], "print facts")).eq_set(corner(dimension(place))));
      if (!other.is_empty()) return wrong("coordinate " + std::to_string(place) + " of the box was printed as `" + copy_->coordinates[place] + "`", sample(execution_, other).text());
    }
    return {};
  }

  /// The engine fills what lies beyond the tensor: that, and nothing else, is what the leaf fills.
  Outcome check_zeros() const {
    isl::set inside = known();
    for (std::size_t d = 0; d < rank(); ++d) {
      const isl::pw_aff at = element(d);
      isl_space* space = isl_set_get_space(leaf_.points.get());
      const isl::pw_aff extent = isl::manage(isl_pw_aff_insert_domain(tensor_.tensor->shape[d].copy(), space));
      const isl::pw_aff zero = isl::manage(isl_pw_aff_zero_on_domain(isl_local_space_from_space(isl_set_get_space(leaf_.points.get()))));
      inside = inside.intersect(at.ge_set(zero)).intersect(at.lt_set(extent));
    }
    if (leaf_.zeroed.is_empty() && !leaf_.statement->zero_fill && !leaf_.node->extents.empty()) return wrong("it copies a part of its box, and the engine fills the rest");
    const isl::set moved = leaf_.moved.intersect_params(execution_.context.params());
    if (const isl::set brought = inside.subtract(moved); !brought.is_empty()) return wrong("the engine brings an element where the leaf sets a zero", sample(execution_, brought).text());
    if (const isl::set lost = moved.subtract(inside); !lost.is_empty()) return wrong("the engine sets a zero where the leaf brings an element", sample(execution_, lost).text());
    return {};
  }

  /// Rows of the box follow each other in memory, from a place on where the pattern of swapped pieces starts.
  Outcome check_target() const {
    const ArrayUse& use = execution_.array_of(leaf_.write);
    if (use.promoted == nullptr) return wrong("it writes no array of the block");
    const Space* space = checker_.machine.find_space(use.promoted->space);
    const Level* owner = space == nullptr ? nullptr : checker_.machine.find_level(space->level);
    if (owner == nullptr || owner->kind != LevelKind::independent) return wrong("it writes " + use.name + ", which belongs to no block");
    if (use.promoted->element != tensor_.tensor->type) return wrong(use.name + " has elements of type " + type_name(use.promoted->element));
    const Atom* atom = checker_.machine.find_atom(leaf_.statement->atom);
    if (atom == nullptr || atom->find_operand("result")->swizzle != copy_->swizzle || copy_->swizzle == 0) throw Undecided("how pipe " + leaf_.pipe->name + " lays out rows of " + std::to_string(copy_->swizzle) + " bytes is not known");
    if (const std::string reason = why_not_swizzled(checker_, leaf_.kernel, use, copy_->swizzle, "pipe " + leaf_.pipe->name); !reason.empty()) return wrong(reason);
    const isl::pw_aff have = place_in_copy(execution_, leaf_, leaf_.write, *use.promoted, copy_->element_bytes);
    isl_multi_aff* first = isl_multi_aff_identity_on_domain_space(isl_set_get_space(leaf_.points.get()));
    isl_aff* moved = isl_aff_zero_on_domain(isl_local_space_from_space(isl_set_get_space(leaf_.points.get())));
    for (std::size_t b = 0; b < leaf_.box.size(); ++b) {
      first = isl_multi_aff_set_aff(first, static_cast<int>(box_dim(b)), isl_aff_zero_on_domain(isl_local_space_from_space(isl_set_get_space(leaf_.points.get()))));
      long bytes = 0, row = copy_->element_bytes;
      for (std::size_t place = 0; place < rank(); ++place) {
        bytes += step(dimension(place), b) / copy_->apart[place] * row;
        row *= copy_->box[place] / copy_->apart[place];
      }
      moved = isl_aff_set_coefficient_si(moved, isl_dim_in, static_cast<int>(box_dim(b)), static_cast<int>(bytes));
    }
    const isl::pw_aff start = isl::manage(isl_pw_aff_pullback_multi_aff(have.copy(), first));
    const isl::set elsewhere = known().subtract(have.eq_set(start.add(isl::manage(isl_pw_aff_from_aff(moved)))));
    if (!elsewhere.is_empty()) return wrong("elements of the box do not follow each other in " + use.name, sample(execution_, elsewhere).text());
    const isl::pw_aff rest = start.mod(isl::val(start.ctx(), copy_->swizzle * kGroup));
    const isl::set inside = known().subtract(isl::manage(isl_pw_aff_zero_set(rest.copy())));
    if (!inside.is_empty()) return wrong("the box starts inside of a group of eight rows", sample(execution_, inside).text());
    return {};
  }

  const Checker& checker_;
  const Execution& execution_;
  const Leaf& leaf_;
  const PrintFacts::Leaf& printed_;
  const ArrayUse& tensor_;
  const PrintFacts::BoxCopy* copy_ = nullptr;
};

}  // namespace

void check_box_copies(Checker& checker, std::size_t kernel) {
  const std::vector<PrintFacts::Leaf>& printed = checker.facts[kernel].leaves;
  std::size_t at = 0;
  for (const Leaf& leaf : checker.execution.leaves) {
    if (leaf.kernel != kernel || at >= printed.size()) continue;
    const PrintFacts::Leaf& fact = printed[at++];
    // Engines that find their target by themselves; others are given addresses, which are subscripts of the leaf.
    const Atom* atom = checker.machine.find_atom(leaf.statement->atom);
    const AtomOperand* result = atom == nullptr ? nullptr : atom->find_operand("result");
    if (leaf.pipe == nullptr || leaf.pipe->completion != Completion::counted || result == nullptr || result->swizzle == 0) continue;
    const Obligation entry = obligation("text", "the box of " + leaf.label + " in kernel " + checker.execution.kernel_name(kernel), {}, kernel_entry(kernel, "pipelines"));
    if (!leaf.is_copy() || leaf.reads.size() != 1) checker.report.skip(entry, "it is no copy");
    else checker.report.prove(entry, [&] { return BoxChecker(checker, leaf, fact).run(); });
  }
}

}  // namespace tileopt::proof
