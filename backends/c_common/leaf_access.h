/// What a leaf reads, writes and computes, made ready for printing.
#pragma once

#include <climits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/c_common/storage.h"
#include "ir/program.h"

namespace tileopt {

/// One access: the array's storage, the type that the program sees there, and the subscripts as corner + steps.
struct LeafOperand {
  const Storage* storage = nullptr;
  ElementType type = ElementType::f32;
  Subscripts corner;
  std::vector<std::vector<long>> steps;  ///< [array dimension][box digit]

  Subscripts at(const std::vector<long>& point) const;         ///< corner + steps * point
  Subscripts at(const std::vector<AstExprPtr>& point) const;   ///< the same for symbolic box coordinates
  std::vector<long> delta(const std::vector<long>& point) const;
  /// Element steps along one box digit are 0 in every dimension.
  bool still(std::size_t digit) const;
  /// One step along the digit is one element in memory, whatever the sizes are.
  bool contiguous(std::size_t digit) const;
  /// Elements in memory from one step along the digit to the next; empty where that depends on sizes.
  std::optional<long> memory_step(std::size_t digit) const;
  bool same_elements(const LeafOperand& other) const;
};

/// Whether the elements have addresses: two packed ones share theirs.
bool in_memory(const LeafOperand& operand);

/// An atom without a box: the leaf updates its element atomically.
bool is_atomic_update(const AstStatement& statement);

/// A leaf with everything resolved. Copies have a body that reads access 0.
struct LeafView {
  const AstStatement* statement = nullptr;
  Combine combine = Combine::assign;
  const Monoid* monoid = nullptr;        ///< where `combine` is one
  ExprPtr body;
  ElementType type = ElementType::f32;   ///< of the value written, as the program sees it
  LeafOperand write;
  std::vector<LeafOperand> reads;
  std::vector<Subscripts> ahead;         ///< per read: its corner at the next value of the loop that is fetched for, or empty
  std::vector<AstExprPtr> indices;
  std::vector<AstExprPtr> extents;       ///< per box digit, or empty
  std::vector<long> radices;
  bool copy = false;
  bool reassociate = false;              ///< reductions of floats may run in any order
  bool atomic = false;                   ///< the update is one atomic operation
  /// Guards that no loop around has settled: the leaf runs where the value equals the iterator.
  struct Guarded {
    std::size_t number;  ///< among the statement's guards
    ExprPtr value;
    AstExprPtr iterator;
  };
  std::vector<Guarded> guards;
  ExprPtr predicate;  ///< or null

  long points() const;
  /// What it writes goes past the caches, where it lies in an argument.
  bool streams() const { return statement->stream && write.storage->kind == Storage::Kind::memory && write.storage->extents.empty(); }
  bool zero_fill() const { return statement->zero_fill; }
  AstExprPtr index_at(std::size_t index, const std::vector<AstExprPtr>& point) const;
  /// Reads that touch the written array at (possibly) other elements: box points must then run one by one.
  bool order_matters() const;
};

/// `settled`: variables of the loops around that run the value of their guard alone.
LeafView make_leaf_view(const AstLeaf& leaf, const Ast& ast, const Program& program, const StorageTable& storage,
                        const std::set<std::string>& settled);

}  // namespace tileopt
