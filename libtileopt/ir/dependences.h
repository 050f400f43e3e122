/// Dependences of a Program, reductions as may-sources (design: docs/architecture.md, "Dependences").
#pragma once

#include "ir/program.h"

namespace tileopt {

/// All relations are { S[..] -> T[..] }, source before sink in the original order.
struct Dependences {
  isl::union_map flow;      ///< write -> read that may see it; pairs inside one reduction relaxed away
  isl::union_map anti;      ///< read -> overwriting write
  isl::union_map output;    ///< write -> overwriting write
  isl::union_map relaxed;   ///< pairs of one reduction on one element: any order, but they race
  isl::union_map live_in;   ///< { S -> A } reads that no statement's write precedes

  isl::union_map validity() const;  ///< flow + anti + output: must go forward
  isl::union_map all() const;       ///< validity + relaxed: must not run in parallel
};

}  // namespace tileopt
