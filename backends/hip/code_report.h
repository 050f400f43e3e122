/// What clang makes of printed HIP: whether it compiles for an architecture, and the registers, spills and memory of its kernels. It takes a
/// clang that knows the architecture (clang 17 or newer knows all of the machine files'), neither ROCm nor a GPU.
#pragma once

#include <string>

#include "ir/certificate.h"
#include "ir/machine.h"
#include "ir/module.h"

namespace tileopt {

/// The compiler: $TILEOPT_HIP_CXX, or the newest clang++ on $PATH. @throws ToolchainError where there is none.
std::string find_hip_compiler();

/// @throws ToolchainError: no clang, one that does not know the machine's architecture, or one that refuses the text.
DeviceReport report_hip_code(const SourceText& text, const Machine& machine, bool contract);

/// The kernels of an AMDGPU assembly file's metadata, in its order.
std::vector<KernelResources> read_amdgpu_metadata(const std::string& assembly);

}  // namespace tileopt
