#include "passes/collective.h"

#include <algorithm>

#include "ir/types.h"

namespace tileopt {

namespace {
constexpr long kPieceBytes = 16;

/// The column of `steps` at a digit that moves one unit along `axis` and along no other; empty: there is none.
std::vector<long> unit_along(const std::vector<long>& axis, const std::vector<const std::vector<long>*>& others, const std::vector<std::vector<long>>& steps) {
  for (std::size_t d = 0; d < axis.size(); ++d) {
    const bool alone = std::all_of(others.begin(), others.end(), [&](const std::vector<long>* other) { return (*other)[d] == 0; });
    if (axis[d] != 1 || !alone) continue;
    std::vector<long> unit;
    for (const std::vector<long>& row : steps) unit.push_back(row[d]);
    return unit;
  }
  return {};
}

/// "" where steps[.][d] = first[d] * u + second[d] * v for all digits d. A side may run along several subscripts, one after the other: a digit that
/// moves others than the nearer ones of its side do starts there with a unit of its own.
std::string why_not_combined(const std::string& what, const std::vector<long>& first, const std::vector<long>& second, const std::vector<long>& third,
                             const std::vector<std::vector<long>>& steps, const std::vector<long>& radices) {
  const std::vector<long> u = unit_along(first, {&second, &third}, steps), v = unit_along(second, {&first, &third}, steps);
  const auto moves = [](const std::vector<long>& unit) { return std::any_of(unit.begin(), unit.end(), [](long step) { return step != 0; }); };
  if (!moves(u) || !moves(v)) return what + " does not move along both of its sides";
  const auto column = [&](std::size_t d) {
    std::vector<long> moved;
    for (const std::vector<long>& row : steps) moved.push_back(row[d]);
    return moved;
  };
  const auto meets = [](const std::vector<long>& a, const std::vector<long>& b) {
    for (std::size_t row = 0; row < a.size(); ++row)
      if (a[row] != 0 && b[row] != 0) return true;
    return false;
  };
  struct Unit {
    long base;  ///< step of the atom that is one of the unit
    std::vector<long> moved;
  };
  std::vector<Unit> of_first = {{1, u}}, of_second = {{1, v}};
  const auto combined = [&](std::size_t d) {
    const std::vector<long> moved = column(d);
    const auto is = [&](const Unit& a, const Unit& b) {
      for (std::size_t row = 0; row < moved.size(); ++row)
        if (moved[row] != first[d] / a.base * a.moved[row] + second[d] / b.base * b.moved[row]) return false;
      return first[d] % a.base == 0 && second[d] % b.base == 0;
    };
    return is(of_first.back(), of_second.back());
  };
  std::vector<std::size_t> order(first.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return first[a] + second[a] < first[b] + second[b]; });
  for (const std::size_t d : order) {
    if ((!radices.empty() && radices[d] <= 1) || combined(d)) continue;
    const std::vector<long> moved = column(d);
    const auto is_new = [&](const std::vector<Unit>& units) { return std::none_of(units.begin(), units.end(), [&](const Unit& unit) { return meets(unit.moved, moved); }); };
    if ((first[d] == 0) == (second[d] == 0) || !moves(moved) || !is_new(of_first) || !is_new(of_second)) return what + " moves otherwise than the atom's along digit " + std::to_string(d);
    (first[d] != 0 ? of_first : of_second).push_back({std::max(first[d], second[d]), moved});
  }
  return "";
}
}  // namespace

std::string why_not_fragment(const AtomSteps& steps, const ProductSteps& product) {
  std::string problem = why_not_combined("the result", steps.rows, steps.lanes, steps.depth, product.result, product.radices);
  if (problem.empty()) problem = why_not_combined("the left factor", steps.rows, steps.depth, steps.lanes, product.left, product.radices);
  if (problem.empty()) problem = why_not_combined("the right factor", steps.lanes, steps.depth, steps.rows, product.right, product.radices);
  return problem;
}

std::string why_not_matrix(const Array& array, int swizzle, const std::string& atom) {
  const long bytes = size_bytes(array.element), pieces = swizzle / kPieceBytes;
  const std::string wanted = "atom " + atom + " wants rows of " + std::to_string(swizzle) + " bytes with swizzled pieces: ";
  if (array.swizzle.empty()) return wanted + "array " + array.name + " is not swizzled";
  if (!array.strides.empty()) return wanted + "rows of " + array.name + " are padded";
  std::vector<long> strides(array.extents.size(), 1);
  for (std::size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * array.extents[d];
  const auto along = static_cast<std::size_t>(array.swizzle.along), by = static_cast<std::size_t>(array.swizzle.by);
  if (array.extents[along] != pieces || strides[along] * bytes != kPieceBytes) return wanted + "dimension " + std::to_string(along) + " of " + array.name + " does not count the pieces of a row";
  if (strides[by] * bytes != swizzle || array.extents[by] % pieces != 0) return wanted + "dimension " + std::to_string(by) + " of " + array.name + " does not count rows";
  return "";
}

std::vector<std::pair<const AtomOperand*, const LeafAccess*>> collective_operands(const Atom& atom, const LeafStatement& leaf) {
  std::vector<std::pair<const AtomOperand*, const LeafAccess*>> operands = {{atom.find_operand("result"), &leaf.write}};
  for (const LeafAccess& read : leaf.reads) {
    bool of_lanes = false;
    for (std::size_t d = 0; d < leaf.box.size(); ++d)
      for (const std::vector<long>& row : read.steps) of_lanes = of_lanes || (atom.steps.lanes[d] > 0 && row[d] != 0);
    operands.emplace_back(atom.find_operand(of_lanes ? "right" : "left"), &read);
  }
  return operands;
}

}  // namespace tileopt
