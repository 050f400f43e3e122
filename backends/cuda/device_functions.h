/// Helpers for which CUDA has functions, or one instruction.
#pragma once

#include <string>

namespace tileopt {

/// `device`: C++ of kernels and helpers. On the device, helpers of f32 are CUDA's own functions, of 2 ulp at most; for hosts and the emulator they
/// stay as they are.
std::string with_device_functions(std::string device);

}  // namespace tileopt
