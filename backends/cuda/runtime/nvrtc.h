/// Device code by NVRTC, NVIDIA's compiler as a library, found at run time; and a cache of what it made.
#pragma once

#include <string>
#include <vector>

#include "ir/machine.h"

namespace tileopt::cuda {

struct Cubin {
  std::string image;      ///< for cuModuleLoadData
  std::string log;        ///< what ptxas said: registers, spills, shared memory of every kernel
  bool cached = false;
};

/// "sm_90": the machine's feature of that form. @throws ToolchainError where it has none.
std::string architecture_of(const Machine& machine);

/// Compiles the device part of printed text (__CUDACC_RTC__ is defined). `architecture`: "sm_90". `contract`: whether a*b + c may be
/// one instruction. The cache ($TILEOPT_CACHE, else $XDG_CACHE_HOME/tileopt, else ~/.cache/tileopt; "" switches it off) is keyed by text, flags and
/// NVRTC's version; what is in it is checked, and written atomically.
/// @throws ToolchainError where there is no NVRTC, it is too old for the architecture, or it refuses the text.
Cubin compile_device_code(const std::string& text, const std::string& architecture, bool contract);

}  // namespace tileopt::cuda
