/// Arrays and sizes in host memory: what the interpreter runs on and what compiled kernels are called with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/types.h"

namespace tileopt {

/// Dense row-major array; rank 0 holds one element. bf16 and f16 are stored as their 16 bits, 8-bit floats, bool
/// and 4-bit integers as one byte, tf32 as the f32 of the same value (others are rounded when read). Never of tuples. A tensor's
/// layout is no matter of a HostArray: who calls kernels lays the bytes out.
struct HostArray {
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  HostArray() = default;
  HostArray(ElementType type, std::vector<std::int64_t> shape);  ///< zero-filled
  std::int64_t elements() const;
  /// Element `offset` (row-major) as a double (exact for all types but 64-bit integers beyond 2^53).
  double get(std::int64_t offset) const;
  std::int64_t get_integer(std::int64_t offset) const;
  /// Rounds (to nearest even), saturates or wraps as the tile language's casts do.
  void set(std::int64_t offset, double value);
  void set_integer(std::int64_t offset, std::int64_t value);
};

using Sizes = std::map<std::string, std::int64_t>;     ///< by size parameter
using Arrays = std::map<std::string, HostArray>;       ///< by tensor name

}  // namespace tileopt
