#include "backends/gpu_common/collective_leaf.h"

#include <algorithm>

#include "backends/c_common/refusal.h"
#include "ir/types.h"

namespace tileopt {

namespace {
constexpr long kRowsOfGroup = 8;     ///< rows of a swizzled matrix that lie behind each other
constexpr long kMostColumns = 256;
constexpr long kUnused = 16;         ///< bytes: what a descriptor says about slabs where there is one

class Caller {
 public:
  Caller(const LeafView& leaf, const Atom& atom, StorageTable& storage) : leaf_(leaf), atom_(atom), storage_(storage) {}

  CollectiveCall run() {
    CollectiveCall call;
    call.columns = 1;
    for (std::size_t d = 0; d < atom_.steps.lanes.size(); ++d) call.columns += atom_.steps.lanes[d] * (radix(d) - 1);
    if (call.columns > kMostColumns || call.columns % kRowsOfGroup != 0)
      refuse("atom", leaf_.statement->name, "atom " + atom_.name + " computes up to " + std::to_string(kMostColumns) + " columns, and the box has " + std::to_string(call.columns));
    // The factor that the lanes move is the right one.
    const std::size_t lanes = find_digit(atom_.steps.lanes), right = leaf_.reads.at(0).still(lanes) ? 1 : 0;
    for (const std::size_t read : {1 - right, right}) call.matrices.push_back(matrix_of(read, read == right));
    call.wrapper = "tileopt_" + atom_.name + "_n" + std::to_string(call.columns);
    call.text = call.wrapper + "<" + (call.matrices[0].turned ? "1" : "0") + ", " + (call.matrices[1].turned ? "1" : "0") + ">(" + registers() + ", " + descriptor(call.matrices[0]) + ", " +
                descriptor(call.matrices[1]) + ");";
    return call;
  }

 private:
  long radix(std::size_t digit) const { return digit < leaf_.radices.size() ? leaf_.radices[digit] : atom_.agents[digit - leaf_.radices.size()]; }
  /// The outermost box digit that moves along `axis`: one of radix 1 moves nothing.
  std::size_t find_digit(const std::vector<long>& axis) const {
    std::size_t found = leaf_.radices.size();
    for (std::size_t d = 0; d < leaf_.radices.size(); ++d)
      if (axis[d] > 0 && leaf_.radices[d] > 1 && (found == leaf_.radices.size() || axis[d] > axis[found])) found = d;
    TILEOPT_CHECK(found < leaf_.radices.size(), "atom " + atom_.name + " has no such digit");
    return found;
  }

  /// All registers of the array: one instruction fills it.
  std::string registers() const {
    const Storage& storage = *leaf_.write.storage;
    long count = 1, elements = 1;
    for (std::size_t d = 0; d < leaf_.radices.size(); ++d) count *= atom_.steps.depth[d] == 0 ? leaf_.radices[d] : 1;
    for (const long extent : storage.extents) elements *= extent;
    for (std::size_t d = storage.agent_dims; d < leaf_.write.corner.size(); ++d)
      if (!is_constant(fold(leaf_.write.corner[d]), 0)) refuse("atom", leaf_.statement->name, "atom " + atom_.name + " fills a whole array of registers, and " + storage.array + " has more");
    if (!storage.in_registers || count != elements) refuse("atom", leaf_.statement->name, "atom " + atom_.name + " fills a whole array of registers, and " + storage.array + " has others");
    return storage.name;
  }

  PrintFacts::Matrix matrix_of(std::size_t read, bool right) const {
    const LeafOperand& operand = leaf_.reads[read];
    const Storage& storage = *operand.storage;
    const AtomOperand& wanted = *atom_.find_operand(right ? "right" : "left");
    PrintFacts::Matrix matrix{read, false, kUnused, kRowsOfGroup * wanted.swizzle};
    std::size_t last = leaf_.radices.size();
    for (std::size_t d = 0; d < leaf_.radices.size(); ++d)
      if (atom_.steps.depth[d] == 1) last = d;
    TILEOPT_CHECK(last < leaf_.radices.size(), "atom " + atom_.name + " has no innermost digit of its sum");
    matrix.turned = !operand.contiguous(last);
    // A slab is as wide as a row in memory: the digit that steps from one to the next, where there are several.
    const std::size_t slabs = find_digit(atom_.steps.lanes);
    if (right && matrix.turned && atom_.steps.lanes[slabs] * size_bytes(storage.element) >= wanted.swizzle) {
      const auto step = operand.memory_step(slabs);
      if (!step) refuse("atom", leaf_.statement->name, "slabs of " + storage.array + " lie no constant number of bytes apart");
      matrix.leading = *step * size_bytes(storage.element);
    }
    return matrix;
  }

  std::string descriptor(const PrintFacts::Matrix& matrix) {
    const LeafOperand& operand = leaf_.reads[matrix.read];
    const std::string offset = storage_.plain_offset_c(*operand.storage, operand.corner);
    return "tileopt_matrix(" + operand.storage->name + " + (" + offset + "), " + std::to_string(matrix.leading) + ", " + std::to_string(matrix.stride) + ")";
  }

  const LeafView& leaf_;
  const Atom& atom_;
  StorageTable& storage_;
};
}  // namespace

CollectiveCall print_collective(const LeafView& leaf, const Atom& atom, StorageTable& storage) { return Caller(leaf, atom, storage).run(); }

}  // namespace tileopt
