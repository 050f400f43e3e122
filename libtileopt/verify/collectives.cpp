/// collectives: an instruction that several agents run together is run by all of them or by none, each holds the part of the result that the
/// instruction gives it, and both matrices lie where its descriptors say. What the leaf of one agent means is the matter of the other
/// obligations: here is shown that the instruction does just that.
#include <algorithm>

#include "ir/types.h"
#include "support/text.h"
#include "verify/matrix_storage.h"
#include "verify/obligations.h"
#include "verify/witness.h"

namespace tileopt::proof {

namespace {

constexpr long kGroup = 8;  ///< rows of a swizzled matrix after which the pattern repeats

class CollectiveChecker {
 public:
  CollectiveChecker(const Checker& checker, const Leaf& leaf, const Atom& atom, const PrintFacts::Leaf* printed)
      : checker_(checker), execution_(checker.execution), leaf_(leaf), atom_(atom), printed_(printed) {}

  Outcome run() {
    if (Outcome outcome = check_agents()) return outcome;
    if (Outcome outcome = check_registers()) return outcome;
    if (leaf_.reads.size() != 2 || leaf_.program == nullptr || leaf_.program->combine != Combine::sum) return Refutation{leaf_.label + " is no product of two factors", leaf_.label, leaf_.where()};
    if (printed_ == nullptr || printed_->matrices.size() != 2) throw Undecided("the printer says nothing of the matrices of " + leaf_.label);
    const long columns = columns_of();
    const std::string wrapper = "tileopt_" + atom_.name + "_n" + std::to_string(columns);
    if (printed_->wrapper != wrapper) return differs("the instruction of " + leaf_.label, printed_->wrapper, wrapper);
    std::vector<std::string> together;
    for (const std::size_t loop : agents_) together.push_back(leaf_.loops[loop]);
    if (printed_->together != together) return differs("who runs " + leaf_.label + " together", join(printed_->together, ", "), join(together, ", "));
    for (const bool right : {false, true})
      if (Outcome outcome = check_matrix(printed_->matrices[right ? 1 : 0], right)) return outcome;
    return {};
  }

 private:
  static Refutation differs(const std::string& what, const std::string& printed, const std::string& wanted) {
    return Refutation{what + " was printed as `" + printed + "` and is `" + wanted + "`", "printed: " + printed + " | wanted: " + wanted, {}};
  }
  Refutation wrong(const std::string& what, const std::string& witness = "") const { return Refutation{what, witness.empty() ? leaf_.label : witness, leaf_.where()}; }

  /// Positions of the digits among the dimensions of { L[loops, box] }: those of the box, then those of the agents.
  unsigned dimension(std::size_t digit) const {
    return static_cast<unsigned>(digit < leaf_.box.size() ? leaf_.loops.size() + digit : agents_[digit - leaf_.box.size()]);
  }
  std::size_t digits() const { return leaf_.box.size() + agents_.size(); }
  long radix(std::size_t digit) const { return digit < leaf_.box.size() ? leaf_.statement->box[digit].radix : atom_.agents[digit - leaf_.box.size()]; }
  long columns_of() const {
    long columns = 1;
    for (std::size_t d = 0; d < digits(); ++d) columns += atom_.steps.lanes[d] * (radix(d) - 1);
    return columns;
  }

