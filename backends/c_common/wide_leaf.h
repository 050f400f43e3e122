/// Boxes on devices: operands whose neighbours lie side by side in memory go through fragments, small arrays of a thread's own that are filled
/// and emptied by accesses of several elements, aligned to their size. In between, the box is scalar code.
///   alignas(16) float X_f[4];  tileopt_fill16(&X_f[0], &X[4 * t]);
///   Y_f[0] = f(X_f[0]); ...    tileopt_spill16(&Y[4 * t], &Y_f[0]);
#pragma once

#include <string>
#include <vector>

#include "backends/c_common/c_writer.h"
#include "backends/c_common/leaf_access.h"
#include "ir/atom.h"
#include "ir/module.h"

namespace tileopt {

/// One operand of a leaf that goes through a fragment, and the C variable that says whether it may ("": it always may).
struct Fragment {
  PrintFacts::Wide access;
  std::string flag;
};

/// The operands for which `atom` has wide accesses, and whose accesses are aligned: known for the array and the place of the box in it, or
/// up to flags. `leaf`: with the variables of unrolled loops, so that all copies of a body agree. `atom`: may be null.
std::vector<Fragment> choose_fragments(const LeafView& leaf, const Atom* atom, StorageTable& storage);

/// Both sides of a copy move along one digit, as many bytes at a time.
bool moves_alike(const std::vector<Fragment>& fragments);

/// Puts fragments in the place of memory.
class FragmentedLeaf {
 public:
  FragmentedLeaf(const LeafView& leaf, const std::vector<Fragment>& fragments, CWriter& out, StorageTable& storage, CNames& names, Helpers& helpers);

  /// Declares the fragments and fills those that are read; the leaf over them.
  const LeafView& open();
  /// Empties what was written.
  void close();

 private:
  LeafOperand& operand(std::size_t number) { return number == 0 ? local_.write : local_.reads[number - 1]; }
  const LeafOperand& source(std::size_t number) const { return number == 0 ? leaf_.write : leaf_.reads[number - 1]; }
  /// Calls of `word` for all accesses of a fragment; `fills`: from memory.
  void move(const Fragment& fragment, bool fills);

  const LeafView& leaf_;
  const std::vector<Fragment>& fragments_;
  CWriter& out_;
  StorageTable& storage_;
  CNames& names_;
  Helpers& helpers_;
  LeafView local_;
};

}  // namespace tileopt
