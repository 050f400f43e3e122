/// text, of accesses that move several neighbours at once: the neighbours lie side by side, and the first of them where an access of that size
/// may start. What sizes and addresses decide was tested before.
#include <algorithm>
#include <map>

#include "verify/ast_expr_reader.h"
#include "verify/obligations.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

Refutation wrong(const Leaf& leaf, const std::string& what) {
  return Refutation{leaf.label + " moves several elements at once: " + what, leaf.label, leaf.where()};
}

/// Most bytes that the leaf's atom moves at once to or from such an operand.
long allowed_bytes(const Checker& checker, const Leaf& leaf, bool written) {
  const Atom* atom = checker.machine.find_atom(leaf.statement->atom);
  long bytes = 0;
  if (atom == nullptr) return bytes;
  for (const AtomOperand& operand : atom->operands)
    if ((operand.role == "result") == written) bytes = std::max<long>(bytes, operand.bytes);
  return bytes;
}

/// The printed length of a row is the tensor's last extent.
bool is_last_extent(const Program& program, const Tensor& tensor, const std::string& run) {
  const isl::set context = isl::manage(isl_set_from_params(program.context().copy()));  // [params] -> { [] }
  const isl::pw_aff have = AstExprReader(context.space(), {}).value(parse_ast_expr(run, "print facts"), context);
  const isl::pw_aff want = isl::manage(isl_pw_aff_insert_domain(tensor.shape.back().copy(), isl_set_get_space(context.get())));
  return context.subtract(have.eq_set(want)).is_empty();
}

/// Rows start at multiples of an access.
Outcome check_rows(const Checker& checker, const Leaf& leaf, const ArrayUse& array, const PrintFacts::Wide& wide, long elements, std::size_t kernel) {
  if (array.promoted != nullptr) {
    const auto& buffers = checker.facts[kernel].buffers;
    const auto buffer = std::find_if(buffers.begin(), buffers.end(), [&](const PrintFacts::Buffer& b) { return b.array == array.promoted->name; });
    if (buffer == buffers.end() || buffer->alignment == 0 || buffer->alignment % wide.bytes != 0) return wrong(leaf, "nothing says how " + array.name + " is aligned");
    const Array& held = *array.promoted;
    bool rows = held.strides.empty() || held.strides.back() == 1;
    for (std::size_t d = 0; d + 1 < held.strides.size(); ++d) rows = rows && held.strides[d] % elements == 0;
    if (held.strides.empty() && held.extents.size() > 1) rows = held.extents.back() % elements == 0;
    if (held.slots > 1) rows = rows && held.stored_elements() % elements == 0;
    return rows ? Outcome{} : wrong(leaf, "rows of " + array.name + " are no whole number of accesses");
  }
  const Tensor& tensor = *array.tensor;
  if (!tensor.layout.order.empty() || !tensor.layout.strides.empty() || tensor.layout.packed) return wrong(leaf, tensor.name + " does not lie row by row");
  if (!wide.tested) return wrong(leaf, "no test says how " + tensor.name + " is aligned");
  if (tensor.shape.size() > 1 && (wide.run.empty() || !is_last_extent(checker.program(), tensor, wide.run)))
    return wrong(leaf, "the rows of " + tensor.name + " are not those that were tested (" + wide.run + ")");
  return {};
}

/// { [x] }: the fastest subscript where the access starts, for all runs.
isl::set starts_of(const Leaf& leaf, const PointAccess& access, std::size_t digit) {
  isl_map* element = access.element.copy();
  element = isl_map_fix_si(element, isl_dim_in, static_cast<unsigned>(leaf.loops.size() + digit), 0);
  isl_set* places = isl_map_range(element);
  const auto rank = static_cast<unsigned>(isl_set_dim(places, isl_dim_set));
  return isl::manage(isl_set_reset_tuple_id(isl_set_project_out(places, isl_dim_set, 0, rank - 1)));
}

