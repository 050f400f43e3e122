/// Where every array of a kernel lives in the printed text, and the C text of its elements.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/c_common/integer_c.h"
#include "backends/c_common/signature.h"
#include "ir/ast.h"

namespace tileopt {

struct Storage {
  enum class Kind {
    value,    ///< rank-0 `in` tensor, passed by value
    memory,   ///< pointer or C array of storage elements
    scalar,   ///< one C variable of the compute type
    vectors,  ///< named C variables of the compute type: one GNU vector (or scalar, lanes = 1) per `lanes` innermost elements
  };
  std::string array;
  std::string name;                  ///< C identifier, or stem of the named vectors
  ElementType element = ElementType::f32;
  Kind kind = Kind::memory;
  int lanes = 1;                     ///< vectors only
  std::vector<long> extents;         ///< promoted arrays and temporaries
  std::vector<AstExprPtr> strides;   ///< memory: elements per step, over sizes and stride variables
  std::optional<std::size_t> unit_dim = std::nullopt;  ///< dimension along which neighbours lie side by side; absent: the last
  bool scattered = false;            ///< no dimension has neighbours side by side
  std::size_t agent_dims = 0;        ///< leading subscripts that say which agent holds the element: they are not part of its place
  bool packed = false;               ///< two elements a byte: elements have values but no addresses
  bool dense = false;                ///< an argument whose rows follow each other without gaps, the last dimension fastest
  AstExprPtr run = nullptr;          ///< dense: elements of a row; null where there is one row
  long slots = 0;                    ///< of a ring: the first subscript is a position, which lies in slot `position % slots`; 0: there is none
  long alignment = 0;                ///< bytes that the address of the first element is a multiple of; 0: of its type only
  Swizzle swizzle = {};              ///< of a promoted array in memory, dimensions as in `Array`
  bool in_registers = false;         ///< memory: a C array that is accessed at constant places alone, which the compiler keeps in registers

  bool named() const { return kind == Kind::vectors; }
  /// Dimension `subscript` of an access (its position in a ring included) is replaced, or decides about that.
  bool swizzles(std::size_t subscript) const {
    const std::size_t dimension = subscript - (slots > 0 ? 1 : 0);
    return !swizzle.empty() && (dimension == static_cast<std::size_t>(swizzle.along) || dimension == static_cast<std::size_t>(swizzle.by));
  }
};

/// Subscripts at a corner plus constant steps.
using Subscripts = std::vector<AstExprPtr>;

/// Knows all arrays of one kernel.
class StorageTable {
 public:
  StorageTable(const Signature& signature, CNames& names, Helpers& helpers) : signature_(signature), names_(names), helpers_(helpers) {}

  void add_tensor(const TensorArgument& argument);
  void add(Storage storage);
  const Storage& find(const std::string& array) const;
  bool has(const std::string& array) const { return table_.count(array) != 0; }

  /// Elements from the start of a memory array, at least as tight as a sum's operand.
  std::string offset_c(const Storage& storage, const Subscripts& subscripts);
  /// The same as one sum of products, so that what does not change in a loop is added once, outside of it.
  std::string flat_offset_c(const Storage& storage, const Subscripts& subscripts);
  /// The same without swizzling: where an element of the first piece of a row 0, 8, ... lies.
  std::string plain_offset_c(const Storage& storage, const Subscripts& subscripts);
  /// The element as an lvalue (or value: of packed arrays), in its stored form. `vectors`: subscripts must be constants in range.
  std::string element_c(const Storage& storage, const Subscripts& subscripts);
  /// Name of the vector that holds an element, and its lane.
  static std::string vector_name(const Storage& storage, const std::vector<long>& subscripts, long* lane);

  /// Definitions of the stride variables that were used, one C line each.
  std::vector<std::string> stride_definitions();

  /// Whether accesses of `bytes` may be aligned that start at multiples of `bytes` in the fastest dimension. `flag`: the C variable that says
  /// so where sizes and addresses decide; "" where it is known.
  bool may_align(const Storage& storage, long bytes, std::string& flag);
  /// Names and definitions of these variables: `const bool X_aligned16 = (uint64_t)X % 16 == 0 && X_s0 % 4 == 0;`
  const std::map<std::string, std::string>& alignment_flags() const { return alignment_flags_; }

 private:
  std::string swizzled_c(const Storage& storage, const AstExprPtr& along, const AstExprPtr& by);
  AstExprPtr stride_variable(const TensorArgument& argument, std::size_t dimension, const AstExprPtr& value);

  const Signature& signature_;
  CNames& names_;
  Helpers& helpers_;
  std::map<std::string, Storage> table_;
  struct Stride {
    std::string key;
    AstExprPtr value;
  };
  std::vector<Stride> strides_;        ///< definition order
  std::set<std::string> used_strides_;
  std::map<std::string, std::string> alignment_flags_;
};

/// Row-major strides of constant extents.
std::vector<AstExprPtr> constant_strides(const std::vector<long>& extents);
/// Those that the array says it has.
std::vector<AstExprPtr> array_strides(const Array& array);

}  // namespace tileopt