  /// The innermost loops over agents are those of the atom, and nothing that runs the leaf depends on them.
  Outcome check_agents() {
    if (leaf_.box.size() != static_cast<std::size_t>(atom_.rank)) return wrong("the box of " + leaf_.label + " has " + std::to_string(leaf_.box.size()) + " digits, atom " + atom_.name + " has " + std::to_string(atom_.rank));
    for (std::size_t d = 0; d < leaf_.box.size(); ++d)
      if (atom_.extents[d] != 0 && atom_.extents[d] != radix(d)) return wrong("digit " + leaf_.box[d] + " of the box of " + leaf_.label + " has another radix than atom " + atom_.name);
    if (!leaf_.node->extents.empty()) return wrong(leaf_.label + " runs a part of its box, and atom " + atom_.name + " runs all of it");
    const std::vector<AgentLoop> loops = agent_loops(execution_, leaf_);  // innermost first
    if (loops.size() < atom_.agents.size()) return wrong(leaf_.label + " stands in fewer loops over agents than run atom " + atom_.name + " together");
    agents_.clear();
    for (std::size_t i = atom_.agents.size(); i-- > 0;) {
      if (loops[i].agents != atom_.agents[atom_.agents.size() - 1 - i]) return wrong("the agents of loop " + leaf_.loops[loops[i].position] + " around " + leaf_.label + " are not those of atom " + atom_.name);
      agents_.push_back(loops[i].position);
    }
    isl_set* all = leaf_.points.copy();
    for (std::size_t a = 0; a < agents_.size(); ++a) {
      const auto at = static_cast<unsigned>(agents_[a]);
      all = isl_set_eliminate(all, isl_dim_set, at, 1);
      all = isl_set_lower_bound_si(all, isl_dim_set, at, 0);
      all = isl_set_upper_bound_si(all, isl_dim_set, at, static_cast<int>(atom_.agents[a] - 1));
    }
    const isl::set left_out = isl::manage(all).subtract(leaf_.points);
    if (left_out.is_empty()) return {};
    return wrong("some of the agents that run " + leaf_.label + " together do not run it", sample(execution_, left_out).text());
  }

  /// { L[v, b] -> [(steps . digits)] }
  isl::pw_aff combination(const std::vector<long>& steps) const {
    isl_local_space* local = isl_local_space_from_space(isl_set_get_space(leaf_.points.get()));
    isl_aff* sum = isl_aff_zero_on_domain(local);
    for (std::size_t d = 0; d < steps.size(); ++d) sum = isl_aff_set_coefficient_si(sum, isl_dim_in, static_cast<int>(dimension(d)), static_cast<int>(steps[d]));
    return isl::manage(isl_pw_aff_from_aff(sum));
  }

  /// The value at the corner: the atom's digits are 0.
  isl::pw_aff at_corner(const isl::pw_aff& value) const {
    isl_multi_aff* zero = isl_multi_aff_identity_on_domain_space(isl_set_get_space(leaf_.points.get()));
    for (std::size_t d = 0; d < digits(); ++d) {
      isl_local_space* local = isl_local_space_from_space(isl_set_get_space(leaf_.points.get()));
      zero = isl_multi_aff_set_aff(zero, static_cast<int>(dimension(d)), isl_aff_zero_on_domain(local));
    }
    return isl::manage(isl_pw_aff_pullback_multi_aff(value.copy(), zero));
  }

  /// A point at which `have` is not `want`, if there is one.
  std::optional<std::string> other_value(const isl::pw_aff& have, const isl::pw_aff& want) const {
    const isl::set known = leaf_.points.intersect_params(execution_.context.params());
    const isl::set other = have.ne_set(want).intersect(known).unite(known.subtract(have.domain())).unite(known.subtract(want.domain()));
    if (other.is_empty()) return std::nullopt;
    return sample(execution_, other).text();
  }

  Outcome check_registers() const {
    const ArrayUse& use = execution_.array_of(leaf_.write);
    if (use.promoted == nullptr || use.promoted->space != "register") return wrong("the result of " + leaf_.label + " lies in no registers");
    const isl::pw_aff have = place_in_copy(execution_, leaf_, leaf_.write, *use.promoted, 1), want = combination(atom_.steps.registers);
    if (const auto witness = other_value(have, want)) return wrong(leaf_.label + " keeps its result in other registers than atom " + atom_.name + " does", *witness);
    long filled = 1;
    for (std::size_t d = 0; d < leaf_.box.size(); ++d) filled *= atom_.steps.depth[d] == 0 ? radix(d) : 1;
    if (use.promoted->agent_elements() != filled) return wrong("array " + use.name + " holds " + std::to_string(use.promoted->agent_elements()) + " registers, and atom " + atom_.name + " takes " + std::to_string(filled));
    return {};
  }

