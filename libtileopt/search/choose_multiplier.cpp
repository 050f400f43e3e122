#include "search/choose_multiplier.h"

#include <algorithm>
#include <optional>

namespace tileopt {
namespace {

/// The type that `tensor` is packed in for this operand; empty: it does not hold the tensor's values.
std::optional<ElementType> packed_type(const AtomOperand& operand, ElementType tensor) {
  const std::optional<ElementType> type = parse_type(operand.element);
  if (!type || (*type != tensor && !widens_exactly(tensor, *type))) return std::nullopt;
  return type;
}

/// One subscript of the factor moves with the loop, by one element, and with no other loop that is packed below.
bool moves_alone_by_one(const AccessView& access, std::size_t loop) {
  const std::vector<std::size_t> dims = access.dims_of(loop);
  if (dims.size() != 1 || access.coefficients[dims.front()][loop] != 1) return false;
  const std::vector<long>& row = access.coefficients[dims.front()];
  return std::count_if(row.begin(), row.end(), [](long c) { return c != 0; }) == 1;
}

std::optional<Multiplier> fit_dot(const PlanRequest& request, const Contraction& c, const Atom& atom, std::string& why_not) {
  const Program& program = request.program();
  const Statement& statement = program.statement(c.statement);
  const AtomOperand *result = atom.find_operand("result"), *left = atom.find_operand("left"), *right = atom.find_operand("right");
  const auto tensor_type = [&](std::size_t read) { return program.tensor(c.view.accesses[1 + read].tensor).type; };
  if (!result || !left || !right || parse_type(result->element) != c.element || program.tensor(statement.write.tensor).type != c.element) {
    why_not = "atom " + atom.name + " sums in another type";
    return std::nullopt;
  }
  const auto left_type = packed_type(*left, tensor_type(c.left)), right_type = packed_type(*right, tensor_type(c.right));
  if (!left_type || !right_type) {
    why_not = "atom " + atom.name + " takes factors of other types";
    return std::nullopt;
  }
  if (is_float(c.element) && !(program.numerics().reassociate && program.numerics().flush_subnormals)) {
    why_not = "atom " + atom.name + " needs @numerics(flush_subnormals=True)";
    return std::nullopt;
  }
  const long depth = depth_of(atom);
  std::optional<std::size_t> loop;
  for (const std::size_t m : c.reduction) {
    const bool fits = moves_alone_by_one(c.view.accesses[1 + c.left], m) && moves_alone_by_one(c.view.accesses[1 + c.right], m);
    if (fits && c.view.ranges[m].typical >= double(depth) && (!loop || c.view.ranges[m].typical >= c.view.ranges[*loop].typical)) loop = m;
  }
  if (!loop || depth < 2) {
    why_not = "no summation loop moves one subscript of each factor by itself, so that atom " + atom.name + " finds its products side by side";
    return std::nullopt;
  }
  return Multiplier{&atom, depth, *loop, *left_type, *right_type};
}

}  // namespace

long depth_of(const Atom& atom) { return atom.extents.size() == 3 ? atom.extents[1] : 1; }

std::vector<Multiplier> choose_multipliers(const PlanRequest& request, const Contraction& contraction, const Atom* pinned, std::string& why_not) {
  std::vector<Multiplier> fitting;
  for (const Atom& atom : request.machine.atoms) {
    if (pinned && pinned != &atom) continue;
    if (atom.body == "dot" && atom.rank == 3) {
      if (const auto found = fit_dot(request, contraction, atom, why_not)) fitting.push_back(*found);
    }
    if (atom.body == "multiply_add" && atom.rank == 2) fitting.push_back({&atom, 1, 0, contraction.element, contraction.element});
  }
  std::stable_sort(fitting.begin(), fitting.end(), [](const Multiplier& a, const Multiplier& b) { return a.depth > b.depth; });
  if (fitting.empty() && (why_not.empty() || !pinned || pinned->body != "dot")) why_not = "the machine has no multiply_add atom of rank 2";
  return fitting;
}

}  // namespace tileopt
