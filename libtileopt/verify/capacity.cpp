/// capacity: arrays that live at once fit their space, and register tiles fit the register file.
#include <algorithm>

#include "support/text.h"
#include "verify/obligations.h"

namespace tileopt::proof {

namespace {

/// Of what one owner holds.
long bytes_of(const Array& array) { return array.slots * array.stored_elements() * size_bytes(array.element); }

/// Allocation `index` and those open around it: what is live while the innermost of them is.
std::vector<const Array*> live_at(const Execution& execution, std::size_t index, const std::string& space) {
  std::vector<const Array*> live;
  std::vector<std::size_t> open = execution.arrays[index].live_with;
  open.push_back(index);
  for (const std::size_t i : open)
    if (execution.arrays[i].promoted->space == space) live.push_back(execution.arrays[i].promoted);
  return live;
}

std::string names_of(const std::vector<const Array*>& arrays) {
  std::vector<std::string> names;
  for (const Array* array : arrays) names.push_back(array->name + " " + std::to_string(bytes_of(*array)) + " B");
  return join(names, ", ");
}

Outcome check_bytes(const Execution& execution, std::size_t index, const Space& space) {
  const std::vector<const Array*> live = live_at(execution, index, space.name);
  double total = 0;
  for (const Array* array : live) total += static_cast<double>(bytes_of(*array));
  if (space.capacity <= 0 || total <= space.capacity) return {};
  return Refutation{"arrays in " + space.name + " need " + std::to_string(static_cast<long>(total)) + " bytes of " +
                        std::to_string(static_cast<long>(space.capacity)),
                    names_of(live), {}};
}

/// Vectors that one row (the last dimension) fills; a scalar takes a register too.
long row_vectors(const Array& array, int vector_bytes) {
  const long row = (array.extents.empty() ? 1 : array.extents.back()) * size_bytes(array.element);
  return (row + vector_bytes - 1) / vector_bytes;
}

long array_vectors(const Array& array, int vector_bytes) {
  const long rows = array.extents.empty() ? 1 : array.elements() / array.extents.back();
  return rows * row_vectors(array, vector_bytes);
}

/// An outer-product tile holds its accumulators, the vectors of one row of the other operand, and one broadcast.
Outcome check_registers(const Execution& execution, std::size_t index, const Machine& machine) {
  const std::vector<const Array*> live = live_at(execution, index, "register");
  long vectors = 0, row = 0;
  for (const Array* array : live) {
    vectors += array_vectors(*array, machine.vector_bytes);
    row = std::max(row, row_vectors(*array, machine.vector_bytes));
  }
  const long needed = vectors + row + 1;
  if (needed <= machine.vector_registers) return {};
  return Refutation{"register arrays need " + std::to_string(needed) + " vector registers (" + std::to_string(vectors) + " held, " +
                        std::to_string(row) + " operands, 1 broadcast) of " + std::to_string(machine.vector_registers),
                    names_of(live), {}};
}

Outcome check_array(const Checker& checker, std::size_t index) {
  const Array& array = *checker.execution.arrays[index].promoted;
  const Space* space = checker.machine.find_space(array.space);
  if (space == nullptr) return Refutation{"machine " + checker.machine.name + " has no space " + array.space, array.name, {}};
  if (Outcome outcome = check_bytes(checker.execution, index, *space)) return outcome;
  if (array.space != "register" || checker.machine.vector_bytes <= 0) return {};
  return check_registers(checker.execution, index, checker.machine);
}

}  // namespace

void check_capacity(Checker& checker) {
  const Execution& execution = checker.execution;
  for (std::size_t i = 0; i < execution.arrays.size(); ++i) {
    const ArrayUse& array = execution.arrays[i];
    if (array.promoted == nullptr) continue;
    const SourceLocation where = array.tensor != nullptr ? array.tensor->where : SourceLocation{};
    checker.report.prove(obligation("capacity", array.name + " in kernel " + execution.kernel_name(array.kernel), where,
                                    kernel_entry(array.kernel, "promotions[" + array.name + "]")),
                         [&] { return check_array(checker, i); });
  }
}

}  // namespace tileopt::proof
