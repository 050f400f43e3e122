/// Matches leaves to atoms. The digits of an atom's box leave the tree; every access must move by a constant along them.
///   ir > (C_init ; C: kk) with C[.., ii, jj]   ->   leaf C = outer_product_fma, box (ii 6, jj 16)
#include <algorithm>
#include <optional>

#include "ir/body.h"
#include "passes/collective.h"
#include "passes/leaf_functions.h"
#include "passes/pass_limit.h"
#include "passes/passes.h"
#include "support/text.h"

namespace tileopt {

namespace {
/// The two reads of a product, or nothing.
std::vector<std::size_t> product_reads(const Statement& statement) {
  if (statement.combine != Combine::sum) return {};
  const Binary* product = std::get_if<Binary>(&statement.body->node);
  if (product == nullptr || product->op != BinaryOp::mul) return {};
  const Read* left = std::get_if<Read>(&without_casts(product->left)->node);
  const Read* right = std::get_if<Read>(&without_casts(product->right)->node);
  if (left == nullptr || right == nullptr) return {};
  return {left->access, right->access};
}

/// What keeps the statement's update from being one atomic operation, or "".
std::string why_not_atomic(const Program& program, const Statement& statement) {
  const ElementType type = program.tensor(statement.write.tensor).type;
  const Combine combine = statement.combine;
  const bool integers = combine == Combine::bit_and || combine == Combine::bit_or || combine == Combine::bit_xor;
  if (combine != Combine::sum && !integers) return "only sums and combinations of bits can be updated atomically, and this is `" + combine_name(combine) + "`";
  if (is_float(type) && type != ElementType::f32 && type != ElementType::f64) return "elements of type " + type_name(type) + " are rounded on every store";
  if (type == ElementType::i4 || type == ElementType::u4) return "elements of type " + type_name(type) + " are less than a byte";
  if (is_float(type) && !program.numerics().reassociate) return "atomic updates run in any order, and @numerics(reassociate=False) wants them in index order";
  for (const Access& read : statement.reads)
    if (read.tensor == statement.write.tensor) return "it reads other elements of " + read.tensor + " too";
  return "";
}

/// A guarded iterator moves along the box, so that its points have different conditions.
bool moves_guard(const Statement& statement, const std::optional<std::vector<std::vector<long>>>& steps) {
  return steps && std::any_of(statement.guards.begin(), statement.guards.end(), [&](const Guard& guard) {
           const std::vector<long>& row = (*steps)[guard.iterator];
           return std::any_of(row.begin(), row.end(), [](long step) { return step != 0; });
         });
}

/// What keeps the lanes of the statement's box from being combined into the element that they share, or "".
std::string why_not_reduced(const Program& program, const Statement& statement, bool one_by_one) {
  const ElementType type = program.tensor(statement.write.tensor).type;
  const Combine combine = statement.combine;
  const bool combines = combine == Combine::sum || combine == Combine::prod || combine == Combine::min || combine == Combine::max;
  if (!combines && !(one_by_one && combine == Combine::monoid && program.monoid(statement.monoid).commutative)) return "lanes are combined by sum, prod, min or max, and this is `" + combine_name(combine) + "`";
  if (is_float(type) && !program.numerics().reassociate) return "lanes are combined in any order, and @numerics(reassociate=False) wants index order";
  for (const Access& read : statement.reads)
    if (read.tensor == statement.write.tensor) return "it reads other elements of " + read.tensor + " too";
  return "";
}

/// The rounding and the wrapping of a dot atom are those of its result's type: what the source asks for must be the same. Its factors hold
/// what the tensors hold; subnormal numbers are zeros to those instructions that take floats. "" where that is granted.
std::string why_not_dot(const Program& program, const Statement& statement, const AtomOperand& result) {
  const std::string type = type_name(program.tensor(statement.write.tensor).type);
  if (!result.element.empty() && (type != result.element || type_name(statement.body->type) != result.element))
    return "the atom sums in " + result.element + ", and this is a sum of " + type_name(statement.body->type) + " in " + type;
  if (!is_float(statement.body->type)) return "";
  if (!program.numerics().reassociate) return "the atom sums in any order, and @numerics(reassociate=False) wants index order";
  if (!program.numerics().flush_subnormals) return "the atom takes subnormal numbers as zeros, which needs @numerics(flush_subnormals=True)";
  return "";
}

/// "" where the elements of `tensor` are values of the operand's type.
std::string check_element(const Program& program, const AtomOperand& operand, const std::string& tensor) {
  const ElementType type = program.tensor(tensor).type;
  if (operand.element.empty() || type_name(type) == operand.element || widens_exactly(type, *parse_type(operand.element))) return "";
  return operand.role + " operand takes " + operand.element + ", and " + tensor + " has " + type_name(type);
}

/// "" when the steps of an access obey the operand's `uses`.
std::string check_uses(const AtomOperand& operand, const std::vector<std::vector<long>>& steps, std::size_t rank) {
  for (std::size_t d = 0; d < rank && d < operand.uses.size(); ++d) {
    bool moves = false;
    for (const std::vector<long>& row : steps) moves = moves || row[d] != 0;
    if (operand.uses[d] == '0' && moves) return operand.role + " operand moves along box digit " + std::to_string(d);
    if (operand.uses[d] == '1' && !moves) return operand.role + " operand does not move along box digit " + std::to_string(d);
  }
  return "";
}
/// The last `count` digits on levels of agents around the statement, outermost first; fewer where there are fewer.
std::vector<std::string> innermost_agents(const Machine& machine, const KernelPlan& plan, const std::string& statement, std::size_t count) {
  std::vector<std::string> agents;
  for (const std::string& dim : path_dims(plan.tree, statement))
    if (machine.find_level(plan.find_digit(dim)->level)->kind == LevelKind::barrier) agents.push_back(dim);
  if (agents.size() > count) agents.erase(agents.begin(), agents.end() - static_cast<long>(count));
  return agents;
}

/// What keeps agents from running the atom together, or "": they are the innermost ones, and none of them is left out at an edge.
std::string why_not_together(const Machine& machine, const KernelPlan& plan, const FittedSchedule::Leaf& leaf, const Atom& atom) {
  const std::vector<std::string> agents = innermost_agents(machine, plan, leaf.statement, atom.agents.size());
  std::vector<long> radices;
  for (const std::string& digit : agents) radices.push_back(plan.find_digit(digit)->radix);
  if (radices != atom.agents) return "the innermost loops over agents are not the " + std::to_string(atom.agents.size()) + " that run atom " + atom.name + " together";
  const std::vector<std::string> path = path_dims(plan.tree, leaf.statement);
  for (const std::string& dim : path) {
    const LevelKind kind = machine.find_level(plan.find_digit(dim)->level)->kind;
    const bool inside = kind != LevelKind::independent && !(kind == LevelKind::sequential && plan.find_digit(dim)->radix == 0);
    const bool whole = std::any_of(leaf.whole.begin(), leaf.whole.end(), [&](const FittedSchedule::BoxDigit& digit) { return digit.name == dim; });
    if (inside && !whole) return "digit " + dim + " may leave some of the agents out that run atom " + atom.name + " together: list it in `whole`";
  }
  return "";
}
}  // namespace

std::vector<FittedSchedule::BoxDigit> FittedSchedule::Leaf::filled() const {
  std::vector<BoxDigit> digits = box;
  digits.insert(digits.end(), whole.begin(), whole.end());
  return digits;
}

Candidate<FittedSchedule> FittedSchedule::create(DigitSchedule digits, const Machine& machine) {
  FittedSchedule result(std::move(digits));
  const KernelPlan& plan = result.plan();
  const Program& program = result.digits_.kernel().program();
  for (const auto& [name, choice] : plan.atoms)
    if (!contains(plan.statements, name))
      return Infeasible{"pin", "fit_atoms", plan.name, "kernels[" + plan.name + "].atoms[" + name + "]", "the kernel has no statement " + name};
  for (const std::string& name : plan.statements) {
    const auto refuse = [&](const std::string& reason) {
      return Infeasible{"atom", "fit_atoms", plan.name, "kernels[" + plan.name + "].atoms[" + name + "]", reason};
    };
    Leaf leaf;
    leaf.statement = name;
    const auto found = plan.atoms.find(name);
    const AtomChoice choice = found == plan.atoms.end() ? AtomChoice{} : found->second;
    const Atom* atom = choice.atom.empty() ? nullptr : machine.find_atom(choice.atom);
    if (choice.atom.empty() && !choice.box.empty()) return refuse("a box is given without an atom");
    if (!choice.atom.empty()) {
      if (atom == nullptr) return refuse("machine " + machine.name + " has no atom " + choice.atom);
      if (choice.edge != "padded" && choice.edge != "extents") return refuse("edge must be `padded` or `extents`, not `" + choice.edge + "`");
      if (choice.stream && (atom->body != "elementwise" || program.statement(name).combine != Combine::assign))
        return refuse("only an elementwise atom that assigns stores past the caches: " + name + " would read back what it wrote");
      if (!choice.prefetch.empty() && !contains(path_dims(plan.tree, name), choice.prefetch))
        return refuse("digit " + choice.prefetch + ", for whose next value it should fetch, is no loop around " + name);
      if (choice.box.empty() && atom->rank > 0) return refuse("the atom needs a box of digits");
      if (!choice.box.empty() && atom->rank == 0) return refuse("atom " + atom->name + " updates one element and has no box");
      if (atom->rank > 0 && static_cast<int>(choice.box.size()) != atom->rank && atom->body != "elementwise")
        return refuse("atom " + atom->name + " has " + std::to_string(atom->rank) + " box digits, the Plan gives " + std::to_string(choice.box.size()));
    }
    const StatementSpace& space = result.digits_.statement(name);
    long points = 1;
    for (const std::string& digit : choice.box) {
      const Digit* d = plan.find_digit(digit);
      if (d == nullptr || !contains(space.dims, digit)) return refuse("statement " + name + " has no digit " + digit);
      // What one statement's atom runs at once may be an unrolled loop of another's.
      const LevelKind kind = machine.find_level(d->level)->kind;
      if (kind != LevelKind::atom && kind != LevelKind::unrolled) return refuse("digit " + digit + " is on level " + d->level + ", not on an atom level, or unrolled");
      if (d->radix <= 0) return refuse("digit " + digit + " of an atom's box must have a radix");
      points *= d->radix;
      if (points > 4096 && (atom == nullptr || !atom->is_collective())) return refuse("the box has more than 4096 points: the printer unrolls it");
      const std::size_t position = leaf.box.size();
      if (atom != nullptr && position < atom->extents.size() && atom->extents[position] != 0 && atom->extents[position] != d->radix)
        return refuse("digit " + digit + " has radix " + std::to_string(d->radix) + ", and atom " + atom->name + " runs " + std::to_string(atom->extents[position]));
      leaf.box.push_back({digit, d->radix});
    }
    for (const std::string& digit : choice.whole) {
      const Digit* d = plan.find_digit(digit);
      const auto in_box = std::find_if(leaf.box.begin(), leaf.box.end(), [&](const BoxDigit& b) { return b.name == digit; });
      if (choice.edge == "extents" && in_box == leaf.box.end()) return refuse("digit " + digit + ", which is to run whole, is not in the box, and loops around run beyond the data where the leaf is padded");
      if (choice.edge == "extents") {
        in_box->whole = true;
        continue;
      }
      if (d == nullptr || !contains(path_dims(plan.tree, name), digit)) return refuse("digit " + digit + ", which is to run whole, is no loop around " + name);
      if (d->radix <= 0) return refuse("digit " + digit + ", which is to run whole, has no radix");
      leaf.whole.push_back({digit, d->radix});
    }
    if (atom != nullptr && atom->is_collective() && choice.edge != "padded") return refuse("atom " + atom->name + " runs whole boxes: its edge must be `padded`");
    if (atom != nullptr && atom->body == "atomic_update") {
      if (std::string problem = why_not_atomic(program, program.statement(name)); !problem.empty()) return refuse(problem);
      leaf.atom = choice.atom;
    } else if (atom != nullptr) {
      const Statement& statement = program.statement(name);
      const isl::pw_multi_aff instance = instance_function(space);
      const auto instance_steps = constant_steps(instance, space.dims, choice.box);
      if (statement.predicate != nullptr || moves_guard(statement, instance_steps))
        return refuse("data decides which instances have an effect, and an atom runs its whole box");
      const auto steps_of = [&](const Access& access) {
        return constant_steps(isl::pw_multi_aff(access.index).pullback(instance), space.dims, choice.box);
      };
      const auto write_steps = steps_of(statement.write);
      if (!write_steps || !instance_steps) return refuse("the write does not move by a constant along the box");
      std::vector<std::vector<std::vector<long>>> read_steps;
      for (const Access& read : statement.reads) {
        const auto steps = steps_of(read);
        if (!steps) return refuse("the read of " + read.tensor + " does not move by a constant along the box");
        read_steps.push_back(*steps);
      }
      const auto operand = [&](const std::string& role) {
        const AtomOperand* o = atom->find_operand(role);
        return o == nullptr ? AtomOperand{role, "any", ""} : *o;
      };
      const bool one_by_one = machine.vector_bytes == 0;  // a thread computes the points of its box in turn
      if (atom->body == "multiply_add" || atom->body == "dot") {
        const std::vector<std::size_t> reads = product_reads(statement);
        if (reads.size() != 2) return refuse("the body is not result += left * right");
        std::string problem = check_uses(operand("result"), *write_steps, leaf.box.size());
        if (problem.empty() && atom->body == "dot") problem = why_not_dot(program, statement, operand("result"));
        const auto check_factors = [&](std::size_t left, std::size_t right) {
          std::string found;
          for (const auto& [role, read] : {std::pair("left", left), std::pair("right", right)})
            found += check_uses(operand(role), read_steps[read], leaf.box.size()) + check_element(program, operand(role), statement.reads[read].tensor);
          return found;
        };
        const std::string forward = check_factors(reads[0], reads[1]), swapped = check_factors(reads[1], reads[0]);
        if (!problem.empty()) return refuse(problem);
        if (!forward.empty() && !swapped.empty()) return refuse(forward);
        if (atom->is_collective()) {
          std::string reason = why_not_together(machine, plan, leaf, *atom);
          if (!reason.empty()) return refuse(reason);
          std::vector<std::string> moving = choice.box;
          const std::vector<std::string> agents = innermost_agents(machine, plan, name, atom->agents.size());
          moving.insert(moving.end(), agents.begin(), agents.end());
          const auto along = [&](const Access& access) { return constant_steps(isl::pw_multi_aff(access.index).pullback(instance), space.dims, moving); };
          const auto result_steps = along(statement.write), first = along(statement.reads[reads[0]]), second = along(statement.reads[reads[1]]);
          std::vector<long> radices;
          for (const std::string& digit : moving) radices.push_back(plan.find_digit(digit)->radix);
          if (!result_steps || !first || !second) return refuse("an operand does not move by a constant along the agents that run atom " + atom->name + " together");
          reason = forward.empty() ? why_not_fragment(atom->steps, {*result_steps, *first, *second, radices}) : "the factors do not fit";
          if (!reason.empty() && swapped.empty() && why_not_fragment(atom->steps, {*result_steps, *second, *first, radices}).empty()) reason.clear();
          if (!reason.empty()) return refuse(reason);
        }
      } else if (atom->body == "reduce") {
        const std::string problem = check_uses(operand("result"), *write_steps, leaf.box.size()) + why_not_reduced(program, statement, one_by_one);
        if (!problem.empty()) return refuse(problem);
      }
      const bool computable = is_arithmetic(statement.body) || (one_by_one && reads_always(program, statement));
      if (atom->body != "multiply_add" && atom->body != "dot" && !computable) {
        return refuse("the body `" + expr_text(statement.body) + "` is not elementwise arithmetic");
      }
      leaf.atom = choice.atom;
      leaf.padded = choice.edge == "padded";
    }
    result.leaves_.push_back(std::move(leaf));
  }
  for (const std::string& name : plan.statements)
    for (const std::string& dim : path_dims(plan.tree, name))
      for (const BoxDigit& digit : result.leaf(name).box)
        if (digit.name == dim)
          return Infeasible{"atom", "fit_atoms", plan.name, "kernels[" + plan.name + "].tree", "digit " + dim + " is in the box of " + name + " and in the tree above it"};
  return result;
}

const FittedSchedule::Leaf& FittedSchedule::leaf(const std::string& statement) const {
  for (const Leaf& l : leaves_)
    if (l.statement == statement) return l;
  TILEOPT_CHECK(false, "no leaf for statement " + statement);
  return leaves_.front();
}

Document FittedSchedule::write() const {
  Document d;
  d["kernel"] = plan().name;
  for (const Leaf& leaf : leaves_) {
    Document box = Document::array();
    for (const BoxDigit& digit : leaf.box) {
      box.push_back({{"digit", digit.name}, {"radix", digit.radix}});
      if (digit.whole) box.back()["whole"] = true;
    }
    d["leaves"][leaf.statement] = {{"atom", leaf.atom.empty() ? "scalar" : leaf.atom}, {"box", box}, {"edge", leaf.padded ? "padded" : "extents"}};
    for (const BoxDigit& digit : leaf.whole) d["leaves"][leaf.statement]["whole"].push_back(digit.name);
  }
  return d;
}

Candidate<FittedSchedule> fit_atoms(const DigitSchedule& digits, const Machine& machine) {
  const Kernel& kernel = digits.kernel();
  return within_limit(kernel.program().ctx(), "fit_atoms", kernel.name(), [&] { return FittedSchedule::create(digits, machine); });
}

}  // namespace tileopt