  Outcome check_matrix(const PrintFacts::Matrix& matrix, bool right) const {
    const AtomOperand& operand = *atom_.find_operand(right ? "right" : "left");
    if (matrix.read >= leaf_.reads.size()) return wrong("the matrices of " + leaf_.label + " are no reads of it");
    const PointAccess& access = leaf_.reads[matrix.read];
    const ArrayUse& use = execution_.array_of(access);
    const std::string what = std::string(right ? "the right" : "the left") + " matrix of " + leaf_.label;
    if (use.promoted == nullptr) return wrong(what + " is no array of the block");
    if (type_name(use.promoted->element) != operand.element) return wrong(what + " has elements of type " + type_name(use.promoted->element) + ", and atom " + atom_.name + " takes " + operand.element);
    if (operand.swizzle == 0) throw Undecided("how atom " + atom_.name + " finds its matrices is not known");
    if (const std::string reason = why_not_swizzled(checker_, leaf_.kernel, use, operand.swizzle, "atom " + atom_.name); !reason.empty()) return wrong(reason);
    const long element = size_bytes(use.promoted->element), width = operand.swizzle / element;  // elements of a row in memory
    if (matrix.stride != kGroup * operand.swizzle) return differs("the stride of " + what, std::to_string(matrix.stride), std::to_string(kGroup * operand.swizzle));
    // Bytes from the corner to the element of each digit.
    const std::vector<long>& across = right ? atom_.steps.lanes : atom_.steps.rows;
    std::vector<long> bytes(digits(), 0);
    long reach = 0;  // inside of a slab
    for (std::size_t d = 0; d < digits(); ++d) {
      bytes[d] = matrix.turned ? across[d] % width * element + across[d] / width * matrix.leading + atom_.steps.depth[d] * operand.swizzle
                               : across[d] * operand.swizzle + atom_.steps.depth[d] * element;
      reach += (matrix.turned ? across[d] % width : atom_.steps.depth[d]) * (radix(d) - 1);
    }
    if (reach >= width) return wrong(what + " is wider than its rows");
    const isl::pw_aff have = place_in_copy(execution_, leaf_, access, *use.promoted, element), corner = at_corner(have);
    if (const auto witness = other_value(have, corner.add(combination(bytes)))) return wrong(what + " does not lie as atom " + atom_.name + " reads it", *witness);
    // The pattern starts at the corner's rows.
    const isl::pw_aff rows = corner.mod(isl::val(corner.ctx(), kGroup * operand.swizzle));
    const isl::set known = leaf_.points.intersect_params(execution_.context.params());
    const isl::pw_aff limit = isl::manage(isl_pw_aff_val_on_domain(known.copy(), isl_val_int_from_si(known.ctx().get(), operand.swizzle)));
    const isl::set inside = isl::manage(isl_pw_aff_ge_set(rows.copy(), limit.copy())).intersect(known);
    if (inside.is_empty()) return {};
    return wrong(what + " starts inside of a group of eight rows", sample(execution_, inside).text());
  }

  const Checker& checker_;
  const Execution& execution_;
  const Leaf& leaf_;
  const Atom& atom_;
  const PrintFacts::Leaf* printed_;
  std::vector<std::size_t> agents_;  ///< positions of their loops, outermost first
};

}  // namespace

void check_collectives(Checker& checker) {
  std::vector<std::size_t> printed(checker.facts.size(), 0);
  for (const Leaf& leaf : checker.execution.leaves) {
    const PrintFacts::Leaf* fact = nullptr;
    if (leaf.kernel < printed.size()) {
      const std::size_t at = printed[leaf.kernel]++;
      if (at < checker.facts[leaf.kernel].leaves.size()) fact = &checker.facts[leaf.kernel].leaves[at];
    }
    const Atom* atom = leaf.is_copy() ? nullptr : checker.machine.find_atom(leaf.statement->atom);
    if (atom == nullptr || !atom->is_collective()) continue;
    checker.report.prove(obligation("collectives", leaf.label + " in kernel " + checker.execution.kernel_name(leaf.kernel), leaf.where(),
                                    kernel_entry(leaf.kernel, "atoms[" + leaf.program->name + "]")),
                         [&] { return CollectiveChecker(checker, leaf, *atom, fact).run(); });
  }
}

}  // namespace tileopt::proof
