/// The words of HIP that printed text uses, declared for a plain clang: ROCm's headers and device libraries are not needed to see whether the
/// text compiles and what it takes of the device.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tileopt {

/// Files, as (path below a folder of headers, content): "hip/hip_runtime.h" and what printed text includes of C.
std::vector<std::pair<std::string, std::string>> hip_declarations();

}  // namespace tileopt
