/// What a machine really does, where its file says what its makers promise: the rate of multiplications, and of reading each memory.
#pragma once

#include <string>
#include <vector>

#include "ir/machine.h"

namespace tileopt {

struct CalibratedFact {
  std::string fact;      ///< as in the machine file: "frequency", "memories.L2.bandwidth"
  double before = 0;     ///< hertz, or bytes a second
  double after = 0;
  std::string how;       ///< what ran; or why nothing did, and `after` is `before`
};

struct Calibration {
  Machine machine;                    ///< as given, with what was measured in place
  std::vector<CalibratedFact> facts;
};

/// Times our own kernels, compiled for `machine`, on one thread of this processor:
/// - frequency: the one at which a product of matrices as fast as the best of several runs takes all multipliers. It is what the cost
///   model divides cycles by, so what the multipliers lose to loads and edges is in it;
/// - memories.NAME.bandwidth: bytes a second of summing an array that takes half of NAME (of the last one: four times all caches), again
///   and again within one call. What is larger than `most_bytes` is not measured.
/// `seconds`: of timed calls for each fact.
/// @throws ToolchainError where kernels of `machine` cannot run here; Errors(invalid_option) for GPUs.
Calibration calibrate(const Machine& machine, double seconds, double most_bytes = 1 << 30);

}  // namespace tileopt
