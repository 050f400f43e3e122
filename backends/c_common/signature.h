/// What the printed function looks like from outside: its C name, sizes, arrays and their shapes.
#pragma once

#include <string>
#include <vector>

#include "backends/c_common/names.h"
#include "ir/ast.h"
#include "ir/program.h"

namespace tileopt {

/// Bytes that a tensor starts at a multiple of where an engine copies boxes of it (CUDA driver API, cuTensorMapEncodeTiled).
inline constexpr long kBoxAlignment = 16;

/// A program tensor as the launcher and the kernels see it.
struct TensorArgument {
  std::string tensor;
  std::string name;               ///< C identifier
  ElementType element;
  TensorRole role;
  std::vector<AstExprPtr> shape;  ///< over the sizes
  std::vector<std::size_t> order; ///< dimensions from the slowest to the fastest
  std::vector<AstExprPtr> strides;  ///< as the layout gives them, one per dimension; empty: no gaps
  bool packed = false;            ///< two elements a byte
  bool by_value = false;          ///< rank-0 `in`
  long alignment = 0;             ///< bytes that its address must be a multiple of, beyond its element; 0: nothing more
  AstExprPtr aligned_when = nullptr;  ///< sizes for which it must, over the sizes; null: all of them
  bool written() const { return role == TensorRole::out || role == TensorRole::inout; }
};

/// Elements between neighbours along each dimension, over the sizes. Rows of packed elements fill whole bytes.
std::vector<AstExprPtr> element_strides(const TensorArgument& argument);
/// Neighbours along the last dimension lie side by side, row after row without gaps, a byte or more an element.
bool is_dense_row_major(const TensorArgument& argument);
/// What a pointer to the argument points to.
std::string memory_type_c(const TensorArgument& argument);

struct Signature {
  std::string function;                    ///< C name of the extern launcher
  std::vector<std::string> sizes;          ///< parameters of the program, in order
  std::vector<TensorArgument> arguments;   ///< non-local tensors, in order
  std::vector<TensorArgument> locals;      ///< locals that the kernels still use, in order
  AstExprPtr context;                      ///< condition on the sizes
  CNames names;                            ///< sizes as values, tensors as arrays

  const TensorArgument* find(const std::string& tensor) const;
};

/// C name of the launcher: the program's name unless C or its library owns that.
std::string function_name_of(const Program& program);

Signature make_signature(const Program& program, const std::vector<Ast>& kernels);

}  // namespace tileopt
