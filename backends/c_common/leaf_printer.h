/// Prints leaves: one statement, a loop over what remains of a box, or the whole box as straight-line vector code.
///
///   if (ii_n >= 6 && jj_n >= 16) { FULL: unrolled, lanes in vectors } else { EDGE: scalar loops over the extents }
#pragma once

#include <string>
#include <vector>

#include "backends/c_common/c_writer.h"
#include "backends/c_common/scalar_c.h"
#include "backends/c_common/leaf_access.h"
#include "backends/c_common/wide_leaf.h"
#include "ir/machine.h"

namespace tileopt {

/// Straight-line statements that one leaf may unroll to; more is refused (or looped, where no named vectors are touched).
inline constexpr long kLargestUnroll = 4096;

/// C11 with OpenMP, or the C++ of devices with wrappers of one instruction each: how alignment and atomic updates are spelt.
enum class Language { c_openmp, device_cpp };

class LeafPrinter {
 public:
  LeafPrinter(CWriter& out, StorageTable& storage, CNames& names, Helpers& helpers, const Machine& machine, int vector_bytes,
              Language language = Language::c_openmp)
      : out_(out), storage_(storage), names_(names), helpers_(helpers), machine_(machine), vector_bytes_(vector_bytes), language_(language) {}

  /// `braced`: the leaf is all there is between the braces around it. `fragments`: operands that move several elements at once where the whole
  /// box runs. @throws Refusal where the leaf has no form.
  void print(const LeafView& leaf, bool braced, const std::vector<Fragment>& fragments = {});
  /// The whole box, in a block that the caller has opened.
  void print_wide(const LeafView& leaf, const std::vector<Fragment>& fragments);

  /// A copy that is issued in pieces, cut at its extents by how much each of them brings; done at once where the flags do not hold.
  /// `several`: one of several that a thread issues one after the other, whose places are written so that what they share is computed once.
  void print_async(const LeafView& leaf, const std::vector<Fragment>& fragments, bool braced, bool several);

 private:
  using Point = std::vector<AstExprPtr>;
  struct Spill {
    const Storage* named;
    const Storage* temporary;
    bool written;
  };

  /// `scoped`: the caller has opened a block for this leaf.
  void print_full(const LeafView& leaf, bool scoped);
  void print_whole_rows(const LeafView& leaf, std::vector<AstExprPtr> extents);
  void print_edge(const LeafView& leaf, const std::vector<AstExprPtr>& extents, bool scoped);
  void print_unrolled(const LeafView& leaf);
  void print_loops(const LeafView& leaf, const std::vector<AstExprPtr>& bounds);
  /// Every point behind a test of the extents, without loops.
  void print_guarded_points(const LeafView& leaf, const std::vector<AstExprPtr>& extents);
  void print_point(const LeafView& leaf, const Point& point);
  void print_zero(const LeafView& leaf, const Point& point);
  ScalarContext point_context(const LeafView& leaf, const Point& point);
  /// When the leaf has an effect, or "" for always.
  std::string condition(const LeafView& leaf, const Point& point);
  std::string operand_value(const LeafOperand& operand, const Subscripts& subscripts);

  std::vector<Spill> make_spills(LeafView& leaf);
  void store_spill(const Spill& spill);
  void load_spill(const Spill& spill);
  void for_each_vector(const Spill& spill, const std::function<void(const std::string& vector, const std::string& memory)>& visit);

  CWriter& out_;
  StorageTable& storage_;
  CNames& names_;
  Helpers& helpers_;
  const Machine& machine_;
  int vector_bytes_;
  Language language_;
};

/// C text of a stored element read in the compute type of `operand.type`.
std::string stored_value(const LeafOperand& operand, const std::string& element, Helpers& helpers);
/// The statement that combines `value` (compute type of the leaf's type) into the element.
std::string store_statement(const LeafView& leaf, const std::string& element, const std::string& value, Helpers& helpers);
bool touches_named(const LeafView& leaf);

}  // namespace tileopt
