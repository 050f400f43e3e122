/// Helpers for which CUDA has functions, or one instruction.
#pragma once

#include <string>

#include "ir/program.h"

namespace tileopt {

/// `device`: C++ of kernels and helpers. On the device, helpers of f32 are CUDA's own functions, of 2 ulp at most, or approximations within what
/// `numerics` grants; for hosts and the emulator they stay as they are.
std::string with_device_functions(std::string device, const Numerics& numerics);

}  // namespace tileopt
