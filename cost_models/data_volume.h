/// Bytes that a loop nest moves between cache levels, and the time it takes (MOpt's form): plain arithmetic on coefficients.
#pragma once

#include <string>
#include <vector>

#include "ir/machine.h"

namespace tileopt {

/// One loop, outermost first: the member it belongs to and its trip count. Digits of one member are several loops.
struct NestLoop {
  std::size_t member = 0;
  double trips = 1;
};

/// One access. coefficients[d][m]: step of subscript d per unit of member m.
struct NestAccess {
  std::string tensor;
  int element_bytes = 4;
  bool write = false;
  std::vector<std::vector<long>> coefficients;
};

/// One statement (or several that share all loops).
struct Nest {
  std::vector<NestLoop> loops;
  std::vector<NestAccess> accesses;
  double operations = 1;   ///< scalar operations per instance
  bool vector = false;     ///< the innermost loop runs in SIMD lanes
  double recurrence_operations = 0;  ///< of an instance, one after the other, that the next iterations of a loop wait for; 0: none do
  double independent = 1;            ///< iterations of the innermost loops that do not wait for each other
};

/// Elements along a subscript while the members run over `spans` values each: 1 + sum |c| (span - 1).
double subscript_extent(const std::vector<long>& coefficients, const std::vector<double>& spans);

/// Bytes, in whole cache lines, that an access touches while the members run over `spans` values each.
double footprint_bytes(const NestAccess& access, const std::vector<double>& spans, int line);

struct NestCost {
  double seconds = 0;
  double compute_seconds = 0;
  std::vector<double> memory_seconds;  ///< by level: traffic from beyond machine.memories[l]
  std::string binding;                 ///< "compute" or the memory that the traffic comes from
};

/// Predicted time of the nest on one core. Needs nothing but evaluation: a few microseconds.
NestCost estimate_nest(const Nest& nest, std::size_t members, const Machine& machine);

}  // namespace tileopt