Outcome check_access(const Checker& checker, const Leaf& leaf, const PrintFacts::Wide& wide, std::size_t kernel) {
  const bool written = wide.operand == 0;
  if (wide.operand > leaf.reads.size() || wide.digit >= leaf.box.size()) return wrong(leaf, "there is no such operand, or no such digit");
  const PointAccess& access = written ? leaf.write : leaf.reads[wide.operand - 1];
  const auto& steps = written ? leaf.statement->write_steps : leaf.statement->read_steps[wide.operand - 1];
  const ArrayUse& array = checker.execution.array_of(access);
  const ElementType type = array.promoted != nullptr ? array.promoted->element : array.tensor->type;
  const long bytes = size_bytes(type), elements = wide.bytes / bytes;
  if (wide.bytes > allowed_bytes(checker, leaf, written)) return wrong(leaf, "the machine has no access of " + std::to_string(wide.bytes) + " bytes");
  if (elements < 1 || wide.bytes % bytes != 0 || (wide.bytes & (wide.bytes - 1)) != 0 || leaf.statement->box[wide.digit].radix % elements != 0)
    return wrong(leaf, std::to_string(wide.bytes) + " bytes are no part of its box");
  for (std::size_t d = 0; d < steps.size(); ++d)
    if (steps[d][wide.digit] != (d + 1 == steps.size() ? 1 : 0)) return wrong(leaf, "they do not lie side by side in " + array.name);
  if (Outcome outcome = check_rows(checker, leaf, array, wide, elements, kernel)) return outcome;
  const isl::set starts = starts_of(leaf, access, wide.digit);
  const isl::set multiples(starts.ctx(), "{ [x] : x mod " + std::to_string(elements) + " = 0 }");
  const isl::set between = starts.subtract(multiples);
  if (between.is_empty()) return {};
  Refutation refutation = wrong(leaf, "an access of " + array.name + " starts between two multiples of its size");
  refutation.witness = poly::sample_text(between);
  return refutation;
}

/// Up to the printed value of the loop, every point of the leaf's box is inside its extents.
Outcome check_whole(const Checker& checker, std::size_t index, const std::string& whole) {
  const LoopUse& loop = checker.execution.loops[index];
  for (const std::size_t number : loop.leaves) {
    const Leaf& leaf = checker.execution.leaves[number];
    std::map<std::string, unsigned> dims;
    for (const std::string& name : leaf.loops) dims.emplace(name, static_cast<unsigned>(dims.size()));
    const AstExprReader reader(leaf.points.space(), dims);
    const isl::pw_aff variable = reader.dim(static_cast<unsigned>(loop.depth));
    const isl::set up_to = leaf.points.intersect(variable.le_set(reader.value(parse_ast_expr(whole, "print facts"), leaf.points)));
    for (std::size_t b = 0; b < leaf.node->extents.size(); ++b) {
      const isl::pw_aff extent = reader.value(leaf.node->extents[b], up_to);
      const isl::set cut = up_to.intersect(extent.lt_set(reader.constant(leaf.statement->box[b].radix)));
      if (cut.is_empty()) continue;
      Refutation refutation = wrong(leaf, "its box is not whole up to " + loop.node->variable + " = " + whole);
      refutation.witness = poly::sample_text(cut);
      return refutation;
    }
  }
  return {};
}

}  // namespace

void check_wide_text(Checker& checker, std::size_t kernel) {
  const std::vector<PrintFacts::Leaf>& printed = checker.facts[kernel].leaves;
  if (std::all_of(printed.begin(), printed.end(), [](const PrintFacts::Leaf& leaf) { return leaf.wide.empty(); })) return;
  checker.report.prove(obligation("text", "accesses of several elements of kernel " + checker.execution.kernel_name(kernel), {}, kernel_entry(kernel, "atoms")),
                       [&]() -> Outcome {
                         std::size_t at = 0;
                         for (const Leaf& leaf : checker.execution.leaves) {
                           if (leaf.kernel != kernel || at >= printed.size()) continue;
                           for (const PrintFacts::Wide& wide : printed[at].wide)
                             if (Outcome outcome = check_access(checker, leaf, wide, kernel)) return outcome;
                           ++at;
                         }
                         std::size_t place = 0;
                         for (std::size_t i = 0; i < checker.execution.loops.size(); ++i) {
                           if (checker.execution.loops[i].kernel != kernel || place >= checker.facts[kernel].loops.size()) continue;
                           const std::string& whole = checker.facts[kernel].loops[place++].whole;
                           if (whole.empty()) continue;
                           if (Outcome outcome = check_whole(checker, i, whole)) return outcome;
                         }
                         return {};
                       });
}

}  // namespace tileopt::proof
